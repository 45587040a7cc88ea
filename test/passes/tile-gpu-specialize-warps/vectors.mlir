// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-specialize-warps | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#columns = #tile_gpu.linear<shape = [64], register = [[1], [0], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!mt = !tile_gpu.memdesc<64x64xf16, #t>
!v = !tile_gpu.memdesc<64xf32, #tile_gpu.shared<order = [0], swizzle = 0>>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A vector that is read right before the first product comes with its operand, and so does one that
// is read while that is held; what is stored for the second product has fenced both reads when the
// slot goes back.
// CHECK-LABEL: tile.kernel @vectors
// CHECK: %[[RING:.*]] = tile_gpu.ring per_warp : <{{[0-9]+}}, <64x64xf16, {{.*}}>>, <64xf32, {{.*}}>>, <64xf32, {{.*}}>>>
// CHECK-NOT: tile_gpu.ring
// CHECK: producer
// CHECK:   %[[T:.*]]:3, %[[FULL:.*]] = tile_gpu.ring_acquire %[[RING]]
// CHECK-NEXT: tile_gpu.tma_load {{.*}} into %[[T]]#0, %[[FULL]]
// CHECK-NEXT: tile_gpu.tma_load {{.*}} into %[[T]]#1, %[[FULL]]
// CHECK-NEXT: tile_gpu.tma_load {{.*}} into %[[T]]#2, %[[FULL]]
// CHECK: consumer
// CHECK:   %[[X:.*]]:3 = tile_gpu.ring_wait %[[RING]]
// CHECK-NEXT: tile_gpu.memdesc_permute
// CHECK-NEXT: tile_gpu.local_load %[[X]]#1
// CHECK:   tile_gpu.wgmma
// CHECK:   tile_gpu.local_load %[[X]]#2
// CHECK:   tile_gpu.local_alloc
// CHECK:   tile_gpu.wgmma
// CHECK-NEXT: tile_gpu.ring_release %[[RING]] {tile_gpu.fenced}
tile.kernel @vectors params [#tile.param<"q", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs []
  attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %dv = tile_gpu.descriptor <param = 1, order = [0], box = [64], swizzle = 0>
    %sum = scf.for %i = %c0 to %n step %c64 iter_args(%old = %zero) -> (!acc) {
      %x = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %xt = tile_gpu.memdesc_permute %x {permutation = array<i64: 1, 0>} : !m -> !mt
      %f = tile_gpu.tma_fetch %dv [%i] : !v
      %first = tile_gpu.local_load %f : !v -> tensor<64xf32, #columns>
      %s = tile_gpu.wgmma %x, %xt, %zero : !m, !mt, !acc
      %firsts = tile.broadcast %first : tensor<64xf32, #columns> -> !acc
      %y = arith.mulf %s, %firsts : !acc
      %g = tile_gpu.tma_fetch %dv [%i] : !v
      %later = tile_gpu.local_load %g : !v -> tensor<64xf32, #columns>
      %laters = tile.broadcast %later : tensor<64xf32, #columns> -> !acc
      %z = arith.mulf %y, %laters : !acc
      %z16 = arith.truncf %z : !acc to !p
      %mem = tile_gpu.local_alloc %z16 : !p -> !m
      %new = tile_gpu.wgmma %mem, %x, %old : !m, !m, !acc
      scf.yield %new : !acc
    }
    "test.use"(%sum) : (!acc) -> ()
    tile.return
  }
}
