// A product is a loop around a block of registers: 4 rows of two vectors, and smaller blocks for
// what is left.
// RUN: tile-opt %s \
// RUN:   --pass-pipeline='builtin.module(func.func(tile-cpu-lower-dot{vector-bits=256}))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK: scf.for
// CHECK: memref.alloc() : memref<6x16xf32>
// CHECK: scf.for
// CHECK: vector.broadcast {{.*}} : f32 to vector<8xf32>
// CHECK: arith.mulf {{.*}} fastmath<contract> : vector<8xf32>
// CHECK: memref.alloc() : memref<6x3xf32>
// CHECK: vector<3xf32>
// CHECK-NOT: linalg.matmul
func.func @product(%a: memref<9x6xf32>, %b: memref<6x35xf32>, %c: memref<9x35xf32>) {
  linalg.matmul ins(%a, %b : memref<9x6xf32>, memref<6x35xf32>) outs(%c : memref<9x35xf32>)
  return
}

// Columns that are not neighbours keep the plain loops.
// CHECK-LABEL: func.func @strided
// CHECK: linalg.matmul
func.func @strided(%a: memref<4x4xf32>, %b: memref<4x4xf32, strided<[1, 4]>>, %c: memref<4x4xf32>) {
  linalg.matmul ins(%a, %b : memref<4x4xf32>, memref<4x4xf32, strided<[1, 4]>>) outs(%c : memref<4x4xf32>)
  return
}
