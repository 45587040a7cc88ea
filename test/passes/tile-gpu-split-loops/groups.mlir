// Many parts of large sums are merged in groups first, each by its last part to arrive; the last of
// these merges what the groups have left, in records of their first parts, by a count of its own.
// RUN: tile-opt %s --tile-gpu-split-loops | FileCheck %s
// RUN: sed 's/tile.split = 32/tile.split = 4/' %s | tile-opt --tile-gpu-split-loops \
// RUN:   | FileCheck %s --check-prefix=FEW

// CHECK-LABEL: tile.kernel @sums
// CHECK-SAME: tile_gpu.split_parts = 32
// CHECK: %[[PART:.*]] = tile.program_id 1
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK: %[[GROUP:.*]] = arith.divui %[[PART]], %c[[EACH:[0-9]+]]
// CHECK: %[[MEMBER:.*]] = arith.remui %[[PART]], %c[[EACH]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[GROUP]], %c[[EACH]]
// CHECK: %[[BEGIN:.*]] = arith.addi %[[FIRST]], %[[BEFORE]]
// CHECK: %[[LAST:.*]] = tile_gpu.part_arrive %[[SUM]] at %[[BEGIN]], %[[MEMBER]] of %c[[EACH]]{{.*}} : tensor<128x128xf32>
// CHECK: scf.if %[[LAST]] {
// CHECK: %[[MERGED:.*]] = tile_gpu.part_combine %[[SUM]] at %[[BEGIN]] of [[EACH]] {kinds = array<i32: 0>}
// CHECK: %[[VERY:.*]] = tile_gpu.part_arrive %[[MERGED]] at %[[FIRST]], %[[GROUP]] of %c{{.*}} {tile_gpu.every = [[EACH]] : i64}
// CHECK: scf.if %[[VERY]] {
// CHECK: %[[TOTAL:.*]] = tile_gpu.part_combine %[[MERGED]] at %[[FIRST]] of {{.*}} {kinds = array<i32: 0>, tile_gpu.every = [[EACH]] : i64}
// CHECK: tile.store %[[TOTAL]]

// FEW-LABEL: tile.kernel @sums
// FEW: tile_gpu.part_arrive
// FEW-NOT: tile_gpu.part_arrive
#K = #tile.dim<"K", 1, 65536, opt = 65536, multiple_of = 1>
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
tile.kernel @sums
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#K, #N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    tile.yield %n : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %k = tile.dim #K
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %xv = tile.view %x[%k, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %yv = tile.view %y[%k, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %r = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
      %t = tile.load %xv[%i, %c0] pad %pad : f32 {sizes = array<i64: 128, 128>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf32> -> tensor<128x128xf32>
      %u = arith.addf %s, %t : tensor<128x128xf32>
      scf.yield %u : tensor<128x128xf32>
    } {tile.split = 32 : i64}
    tile.store %r, %yv[%c0, %c0] {sizes = array<i64: 128, 128>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<128x128xf32>, !tile.view<?x?xf32>
    tile.return
  }
