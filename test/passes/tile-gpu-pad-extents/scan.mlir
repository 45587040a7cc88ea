// What is padded comes behind a scan, so only a reversed one masks it; positions of a take stay
// within the old extent.
// RUN: tile-opt %s --tile-gpu-pad-extents --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @forward
// CHECK-NOT: arith.select
// CHECK: tile.scan %{{.*}} axis 0 : tensor<128xf32>
tile.kernel @forward
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 100 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<100xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<100xi32>
    %r = tile.scan %a axis 0 : tensor<100xf32> -> tensor<100xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.addf %left, %right : f32
      tile.scan_yield %s : f32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<100xf32>, !tile.view<?xf32>
    tile.return
  }

// CHECK-LABEL: tile.kernel @reversed
// CHECK: %[[FILL:.*]] = arith.constant dense<0x7F800000> : tensor<128xf32>
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[FILL]]
// CHECK: tile.scan %[[MASKED]] axis 0 reverse : tensor<128xf32>
tile.kernel @reversed
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 100 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<100xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<100xi32>
    %r = tile.scan %a axis 0 reverse : tensor<100xf32> -> tensor<100xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.minimumf %left, %right : f32
      tile.scan_yield %s : f32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<100xf32>, !tile.view<?xf32>
    tile.return
  }

// CHECK-LABEL: tile.kernel @take
// CHECK: %[[LAST:.*]] = arith.constant dense<99> : tensor<128xi32>
// CHECK: %[[AT:.*]] = arith.minsi %{{.*}}, %[[LAST]] : tensor<128xi32>
// CHECK: tile.take %{{.*}}[%[[AT]]]
tile.kernel @take
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 100 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<100xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<100xi32>
    %r = tile.take %a[%p] axis 0 : tensor<100xf32>, tensor<100xi32> -> tensor<100xf32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<100xf32>, !tile.view<?xf32>
    tile.return
  }

// -----

// A function of which nothing is known is told which operands exist.
// CHECK-LABEL: tile.kernel @unknown
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}} : tensor<128xindex>
// CHECK: tile.scan %{{.*}}, %[[INSIDE]] axis 0 reverse : tensor<128xf32>, tensor<128xi1> -> tensor<128xf32>, tensor<128xi1> {
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[LEFT:.*]]: i1, %[[R:.*]]: f32, %[[RIGHT:.*]]: i1):
// CHECK-NEXT: arith.addf %[[L]], %[[R]]
// CHECK-NEXT: %[[F:.*]] = arith.mulf
// CHECK-NEXT: %[[BOTH:.*]] = arith.select %[[LEFT]], %[[F]], %[[R]] : f32
// CHECK-NEXT: %[[S:.*]] = arith.select %[[RIGHT]], %[[BOTH]], %[[L]] : f32
// CHECK-NEXT: %[[ANY:.*]] = arith.ori %[[LEFT]], %[[RIGHT]] : i1
// CHECK-NEXT: tile.scan_yield %[[S]], %[[ANY]] : f32, i1
tile.kernel @unknown
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 100 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<100xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<100xi32>
    %r = tile.scan %a axis 0 reverse : tensor<100xf32> -> tensor<100xf32> {
    ^bb0(%left: f32, %right: f32):
      %t = arith.addf %left, %right : f32
      %s = arith.mulf %t, %right : f32
      tile.scan_yield %s : f32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: 100>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<100xf32>, !tile.view<?xf32>
    tile.return
  }
