// A chain of operations is one loop nest; what a loop would repeat stays outside it.
// RUN: tile-opt %s \
// RUN:   --pass-pipeline='builtin.module(func.func(tile-cpu-fuse-elementwise,canonicalize,cse))' \
// RUN:   | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.addf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @chain(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %a = arith.addf %x, %y : tensor<8xf32>
  %b = math.exp %a : tensor<8xf32>
  %c = arith.mulf %b, %half : tensor<8xf32>
  return %c : tensor<8xf32>
}

// CHECK-LABEL: func.func @invariant
// CHECK: math.exp
// CHECK: scf.for
// CHECK: arith.addf
func.func @invariant(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = math.exp %x : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<8xf32> {
    %t = arith.addf %s, %e : tensor<8xf32>
    scf.yield %t : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
