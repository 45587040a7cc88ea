// RUN: tile-opt %s -o %t.before && tile-opt %s --tile-simplify -o %t.after && \
// RUN:   diff %t.before %t.after

// A run-time mask, an access that may leave the view, and single moves stay as they are.
func.func @stays(%v: !tile.view<?xf32>, %i: index, %mask: tensor<8xi1>, %pad: f32) -> (tensor<2x4xf32>, tensor<8xi1>) {
  %a = tile.load %v [%i] pad %pad : f32 mask %mask : tensor<8xi1> {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<8xf32>
  %b = tile.inside %v [%i] {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<8xi1>
  %c = tile.reshape %a : tensor<8xf32> -> tensor<4x2xf32>
  %d = tile.permute %c {permutation = array<i64: 1, 0>} : tensor<4x2xf32> -> tensor<2x4xf32>
  return %d, %b : tensor<2x4xf32>, tensor<8xi1>
}
