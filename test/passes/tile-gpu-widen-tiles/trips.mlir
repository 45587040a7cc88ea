// Trips that add up products become one trip, of whose operands K is as long as in all of them.
// RUN: tile-opt %s --tile-gpu-widen-tiles=trips=2 | FileCheck %s

#K = #tile.dim<"K", 8, 65536, opt = 1024, multiple_of = 8>
#W = #tile.dim<"W", 16, 8192, opt = 512, multiple_of = 16>
#G = #tile.dim<"G", 1, 8192, opt = 512, multiple_of = 1>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// An odd trip is left over, of which both operands are zero: they end where K does.
// CHECK-LABEL: tile.kernel @loaded
// CHECK: %[[STEP:c64_.*]] = arith.constant 64 : index
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %{{.*}} step %[[STEP]]
// CHECK: tile.load {{.*}} sizes = array<i64: 64, 64>{{.*}} -> tensor<64x64xf16>
// CHECK: tile.load {{.*}} sizes = array<i64: 64, 64>{{.*}} -> tensor<64x64xf16>
// CHECK: tile.dot {{.*}} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
tile.kernel @loaded params [#tile.param<"a", in, align = 16>] dims [#K] constexprs [] grid {
^bb0(%a: !tile.ptr<f16>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%a: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %pad = arith.constant 0.0 : f16
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %k = tile.dim #K
  %v = tile.view %a[%c64, %k] strides[%k, %c1] : <f16> -> <?x?xf16>
  %s = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) {
    %x = tile.load %v[%c0, %i] pad %pad : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: true, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %y = tile.load %v[%c0, %i] pad %pad : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: true, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %t = tile.permute %y {permutation = array<i64: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %d = tile.dot %x, %t, %acc precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %b = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  tile.return
}

// Words that hold eight rows each, and one group of 128 rows for both trips: its number is the same
// in both, since a trip begins at a multiple of 64 rows.
// CHECK-LABEL: tile.kernel @packed
// CHECK: scf.for %[[I:.*]] = %c0 to %{{.*}} step %c8{{.*}} iter_args
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c8
// CHECK: %[[GROUP:.*]] = arith.divsi %[[ROW]], %c128
// CHECK: tile.load {{.*}} in_bounds = array<i1: true, true>, sizes = array<i64: 8, 64>
// CHECK: tile.reshape %{{.*}} : tensor<8x8x64xi32> -> tensor<64x64xi32>
// CHECK: tile.load %{{.*}}[%[[GROUP]], %c0] {{.*}} -> tensor<64xf16>
// CHECK: tile.broadcast %{{.*}} : tensor<64xf16> -> tensor<64x64xf16>
// CHECK: tile.dot {{.*}} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
tile.kernel @packed params [#tile.param<"a", in, align = 16>, #tile.param<"q", in, align = 16>, #tile.param<"s", in, align = 16>] dims [#W, #G] constexprs [] grid {
^bb0(%a: !tile.ptr<f16>, %q: !tile.ptr<i32>, %s: !tile.ptr<f16>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%a: !tile.ptr<f16>, %q: !tile.ptr<i32>, %s: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %pad = arith.constant 0.0 : f16
  %none = arith.constant 0 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %w = tile.dim #W
  %g = tile.dim #G
  %k = arith.muli %w, %c8 : index
  %va = tile.view %a[%c64, %k] strides[%k, %c1] : <f16> -> <?x?xf16>
  %vq = tile.view %q[%w, %c64] strides[%c64, %c1] : <i32> -> <?x?xi32>
  %vs = tile.view %s[%g, %c64] strides[%c64, %c1] : <f16> -> <?x?xf16>
  %r = scf.for %i = %c0 to %w step %c4 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) {
    %row = arith.muli %i, %c8 : index
    %group = arith.divsi %row, %c128 : index
    %x = tile.load %vq[%i, %c0] pad %none : i32 {has_end = array<i1: false, false>, in_bounds = array<i1: true, true>, sizes = array<i64: 4, 64>, steps = array<i64: 1, 1>} : <?x?xi32> -> tensor<4x64xi32>
    %rows = tile.reshape %x : tensor<4x64xi32> -> tensor<4x1x64xi32>
    %each = tile.broadcast %rows : tensor<4x1x64xi32> -> tensor<4x8x64xi32>
    %flat = tile.reshape %each : tensor<4x8x64xi32> -> tensor<32x64xi32>
    %f = arith.uitofp %flat : tensor<32x64xi32> to tensor<32x64xf16>
    %scale = tile.load %vs[%group, %c0] pad %pad : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, true>, sizes = array<i64: -1, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64xf16>
    %scales = tile.broadcast %scale : tensor<64xf16> -> tensor<32x64xf16>
    %b = arith.mulf %f, %scales : tensor<32x64xf16>
    %y = tile.load %va[%c0, %row] pad %pad : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: true, true>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %d = tile.dot %y, %b, %acc precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.return
}
}
