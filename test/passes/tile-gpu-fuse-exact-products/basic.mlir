// RUN: tile-opt %s --tile-gpu-fuse-exact-products | FileCheck %s

// A sum of 64 products of f16 is twice as large at most without leaving f32.
// CHECK-LABEL: func @distance
// CHECK-SAME: (%[[X:.*]]: tensor<64x64xf16>, %[[Y:.*]]: tensor<64x64xf16>, %[[N:.*]]: tensor<64x64xf32>)
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2.0
// CHECK: %[[D:.*]] = tile.dot
// CHECK-NOT: arith.mulf
// CHECK: %[[M:.*]] = arith.negf %[[TWO]]
// CHECK: %[[F:.*]] = math.fma %[[M]], %[[D]], %[[N]]
// CHECK: return %[[F]]
func.func @distance(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %n: tensor<64x64xf32>)
    -> tensor<64x64xf32> {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %two = arith.constant dense<2.0> : tensor<64x64xf32>
  %d = tile.dot %x, %y, %zero precision full : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %p = arith.mulf %two, %d : tensor<64x64xf32>
  %r = arith.subf %n, %p : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Not by 3, which rounds; not where the sum goes on from another one, or products are of bf16:
// these may be too large.
// CHECK-LABEL: func @rounded
// CHECK-COUNT-3: arith.mulf
// CHECK-NOT: math.fma
func.func @rounded(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %v: tensor<64x64xbf16>,
                   %w: tensor<64x64xbf16>, %n: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %two = arith.constant dense<2.0> : tensor<64x64xf32>
  %three = arith.constant dense<3.0> : tensor<64x64xf32>
  %d = tile.dot %x, %y, %zero precision full : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %e = tile.dot %x, %y, %n precision full : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
  %f = tile.dot %v, %w, %zero precision full : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %p = arith.mulf %three, %d : tensor<64x64xf32>
  %q = arith.mulf %two, %e : tensor<64x64xf32>
  %r = arith.mulf %two, %f : tensor<64x64xf32>
  %a = arith.addf %n, %p : tensor<64x64xf32>
  %b = arith.addf %n, %q : tensor<64x64xf32>
  %c = arith.addf %n, %r : tensor<64x64xf32>
  return %a, %b, %c : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// Products of numbers that were widened: 22 bits of f16's in f32, 48 of f32's in f64. A quarter of
// an f16 is one, too; two bits more of a constant are 24 in all, three are not.
// CHECK-LABEL: func @widened
// CHECK: math.fma %{{.*}} : f32
// CHECK: math.fma %{{.*}} : f64
// CHECK: math.fma %{{.*}} : f32
// CHECK: math.fma %{{.*}} : f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK-NOT: math.fma
func.func @widened(%x: f16, %y: f16, %v: f32, %w: f32, %c: f64) -> (f32, f64, f32, f32, f32) {
  %quarter = arith.constant 2.500000e-01 : f32
  %bits13 = arith.constant 4097.0 : f32
  %bits14 = arith.constant 8193.0 : f32
  %a = arith.extf %x : f16 to f32
  %b = arith.extf %y : f16 to f32
  %p = arith.mulf %a, %b : f32
  %r = arith.subf %p, %v : f32
  %d = arith.extf %v : f32 to f64
  %e = arith.extf %w : f32 to f64
  %q = arith.mulf %d, %e : f64
  %s = arith.addf %q, %c : f64
  %t = arith.mulf %a, %quarter : f32
  %u = arith.addf %v, %t : f32
  %f = arith.mulf %a, %bits13 : f32
  %g = arith.addf %v, %f : f32
  %h = arith.mulf %a, %bits14 : f32
  %i = arith.addf %v, %h : f32
  return %r, %s, %u, %g, %i : f32, f64, f32, f32, f32
}

// A product with another use is computed anyway; one that is added to itself is no term.
// CHECK-LABEL: func @others
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT: math.fma
func.func @others(%x: f16, %v: f32) -> (f32, f32, f32) {
  %a = arith.extf %x : f16 to f32
  %p = arith.mulf %a, %a : f32
  %r = arith.addf %p, %v : f32
  %b = arith.negf %a : f32
  %q = arith.mulf %a, %b : f32
  %s = arith.addf %q, %q : f32
  return %p, %r, %s : f32, f32, f32
}

// Sums by tile.reduce are marked; extrema are none.
// CHECK-LABEL: func @sums
// CHECK: arith.mulf %{{.*}} fastmath<contract>
// CHECK: tile.reduce sum %{{.*}} {tile_gpu.exact_products}
// CHECK: arith.mulf %{{.*}} : tensor<4x64xf32>
// CHECK: tile.reduce max %{{.*}} axis 1 : tensor
func.func @sums(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = arith.extf %x : tensor<4x64xf16> to tensor<4x64xf32>
  %b = arith.extf %y : tensor<4x64xf16> to tensor<4x64xf32>
  %p = arith.mulf %a, %a : tensor<4x64xf32>
  %s = tile.reduce sum %p axis 1 : tensor<4x64xf32> -> tensor<4xf32>
  %q = arith.mulf %a, %b : tensor<4x64xf32>
  %m = tile.reduce max %q axis 1 : tensor<4x64xf32> -> tensor<4xf32>
  return %s, %m : tensor<4xf32>, tensor<4xf32>
}
