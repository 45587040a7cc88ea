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

// An integer becomes bf16 by one rounding: f64 holds 32 bits of it, and of 64 those that count.
// CHECK-LABEL: func.func @integers
// CHECK: arith.sitofp {{.*}} : i32 to f64
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: arith.andi %arg1, {{.*}} : i64
// CHECK: arith.uitofp {{.*}} : i64 to f64
// CHECK-NOT: tofp {{.*}} to bf16
func.func @integers(%x: i32, %y: i64) -> (bf16, bf16) {
  %a = arith.sitofp %x : i32 to bf16
  %b = arith.uitofp %y : i64 to bf16
  return %a, %b : bf16, bf16
}

// In f32 the sum would be rounded before it is rounded to bf16.
// CHECK-LABEL: func.func @fma
// CHECK: arith.mulf {{.*}} : f64
// CHECK: arith.addf {{.*}} : f64
// CHECK-NOT: math.fma
func.func @fma(%x: bf16, %y: bf16, %z: bf16) -> bf16 {
  %r = math.fma %x, %y, %z : bf16
  return %r : bf16
}

// What only moves bf16 moves the bits: LLVM would round what it selects.
// CHECK-LABEL: func.func @moves
// CHECK-SAME: (%{{.*}}: i1, %{{.*}}: i16, %{{.*}}: memref<4xi16>) -> i16
// CHECK-NOT: bf16
func.func @moves(%c: i1, %x: bf16, %m: memref<4xbf16>) -> bf16 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : bf16
  %y = memref.load %m[%zero] : memref<4xbf16>
  %a = arith.select %c, %x, %y : bf16
  %b = scf.if %c -> bf16 {
    scf.yield %a : bf16
  } else {
    scf.yield %one : bf16
  }
  memref.store %b, %m[%zero] : memref<4xbf16>
  return %b : bf16
}
