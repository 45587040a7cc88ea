// Accesses with tiles of positions and atomics: round trip, and what the verifier refuses.
// RUN: tile-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @roundTrip
func.func @roundTrip(%v: !tile.view<?x?xf16>, %c: !tile.view<i32>, %u: !tile.view<?xi32>, %p: tensor<8x64xindex>, %q: tensor<8xindex>, %m: tensor<8x64xi1>, %i: index) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f16
  %one = arith.constant 1 : i32
  %ones = arith.constant dense<1> : tensor<8xi32>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] ends[%{{.*}}] at[%{{.*}} : tensor<8x64xindex>] pad %{{.*}} : f16 mask %{{.*}} : tensor<8x64xi1>
  %t = tile.gather %v[%c0, %i] ends[%i] at[%p : tensor<8x64xindex>] pad %pad : f16 mask %m : tensor<8x64xi1>
    {sizes = array<i64: -2, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, true>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<8x64xf16>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] at[%{{.*}}, %{{.*}} : tensor<8x64xindex>, tensor<8x64xindex>]
  tile.scatter %t, %v[%c0, %c0] at[%p, %p : tensor<8x64xindex>, tensor<8x64xindex>]
    {sizes = array<i64: -2, -2>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<8x64xf16>, !tile.view<?x?xf16>
  // CHECK: tile.atomic add acq_rel gpu %{{.*}}, %{{.*}}[]
  %old = tile.atomic add acq_rel gpu %one, %c[] {sizes = array<i64>, steps = array<i64>, has_end = array<i1>, in_bounds = array<i1>} : i32, !tile.view<i32>
  // CHECK: tile.atomic cas relaxed system %{{.*}}, %{{.*}}[%{{.*}}] at[%{{.*}} : tensor<8xindex>] expected %{{.*}} : tensor<8xi32>
  %was = tile.atomic cas relaxed system %ones, %u[%c0] at[%q : tensor<8xindex>] expected %ones : tensor<8xi32>
    {sizes = array<i64: -2>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<8xi32>, !tile.view<?xi32>
  return
}

// -----

func.func @count(%v: !tile.view<?x?xf16>, %p: tensor<8x64xindex>, %pad: f16) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{needs 2 tiles of positions, found 1}}
  %t = tile.gather %v[%c0, %c0] at[%p : tensor<8x64xindex>] pad %pad : f16
    {sizes = array<i64: -2, -2>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<8x64xf16>
  return
}

// -----

func.func @shape(%v: !tile.view<?x?xf16>, %p: tensor<8x1xindex>, %pad: f16) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{needs positions of the tile's shape, found 'tensor<8x1xindex>' for 'tensor<8x64xf16>'}}
  %t = tile.gather %v[%c0, %c0] at[%p : tensor<8x1xindex>] pad %pad : f16
    {sizes = array<i64: -2, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<8x64xf16>
  return
}

// -----

func.func @range(%v: !tile.view<?x?xf16>, %p: tensor<8x64xindex>, %pad: f16) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{dimension 1 has 32 positions, found 'tensor<8x64xf16>'}}
  %t = tile.gather %v[%c0, %c0] at[%p : tensor<8x64xindex>] pad %pad : f16
    {sizes = array<i64: -2, 32>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<8x64xf16>
  return
}

// -----

func.func @proof(%v: !tile.view<?xf16>, %p: tensor<8xindex>, %t: tensor<8xf16>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{dimension 0 is given by a tile and has no end, step or proof}}
  tile.scatter %t, %v[%c0] at[%p : tensor<8xindex>]
    {sizes = array<i64: -2>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<8xf16>, !tile.view<?xf16>
  return
}

// -----

func.func @load(%v: !tile.view<?xf16>, %pad: f16) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{accesses a tile of shape [-2], found 'tensor<8xf16>'}}
  %t = tile.load %v[%c0] pad %pad : f16
    {sizes = array<i64: -2>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf16> -> tensor<8xf16>
  return
}

// -----

func.func @expected(%v: !tile.view<i32>, %x: i32) {
  // expected-error @+1 {{needs an expected value}}
  %old = tile.atomic cas relaxed gpu %x, %v[] {sizes = array<i64>, steps = array<i64>, has_end = array<i1>, in_bounds = array<i1>} : i32, !tile.view<i32>
  return
}

// -----

func.func @dtype(%v: !tile.view<f16>, %x: f16) {
  // expected-error @+1 {{max is not for elements of type 'f16'}}
  %old = tile.atomic max relaxed gpu %x, %v[] {sizes = array<i64>, steps = array<i64>, has_end = array<i1>, in_bounds = array<i1>} : f16, !tile.view<f16>
  return
}
