// RUN: tile-opt %s --tile-gpu-eliminate-redundant-loads | FileCheck %s

#N = #tile.dim<"N", 1, 1048576, opt = 64, multiple_of = 1>
#L = #tile.dim<"L", 1, 1048576, opt = 64, multiple_of = 1>

// The second load takes the first one's value, paddings apart: where they differ is not stored.
// CHECK-LABEL: tile.kernel @hidden
// CHECK: %[[A:.*]] = tile.load
// CHECK: tile.reduce max %[[A]]
// CHECK-NOT: tile.load
// CHECK: %[[E:.*]] = arith.subf %[[A]],
// CHECK: tile.store %[[E]],
tile.kernel @hidden
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %minus = arith.constant 0xFF800000 : f32
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %minus : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %m = tile.reduce max %a : tensor<64xf32> -> f32
    %s = tensor.splat %m : tensor<64xf32>
    %b = tile.load %xv[%c0] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %d = arith.subf %b, %s : tensor<64xf32>
    tile.store %d, %yv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }

// Padding that a reduction sees, or that a longer tensor would store, keeps its load.
// CHECK-LABEL: tile.kernel @seen
// CHECK-COUNT-3: tile.load
tile.kernel @seen
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N, #L] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %minus = arith.constant 0xFF800000 : f32
    %N = tile.dim #N
    %L = tile.dim #L
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%L] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %minus : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %m = tile.reduce max %a : tensor<64xf32> -> f32
    %b = tile.load %xv[%c0] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %t = tile.reduce sum %b : tensor<64xf32> -> f32
    %c = tile.load %xv[%c0] pad %one : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %n = arith.mulf %m, %t : f32
    %s = tensor.splat %n : tensor<64xf32>
    %d = arith.subf %c, %s : tensor<64xf32>
    tile.store %d, %yv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }

// Memory that the kernel writes is read again.
// CHECK-LABEL: tile.kernel @written
// CHECK-COUNT-2: tile.load
tile.kernel @written
  params [#tile.param<"x", inout, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %d = arith.addf %a, %a : tensor<64xf32>
    tile.store %d, %xv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    %b = tile.load %xv[%c0] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    tile.store %b, %xv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }
