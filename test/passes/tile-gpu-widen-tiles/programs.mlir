// Programs that are neighbours along an axis become one, whose tiles are theirs side by side.
// RUN: tile-opt %s --tile-gpu-widen-tiles=programs=2,4 | FileCheck %s

#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 64>
#N = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 128>
#K = #tile.dim<"K", 8, 65536, opt = 1024, multiple_of = 8>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Rows of a are gathered, columns of b loaded. What was proven of 64 rows holds for 128 no more: M
// is a multiple of 64 alone. Four blocks of 32 columns are proven anew.
// CHECK-LABEL: tile.kernel @gathered
// CHECK-SAME: tile_gpu.joined_programs = array<i64: 2, 4>
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG: arith.ceildivsi %{{.*}}, %{{.*}} : index
// CHECK: %[[I:.*]] = tile.program_id 0
// CHECK: %[[P:.*]] = arith.muli %[[I]], %c2
// CHECK: %[[J:.*]] = tile.program_id 1
// CHECK: %[[Q:.*]] = arith.muli %[[J]], %c4
// CHECK: %[[ROW:.*]] = arith.muli %[[P]], %c64
// CHECK: %[[COLUMN:.*]] = arith.muli %[[Q]], %c32
// CHECK: tile.load %{{.*}}[%[[ROW]]] {{.*}} in_bounds = array<i1: false>, sizes = array<i64: 128>
// CHECK: tile.broadcast %{{.*}} : tensor<128x1xindex> -> tensor<128x64xindex>
// CHECK: scf.for {{.*}} -> (tensor<128x128xf32>)
// CHECK: tile.gather {{.*}} sizes = array<i64: -2, 64>{{.*}} -> tensor<128x64xf16>
// CHECK: tile.load {{.*}}in_bounds = array<i1: false, true>, sizes = array<i64: 64, 128>
// CHECK: tile.dot {{.*}} : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
// A vector of all rows is repeated, one of the program's columns is not; positions in a tile count
// up to its old end.
// CHECK: tile.broadcast %{{.*}} : tensor<128xf32> -> tensor<128x128xf32>
// CHECK: %[[LINE:.*]] = tile.iota %c0 step 1 : tensor<128xindex>
// CHECK: arith.remui %[[LINE]], %{{.*}} : tensor<128xindex>
// CHECK: tile.store {{.*}} in_bounds = array<i1: false, true>, sizes = array<i64: 128, 128>
tile.kernel @gathered params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>,
    #tile.param<"rows", in, align = 16>, #tile.param<"w", in, align = 16>,
    #tile.param<"c", out, align = 16>] dims [#M, #N, #K] constexprs [] grid {
^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %r: !tile.ptr<i32>, %w: !tile.ptr<f32>, %c: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %m = tile.dim #M
  %n = tile.dim #N
  %x = arith.ceildivsi %m, %c64 : index
  %y = arith.ceildivsi %n, %c32 : index
  tile.yield %x, %y : index, index
} body {
^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %r: !tile.ptr<i32>, %w: !tile.ptr<f32>, %c: !tile.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %none = arith.constant 0 : i32
  %pad = arith.constant 0.0 : f16
  %pad32 = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x32xf32>
  %m = tile.dim #M
  %n = tile.dim #N
  %k = tile.dim #K
  %va = tile.view %a[%m, %k] strides[%k, %c1] : <f16> -> <?x?xf16>
  %vb = tile.view %b[%k, %n] strides[%n, %c1] : <f16> -> <?x?xf16>
  %vr = tile.view %r[%m] strides[%c1] : <i32> -> <?xi32>
  %vw = tile.view %w[%n] strides[%c1] : <f32> -> <?xf32>
  %vc = tile.view %c[%m, %n] strides[%n, %c1] : <f32> -> <?x?xf32>
  %p = tile.program_id 0
  %q = tile.program_id 1
  %row = arith.muli %p, %c64 : index
  %column = arith.muli %q, %c32 : index
  %ids = tile.load %vr[%row] pad %none : i32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 64>, steps = array<i64: 1>} : <?xi32> -> tensor<64xi32>
  %at = arith.index_cast %ids : tensor<64xi32> to tensor<64xindex>
  %line = tile.reshape %at : tensor<64xindex> -> tensor<64x1xindex>
  %places = tile.broadcast %line : tensor<64x1xindex> -> tensor<64x64xindex>
  %s = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zeros) -> (tensor<64x32xf32>) {
    %x = tile.gather %va[%c0, %i] at[%places : tensor<64x64xindex>] pad %pad : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: -2, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x64xf16>
    %y = tile.load %vb[%i, %column] pad %pad : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, true>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %d = tile.dot %x, %y, %acc precision full : tensor<64x64xf16>, tensor<64x32xf16>, tensor<64x32xf32>
    scf.yield %d : tensor<64x32xf32>
  }
  %weights = tile.load %vw[%column] pad %pad32 : f32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 32>, steps = array<i64: 1>} : <?xf32> -> tensor<32xf32>
  %all = tile.broadcast %weights : tensor<32xf32> -> tensor<64x32xf32>
  %t = arith.mulf %s, %all : tensor<64x32xf32>
  %iota = tile.iota %c0 step 1 : tensor<32xindex>
  %ints = arith.index_cast %iota : tensor<32xindex> to tensor<32xi32>
  %floats = arith.sitofp %ints : tensor<32xi32> to tensor<32xf32>
  %each = tile.broadcast %floats : tensor<32xf32> -> tensor<64x32xf32>
  %u = arith.addf %t, %each : tensor<64x32xf32>
  tile.store %u, %vc[%row, %column] {has_end = array<i1: false, false>, in_bounds = array<i1: true, true>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : tensor<64x32xf32>, <?x?xf32>
  tile.return
}
}
