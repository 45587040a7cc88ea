// bf16 is computed in f32 and rounded by integers after every operation; bool is kept as bytes.
// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(tile-cpu-expand-bf16,tile-cpu-store-bool-as-byte))' | FileCheck %s

// CHECK-LABEL: func.func @add
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.trunci {{.*}} : i32 to i16
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.trunci {{.*}} : i32 to i16
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @add(%x: bf16, %y: bf16) -> bf16 {
  %a = arith.addf %x, %y : bf16
  %b = arith.mulf %a, %y : bf16
  return %b : bf16
}

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
