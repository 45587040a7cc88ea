// Any state with a function that merges two: parts make equal chunks of trips, so that parts
// without a trip come last; the last to arrive reads the states of the busy parts and merges them
// in order. The launch chooses the number of parts, and a single part neither leaves its state nor
// reads it.
// RUN: tile-opt %s --tile-gpu-split-loops | FileCheck %s --check-prefixes=CHECK,H200
// Eight programs with small loads for each multiprocessor: of the card that stands for the target,
// or of the one that the module names.
// RUN: sed 's/"sm_90a"/"sm_80"/' %s | tile-opt --tile-gpu-split-loops \
// RUN:   | FileCheck %s --check-prefix=A100
// RUN: sed 's/"sm_90a">/"sm_90a">, tile_gpu.processors = 114/' %s \
// RUN:   | tile-opt --tile-gpu-split-loops | FileCheck %s --check-prefix=PCIE
// RUN: sed 's/^module.*/module {/' %s | not tile-opt --tile-gpu-split-loops 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: tile.kernel @largest
// CHECK-SAME: tile_gpu.split_parts = 64
// H200-SAME: tile_gpu.split_programs = 1056
// A100: tile_gpu.split_programs = 864
// PCIE: tile_gpu.split_programs = 912
// NONE: error: expected the module to name the GPU that it is compiled for
// The grid's last axis: clamp(programs wanted / programs, 1, 64).
// CHECK: %[[PROGRAMS:.*]] = arith.muli
// CHECK: %[[COUNT:.*]] = arith.divui %{{.*}}, %[[PROGRAMS]]
// CHECK: %[[ATMOST:.*]] = arith.minui %[[COUNT]], %{{.*}}
// CHECK: %[[PARTS:.*]] = arith.maxui %{{.*}}, %[[ATMOST]]
// CHECK: tile.yield %{{.*}}, %[[PARTS]] : index, index
// CHECK: %[[PART:.*]] = tile.program_id 1
// CHECK: arith.ceildivsi
// CHECK: %[[TRIPS:.*]] = arith.maxsi
// CHECK: %[[CHUNK:.*]] = arith.maxui
// CHECK: arith.ceildivui %[[TRIPS]], %[[CHUNK]]
// CHECK: %[[BUSY:.*]] = arith.maxui
// CHECK: %[[LOOP:.*]]:2 = scf.for
// CHECK-NOT: tile.split
// CHECK: %[[LAST:.*]] = scf.if %{{.*}} -> (i1) {
// CHECK: tile_gpu.part_arrive
// CHECK: } else {
// CHECK: arith.constant true
// CHECK: scf.if %[[LAST]] {
// CHECK: %[[STATE:.*]]:2 = scf.if %{{.*}} -> (tensor<4xf32>, tensor<4xi32>) {
// CHECK: tile_gpu.part_load
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BUSY]]
// CHECK: tile_gpu.part_load
// CHECK: arith.cmpf ogt
// CHECK: } else {
// CHECK: scf.yield %[[LOOP]]#0, %[[LOOP]]#1
// CHECK: tile.store %[[STATE]]#1
// CHECK-NOT: tile.merge_parts
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @largest
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<i32>):
    %n = tile.dim #N
    tile.yield %n : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<i32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %pad = arith.constant 0xFF800000 : f32
    %low = arith.constant dense<0xFF800000> : tensor<4xf32>
    %none = arith.constant dense<0> : tensor<4xi32>
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %r:2 = scf.for %k = %c0 to %n step %c4 iter_args(%top = %low, %at = %none) -> (tensor<4xf32>, tensor<4xi32>) {
      %v = tile.load %xv[%k] pad %pad : f32 {sizes = array<i64: 4>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<4xf32>
      %more = arith.cmpf ogt, %v, %top : tensor<4xf32>
      %t = arith.select %more, %v, %top : tensor<4xi1>, tensor<4xf32>
      %number = arith.index_cast %k : index to i32
      %here = tensor.splat %number : tensor<4xi32>
      %a = arith.select %more, %here, %at : tensor<4xi1>, tensor<4xi32>
      scf.yield %t, %a : tensor<4xf32>, tensor<4xi32>
    } {tile.split = 64 : i64, tile.split_automatic}
    %m:2 = tile.merge_parts %r#0, %r#1 : tensor<4xf32>, tensor<4xi32> -> tensor<4xf32>, tensor<4xi32> {
    ^bb0(%t1: tensor<4xf32>, %a1: tensor<4xi32>, %t2: tensor<4xf32>, %a2: tensor<4xi32>):
      %more = arith.cmpf ogt, %t2, %t1 : tensor<4xf32>
      %t = arith.select %more, %t2, %t1 : tensor<4xi1>, tensor<4xf32>
      %a = arith.select %more, %a2, %a1 : tensor<4xi1>, tensor<4xi32>
      tile.merge_yield %t, %a : tensor<4xf32>, tensor<4xi32>
    }
    tile.store %m#1, %yv[%c0] {sizes = array<i64: 4>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<4xi32>, !tile.view<?xi32>
    tile.return
  }
}
