// A scan is a loop that starts at the second element and updates the tile; a reversed one counts
// from the end. A take reads at clamped positions.
// RUN: tile-opt %s --convert-tile-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @scan
// CHECK: scf.for %[[I:.*]] = %c1 to %c256 step %c1{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (tensor<256xf32>)
// CHECK: %[[BEFORE:.*]] = arith.subi %[[I]], %c1
// CHECK: %[[X:.*]] = tensor.extract %[[T]][%[[BEFORE]]]
// CHECK: %[[Y:.*]] = tensor.extract %[[T]][%[[I]]]
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK: tensor.insert %[[S]] into %[[T]][%[[I]]]
tile.kernel @scan
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<256xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.scan %a axis 0 : tensor<256xf32> -> tensor<256xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.addf %left, %right : f32
      tile.scan_yield %s : f32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xf32>, !tile.view<?xf32>
    tile.return
  }

// CHECK-LABEL: func.func @reversed
// CHECK: scf.for %[[I:.*]] = %c1
// CHECK: %[[HERE:.*]] = arith.subi %c255, %[[I]]
// CHECK: %[[BEHIND:.*]] = arith.subi %c256, %[[I]]
// CHECK: %[[X:.*]] = tensor.extract %{{.*}}[%[[BEHIND]]]
// CHECK: %[[Y:.*]] = tensor.extract %{{.*}}[%[[HERE]]]
// CHECK: arith.addf %[[Y]], %[[X]]
tile.kernel @reversed
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<256xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.scan %a axis 0 reverse : tensor<256xf32> -> tensor<256xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.addf %left, %right : f32
      tile.scan_yield %s : f32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xf32>, !tile.view<?xf32>
    tile.return
  }

// CHECK-LABEL: func.func @take
// CHECK: linalg.generic
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK: %[[LOW:.*]] = arith.maxsi %[[AT]], %c0
// CHECK: %[[IN:.*]] = arith.minsi %[[LOW]], %c255
// CHECK: tensor.extract %{{.*}}[%[[IN]]]
tile.kernel @take
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<256xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.take %a[%p] axis 0 : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xf32>, !tile.view<?xf32>
    tile.return
  }
