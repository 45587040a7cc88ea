// RUN: tile-opt %s --tile-gpu-assign-layouts --tile-gpu-vectorize-accesses | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// What is loaded ahead of a reduction across warps and used behind it is no read-only load, which
// ptxas would move there; what the reduction itself needs is, and so is what is loaded behind it.
// CHECK-LABEL: tile.kernel @ahead
// CHECK: tile.load {{.*}}tile_gpu.read_only
// CHECK-NOT: tile_gpu.read_only
// CHECK: tile.load
// CHECK-NOT: tile_gpu.read_only
// CHECK: tile.reduce
// CHECK: tile.load {{.*}}tile_gpu.read_only
tile.kernel @ahead
  params [#tile.param<"x", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  attributes {tile.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %b: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %b: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%c1024] strides [%c1] : !tile.ptr<f32> -> !tile.view<1024xf32>
    %wv = tile.view %w[%c1024] strides [%c1] : !tile.ptr<f32> -> !tile.view<1024xf32>
    %bv = tile.view %b[%c1024] strides [%c1] : !tile.ptr<f32> -> !tile.view<1024xf32>
    %yv = tile.view %y[%c1024] strides [%c1] : !tile.ptr<f32> -> !tile.view<1024xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<1024xf32> -> tensor<1024xf32>
    %v = tile.load %wv[%c0] pad %pad : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<1024xf32> -> tensor<1024xf32>
    %s = tile.reduce sum %a : tensor<1024xf32> -> f32
    %c = tile.load %bv[%c0] pad %pad : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<1024xf32> -> tensor<1024xf32>
    %all = tensor.splat %s : tensor<1024xf32>
    %p = arith.mulf %v, %all : tensor<1024xf32>
    %q = arith.addf %p, %c : tensor<1024xf32>
    tile.store %q, %yv[%c0] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<1024xf32>, !tile.view<1024xf32>
    tile.return
  }
}
