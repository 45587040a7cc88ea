// RUN: tile-opt %s --tile-expand-math=processor=gpu | FileCheck %s

// exp takes a negation into its own instructions, where ptxas makes it a part of products; what
// else uses it keeps it.
// CHECK-LABEL: func.func @alone
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: llvm.inline_asm {{.*}}neg.f32 x, $1;{{.*}} %[[X]]
func.func @alone(%x: f32) -> f32 {
  %n = arith.negf %x : f32
  %e = math.exp %n : f32
  return %e : f32
}

// CHECK-LABEL: func.func @plain
// CHECK-NOT: neg.f32
// CHECK: return
func.func @plain(%x: f32) -> f32 {
  %e = math.exp %x : f32
  return %e : f32
}
