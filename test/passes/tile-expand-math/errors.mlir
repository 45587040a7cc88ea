// RUN: tile-opt %s --tile-expand-math --split-input-file --verify-diagnostics
// RUN: not tile-opt %s --tile-expand-math=processor=tpu 2>&1 | FileCheck %s
// CHECK: expected processor 'cpu' or 'gpu', found 'tpu'

func.func @unknown(%x: f32) -> f32 {
  // expected-error @below {{has no expansion and no instruction on the targets}}
  %0 = math.atan %x : f32
  return %0 : f32
}

// -----

func.func @tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is expanded on scalars and vectors, found 'tensor<4xf32>'}}
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @type(%x: f128) -> f128 {
  // expected-error @below {{is expanded for f16, bf16, f32 and f64, found 'f128'}}
  %0 = math.log %x : f128
  return %0 : f128
}
