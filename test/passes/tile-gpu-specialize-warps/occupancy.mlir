// Rings that find no room with the occupancy that is asked for have it lowered: the tiles are still
// fetched. A warning says what takes the memory.
// RUN: tile-opt %s --tile-gpu-specialize-warps --verify-diagnostics | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x128xf16, #s>
!b = !tile_gpu.memdesc<128x256xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A stage takes 81920 bytes, and its mbarriers a line.
// CHECK-LABEL: tile.kernel @lowered
// CHECK-SAME: tile.occupancy = 2 : i64
// CHECK: tile_gpu.ring : <1,
// CHECK: tile_gpu.warp_specialize
// expected-warning @below {{occupancy(3) is lowered to 2: a block needs 82944 bytes of shared memory, 3 blocks on a multiprocessor have 76800 each; make the kernel's tiles smaller, the largest first, or its stages fewer [W0607]}}
tile.kernel @lowered params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile.occupancy = 3 : i64, tile.num_stages = 1 : i64} grid {
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
    // expected-note @below {{16384 bytes for a tile of 64x128 'f16'}}
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
    // expected-note @below {{65536 bytes for a tile of 128x256 'f16'}}
    %y = tile_gpu.tma_fetch %d[%c0, %i] : !b
    %n = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x256xf32, #acc>
    scf.yield %n : tensor<64x256xf32, #acc>
  }
  tile.return
}

// What finds room stays.
// CHECK-LABEL: tile.kernel @fits
// CHECK-SAME: tile.occupancy = 2 : i64
// CHECK: tile_gpu.ring : <1,
tile.kernel @fits params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile.occupancy = 2 : i64, tile.num_stages = 1 : i64} grid {
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
