// The parts are one more axis of the grid; each makes its share of the trips, and the last does
// what follows the loop. What is stored before is stored by part 0. A scalar travels as a tile of
// one element.
// RUN: tile-opt %s --tile-gpu-split-loops --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: tile.kernel @sums
// CHECK-SAME: tile_gpu.split_parts = 4
// CHECK: %[[PARTS:.*]] = arith.constant 4 : index
// CHECK: tile.yield %{{.*}}, %{{.*}}, %[[PARTS]] : index, index, index
// CHECK: %[[ID:.*]] = tile.program_id 2
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[ID]], %{{.*}} : index
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: tile.store
// The tile's number, row-major over the grid's own axes.
// CHECK: %[[I:.*]] = tile.program_id 0
// CHECK: %[[J:.*]] = tile.program_id 1
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK: %[[TILE:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK: %[[PART:.*]] = tile.program_id 2
// CHECK: %[[COUNT:.*]] = arith.constant 4 : index
// CHECK: %[[ISFIRST:.*]] = arith.cmpi eq, %[[PART]]
// CHECK: %[[TRIPS:.*]] = arith.maxsi
// CHECK: %[[SHARE:.*]] = arith.muli %[[PART]], %[[TRIPS]]
// CHECK: arith.divui %[[SHARE]], %{{.*}}
// Zero changes no sum; a maximum starts from -inf in all parts but the first.
// CHECK: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[START:.*]] = arith.select %[[ISFIRST]], %{{.*}}, %[[NONE]] : f32
// CHECK: %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %cst{{.*}}, %{{.*}} = %[[START]])
// CHECK-NOT: tile.split
// CHECK: %[[RECORD:.*]] = arith.muli %[[TILE]], %[[COUNT]]
// CHECK: %[[SCALAR:.*]] = tensor.splat %[[LOOP]]#1 : tensor<1xf32>
// CHECK: %[[LAST:.*]] = tile_gpu.part_arrive %[[LOOP]]#0, %[[SCALAR]] at %[[RECORD]], %[[PART]] of %[[COUNT]] : tensor<64xf32>, tensor<1xf32>
// CHECK: scf.if %[[LAST]] {
// CHECK-NEXT: %[[TOTAL:.*]]:2 = tile_gpu.part_combine %[[LOOP]]#0, %[[SCALAR]] at %[[RECORD]] of 4 {kinds = array<i32: 0, 2>}
// CHECK: %[[TOP:.*]] = tile.reduce max %[[TOTAL]]#1 : tensor<1xf32> -> f32
// CHECK: tensor.splat %[[TOP]]
// CHECK: arith.addf %[[TOTAL]]#0
// CHECK: tile.store
// CHECK: {{^ +}$}}
// CHECK-NEXT: tile.return
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
tile.kernel @sums
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    tile.yield %n, %n : index, index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f32
    %low = arith.constant -1.0 : f32
    %zero = arith.constant dense<0.0> : tensor<64xf32>
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    tile.store %low, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    %r:2 = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero, %m = %low) -> (tensor<64xf32>, f32) {
      %a = tile.load %xv[%k] pad %pad : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      %t = arith.addf %s, %a : tensor<64xf32>
      %b = tile.reduce max %a : tensor<64xf32> -> f32
      %u = arith.maximumf %m, %b : f32
      scf.yield %t, %u : tensor<64xf32>, f32
    } {tile.split = 4 : i64}
    %w = tensor.splat %r#1 : tensor<64xf32>
    %v = arith.addf %r#0, %w : tensor<64xf32>
    tile.store %v, %yv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    tile.return
  }

// -----

// In the branch that a guard leaves, and where the loop does more than accumulate: that one stays
// whole.
// CHECK-LABEL: tile.kernel @guarded
// CHECK: scf.if
// CHECK: tile_gpu.part_arrive
// CHECK: scf.if
// CHECK: tile.store
// CHECK-LABEL: tile.kernel @product
// CHECK-NOT: tile_gpu.part_arrive
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
tile.kernel @guarded
  params [#tile.param<"y", out, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %c = arith.cmpi sgt, %n, %c1 : index
    scf.if %c {
      %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %one) -> (f32) {
        %t = arith.addf %s, %one : f32
        scf.yield %t : f32
      } {tile.split = 2 : i64}
      tile.store %r, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    }
    tile.return
  }
tile.kernel @product
  params [#tile.param<"y", out, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1.0 : f32
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    // expected-warning @+1 {{split(2) has no effect: the loop no longer only accumulates into what it carries}}
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %one) -> (f32) {
      %t = arith.mulf %s, %s : f32
      scf.yield %t : f32
    } {tile.split = 2 : i64}
    tile.store %r, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    tile.return
  }
