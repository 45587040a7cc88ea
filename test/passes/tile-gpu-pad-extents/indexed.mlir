// RUN: tile-opt %s --tile-gpu-pad-extents | FileCheck %s

// Ranges get an end, dimensions given by tiles a mask: what is padded there may be any position.
// CHECK-LABEL: tile.kernel @odd
// CHECK: %[[STOP:.*]] = arith.addi
// CHECK: %[[LINE:.*]] = tile.iota %{{.*}} step 1 : tensor<8xindex>
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[LINE]], %{{.*}} : tensor<8xindex>
// CHECK: %[[UNIT:.*]] = tile.reshape %[[INSIDE]] : tensor<8xi1> -> tensor<8x1xi1>
// CHECK: %[[ALL:.*]] = tile.broadcast %[[UNIT]] : tensor<8x1xi1> -> tensor<8x16xi1>
// CHECK: %[[MASK:.*]] = arith.select %[[ALL]], %{{.*}}, %{{.*}} : tensor<8x16xi1>
// CHECK: tile.atomic add relaxed gpu %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] ends[%[[STOP]]] at[%{{.*}} : tensor<8x16xindex>] mask %[[MASK]] : tensor<8x16xi1> {{.*}}sizes = array<i64: -2, 16>{{.*}} : tensor<8x16xf32>
tile.kernel @odd
  params [#tile.param<"y", inout, align = 16>] dims [#tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>] constexprs []
  grid {
  ^bb0(%y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f32>):
    %n = tile.dim #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %yv = tile.view %y[%n, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %one = arith.constant dense<1.0> : tensor<6x12xf32>
    %p = arith.constant dense<3> : tensor<6x12xindex>
    %old = tile.atomic add relaxed gpu %one, %yv[%c0, %c0] at[%p : tensor<6x12xindex>]
      {sizes = array<i64: -2, 12>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<6x12xf32>, !tile.view<?x?xf32>
    tile.return
  }
