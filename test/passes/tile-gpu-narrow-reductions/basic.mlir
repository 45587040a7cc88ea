// RUN: tile-opt %s --tile-gpu-narrow-reductions | FileCheck %s

// Extrema come before the widening, sums after it.
// CHECK-LABEL: func @reduce
// CHECK-SAME: (%[[X:.*]]: tensor<4x64xf16>
// CHECK: %[[W:.*]] = arith.extf %[[X]]
// CHECK: %[[M:.*]] = tile.reduce max %[[X]] axis 1 : tensor<4x64xf16> -> tensor<4xf16>
// CHECK: %[[R:.*]] = arith.extf %[[M]] : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[S:.*]] = tile.reduce sum %[[W]] axis 1 : tensor<4x64xf32> -> tensor<4xf32>
// CHECK: %[[N:.*]] = tile.reduce min %[[X]] : tensor<4x64xf16> -> f16
// CHECK: %[[T:.*]] = arith.extf %[[N]] : f16 to f32
// CHECK: return %[[R]], %[[S]], %[[T]]
func.func @reduce(%x: tensor<4x64xf16>) -> (tensor<4xf32>, tensor<4xf32>, f32) {
  %w = arith.extf %x : tensor<4x64xf16> to tensor<4x64xf32>
  %m = tile.reduce max %w axis 1 : tensor<4x64xf32> -> tensor<4xf32>
  %s = tile.reduce sum %w axis 1 : tensor<4x64xf32> -> tensor<4xf32>
  %n = tile.reduce min %w : tensor<4x64xf32> -> f32
  return %m, %s, %n : tensor<4xf32>, tensor<4xf32>, f32
}

// A count is summed up in 32 bits, as are small integers. Floats are not, nor what might not fit.
// CHECK-LABEL: func @count
// CHECK-SAME: (%[[B:.*]]: tensor<4x64xi1>, %[[U:.*]]: tensor<64xi8>
// CHECK: %[[W:.*]] = arith.extui %[[B]] : tensor<4x64xi1> to tensor<4x64xi32>
// CHECK: %[[S:.*]] = tile.reduce sum %[[W]] axis 1 : tensor<4x64xi32> -> tensor<4xi32>
// CHECK: %[[I:.*]] = arith.index_castui %[[S]] : tensor<4xi32> to tensor<4xindex>
// CHECK: %[[V:.*]] = arith.extsi %[[U]] : tensor<64xi8> to tensor<64xi32>
// CHECK: %[[T:.*]] = tile.reduce sum %[[V]] : tensor<64xi32> -> i32
// CHECK: %[[J:.*]] = arith.extsi %[[T]] : i32 to i64
// CHECK: %[[L:.*]] = tile.reduce sum %{{.*}} : tensor<64xi64> -> i64
// CHECK: return %[[I]], %[[J]], %[[L]]
func.func @count(%b: tensor<4x64xi1>, %u: tensor<64xi8>, %x: tensor<64xi32>)
    -> (tensor<4xindex>, i64, i64) {
  %w = arith.index_castui %b : tensor<4x64xi1> to tensor<4x64xindex>
  %i = tile.reduce sum %w axis 1 : tensor<4x64xindex> -> tensor<4xindex>
  %v = arith.extsi %u : tensor<64xi8> to tensor<64xi64>
  %j = tile.reduce sum %v : tensor<64xi64> -> i64
  %y = arith.extsi %x : tensor<64xi32> to tensor<64xi64>
  %l = tile.reduce sum %y : tensor<64xi64> -> i64
  return %i, %j, %l : tensor<4xindex>, i64, i64
}
