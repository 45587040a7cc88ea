// Scratch leaves all loops: what is small for the stack, the rest for the kernel's memory; what a
// loop carries has its own place.
// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(tile-cpu-place-scratch))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: func.func @loops
// CHECK-DAG: %[[SMALL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4xf32>
// CHECK-DAG: %[[LARGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4096xf32>
// CHECK: scf.for
// CHECK-NOT: memref.{{(de)?}}alloc
// CHECK: return
func.func @loops(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4096xf32>
    memref.store %x, %a[%c0] : memref<4xf32>
    memref.store %x, %b[%c0] : memref<4096xf32>
  }
  return
}

// A swap goes by way of temporaries.
// CHECK-LABEL: func.func @swap
// CHECK: scf.for
// CHECK: linalg.copy ins(%[[X:.*]] : memref<4xf32>) outs(%[[T:.*]] : memref<4xf32>)
// CHECK-NEXT: linalg.copy ins(%[[Y:.*]] : memref<4xf32>) outs(%[[U:.*]] : memref<4xf32>)
// CHECK-NEXT: linalg.copy ins(%[[T]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK-NEXT: linalg.copy ins(%[[U]] : memref<4xf32>) outs(%[[X]] : memref<4xf32>)
func.func @swap(%n: index, %p: memref<4xf32>, %q: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %p, %t = %q) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %t, %s : memref<4xf32>, memref<4xf32>
  }
  %x = memref.load %r#0[%c0] : memref<4xf32>
  memref.store %x, %p[%c0] : memref<4xf32>
  return
}
