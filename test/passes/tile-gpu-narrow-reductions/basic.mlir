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
