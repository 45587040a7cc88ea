// Tiles become scratch memory. An operation works in place where its operand is not needed
// afterwards, else on a copy.
// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(tile-cpu-bufferize))' | FileCheck %s

// CHECK-LABEL: func.func @inPlace
// CHECK: %[[A:.*]] = memref.alloc() {{.*}}: memref<8xf32>
// CHECK: linalg.fill ins(%{{.*}}) outs(%[[A]] : memref<8xf32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.exp ins(%[[A]] : memref<8xf32>) outs(%[[A]] : memref<8xf32>)
// CHECK-NOT: tensor
// CHECK: return
func.func @inPlace(%x: f32, %out: memref<8xf32>) {
  %empty = tensor.empty() : tensor<8xf32>
  %a = linalg.fill ins(%x : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %b in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @needed
// CHECK: %[[A:.*]] = memref.alloc() {{.*}}: memref<8xf32>
// CHECK: %[[B:.*]] = memref.alloc() {{.*}}: memref<8xf32>
// CHECK: linalg.exp ins(%[[A]] : memref<8xf32>) outs(%[[B]] : memref<8xf32>)
// CHECK: linalg.copy ins(%[[A]] : memref<8xf32>)
// CHECK: linalg.copy ins(%[[B]] : memref<8xf32>)
func.func @needed(%x: f32, %out: memref<8xf32>, %other: memref<8xf32>) {
  %empty = tensor.empty() : tensor<8xf32>
  %a = linalg.fill ins(%x : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %a in restrict writable %out : (tensor<8xf32>, memref<8xf32>) -> ()
  bufferization.materialize_in_destination %b in restrict writable %other : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
