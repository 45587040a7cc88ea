// RUN: tile-opt %s | tile-opt | FileCheck %s

// Every operation, printed and read again.
// CHECK-LABEL: tile.kernel @all
// CHECK-SAME: params [#tile.param<"x", in, align = 16>, #tile.param<"y", inout, align = 4>, #tile.param<"s", scalar, align = 1>]
// CHECK-SAME: dims [#tile.dim<"M", 1, 64, opt = 8, multiple_of = 2>, #tile.dim<"s.stride", 0, 1024, opt = 8, multiple_of = 1>]
// CHECK-SAME: constexprs [#tile.constexpr<"BM", 16 : i64>, #tile.constexpr<"T", f32>, #tile.constexpr<"ACT", "gelu">]
tile.kernel @all
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", inout, align = 4>, #tile.param<"s", scalar, align = 1>]
  dims [#tile.dim<"M", 1, 64, opt = 8, multiple_of = 2>, #tile.dim<"s.stride", 0, 1024, opt = 8, multiple_of = 1>]
  constexprs [#tile.constexpr<"BM", 16 : i64>, #tile.constexpr<"T", f32>, #tile.constexpr<"ACT", "gelu">]
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %s: f32):
    // CHECK: %[[M:.*]] = tile.dim <"M", 1, 64, opt = 8, multiple_of = 2>
    %m = tile.dim #tile.dim<"M", 1, 64, opt = 8, multiple_of = 2>
    // CHECK: tile.yield %[[M]], %[[M]] : index, index
    tile.yield %m, %m : index, index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %s: f32):
    %m = tile.dim #tile.dim<"M", 1, 64, opt = 8, multiple_of = 2>
    %c1 = arith.constant 1 : index
    // CHECK: tile.program_id 0
    // CHECK: tile.program_id 1
    %i = tile.program_id 0
    %j = tile.program_id 1
    // CHECK: tile.view %{{.*}}[%{{.*}}, %{{.*}}] strides[%{{.*}}, %{{.*}}] : <f32> -> <?x16xf32>
    %v = tile.view %x[%m, %m] strides [%m, %c1] : !tile.ptr<f32> -> !tile.view<?x16xf32>
    // CHECK: tile.permute_view %{{.*}} {permutation = array<i64: 1, 0>} : <?x16xf32> -> <16x?xf32>
    %p = tile.permute_view %v {permutation = array<i64: 1, 0>} : !tile.view<?x16xf32> -> !tile.view<16x?xf32>
    // CHECK: tile.subview %{{.*}} indices[%{{.*}}] lows[%{{.*}}] highs[%{{.*}}] {kinds = array<i32: 0, 2>} : <?x16xf32> -> <?xf32>
    %r = tile.subview %v indices [%i] lows [%c1] highs [%m] {kinds = array<i32: 0, 2>} : !tile.view<?x16xf32> -> !tile.view<?xf32>
    // CHECK: tile.extent %{{.*}} 0 : <?x16xf32>
    %e = tile.extent %v 0 : !tile.view<?x16xf32>
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] ends[%{{.*}}] pad %{{.*}} : f32 {{.*}} : <?x16xf32> -> tensor<16x8xf32>
    %a = tile.load %v[%i, %j] ends [%e] pad %s : f32 {sizes = array<i64: 16, 8>, steps = array<i64: 1, 2>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : !tile.view<?x16xf32> -> tensor<16x8xf32>
    // CHECK: tile.load %{{.*}}[%{{.*}}] pad %{{.*}} : f32 {{.*}} -> f32
    %one = tile.load %r[%j] pad %s : f32 {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> f32
    // CHECK: tile.inside %{{.*}}[%{{.*}}, %{{.*}}] {{.*}} -> tensor<16x8xi1>
    %in = tile.inside %v[%i, %j] {sizes = array<i64: 16, 8>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x16xf32> -> tensor<16x8xi1>
    // CHECK: tile.iota %{{.*}} step 2 : tensor<8xindex>
    %pos = tile.iota %j step 2 : tensor<8xindex>
    // CHECK: tile.reduce max %{{.*}} axis 1 : tensor<16x8xf32> -> tensor<16xf32>
    %max = tile.reduce max %a axis 1 : tensor<16x8xf32> -> tensor<16xf32>
    // CHECK: tile.reduce sum %{{.*}} : tensor<16x8xf32> -> f32
    %sum = tile.reduce sum %a : tensor<16x8xf32> -> f32
    // CHECK: tile.arg_reduce argmin %{{.*}} axis 0 : tensor<16x8xf32> -> tensor<8xindex>
    %arg = tile.arg_reduce argmin %a axis 0 : tensor<16x8xf32> -> tensor<8xindex>
    // CHECK: tile.reshape %{{.*}} : tensor<16xf32> -> tensor<16x1xf32>
    %column = tile.reshape %max : tensor<16xf32> -> tensor<16x1xf32>
    // CHECK: tile.broadcast %{{.*}} : tensor<16x1xf32> -> tensor<16x8xf32>
    %wide = tile.broadcast %column : tensor<16x1xf32> -> tensor<16x8xf32>
    // CHECK: tile.permute %{{.*}} {permutation = array<i64: 1, 0>} : tensor<16x8xf32> -> tensor<8x16xf32>
    %t = tile.permute %wide {permutation = array<i64: 1, 0>} : tensor<16x8xf32> -> tensor<8x16xf32>
    // CHECK: tile.scan %{{.*}} axis 1 reverse : tensor<16x8xf32> -> tensor<16x8xf32> {
    // CHECK: tile.scan_yield %{{.*}} : f32
    %prefix = tile.scan %a axis 1 reverse : tensor<16x8xf32> -> tensor<16x8xf32> {
    ^bb0(%left: f32, %right: f32):
      %both = arith.addf %left, %right : f32
      tile.scan_yield %both : f32
    }
    // CHECK: tile.take %{{.*}}[%{{.*}}] axis 0 : tensor<16x8xf32>, index -> tensor<8xf32>
    %row = tile.take %a[%i] axis 0 : tensor<16x8xf32>, index -> tensor<8xf32>
    // CHECK: tile.take %{{.*}}[%{{.*}}] axis 0 : tensor<8xf32>, tensor<8xindex> -> tensor<8xf32>
    %picked = tile.take %row[%pos] axis 0 : tensor<8xf32>, tensor<8xindex> -> tensor<8xf32>
    // CHECK: tile.merge_parts %{{.*}} : tensor<16x8xf32> -> tensor<16x8xf32> {
    // CHECK: tile.merge_yield %{{.*}} : tensor<16x8xf32>
    %merged = tile.merge_parts %a : tensor<16x8xf32> -> tensor<16x8xf32> {
    ^bb0(%earlier: tensor<16x8xf32>, %later: tensor<16x8xf32>):
      %most = arith.maximumf %earlier, %later : tensor<16x8xf32>
      tile.merge_yield %most : tensor<16x8xf32>
    }
    // CHECK: tile.reduce_by %{{.*}} axis 0 : tensor<16x8xf32> -> tensor<8xf32> {
    // CHECK: tile.scan_yield %{{.*}} : f32
    %combined = tile.reduce_by %a axis 0 : tensor<16x8xf32> -> tensor<8xf32> {
    ^bb0(%low: f32, %high: f32):
      %larger = arith.maximumf %low, %high : f32
      tile.scan_yield %larger : f32
    }
    // CHECK: tile.sort %{{.*}} axis 1 : tensor<4x8xi64> -> tensor<4x8xi64>
    %keys = arith.constant dense<0> : tensor<4x8xi64>
    %sorted = tile.sort %keys axis 1 : tensor<4x8xi64> -> tensor<4x8xi64>
    // CHECK: tile.sort %{{.*}} axis 1 first 3 : tensor<4x8xi64> -> tensor<4x8xi64>
    %smallest = tile.sort %keys axis 1 first 3 : tensor<4x8xi64> -> tensor<4x8xi64>
    // CHECK: tile.lookup %{{.*}} in dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32> : index -> f32
    %found = tile.lookup %i in dense<[1.5, -2.0]> : tensor<2xf32> : index -> f32
    %seed = arith.constant dense<7> : tensor<8xi64>
    // CHECK: tile.random_bits %{{.*}}, %{{.*}} : tensor<8xi64>, tensor<8xi64> -> tensor<8xi32>
    %words = tile.random_bits %seed, %seed : tensor<8xi64>, tensor<8xi64> -> tensor<8xi32>
    // CHECK: tile.histogram %{{.*}} : tensor<16xi32> -> tensor<10xi32>
    %bytes = arith.constant dense<0> : tensor<16xi32>
    %counts = tile.histogram %bytes : tensor<16xi32> -> tensor<10xi32>
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} precision tf32 : tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x16xf32>
    %d = tile.dot %a, %t, %zero precision tf32 : tensor<16x8xf32>, tensor<8x16xf32>, tensor<16x16xf32>
    // CHECK: tile.print "x is %.7g at %lld\0A" position 0 shape [16, 8](%{{.*}}, %{{.*}} : tensor<16x8xf32>, index)
    tile.print "x is %.7g at %lld\0A" position 0 shape [16, 8] (%a, %i : tensor<16x8xf32>, index)
    // CHECK: tile.print "here\0A" position 0 shape []
    tile.print "here\0A" position 0 shape []
    %holds = arith.constant true
    // CHECK: tile.assert %{{.*}}, "must hold" at "k.tile" 6
    tile.assert %holds, "must hold" at "k.tile" 6
    // CHECK: tile.ptx "tanh.approx.f32 $0, $1;"(%{{.*}}) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %h = tile.ptx "tanh.approx.f32 $0, $1;"(%a) : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %yv = tile.view %y[%m, %m] strides [%m, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} : tensor<16x8xi1> {{.*}} : tensor<16x8xf32>, <?x?xf32>
    tile.store %a, %yv[%i, %j] mask %in : tensor<16x8xi1> {sizes = array<i64: 16, 8>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<16x8xf32>, !tile.view<?x?xf32>
    // CHECK: tile.return
    tile.return
  }
