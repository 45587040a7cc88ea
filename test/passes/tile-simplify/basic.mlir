// RUN: tile-opt %s --tile-simplify --split-input-file | FileCheck %s

// CHECK-LABEL: func @permutes
// CHECK: %[[P:.*]] = tile.permute %arg0 {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
// CHECK: return %[[P]], %arg0
func.func @permutes(%t: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %a = tile.permute %t {permutation = array<i64: 1, 2, 0>} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %b = tile.permute %a {permutation = array<i64: 1, 2, 0>} : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  %c = tile.permute %a {permutation = array<i64: 2, 0, 1>} : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  return %b, %c : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: func @reshapes
// CHECK: %[[R:.*]] = tile.reshape %arg0 : tensor<2x6xf32> -> tensor<12x1xf32>
// CHECK: %[[B:.*]] = tile.broadcast %[[R]] : tensor<12x1xf32> -> tensor<3x12x5xf32>
// CHECK: return %[[B]], %arg0
func.func @reshapes(%t: tensor<2x6xf32>) -> (tensor<3x12x5xf32>, tensor<2x6xf32>) {
  %a = tile.reshape %t : tensor<2x6xf32> -> tensor<12xf32>
  %b = tile.reshape %a : tensor<12xf32> -> tensor<12x1xf32>
  %c = tile.broadcast %b : tensor<12x1xf32> -> tensor<12x5xf32>
  %d = tile.broadcast %c : tensor<12x5xf32> -> tensor<3x12x5xf32>
  %e = tile.reshape %a : tensor<12xf32> -> tensor<2x6xf32>
  return %d, %e : tensor<3x12x5xf32>, tensor<2x6xf32>
}

// -----

// CHECK-LABEL: func @splat
// CHECK: %[[S:.*]] = tensor.splat %arg0 : tensor<4x8xf32>
// CHECK: return %[[S]]
func.func @splat(%x: f32) -> tensor<4x8xf32> {
  %s = tensor.splat %x : tensor<4xf32>
  %r = tile.reshape %s : tensor<4xf32> -> tensor<4x1xf32>
  %b = tile.broadcast %r : tensor<4x1xf32> -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

// Masks that are known, and tile.inside of what is in bounds.
// CHECK-LABEL: func @masks
// CHECK: %[[Z:.*]] = arith.constant {{.*}}0.000000e+00
// CHECK: %[[A:.*]] = tile.load %arg0[%arg1] pad %{{[a-z0-9_]+}} : f32 {
// CHECK-NOT: tile.inside
// CHECK-NOT: tile.load
// CHECK: tile.store %[[A]], %arg0[%arg1] {
// CHECK-NOT: tile.store
// CHECK: return
func.func @masks(%v: !tile.view<?xf32>, %i: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %inside = tile.inside %v [%i] {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<8xi1>
  %no = arith.constant dense<false> : tensor<8xi1>
  %a = tile.load %v [%i] pad %zero : f32 mask %inside : tensor<8xi1> {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<8xf32>
  %b = tile.load %v [%i] pad %zero : f32 mask %no : tensor<8xi1> {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<8xf32>
  tile.store %a, %v [%i] mask %inside : tensor<8xi1> {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<8xf32>, !tile.view<?xf32>
  tile.store %b, %v [%i] mask %no : tensor<8xi1> {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<8xf32>, !tile.view<?xf32>
  return %b : tensor<8xf32>
}

// A table whose elements grow by one number is computed; of another one a comparison that gives the
// same for all its elements is decided.
// CHECK-LABEL: func @tables
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[P:.*]] = tile.iota %[[FOUR]] step -8 : tensor<4xindex>
// CHECK: %[[T:.*]] = arith.index_cast %[[P]] : tensor<4xindex> to tensor<4xi32>
// CHECK: %[[L:.*]] = tile.lookup
// CHECK: %[[B:.*]] = tile.broadcast
// CHECK: %[[S:.*]] = arith.cmpi ult, %[[B]]
// CHECK: return %[[T]], %[[TRUE:.*]], %[[S]]
func.func @tables(%k: tensor<2x3xi32>) -> (tensor<4xi32>, tensor<2x3xi1>, tensor<2x3xi1>) {
  %zero = arith.constant 0 : index
  %p = tile.iota %zero step 1 : tensor<4xindex>
  %t = tile.lookup %p in dense<[4, -4, -12, -20]> : tensor<4xi32> : tensor<4xindex> -> tensor<4xi32>
  %q = tile.iota %zero step 1 : tensor<3xindex>
  %l = tile.lookup %q in dense<[0, 16, 4]> : tensor<3xi32> : tensor<3xindex> -> tensor<3xi32>
  %b = tile.broadcast %l : tensor<3xi32> -> tensor<2x3xi32>
  %width = arith.constant dense<32> : tensor<2x3xi32>
  %all = arith.cmpi ult, %b, %width : tensor<2x3xi32>
  %ten = arith.constant dense<10> : tensor<2x3xi32>
  %some = arith.cmpi ult, %b, %ten : tensor<2x3xi32>
  return %t, %all, %some : tensor<4xi32>, tensor<2x3xi1>, tensor<2x3xi1>
}
