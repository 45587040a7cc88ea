// Where the source asks for clusters of as many blocks, parts are one: each shows its state to the
// others, merges its slice of all states and does what follows for that slice. No record of scratch
// memory, no last one. Two, four or eight parts, and what follows the loop must be dealt out.
// RUN: tile-opt %s --tile-gpu-split-loops | FileCheck %s
// RUN: sed 's/"sm_90a"/"sm_80"/' %s | tile-opt --tile-gpu-split-loops \
// RUN:   | FileCheck %s --check-prefix=SCRATCH
// RUN: sed 's/tile.split = 4/tile.split = 2/' %s | tile-opt --tile-gpu-split-loops \
// RUN:   | FileCheck %s --check-prefix=SCRATCH
// RUN: sed 's/tile.split = 4/tile.split = 16/; s/i64: 4, 1>/i64: 16, 1>/' %s \
// RUN:   | tile-opt --tile-gpu-split-loops | FileCheck %s --check-prefix=SCRATCH
// RUN: sed 's/attributes {tile.cluster.*} grid/grid/' %s | tile-opt --tile-gpu-split-loops \
// RUN:   | FileCheck %s --check-prefix=SCRATCH
// SCRATCH-LABEL: tile.kernel @rows
// SCRATCH-NOT: tile_gpu.split_cluster
// SCRATCH: tile_gpu.part_arrive

// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: attributes {tile_gpu.split_cluster, tile_gpu.split_parts = 4 : i64} grid
// CHECK: %[[PART:.*]] = tile.program_id 1
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[PLACE:.*]] = tile_gpu.part_share %[[SUM]] : tensor<16x64xf32>
// CHECK: %[[A:.*]] = tile_gpu.part_read 0 of 4 at %[[PLACE]] slice %[[PART]] {dims = array<i64: 0>} : tensor<4x64xf32>
// CHECK: %[[B:.*]] = tile_gpu.part_read 1 of 4
// CHECK: %[[C:.*]] = tile_gpu.part_read 2 of 4
// CHECK: %[[D:.*]] = tile_gpu.part_read 3 of 4
// CHECK: tile_gpu.part_release
// In the order of the parts.
// CHECK: %[[AB:.*]] = arith.addf %[[A]], %[[B]] : tensor<4x64xf32>
// CHECK: %[[ABC:.*]] = arith.addf %[[AB]], %[[C]]
// CHECK: %[[ALL:.*]] = arith.addf %[[ABC]], %[[D]]
// A row's sum is of the slice's rows; what one number makes is made for the slice.
// CHECK: %[[ROW:.*]] = tile.reduce sum %[[ALL]] axis 1 : tensor<4x64xf32> -> tensor<4xf32>
// CHECK: tile.broadcast %{{.*}} : tensor<4x1xf32> -> tensor<4x64xf32>
// CHECK: %[[FROM:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[FROM]], %{{.*}}] {{.*}}sizes = array<i64: 4, 64>{{.*}} : tensor<4x64xf32>
// CHECK-NEXT: tile.return
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @rows
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  attributes {tile.cluster = array<i64: 4, 1>, tile.persistent} grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    tile.yield %n : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32>
    %i = tile.program_id 0
    %at = arith.muli %i, %c16 : index
    %xv = tile.view %x[%n, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %yv = tile.view %y[%n, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<16x64xf32>) {
      %a = tile.load %xv[%at, %k] pad %pad : f32 {sizes = array<i64: 16, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf32> -> tensor<16x64xf32>
      %t = arith.addf %s, %a : tensor<16x64xf32>
      scf.yield %t : tensor<16x64xf32>
    } {tile.split = 4 : i64}
    %sum = tile.reduce sum %r axis 1 : tensor<16x64xf32> -> tensor<16xf32>
    %column = tile.reshape %sum : tensor<16xf32> -> tensor<16x1xf32>
    %wide = tile.broadcast %column : tensor<16x1xf32> -> tensor<16x64xf32>
    %w = tensor.splat %pad : tensor<16x64xf32>
    %u = arith.addf %r, %w : tensor<16x64xf32>
    %v = arith.subf %u, %wide : tensor<16x64xf32>
    tile.store %v, %yv[%at, %c0] {sizes = array<i64: 16, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<16x64xf32>, !tile.view<?x?xf32>
    tile.return
  }

// Along columns where a sum needs whole columns; stored as it is wanted.
// CHECK-LABEL: tile.kernel @columns
// CHECK: tile_gpu.part_read 3 of 4 {{.*}}dims = array<i64: 1>} : tensor<16x16xf32>
// CHECK: tile.reduce sum %{{.*}} axis 0 : tensor<16x16xf32> -> tensor<16xf32>
// CHECK: tile.store %{{.*}} {{.*}}sizes = array<i64: 16>
tile.kernel @columns
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  attributes {tile.cluster = array<i64: 4, 1>, tile.persistent} grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32>
    %xv = tile.view %x[%n, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<16x64xf32>) {
      %a = tile.load %xv[%c0, %k] pad %pad : f32 {sizes = array<i64: 16, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf32> -> tensor<16x64xf32>
      %t = arith.addf %s, %a : tensor<16x64xf32>
      scf.yield %t : tensor<16x64xf32>
    } {tile.split = 4 : i64}
    %sum = tile.reduce sum %r axis 0 : tensor<16x64xf32> -> tensor<64xf32>
    tile.store %sum, %yv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }

// A sum of everything needs the whole tile, in one program.
// CHECK-LABEL: tile.kernel @whole
// CHECK-NOT: tile_gpu.split_cluster
// CHECK: tile_gpu.part_arrive
tile.kernel @whole
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  attributes {tile.cluster = array<i64: 4, 1>, tile.persistent} grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero) -> (tensor<64xf32>) {
      %a = tile.load %xv[%k] pad %pad : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      %t = arith.addf %s, %a : tensor<64xf32>
      scf.yield %t : tensor<64xf32>
    } {tile.split = 4 : i64}
    %sum = tile.reduce sum %r : tensor<64xf32> -> f32
    %w = tensor.splat %sum : tensor<64xf32>
    %v = arith.addf %r, %w : tensor<64xf32>
    tile.store %v, %yv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }
}
