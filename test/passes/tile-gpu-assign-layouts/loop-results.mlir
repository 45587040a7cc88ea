// RUN: tile-opt %s --tile-gpu-assign-layouts --canonicalize | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
// What a loop adds up gets its layout from the loop's body, which stands before its result but is
// looked at after it: here threads hold four neighbours along the axis that is summed inside, so a
// sum of the result leaves rows where the loop has them.
// CHECK-LABEL: tile.kernel @sums
// CHECK: %[[SUMS:.*]] = scf.for
// CHECK: tile.reduce sum {{.*}} axis 2
// CHECK-NOT: convert_layout
// CHECK: tile.reduce sum %[[SUMS]] axis 1 : tensor<8x8xf32, {{.*}}lane = {{\[\[}}0, 0], [0, 1], [0, 2], [0, 4], [1, 0]], {{.*}} -> tensor<8xf32, #tile_gpu.linear<shape = [8], register = [], lane = {{\[\[}}0], [0], [0], [0], [1]], warp = {{\[\[}}2], [4]]>>
tile.kernel @sums
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  attributes {tile.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : tensor<8x8xf32>
    %xv = tile.view %x[%c8, %c512] strides [%c512, %c1] : !tile.ptr<f32> -> !tile.view<8x512xf32>
    %yv = tile.view %y[%c8] strides [%c1] : !tile.ptr<f32> -> !tile.view<8xf32>
    %sums = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (tensor<8x8xf32>) {
      %a = tile.load %xv[%c0, %k] pad %pad : f32 {sizes = array<i64: 8, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<8x512xf32> -> tensor<8x64xf32>
      %p = tile.reshape %a : tensor<8x64xf32> -> tensor<8x8x8xf32>
      %s = tile.reduce sum %p axis 2 : tensor<8x8x8xf32> -> tensor<8x8xf32>
      %n = arith.addf %acc, %s : tensor<8x8xf32>
      scf.yield %n : tensor<8x8xf32>
    }
    %t = tile.reduce sum %sums axis 1 : tensor<8x8xf32> -> tensor<8xf32>
    tile.store %t, %yv[%c0] {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<8xf32>, !tile.view<8xf32>
    tile.return
  }
}
