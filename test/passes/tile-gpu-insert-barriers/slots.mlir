// Slots order their own accesses; barriers come from whoever copies. Where they are made anew for
// the next trip of a loop around, the last one's readers must be done.
// RUN: tile-opt %s --tile-gpu-insert-barriers | FileCheck %s

#rows = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 32>

// CHECK-LABEL: tile.kernel @again
// CHECK: body {
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.local_slots
// CHECK: tile_gpu.async_wait
// CHECK-NOT: tile_gpu.barrier
// CHECK: tile_gpu.local_load
// CHECK-NOT: tile_gpu.barrier
// CHECK: tile.return
tile.kernel @again params [#tile.param<"a", in, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
^bb0(%a: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%a: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %v = tile.view %a [%c16, %c16] strides [%c16, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  scf.for %i = %c0 to %c4 step %c1 {
    %s = tile_gpu.local_slots {tile_gpu.offset = 0 : i64} : !tile_gpu.slots<2, !tile_gpu.memdesc<16x16xf16, #shared>>
    %m = tile_gpu.slot %s[%c0] : !tile_gpu.slots<2, !tile_gpu.memdesc<16x16xf16, #shared>>
    tile_gpu.async_copy %v[%c0, %c0] into %m {sizes = array<i64: 16, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>,
      in_bounds = array<i1: true, true>, tile = tensor<16x16xf16, #rows>, stored = tensor<16x16xf16, #rows>}
      : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
    tile_gpu.async_commit
    tile_gpu.async_wait {pending = 0 : i64}
    %t = tile_gpu.local_load %m : !tile_gpu.memdesc<16x16xf16, #shared> -> tensor<16x16xf16, #rows>
  }
  tile.return
}
