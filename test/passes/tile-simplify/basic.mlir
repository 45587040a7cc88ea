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

// -----

// What a narrow float holds without rounding becomes a wide one at once.
// CHECK-LABEL: func @widened
// CHECK: %[[A:.*]] = arith.uitofp %arg0 : tensor<2x8xi4> to tensor<2x8xf32>
// CHECK: %[[B:.*]] = tile.reshape %[[A]] : tensor<2x8xf32> -> tensor<4x4xf32>
// CHECK: %[[C:.*]] = arith.sitofp %arg1 : tensor<8xi8> to tensor<8xf32>
// CHECK: %[[D:.*]] = arith.sitofp %arg2 : i8 to f64
// CHECK: return %[[B]], %[[C]], %[[D]]
func.func @widened(%w: tensor<2x8xi4>, %b: tensor<8xi8>, %s: i8) -> (tensor<4x4xf32>, tensor<8xf32>, f64) {
  %0 = arith.uitofp %w : tensor<2x8xi4> to tensor<2x8xbf16>
  %1 = tile.reshape %0 : tensor<2x8xbf16> -> tensor<4x4xbf16>
  %2 = arith.extf %1 : tensor<4x4xbf16> to tensor<4x4xf32>
  %3 = arith.sitofp %b : tensor<8xi8> to tensor<8xbf16>
  %4 = arith.extf %3 : tensor<8xbf16> to tensor<8xf32>
  %5 = arith.sitofp %s : i8 to f16
  %6 = arith.extf %5 : f16 to f64
  return %2, %4, %6 : tensor<4x4xf32>, tensor<8xf32>, f64
}

// -----

// bf16 rounds integers of more than 8 bits, f16 those of more than 11; and a float that is used
// beside stays.
// CHECK-LABEL: func @rounded
// CHECK: arith.uitofp %arg0 : tensor<8xi16> to tensor<8xbf16>
// CHECK: arith.sitofp %arg0 : tensor<8xi16> to tensor<8xf16>
// CHECK: %[[A:.*]] = arith.uitofp %arg1 : tensor<8xi4> to tensor<8xf16>
// CHECK: arith.extf %[[A]]
func.func @rounded(%w: tensor<8xi16>, %v: tensor<8xi4>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>) {
  %0 = arith.uitofp %w : tensor<8xi16> to tensor<8xbf16>
  %1 = arith.extf %0 : tensor<8xbf16> to tensor<8xf32>
  %2 = arith.sitofp %w : tensor<8xi16> to tensor<8xf16>
  %3 = arith.extf %2 : tensor<8xf16> to tensor<8xf32>
  %4 = arith.uitofp %v : tensor<8xi4> to tensor<8xf16>
  %5 = arith.extf %4 : tensor<8xf16> to tensor<8xf32>
  return %1, %3, %5, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>
}

// -----

// Every third of a line of positions is such a line; one of them is a number.
// CHECK-LABEL: func @positions
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[S:.*]] = arith.addi %arg0, %[[C6]] : index
// CHECK: %[[L:.*]] = tile.iota %[[S]] step 6 : tensor<4xindex>
// CHECK: %[[D:.*]] = arith.muli %arg1, %[[C2]] : index
// CHECK: %[[P:.*]] = arith.addi %arg0, %[[D]] : index
// CHECK: return %[[L]], %[[P]]
func.func @positions(%from: index, %i: index) -> (tensor<4xindex>, index) {
  %l = tile.iota %from step 2 : tensor<16xindex>
  %s = tensor.extract_slice %l[3] [4] [3] : tensor<16xindex> to tensor<4xindex>
  %p = tensor.extract %l[%i] : tensor<16xindex>
  return %s, %p : tensor<4xindex>, index
}
