// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-rescale-lazily | FileCheck %s

#acc = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#column = #tile_gpu.linear<shape = [128, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#row = #tile_gpu.linear<shape = [128], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]]>
!acc = tensor<128x128xf32, #acc>
!column = tensor<128x1xf32, #column>
!row = tensor<128xf32, #row>

// The factor of this iteration, and that of the one before: a warp whose factors are all 1 leaves
// the product out.
// CHECK-LABEL: tile.kernel @selected
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[LAST:.*]] = %{{.*}})
// CHECK:   %[[HELD:.*]] = tile_gpu.optimization_barrier %[[LAST]]
// CHECK:   %[[SPREAD:.*]] = tile.broadcast
// CHECK:   %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<128xf32
// CHECK:   %[[IS:.*]] = arith.cmpf oeq, %[[HELD]], %[[ONE]]
// CHECK:   %[[ALL:.*]] = tile_gpu.warp_all %[[IS]]
// CHECK:   %[[SCALED:.*]] = scf.if %[[ALL]] -> (tensor<128x128xf32
// CHECK-NEXT: scf.yield %[[SUM]]
// CHECK:      } else {
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[SUM]], %[[SPREAD]]
// CHECK-NEXT: scf.yield %[[PRODUCT]]
// CHECK:   %[[R:.*]] = arith.select
// CHECK:   arith.cmpf oeq, %[[R]]
// CHECK:   tile_gpu.warp_all
// CHECK:   scf.if
// CHECK:   scf.yield %{{.*}}, %[[R]]
tile.kernel @selected params [#tile.param<"n", scalar, align = 1>, #tile.param<"f", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index, %f: f32):
    tile.yield
  } body {
  ^bb0(%n: index, %f: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !acc
    %start = tensor.splat %f : !row
    %limit = arith.constant dense<8.0> : !row
    %one = arith.constant dense<1.0> : !row
    %o:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %last = %start) -> (!acc, !row) {
      %held = tile_gpu.optimization_barrier %last : !row
      %c = tile.reshape %held : !row -> !column
      %b = tile.broadcast %c : !column -> !acc
      %scaled = arith.mulf %sum, %b : !acc
      %e = "test.row"(%scaled) : (!acc) -> !row
      %few = arith.cmpf ole, %e, %limit : !row
      %r = arith.select %few, %one, %e : tensor<128xi1, #row>, !row
      %d = tile.reshape %r : !row -> !column
      %g = tile.broadcast %d : !column -> !acc
      %again = arith.mulf %g, %scaled : !acc
      scf.yield %again, %r : !acc, !row
    }
    "test.use"(%o#0) : (!acc) -> ()
    tile.return
  }

// Nothing says that these factors are 1, or the product stands in no loop, or it is as small as its
// factors.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: warp_all
tile.kernel @others params [#tile.param<"n", scalar, align = 1>, #tile.param<"f", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index, %f: f32):
    tile.yield
  } body {
  ^bb0(%n: index, %f: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !acc
    %one = arith.constant dense<1.0> : !row
    %start = tensor.splat %f : !row
    %limit = arith.constant dense<8.0> : !row
    %outside = arith.cmpf ole, %start, %limit : !row
    %s = arith.select %outside, %one, %start : tensor<128xi1, #row>, !row
    %sc = tile.reshape %s : !row -> !column
    %sb = tile.broadcast %sc : !column -> !acc
    %first = arith.mulf %zero, %sb : !acc
    %o = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %first) -> (!acc) {
      %e = "test.row"(%sum) : (!acc) -> !row
      %x = math.exp2 %e : !row
      %c = tile.reshape %x : !row -> !column
      %b = tile.broadcast %c : !column -> !acc
      %scaled = arith.mulf %sum, %b : !acc
      %few = arith.cmpf ole, %e, %limit : !row
      %r = arith.select %few, %one, %e : tensor<128xi1, #row>, !row
      %small = arith.mulf %e, %r : !row
      "test.use"(%small) : (!row) -> ()
      scf.yield %scaled : !acc
    }
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }

// The product is what mma.sync accumulates on: the branch stands as soon as its factors are known,
// so that the operand of mma.sync is computed in one block with it.
#left = #tile_gpu.linear<shape = [128, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#right = #tile_gpu.linear<shape = [16, 128], register = [[1, 0], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0], [0, 0]]>
!left = tensor<128x16xf16, #left>
!right = tensor<16x128xf16, #right>

// CHECK-LABEL: tile.kernel @before_mma
// CHECK: %[[R:.*]] = arith.select
// CHECK: arith.cmpf oeq, %[[R]]
// CHECK: tile_gpu.warp_all
// CHECK: %[[SCALED:.*]] = scf.if
// CHECK: math.exp2
// CHECK-NOT: scf.if
// CHECK: tile_gpu.mma %{{.*}}, %{{.*}}, %[[SCALED]]
tile.kernel @before_mma params [#tile.param<"n", scalar, align = 1>, #tile.param<"f", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index, %f: f32):
    tile.yield
  } body {
  ^bb0(%n: index, %f: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !acc
    %limit = arith.constant dense<8.0> : !row
    %one = arith.constant dense<1.0> : !row
    %o = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!acc) {
      %e = "test.row"() : () -> !row
      %s = "test.scores"() : () -> !left
      %v = "test.values"() : () -> !right
      %few = arith.cmpf ole, %e, %limit : !row
      %r = arith.select %few, %one, %e : tensor<128xi1, #row>, !row
      %p = math.exp2 %s : !left
      %c = tile.reshape %r : !row -> !column
      %b = tile.broadcast %c : !column -> !acc
      %scaled = arith.mulf %sum, %b : !acc
      %next = tile_gpu.mma %p, %v, %scaled : !left, !right, !acc
      scf.yield %next : !acc
    }
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }
