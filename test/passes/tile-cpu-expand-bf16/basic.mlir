// bf16 is computed in f32 and rounded by integers after every operation.
// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(tile-cpu-expand-bf16))' | FileCheck %s

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

// What is not bf16 stays as it is.
// CHECK-LABEL: func.func @other
// CHECK-NEXT: arith.addf {{.*}} : f16
// CHECK-NEXT: return
func.func @other(%x: f16, %y: f16) -> f16 {
  %a = arith.addf %x, %y : f16
  return %a : f16
}
