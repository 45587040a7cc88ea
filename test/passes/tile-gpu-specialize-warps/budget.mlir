// RUN: tile-opt %s --split-input-file --tile-gpu-specialize-warps --verify-diagnostics \
// RUN:   | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x128xf16, #s>
!b = !tile_gpu.memdesc<128x256xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @asked
// CHECK: tile_gpu.ring : <2,
// expected-remark @below {{stages(5) does not fit into shared memory: a stage takes 81920 bytes, there is room for 2 [R0404]}}
tile.kernel @asked params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile.num_stages = 5 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x256xf32, #acc>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%c0, %i] : !b
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x256xf32, #acc>
    scf.yield %n : tensor<64x256xf32, #acc>
  }
  tile.return
}
}

// -----

#acc = #tile_gpu.linear<shape = [64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x512xf16, #s>
!b = !tile_gpu.memdesc<512x256xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// expected-error @below {{kernel 'large' needs 328704 bytes of shared memory, a block has 232448; make its tiles smaller, the largest first}}
tile.kernel @large params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  // expected-note @below {{65536 bytes for a tile of 64x512 'f16'}}
  %x = tile_gpu.tma_fetch %d[%c0, %c0] : !a
  // expected-note @below {{262144 bytes for a tile of 512x256 'f16'}}
  %y = tile_gpu.tma_fetch %d[%c0, %c0] : !b
  %n = tile_gpu.wgmma %x, %y, %zero : !a, !b, tensor<64x256xf32, #acc>
  tile.return
}
}

// -----

#acc = #tile_gpu.linear<shape = [64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
!b = !tile_gpu.memdesc<64x256xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// The next program's tile is fetched during this one where it fits beside all stages of the loop.
// CHECK-LABEL: tile.kernel @ahead
// CHECK: tile_gpu.ring : <2, <64x64xf16
// CHECK: tile_gpu.ring : <6, <64x256xf16
tile.kernel @ahead params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.persistent, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  scf.for %program = %c0 to %c9 step %c1 {
    %x = tile_gpu.tma_fetch %d[%c0, %program] : !a
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x256xf32, #acc>) {
      %y = tile_gpu.tma_fetch %d[%c0, %i] : !b
      %n = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x256xf32, #acc>
      scf.yield %n : tensor<64x256xf32, #acc>
    }
  }
  tile.return
}
}

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x512xf16, #s>
!b = !tile_gpu.memdesc<512x64xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Two stages of 64 KiB leave room for one tile of the program's.
// CHECK-LABEL: tile.kernel @tight
// CHECK: tile_gpu.ring : <1, <64x512xf16
// CHECK: tile_gpu.ring : <2, <512x64xf16
tile.kernel @tight params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.persistent, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  scf.for %program = %c0 to %c9 step %c1 {
    %x = tile_gpu.tma_fetch %d[%c0, %program] : !a
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
      %y = tile_gpu.tma_fetch %d[%c0, %i] : !b
      %n = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x64xf32, #acc>
      scf.yield %n : tensor<64x64xf32, #acc>
    }
  }
  tile.return
}
}

// -----

#acc = #tile_gpu.linear<shape = [64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#own = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x128xf16, #s>
!b = !tile_gpu.memdesc<128x256xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Where all rings together have one stage, the first of them that fits has another one.
// CHECK-LABEL: tile.kernel @uneven
// CHECK: tile_gpu.ring : <2, <64x128xf16,
// CHECK: tile_gpu.ring per_warp : <1, <128x256xf16,
tile.kernel @uneven params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %none = arith.constant dense<0.0> : tensor<128x256xf16, #own>
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero, %sum = %none) -> (tensor<64x256xf32, #acc>, tensor<128x256xf16, #own>) {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    %y = tile_gpu.tma_fetch %d[%c0, %i] : !b
    %z = tile_gpu.tma_fetch %d[%c0, %i] : !b
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x256xf32, #acc>
    %t = tile_gpu.local_load %z : !b -> tensor<128x256xf16, #own>
    %m = arith.addf %sum, %t : tensor<128x256xf16, #own>
    scf.yield %n, %m : tensor<64x256xf32, #acc>, tensor<128x256xf16, #own>
  }
  tile.return
}
}
