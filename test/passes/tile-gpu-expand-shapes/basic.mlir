// Slices and concatenations by selection where the parts are few equal powers of two, by reads at
// positions elsewhere.
// RUN: tile-opt %s --tile-gpu-expand-shapes | FileCheck %s

// Halves: the dimension is split, and the second half selected where it lies.
// CHECK-LABEL: tile.kernel @half
// CHECK: %[[PARTS:.*]] = tile.reshape %{{.*}} : tensor<16x64xf32> -> tensor<16x2x32xf32>
// CHECK: %[[HERE:.*]] = arith.cmpi eq, %{{.*}} : tensor<16x2x32xi32>
// CHECK: tile.reduce_by %[[PARTS]], %[[HERE]] axis 1 {tile_gpu.selects_one} : tensor<16x2x32xf32>, tensor<16x2x32xi1> -> tensor<16x32xf32>, tensor<16x32xi1>
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[IS:.*]]: i1, %[[R:.*]]: f32, %[[OR:.*]]: i1):
// CHECK: arith.select %[[IS]], %[[L]], %[[R]] : f32
// CHECK-NOT: extract_slice
tile.kernel @half params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] grid {
^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
  tile.yield
} body {
^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %v = tile.view %x[%c16, %c64] strides [%c64, %c1] : !tile.ptr<f32> -> !tile.view<16x64xf32>
  %w = tile.view %y[%c16, %c64] strides [%c64, %c1] : !tile.ptr<f32> -> !tile.view<16x64xf32>
  %t = tile.load %v[%c0, %c0] pad %pad : f32 {sizes = array<i64: 16, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<16x64xf32> -> tensor<16x64xf32>
  %s = tensor.extract_slice %t[0, 32] [16, 32] [1, 1] : tensor<16x64xf32> to tensor<16x32xf32>
  tile.store %s, %w[%c0, %c0] {sizes = array<i64: 16, 32>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<16x32xf32>, !tile.view<16x64xf32>
  tile.return
}

// A window that is no such part: positions from 3 on.
// CHECK-LABEL: tile.kernel @window
// CHECK: %[[THREE:.*]] = arith.constant dense<3> : tensor<16x5xi32>
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[THREE]]
// CHECK: %[[S:.*]] = tile.take %{{.*}}[%[[AT]]] axis 1 : tensor<16x64xf32>, tensor<16x5xi32> -> tensor<16x5xf32>
// CHECK: tile.store %[[S]]
tile.kernel @window params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] grid {
^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
  tile.yield
} body {
^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %v = tile.view %x[%c16, %c64] strides [%c64, %c1] : !tile.ptr<f32> -> !tile.view<16x64xf32>
  %w = tile.view %y[%c16, %c64] strides [%c64, %c1] : !tile.ptr<f32> -> !tile.view<16x64xf32>
  %t = tile.load %v[%c0, %c0] pad %pad : f32 {sizes = array<i64: 16, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<16x64xf32> -> tensor<16x64xf32>
  %s = tensor.extract_slice %t[0, 3] [16, 5] [1, 1] : tensor<16x64xf32> to tensor<16x5xf32>
  tile.store %s, %w[%c0, %c0] {sizes = array<i64: 16, 5>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<16x5xf32>, !tile.view<16x64xf32>
  tile.return
}

// Two tiles of one extent are repeated and selected; tiles of 8 and 4 rows are read at positions.
// CHECK-LABEL: tile.kernel @join
// CHECK: %[[A:.*]] = tile.broadcast %{{.*}} : tensor<1x4x8xf32> -> tensor<2x4x8xf32>
// CHECK: %[[B:.*]] = tile.broadcast %{{.*}} : tensor<1x4x8xf32> -> tensor<2x4x8xf32>
// CHECK: %[[BOTH:.*]] = arith.select %{{.*}}, %[[B]], %[[A]]
// CHECK: %[[T:.*]] = tile.reshape %[[BOTH]] : tensor<2x4x8xf32> -> tensor<8x8xf32>
// CHECK: %[[C:.*]] = tile.take %{{.*}} axis 0 : tensor<8x8xf32>, tensor<12x8xi32> -> tensor<12x8xf32>
// CHECK: %[[EIGHT:.*]] = arith.constant dense<-8>
// CHECK: %[[FROM:.*]] = arith.addi %{{.*}}, %[[EIGHT]]
// CHECK: %[[D:.*]] = tile.take %{{.*}}[%[[FROM]]] axis 0 : tensor<4x8xf32>, tensor<12x8xi32> -> tensor<12x8xf32>
// CHECK: arith.select %{{.*}}, %[[D]], %[[C]]
// CHECK-NOT: tensor.concat
tile.kernel @join params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] grid {
^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
  tile.yield
} body {
^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  %v = tile.view %x[%c16, %c8] strides [%c8, %c1] : !tile.ptr<f32> -> !tile.view<16x8xf32>
  %w = tile.view %y[%c16, %c8] strides [%c8, %c1] : !tile.ptr<f32> -> !tile.view<16x8xf32>
  %t = tile.load %v[%c0, %c0] pad %pad : f32 {sizes = array<i64: 4, 8>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<16x8xf32> -> tensor<4x8xf32>
  %s = tensor.concat dim(0) %t, %t : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %u = tensor.concat dim(0) %s, %t : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<12x8xf32>
  tile.store %u, %w[%c0, %c0] {sizes = array<i64: 12, 8>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<12x8xf32>, !tile.view<16x8xf32>
  tile.return
}
