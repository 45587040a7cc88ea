// Integers that all 32 lanes of a warp reduce take one instruction for 32 bits: redux, or a vote
// for truth values. Of 64 bits the high words come first, then the low ones of the lanes that hold
// the extreme high word. Floats, products and sums of 64 bits go by shuffles.
// RUN: tile-opt %s --tile-gpu-layout-pipeline --tile-gpu-allocate-shared \
// RUN:   --convert-tile-gpu-to-vector --canonicalize --cse | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
// CHECK-LABEL: func.func @integers
// CHECK-COUNT-1: nvvm.redux.sync max
// CHECK: %[[TOP:.*]] = nvvm.redux.sync max
// CHECK: %[[IS:.*]] = arith.cmpi eq, %{{.*}}, %[[TOP]] : i32
// CHECK: %[[LOW:.*]] = arith.select %[[IS]], %{{.*}}, %c0_i32 : i32
// CHECK: nvvm.redux.sync umax %[[LOW]]
// CHECK-NOT: nvvm.redux
// CHECK: nvvm.vote.sync any
// CHECK-COUNT-10: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: return
tile.kernel @integers
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile.num_warps = 1 : i64}
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i64>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i64>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 128 : index
    %four = arith.constant 4 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%four] strides [%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 128>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<128xi32>
    %wide = arith.extsi %a : tensor<128xi32> to tensor<128xi64>
    %zero = arith.constant dense<0> : tensor<128xi32>
    %is = arith.cmpi sgt, %a, %zero : tensor<128xi32>
    %r0 = tile.reduce max %a : tensor<128xi32> -> i32
    %r1 = tile.reduce max %wide : tensor<128xi64> -> i64
    %r2 = tile.reduce or %is : tensor<128xi1> -> i1
    %r3 = tile.reduce sum %wide : tensor<128xi64> -> i64
    %w0 = arith.extsi %r0 : i32 to i64
    %w2 = arith.extui %r2 : i1 to i64
    %s0 = arith.addi %w0, %r1 : i64
    %s1 = arith.addi %s0, %w2 : i64
    %s2 = arith.addi %s1, %r3 : i64
    tile.store %s2, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : i64, !tile.view<?xi64>
    tile.return
  }
}
