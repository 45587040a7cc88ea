// RUN: tile-opt %s --tile-gpu-defer-reductions --split-input-file | FileCheck %s

// A running maximum and the sum that follows it: one of each for a thread (4 warps, as asked for),
// joined after the loop.
// CHECK-LABEL: tile.kernel @online
// CHECK-DAG: %[[TOP0:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK-DAG: %[[DEN0:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[DEN:.*]] = %{{.*}}, %[[TOP:.*]] = %{{.*}}) -> (tensor<128xf32>, tensor<128xf32>)
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<2048xf16>
// CHECK: %[[D:.*]] = tile.reshape %[[X]] : tensor<2048xf16> -> tensor<2x128x8xf16>
// CHECK: %[[W:.*]] = arith.extf %[[D]]
// CHECK: %[[M2:.*]] = tile.reduce max %[[W]] axis 2 : tensor<2x128x8xf32> -> tensor<2x128xf32>
// CHECK: %[[M1:.*]] = tile.reduce max %[[M2]] axis 0 : tensor<2x128xf32> -> tensor<128xf32>
// CHECK: %[[T:.*]] = arith.maximumf %[[TOP]], %[[M1]]
// CHECK: %[[C:.*]] = arith.subf %[[TOP]], %[[T]]
// CHECK: %[[F:.*]] = math.exp %[[C]]
// CHECK: %[[S:.*]] = arith.mulf %[[DEN]], %[[F]]
// CHECK: tile.broadcast
// CHECK: %[[E:.*]] = math.exp %{{.*}} : tensor<2x128x8xf32>
// CHECK: tile.reduce sum %[[E]] axis 2
// CHECK: %[[P:.*]] = tile.reduce sum %{{.*}} axis 0
// CHECK: %[[N:.*]] = arith.addf %[[S]], %[[P]]
// CHECK: scf.yield %[[N]], %[[T]]
// CHECK: %[[ALL:.*]] = tile.reduce max %[[R]]#1 : tensor<128xf32> -> f32
// CHECK: %[[SPLAT:.*]] = tensor.splat %[[ALL]]
// CHECK: %[[CS:.*]] = arith.subf %[[R]]#1, %[[SPLAT]]
// CHECK: %[[FS:.*]] = math.exp %[[CS]]
// CHECK: %[[LINE:.*]] = arith.mulf %[[R]]#0, %[[FS]]
// CHECK: %[[C0:.*]] = arith.subf %[[TOP0]], %[[ALL]]
// CHECK: %[[F0:.*]] = math.exp %[[C0]]
// CHECK: %[[S0:.*]] = arith.mulf %[[DEN0]], %[[F0]]
// CHECK: %[[SUM:.*]] = tile.reduce sum %[[LINE]] : tensor<128xf32> -> f32
// CHECK: %[[OUT:.*]] = arith.addf %[[S0]], %[[SUM]]
// CHECK: tile.store %[[OUT]]
// CHECK: tile.store %[[ALL]]
#N = #tile.dim<"N", 1, 1048576, opt = 64, multiple_of = 1>
tile.kernel @online
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  attributes {tile.num_warps = 4 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c2048 = arith.constant 2048 : index
    %minus = arith.constant 0xFC00 : f16
    %lowest = arith.constant -3.40282347E+38 : f32
    %half = arith.constant 0.5 : f32
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f16> -> !tile.view<?xf16>
    %yv = tile.view %y[%c2] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r:2 = scf.for %i = %c0 to %N step %c2048 iter_args(%den = %half, %top = %lowest) -> (f32, f32) {
      %a = tile.load %xv[%i] pad %minus : f16 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf16> -> tensor<2048xf16>
      %w = arith.extf %a : tensor<2048xf16> to tensor<2048xf32>
      %m = tile.reduce max %w : tensor<2048xf32> -> f32
      %t = arith.maximumf %top, %m : f32
      %c = arith.subf %top, %t fastmath<reassoc> : f32
      %f = math.exp %c fastmath<reassoc> : f32
      %s = arith.mulf %den, %f fastmath<reassoc> : f32
      %b = tensor.splat %t : tensor<2048xf32>
      %d = arith.subf %w, %b fastmath<reassoc> : tensor<2048xf32>
      %e = math.exp %d fastmath<reassoc> : tensor<2048xf32>
      %p = tile.reduce sum %e : tensor<2048xf32> -> f32
      %n = arith.addf %s, %p fastmath<reassoc> : f32
      scf.yield %n, %t : f32, f32
    }
    tile.store %r#0, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    tile.store %r#1, %yv[%c1] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    tile.return
  }

// -----

// A plain sum; not without the flag, not where the loop's body looks at the sum, not from -inf.
#N = #tile.dim<"N", 1, 1048576, opt = 64, multiple_of = 1>
// CHECK-LABEL: tile.kernel @sums
// CHECK: scf.for {{.*}} -> (tensor<128xf32>)
// CHECK: tile.reduce sum %{{.*}} : tensor<128xf32> -> f32
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK-NOT: tensor<128xf32>
// CHECK: tile.return
tile.kernel @sums
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  attributes {tile.num_warps = 4 : i64} grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2048 = arith.constant 2048 : index
    %zero = arith.constant 0.0 : f32
    %minus = arith.constant 0xFF800000 : f32
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r = scf.for %i = %c0 to %N step %c2048 iter_args(%s = %zero) -> (f32) {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<2048xf32>
      %p = tile.reduce sum %a : tensor<2048xf32> -> f32
      %n = arith.addf %s, %p fastmath<reassoc> : f32
      scf.yield %n : f32
    }
    %strict = scf.for %i = %c0 to %N step %c2048 iter_args(%s = %zero) -> (f32) {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<2048xf32>
      %p = tile.reduce sum %a : tensor<2048xf32> -> f32
      %n = arith.addf %s, %p : f32
      scf.yield %n : f32
    }
    %seen:2 = scf.for %i = %c0 to %N step %c2048 iter_args(%s = %zero, %o = %zero) -> (f32, f32) {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<2048xf32>
      %p = tile.reduce sum %a : tensor<2048xf32> -> f32
      %n = arith.addf %s, %p fastmath<reassoc> : f32
      %q = arith.mulf %n, %n : f32
      scf.yield %n, %q : f32, f32
    }
    %infinite:2 = scf.for %i = %c0 to %N step %c2048 iter_args(%s = %zero, %top = %minus) -> (f32, f32) {
      %a = tile.load %xv[%i] pad %minus : f32 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<2048xf32>
      %m = tile.reduce max %a : tensor<2048xf32> -> f32
      %t = arith.maximumf %top, %m : f32
      %c = arith.subf %top, %t fastmath<reassoc> : f32
      %f = math.exp %c fastmath<reassoc> : f32
      %u = arith.mulf %s, %f fastmath<reassoc> : f32
      %b = tensor.splat %t : tensor<2048xf32>
      %d = arith.subf %a, %b fastmath<reassoc> : tensor<2048xf32>
      %e = math.exp %d fastmath<reassoc> : tensor<2048xf32>
      %p = tile.reduce sum %e : tensor<2048xf32> -> f32
      %n = arith.addf %u, %p fastmath<reassoc> : f32
      scf.yield %n, %t : f32, f32
    }
    %all = arith.addf %r, %strict : f32
    %more = arith.addf %seen#0, %seen#1 : f32
    %last = arith.addf %infinite#0, %infinite#1 : f32
    %x0 = arith.addf %all, %more : f32
    %x1 = arith.addf %x0, %last : f32
    tile.store %x1, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : f32, !tile.view<?xf32>
    tile.return
  }

// -----

// What is computed from 16-bit elements is dealt as they are loaded, eight at a time: nothing moves
// between threads.
#N = #tile.dim<"N", 1, 1048576, opt = 64, multiple_of = 1>
// CHECK-LABEL: tile.kernel @squares
// CHECK: scf.for {{.*}} -> (tensor<128xf32>)
// CHECK: %[[D:.*]] = tile.reshape %{{.*}} : tensor<2048xf32> -> tensor<2x128x8xf32>
// CHECK: tile.reduce sum %[[D]] axis 2
tile.kernel @squares
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  attributes {tile.num_warps = 4 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2048 = arith.constant 2048 : index
    %none = arith.constant 0.0 : f16
    %zero = arith.constant 0.0 : f32
    %mean = arith.constant dense<0.5> : tensor<2048xf32>
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f16> -> !tile.view<?xf16>
    %yv = tile.view %y[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r = scf.for %i = %c0 to %N step %c2048 iter_args(%s = %zero) -> (f32) {
      %a = tile.load %xv[%i] pad %none : f16 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf16> -> tensor<2048xf16>
      %w = arith.extf %a : tensor<2048xf16> to tensor<2048xf32>
      %d = arith.subf %w, %mean : tensor<2048xf32>
      %q = arith.mulf %d, %d : tensor<2048xf32>
      %p = tile.reduce sum %q : tensor<2048xf32> -> f32
      %n = arith.addf %s, %p fastmath<reassoc> : f32
      scf.yield %n : f32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : f32, !tile.view<?xf32>
    tile.return
  }
