// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-defer-row-sums | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#row = #tile_gpu.linear<shape = [64], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]>
!acc = tensor<64x64xf32, #acc>
!row = tensor<64xf32, #row>

// Four lanes share a row: each has a sum of its own, of pairs of neighbours.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x4xf32, #tile_gpu.linear<shape = [64, 4], register = {{\[\[}}8, 0]], lane = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0], [4, 0]],
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%[[S:.*]] = %[[ZERO]], %[[T:.*]] = %{{.*}}) -> (tensor<64x4xf32
// CHECK:   %[[X:.*]] = tile.reshape %{{.*}} -> tensor<64x8x4x2xf32
// CHECK:   %[[PAIRS:.*]] = tile.reduce sum %[[X]] axis 3 : {{.*}} -> tensor<64x8x4xf32
// CHECK:   %[[SHARE:.*]] = tile.reduce sum %[[PAIRS]] axis 1 : {{.*}} -> tensor<64x4xf32
// CHECK:   %[[COLUMN:.*]] = tile.reshape %[[T]] : {{.*}} -> tensor<64x1xf32
// CHECK:   %[[F:.*]] = tile.broadcast %[[COLUMN]] : {{.*}} -> tensor<64x4xf32
// CHECK:   %[[OLD:.*]] = arith.mulf %[[S]], %[[F]] fastmath<reassoc>
// CHECK:   %[[NEW:.*]] = arith.addf %[[OLD]], %[[SHARE]] fastmath<reassoc>
// CHECK:   scf.yield %[[NEW]], %[[T]]
// CHECK: %[[ALL:.*]] = tile.reduce sum %[[SUMS]]#0 axis 1 : {{.*}} -> tensor<64xf32
// CHECK: "test.use"(%[[ALL]], %[[SUMS]]#1)
tile.kernel @scaled params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !row
    %one = arith.constant dense<1.0> : !row
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %t = %one) -> (!row, !row) {
      %x = "test.tile"(%i) : (index) -> !acc
      %b = tile.reduce sum %x axis 1 : !acc -> !row
      %o = arith.mulf %t, %s fastmath<reassoc> : !row
      %y = arith.addf %o, %b fastmath<reassoc> : !row
      scf.yield %y, %t : !row, !row
    }
    "test.use"(%r#0, %r#1) : (!row, !row) -> ()
    tile.return
  }

// With a factor not without leave to regroup.
// CHECK-LABEL: tile.kernel @strict
// CHECK: scf.for {{.*}} -> (tensor<64xf32
tile.kernel @strict params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !row
    %half = arith.constant dense<0.5> : !row
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!row) {
      %x = "test.tile"(%i) : (index) -> !acc
      %b = tile.reduce sum %x axis 1 : !acc -> !row
      %o = arith.mulf %s, %half : !row
      %y = arith.addf %o, %b : !row
      scf.yield %y : !row
    }
    "test.use"(%r) : (!row) -> ()
    tile.return
  }

// What a loop only adds sums to is one sum (N4.1), whichever threads share the axis: here two lanes
// and four warps have the rows of a column. A maximum starts from what it has, in each lane.
// CHECK-LABEL: tile.kernel @columns
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x16xf32
// CHECK: %[[UNIT:.*]] = tile.reshape %{{.*}} -> tensor<1x16xf32
// CHECK: %[[START:.*]] = tile.broadcast %[[UNIT]] : {{.*}} -> tensor<8x16xf32
// CHECK: %[[BOTH:.*]]:2 = scf.for {{.*}} iter_args(%[[S:.*]] = %[[ZERO]], %[[M:.*]] = %[[START]])
// CHECK:   tile.reshape %{{.*}} -> tensor<4x8x1x16xf32
// CHECK:   arith.addf %[[S]], %{{.*}} : tensor<8x16xf32
// CHECK:   arith.maximumf %[[M]], %{{.*}} : tensor<8x16xf32
// CHECK-DAG: tile.reduce sum %[[BOTH]]#0 axis 0 : {{.*}} -> tensor<16xf32
// CHECK-DAG: tile.reduce max %[[BOTH]]#1 axis 0 : {{.*}} -> tensor<16xf32
#tall = #tile_gpu.linear<shape = [32, 16], register = [[8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0]], warp = [[2, 0], [4, 0]]>
#column = #tile_gpu.linear<shape = [16], register = [], lane = [[1], [2], [4], [8], [0]], warp = [[0], [0]]>
tile.kernel @columns params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<16xf32, #column>
    %low = "test.row"() : () -> tensor<16xf32, #column>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero, %m = %low)
        -> (tensor<16xf32, #column>, tensor<16xf32, #column>) {
      %x = "test.tile"(%i) : (index) -> tensor<32x16xf32, #tall>
      %b = tile.reduce sum %x axis 0 : tensor<32x16xf32, #tall> -> tensor<16xf32, #column>
      %y = arith.addf %s, %b : tensor<16xf32, #column>
      %t = tile.reduce max %x axis 0 : tensor<32x16xf32, #tall> -> tensor<16xf32, #column>
      %u = arith.maximumf %m, %t : tensor<16xf32, #column>
      scf.yield %y, %u : tensor<16xf32, #column>, tensor<16xf32, #column>
    }
    "test.use"(%r#0, %r#1) : (tensor<16xf32, #column>, tensor<16xf32, #column>) -> ()
    tile.return
  }

// A line's sum is a scalar. In another order other partial sums of integers wrap around.
// CHECK-LABEL: tile.kernel @line
// CHECK: %[[SUM:.*]] = scf.for {{.*}} -> (tensor<128xi32
// CHECK:   arith.addi %{{[^:]*}} : tensor<128xi32
// CHECK: tile.reduce sum %[[SUM]] : {{.*}} -> i32
#line = #tile_gpu.linear<shape = [1024], register = [[1], [2], [512]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]]>
tile.kernel @line params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i32) {
      %x = "test.tile"(%i) : (index) -> tensor<1024xi32, #line>
      %b = tile.reduce sum %x : tensor<1024xi32, #line> -> i32
      %y = arith.addi %s, %b overflow<nsw> : i32
      scf.yield %y : i32
    }
    "test.use"(%r) : (i32) -> ()
    tile.return
  }

// Nor where the sum is seen within the loop, or starts from something else.
// CHECK-LABEL: tile.kernel @seen
// CHECK: scf.for {{.*}} -> (tensor<64xf32
// CHECK: scf.for {{.*}} -> (tensor<64xf32
tile.kernel @seen params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !row
    %one = arith.constant dense<1.0> : !row
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!row) {
      %x = "test.tile"(%i) : (index) -> !acc
      %b = tile.reduce sum %x axis 1 : !acc -> !row
      %y = arith.addf %s, %b fastmath<reassoc> : !row
      "test.use"(%y) : (!row) -> ()
      scf.yield %y : !row
    }
    %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %one) -> (!row) {
      %x = "test.tile"(%i) : (index) -> !acc
      %b = tile.reduce sum %x axis 1 : !acc -> !row
      %y = arith.addf %s, %b fastmath<reassoc> : !row
      scf.yield %y : !row
    }
    "test.use"(%r, %q) : (!row, !row) -> ()
    tile.return
  }
