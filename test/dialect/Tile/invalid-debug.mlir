// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @print(%x: tensor<4xf16>) {
  // expected-error @+1 {{prints i64, index, f32 and f64, found 'f16'}}
  tile.print "%g" position 0 shape [4] (%x : tensor<4xf16>)
  return
}

// -----

func.func @print(%x: tensor<4xf32>) {
  // expected-error @+1 {{prints tiles of rank 2, found 'tensor<4xf32>'}}
  tile.print "%g" position 0 shape [4, 4] (%x : tensor<4xf32>)
  return
}

// -----

func.func @print(%x: f32) {
  // expected-error @+1 {{has 1 values, so no position 2}}
  tile.print "%g" position 2 shape [] (%x : f32)
  return
}
