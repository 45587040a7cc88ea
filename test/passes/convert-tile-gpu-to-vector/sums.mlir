// RUN: tile-opt %s --tile-gpu-layout-pipeline --convert-tile-gpu-to-vector --canonicalize --cse \
// RUN:   | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// 32 elements of a thread are summed in slices of 8, one after the other, so that each product
// fuses with a sum: three vector additions, then halves. A maximum is taken of halves from the
// start.
// CHECK-LABEL: func.func @squares
// CHECK: arith.mulf {{.*}} : vector<32xf32>
// CHECK: %[[S1:.*]] = arith.addf %{{.*}}, %{{.*}} fastmath<contract> : vector<8xf32>
// CHECK: %[[S2:.*]] = arith.addf %[[S1]], %{{.*}} fastmath<contract> : vector<8xf32>
// CHECK: %[[S3:.*]] = arith.addf %[[S2]], %{{.*}} fastmath<contract> : vector<8xf32>
// CHECK: vector.shuffle %[[S3]], %[[S3]] [0, 1, 2, 3]
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
tile.kernel @squares
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  attributes {tile.num_warps = 1 : i64, tile.fp = "contract"}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%c1024] strides [%c1] : !tile.ptr<f32> -> !tile.view<1024xf32>
    %yv = tile.view %y[%c1024] strides [%c1] : !tile.ptr<f32> -> !tile.view<1024xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<1024xf32> -> tensor<1024xf32>
    %q = arith.mulf %a, %a : tensor<1024xf32>
    %s = tile.reduce sum %q : tensor<1024xf32> -> f32
    %m = tile.reduce max %a : tensor<1024xf32> -> f32
    tile.store %s, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<1024xf32>
    tile.store %m, %yv[%c1] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<1024xf32>
    tile.return
  }
}
