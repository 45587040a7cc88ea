// Where the source leaves the schedule open and one warpgroup computes, as many blocks share a
// multiprocessor as programs, registers and stages allow; loops that follow each other share a ring.
// RUN: tile-opt %s --tile-gpu-specialize-warps | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#wide = #tile_gpu.linear<shape = [64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#two = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
!b = !tile_gpu.memdesc<64x256xf16, #s>
!c = !tile_gpu.memdesc<128x64xf16, #s>
#map = #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// An accumulator of 32 registers and 32 others: 4 blocks leave 88. Three stages of both loops' one
// ring fit into a quarter of shared memory.
// CHECK-LABEL: tile.kernel @small
// CHECK-SAME: tile.occupancy = 4
// CHECK: tile_gpu.ring : <3, <64x64xf16
// CHECK-NOT: tile_gpu.ring :
tile.kernel @small params [#tile.param<"a", in, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 65536, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %m = tile.dim <"M", 1, 65536, opt = 65536, multiple_of = 1>
  tile.yield %m : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tile_gpu.descriptor #map
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%i, %c0] : !a
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !a, tensor<64x64xf32, #acc>
    scf.yield %n : tensor<64x64xf32, #acc>
  }
  %q = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %r) -> (tensor<64x64xf32, #acc>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%i, %c0] : !a
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !a, tensor<64x64xf32, #acc>
    scf.yield %n : tensor<64x64xf32, #acc>
  }
  tile.return
}

// One program for each multiprocessor of the card: it has all shared memory, for stages.
// CHECK-LABEL: tile.kernel @few
// CHECK-NOT: tile.occupancy
// CHECK: tile_gpu.ring : <8, <64x64xf16
tile.kernel @few params [#tile.param<"a", in, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 132, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %m = tile.dim <"M", 1, 65536, opt = 132, multiple_of = 1>
  tile.yield %m : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tile_gpu.descriptor #map
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%i, %c0] : !a
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !a, tensor<64x64xf32, #acc>
    scf.yield %n : tensor<64x64xf32, #acc>
  }
  %q = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %r) -> (tensor<64x64xf32, #acc>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%i, %c0] : !a
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !a, tensor<64x64xf32, #acc>
    scf.yield %n : tensor<64x64xf32, #acc>
  }
  tile.return
}

// 128 registers of an accumulator want 154 on entry: one block.
// CHECK-LABEL: tile.kernel @wide
// CHECK-NOT: tile.occupancy
// CHECK: tile_gpu.ring : <5,
tile.kernel @wide params [#tile.param<"a", in, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 65536, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %m = tile.dim <"M", 1, 65536, opt = 65536, multiple_of = 1>
  tile.yield %m : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x256xf32, #wide>
  %d = tile_gpu.descriptor #map
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x256xf32, #wide>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%i, %c0] : !b
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x256xf32, #wide>
    scf.yield %n : tensor<64x256xf32, #wide>
  }
  tile.return
}

// Two warpgroups multiply in turns anyway.
// CHECK-LABEL: tile.kernel @two
// CHECK-NOT: tile.occupancy
// CHECK: tile_gpu.ring : <8,
tile.kernel @two params [#tile.param<"a", in, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 65536, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %m = tile.dim <"M", 1, 65536, opt = 65536, multiple_of = 1>
  tile.yield %m : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #two>
  %d = tile_gpu.descriptor #map
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #two>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !c
    %y = tile_gpu.tma_fetch %d[%i, %c0] : !a
    %n = tile_gpu.wgmma %x, %y, %acc : !c, !a, tensor<128x64xf32, #two>
    scf.yield %n : tensor<128x64xf32, #two>
  }
  tile.return
}

// Who fixes a part of the schedule has the rest of it in mind, too.
// CHECK-LABEL: tile.kernel @staged
// CHECK-NOT: tile.occupancy
// CHECK: tile_gpu.ring : <4,
tile.kernel @staged params [#tile.param<"a", in, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 65536, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile.num_stages = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %m = tile.dim <"M", 1, 65536, opt = 65536, multiple_of = 1>
  tile.yield %m : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tile_gpu.descriptor #map
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%i, %c0] : !a
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !a, tensor<64x64xf32, #acc>
    scf.yield %n : tensor<64x64xf32, #acc>
  }
  tile.return
}

// Loops whose tiles differ, and one inside of the other's body, have rings of their own: a slot
// that is held while the inner loop goes round the ring would never be given back.
// CHECK-LABEL: tile.kernel @apart
// CHECK-COUNT-2: tile_gpu.ring :
tile.kernel @apart params [#tile.param<"a", in, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 65536, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %m = tile.dim <"M", 1, 65536, opt = 65536, multiple_of = 1>
  tile.yield %m : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tile_gpu.descriptor #map
  %r = scf.for %j = %c0 to %c9 step %c1 iter_args(%outer = %zero) -> (tensor<64x64xf32, #acc>) {
    %x = tile_gpu.tma_fetch %d[%c0, %j] : !a
    %inner = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %outer) -> (tensor<64x64xf32, #acc>) {
      %y = tile_gpu.tma_fetch %d[%i, %c0] : !a
      %n = tile_gpu.wgmma %x, %y, %acc : !a, !a, tensor<64x64xf32, #acc>
      scf.yield %n : tensor<64x64xf32, #acc>
    }
    scf.yield %inner : tensor<64x64xf32, #acc>
  }
  tile.return
}
}
