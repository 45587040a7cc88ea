// RUN: tile-opt %s --tile-gpu-version-row-loops --canonicalize --cse | FileCheck %s

#N = #tile.dim<"N", 0, 1048576, opt = 64, multiple_of = 1>

// Two passes over a row: where it is one block of aligned length, the bodies stand in their place,
// at position 0, and the views are of a length that is seen to be aligned. Registers of the loops
// alone are written down, by which tile-gpu-keep-tiles decides.
// CHECK-LABEL: tile.kernel @twice
// CHECK-SAME: tile_gpu.plain_registers = array<i64: {{[0-9]+, [0-9]+, [0-9]+, [0-9]+, [0-9]+, [0-9]+}}>
// CHECK: %[[N:.*]] = tile.dim <"N"
// CHECK-DAG: %[[ONE:.*]] = arith.cmpi sle, %[[N]], %c64
// CHECK-DAG: %[[SOME:.*]] = arith.cmpi sgt, %[[N]], %c0
// CHECK-DAG: %[[REST:.*]] = arith.remsi %[[N]], %c4
// CHECK-DAG: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: scf.if
// CHECK: %[[COUNT:.*]] = arith.divsi %[[N]], %c4
// CHECK: %[[LENGTH:.*]] = arith.muli %[[COUNT]], %c4
// CHECK: %[[X:.*]] = tile.view %arg0[%[[LENGTH]]]
// CHECK: tile.view %arg1[%[[LENGTH]]]
// CHECK: %[[A:.*]] = tile.load %[[X]][%c0]
// CHECK: %[[S:.*]] = tile.reduce sum %[[A]]
// CHECK: arith.addf %[[S]],
// CHECK-NOT: scf.for
// CHECK: tile.store
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: }
// CHECK: tile.return
tile.kernel @twice
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %t = scf.for %i = %c0 to %N step %c64 iter_args(%acc = %half) -> f32 {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      %s = tile.reduce sum %a : tensor<64xf32> -> f32
      %n = arith.addf %acc, %s : f32
      scf.yield %n : f32
    }
    %all = tensor.splat %t : tensor<64xf32>
    scf.for %i = %c0 to %N step %c64 {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      %d = arith.mulf %a, %all : tensor<64xf32>
      tile.store %d, %yv[%i] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    }
    tile.return
  }

// Contracts that settle the test leave no second version.
#S = #tile.dim<"N", 1, 64, opt = 64, multiple_of = 8>
// CHECK-LABEL: tile.kernel @known
// CHECK-NOT: scf
// CHECK: tile.store
// CHECK-NOT: scf
// CHECK: tile.return
tile.kernel @known
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#S] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %N = tile.dim #S
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %t = scf.for %i = %c0 to %N step %c64 iter_args(%acc = %zero) -> f32 {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      %s = tile.reduce sum %a : tensor<64xf32> -> f32
      scf.yield %s : f32
    }
    %all = tensor.splat %t : tensor<64xf32>
    scf.for %i = %c0 to %N step %c64 {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      %d = arith.mulf %a, %all : tensor<64xf32>
      tile.store %d, %yv[%i] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    }
    tile.return
  }

// One pass over the row gains nothing, nor does a row that threads cannot hold.
// CHECK-LABEL: tile.kernel @once
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @once
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    scf.for %i = %c0 to %N step %c64 {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      tile.store %a, %yv[%i] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
    }
    tile.return
  }

// CHECK-LABEL: tile.kernel @long
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @long
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  attributes {tile.num_warps = 1 : i64} grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4096 = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    %N = tile.dim #N
    %xv = tile.view %x[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%N] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %t = scf.for %i = %c0 to %N step %c4096 iter_args(%acc = %zero) -> f32 {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 4096>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<4096xf32>
      %s = tile.reduce sum %a : tensor<4096xf32> -> f32
      scf.yield %s : f32
    }
    %all = tensor.splat %t : tensor<4096xf32>
    scf.for %i = %c0 to %N step %c4096 {
      %a = tile.load %xv[%i] pad %zero : f32 {sizes = array<i64: 4096>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<4096xf32>
      %d = arith.mulf %a, %all : tensor<4096xf32>
      tile.store %d, %yv[%i] {sizes = array<i64: 4096>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<4096xf32>, !tile.view<?xf32>
    }
    tile.return
  }
