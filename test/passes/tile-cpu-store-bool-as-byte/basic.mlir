// Memory of bools becomes memory of bytes; reading compares with 0. Other memory stays as it is.
// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(tile-cpu-store-bool-as-byte))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: func.func @bool
// CHECK: memref.alloc() : memref<8xi8>
// CHECK: arith.extui {{.*}} : i1 to i8
// CHECK: memref.load {{.*}} : memref<8xi8>
// CHECK: arith.cmpi ne
func.func @bool(%x: i1, %i: index) -> i1 {
  %m = memref.alloc() : memref<8xi1>
  memref.store %x, %m[%i] : memref<8xi1>
  %y = memref.load %m[%i] : memref<8xi1>
  return %y : i1
}

// CHECK-LABEL: func.func @integer
// CHECK-NEXT: memref.alloc() : memref<8xi32>
// CHECK-NEXT: memref.store {{.*}} : memref<8xi32>
func.func @integer(%x: i32, %i: index) {
  %m = memref.alloc() : memref<8xi32>
  memref.store %x, %m[%i] : memref<8xi32>
  return
}
