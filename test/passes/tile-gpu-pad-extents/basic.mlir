// RUN: tile-opt %s --tile-gpu-pad-extents --cse | FileCheck %s

// CHECK-LABEL: tile.kernel @odd
// CHECK: %[[END:.*]] = arith.addi %[[START:.*]], %{{.*}} : index
// CHECK: tile.load %{{.*}}[%[[START]]] ends[%[[END]]] {{.*}}has_end = array<i1: true>, in_bounds = array<i1: false>, sizes = array<i64: 128>{{.*}} -> tensor<128xf32>
// CHECK: %[[FILL:.*]] = arith.constant dense<0xFF800000> : tensor<128xf32>
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[FILL]]
// CHECK: tile.reduce max %[[MASKED]]
// CHECK: tile.store %{{.*}} ends[%{{.*}}] {{.*}}sizes = array<i64: 128>
tile.kernel @odd
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<100xf32>
    %m = tile.reduce max %a : tensor<100xf32> -> f32
    %s = tensor.splat %m : tensor<100xf32>
    %d = arith.subf %a, %s : tensor<100xf32>
    tile.store %d, %yv[%c0] {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<100xf32>, !tile.view<?xf32>
    tile.return
  }
