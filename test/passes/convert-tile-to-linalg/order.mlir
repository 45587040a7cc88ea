// A reduction by a function carries a scalar along the axis; sorting is a network of loops that
// updates the tile; counting adds one where the element is a bin.
// RUN: tile-opt %s --convert-tile-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @reduce
// CHECK: %[[FIRST:.*]] = tensor.extract %[[T:.*]][%c0]
// CHECK: scf.for %[[I:.*]] = %c1 to %c256 step %c1 iter_args(%[[LEFT:.*]] = %[[FIRST]]) -> (i32)
// CHECK: %[[RIGHT:.*]] = tensor.extract %[[T]][%[[I]]]
// CHECK: %[[S:.*]] = arith.subi %[[LEFT]], %[[RIGHT]]
// CHECK: scf.yield %[[S]]
tile.kernel @reduce
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.reduce_by %a axis 0 : tensor<256xi32> -> i32 {
    ^bb0(%left: i32, %right: i32):
      %s = arith.subi %left, %right : i32
      tile.scan_yield %s : i32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : i32, !tile.view<?xi32>
    tile.return
  }

// CHECK-LABEL: func.func @sort
// CHECK: scf.for %[[ROUND:.*]] = %c0 to %c8 step %c1
// CHECK: %[[P:.*]] = arith.shrui %c128, %[[ROUND]]
// CHECK: %[[STEPS:.*]] = arith.addi %[[ROUND]], %c1
// CHECK: scf.for %{{.*}} = %c0 to %[[STEPS]] step %c1
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1
// CHECK: %[[X:.*]] = tensor.extract
// CHECK: %[[Y:.*]] = tensor.extract
// CHECK: %[[ABOVE:.*]] = arith.cmpi sgt, %[[X]], %[[Y]]
// CHECK: %[[SWAPS:.*]] = arith.andi %{{.*}}, %[[ABOVE]]
// CHECK: arith.select %[[SWAPS]], %[[Y]], %[[X]]
// CHECK: tensor.insert
// CHECK: arith.select %[[SWAPS]], %[[X]], %[[Y]]
// CHECK: tensor.insert
tile.kernel @sort
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.sort %a axis 0 : tensor<256xi32> -> tensor<256xi32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xi32>, !tile.view<?xi32>
    tile.return
  }

// CHECK-LABEL: func.func @histogram
// CHECK: linalg.fill ins(%c0_i32 : i32)
// CHECK: %[[X:.*]] = tensor.extract
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[X]], %c64_i32
// CHECK: %[[BIN:.*]] = arith.select %[[IS]], %[[X]], %c0_i32
// CHECK: arith.extui %[[IS]]
// CHECK: tensor.insert
tile.kernel @histogram
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.histogram %a : tensor<256xi32> -> tensor<64xi32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<64xi32>, !tile.view<?xi32>
    tile.return
  }
