// Padding is not seen by what orders, counts, numbers and reshapes.
// RUN: tile-opt %s --tile-gpu-pad-extents | FileCheck %s

// CHECK-LABEL: tile.kernel @reduces
// CHECK: %[[INSIDE:.*]] = tile.broadcast %{{.*}} : tensor<128x1xi1> -> tensor<128x4xi1>
// CHECK: tile.reduce_by %{{.*}}, %[[INSIDE]] axis 0 : tensor<128x4xf32>, tensor<128x4xi1> -> tensor<4xf32>, tensor<4xi1> {
// CHECK: arith.select
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.ori
tile.kernel @reduces params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<100x4xf32>
  %r = tile.reduce_by %t axis 0 : tensor<100x4xf32> -> tensor<4xf32> {
  ^bb0(%left: f32, %right: f32):
    %s = arith.mulf %left, %right : f32
    tile.scan_yield %s : f32
  }
  tile.return
}

// What is sorted gets the largest integers behind it, what is counted what is in no bin.
// CHECK-LABEL: tile.kernel @order
// CHECK: %[[LARGEST:.*]] = arith.constant dense<9223372036854775807> : tensor<4x128xi64>
// CHECK: %[[KEYS:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LARGEST]]
// CHECK: tile.sort %[[KEYS]] axis 1 : tensor<4x128xi64>
// CHECK: %[[NONE:.*]] = arith.constant dense<-1> : tensor<16xi32>
// CHECK: %[[COUNTED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NONE]]
// CHECK: tile.histogram %[[COUNTED]] : tensor<16xi32> -> tensor<16xi32>
tile.kernel @order params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<7> : tensor<3x100xi64>
  %s = tile.sort %t axis 1 : tensor<3x100xi64> -> tensor<3x100xi64>
  %u = arith.constant dense<7> : tensor<12xi32>
  %h = tile.histogram %u : tensor<12xi32> -> tensor<10xi32>
  tile.return
}

// A position over all axes is that in the tile as it was: of 3x5, padded to 4x8, p becomes p / 8 *
// 5 + p % 8.
// CHECK-LABEL: tile.kernel @position
// CHECK: %[[P:.*]] = tile.arg_reduce argmax %{{.*}} : tensor<4x8xf32> -> index
// CHECK-DAG: %[[ROW:.*]] = arith.divui %[[P]], %{{.*}} : index
// CHECK-DAG: arith.muli %[[ROW]], %{{.*}} : index
// CHECK: arith.remui %[[P]], %{{.*}} : index
// CHECK: %[[REAL:.*]] = arith.addi
// CHECK: tensor.splat %[[REAL]]
tile.kernel @position params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<3x5xf32>
  %p = tile.arg_reduce argmax %t : tensor<3x5xf32> -> index
  %s = tensor.splat %p : tensor<4xindex>
  tile.return
}

// Only where rows move apart is a reshape more than that.
// CHECK-LABEL: tile.kernel @reshapes
// CHECK: tile.reshape %{{.*}} : tensor<4x8xf32> -> tensor<4x2x4xf32>
// CHECK: tile.reshape %{{.*}} : tensor<4x8xf32> -> tensor<32xf32>
// CHECK: %[[LINE:.*]] = tile.reshape %{{.*}} : tensor<4x8xf32> -> tensor<32xf32>
// CHECK: %[[AT:.*]] = arith.addi %{{.*}} : tensor<16xi32>
// CHECK: tile.take %[[LINE]][%[[AT]]] axis 0 : tensor<32xf32>, tensor<16xi32> -> tensor<16xf32>
tile.kernel @reshapes params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<3x8xf32>
  %a = tile.reshape %t : tensor<3x8xf32> -> tensor<3x2x4xf32>
  %b = tile.reshape %t : tensor<3x8xf32> -> tensor<24xf32>
  %u = arith.constant dense<0.0> : tensor<3x5xf32>
  %c = tile.reshape %u : tensor<3x5xf32> -> tensor<15xf32>
  tile.return
}
