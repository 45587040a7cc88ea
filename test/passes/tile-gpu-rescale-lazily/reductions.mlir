// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-rescale-lazily | FileCheck %s
// Maxima across lanes that only decide selections stand in a branch that a warp skips where each
// lane's own part decides alike.

#s = #tile_gpu.linear<shape = [64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#across = #tile_gpu.linear<shape = [64, 32], register = [[0, 1], [8, 0], [0, 8], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 16]]>
#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tile_gpu.linear<shape = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#b = #tile_gpu.linear<shape = [16, 64], register = [[1, 0], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#column = #tile_gpu.linear<shape = [64, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#row = #tile_gpu.linear<shape = [64], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]>
#row2 = #tile_gpu.linear<shape = [64], register = [[8], [32]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [0]]>
!s = tensor<64x32xf32, #s>
!across = tensor<64x32xf32, #across>
!acc = tensor<64x64xf32, #acc>
!a = tensor<64x16xf16, #a>
!b = tensor<16x64xf16, #b>
!column = tensor<64x1xf32, #column>
!row = tensor<64xf32, #row>
!row2 = tensor<64xf32, #row2>

// The maximum of an online softmax that moves only when it has grown: the factor of the sum is in
// the same branch, where mma.sync adds to it.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[TOP:.*]] = %{{.*}})
// CHECK:   %[[S:.*]] = "test.scores"
// CHECK:   %[[SPLIT:.*]] = tile.reshape %[[S]] : {{.*}} -> tensor<64x4x4x2xf32
// CHECK:   %[[INNER:.*]] = tile.reduce max %[[SPLIT]] axis 3
// CHECK:   %[[PART:.*]] = tile.reduce max %[[INNER]] axis 1 : {{.*}} -> tensor<64x4xf32
// CHECK:   %[[HIGH:.*]] = arith.maximumf %{{.*}}, %[[PART]]
// CHECK:   %[[GROWN:.*]] = arith.subf %[[HIGH]], %{{.*}}
// CHECK:   %[[FEW:.*]] = arith.cmpf ole, %[[GROWN]]
// CHECK:   %[[ALL:.*]] = tile_gpu.warp_all %[[FEW]] : tensor<64x4xi1
// CHECK:   %[[BRANCH:.*]]:3 = scf.if %[[ALL]]
// CHECK-NEXT: scf.yield %[[TOP]], %[[ONE:.*]], %[[SUM]]
// CHECK:      } else {
// CHECK-NEXT: %[[MAX:.*]] = tile.reduce max %[[PART]] axis 1 : {{.*}} -> tensor<64xf32
// CHECK-NEXT: %[[H:.*]] = arith.maximumf %[[TOP]], %[[MAX]]
// CHECK-NEXT: %[[G:.*]] = arith.subf %[[H]], %[[TOP]]
// CHECK-NEXT: %[[F:.*]] = arith.cmpf ole, %[[G]]
// CHECK-NEXT: %[[E:.*]] = math.exp2 %[[G]]
// CHECK-NEXT: %[[T:.*]] = arith.select %[[F]], %[[TOP]], %[[H]]
// CHECK-NEXT: %[[R:.*]] = arith.select %[[F]], %[[ONE]], %[[E]]
// CHECK-NEXT: tile.reshape %[[R]]
// CHECK-NEXT: %[[SPREAD:.*]] = tile.broadcast
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[SPREAD]]
// CHECK-NEXT: scf.yield %[[T]], %[[R]], %[[SCALED]]
// CHECK-NOT: warp_all
// CHECK:   tile_gpu.mma %{{.*}}, %{{.*}}, %[[BRANCH]]#2
// CHECK:   scf.yield %{{.*}}, %[[BRANCH]]#0
tile.kernel @softmax params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !acc
    %low = arith.constant dense<-1.0> : !row
    %limit = arith.constant dense<8.0> : !row
    %one = arith.constant dense<1.0> : !row
    %o:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %top = %low) -> (!acc, !row) {
      %s = "test.scores"() : () -> !s
      %m = tile.reduce max %s axis 1 : !s -> !row
      %high = arith.maximumf %top, %m : !row
      %grown = arith.subf %high, %top : !row
      %few = arith.cmpf ole, %grown, %limit : !row
      %t = arith.select %few, %top, %high : tensor<64xi1, #row>, !row
      %e = math.exp2 %grown : !row
      %r = arith.select %few, %one, %e : tensor<64xi1, #row>, !row
      %a = "test.operand"(%s, %t) : (!s, !row) -> !a
      %b = "test.operand"() : () -> !b
      %c = tile.reshape %r : !row -> !column
      %f = tile.broadcast %c : !column -> !acc
      %scaled = arith.mulf %sum, %f : !acc
      %next = tile_gpu.mma %a, %b, %scaled : !a, !b, !acc
      scf.yield %next, %t : !acc, !row
    }
    "test.use"(%o#0) : (!acc) -> ()
    tile.return
  }

// The other arm, a minimum, and a condition that no product follows.
// CHECK-LABEL: tile.kernel @minimum
// CHECK:   %[[PART:.*]] = tile.reduce min %{{.*}} axis 1 : {{.*}} -> tensor<64x4xf32
// CHECK:   %[[LESS:.*]] = arith.cmpf olt, %[[PART]]
// CHECK:   %[[TRUE:.*]] = arith.constant dense<true> : tensor<64x4xi1
// CHECK:   %[[NOT:.*]] = arith.xori %[[LESS]], %[[TRUE]]
// CHECK:   %[[ALL:.*]] = tile_gpu.warp_all %[[NOT]]
// CHECK:   %[[T:.*]] = scf.if %[[ALL]]
// CHECK-NEXT: scf.yield %[[TOP:.*]] :
// CHECK:      } else {
// CHECK-NEXT: %[[MIN:.*]] = tile.reduce min %[[PART]] axis 1
// CHECK-NEXT: %[[C:.*]] = arith.cmpf olt, %[[MIN]], %{{.*}}
// CHECK-NEXT: %[[S:.*]] = arith.select %[[C]], %[[MIN]], %[[TOP]]
// CHECK-NEXT: scf.yield %[[S]]
// CHECK:   scf.yield %[[T]]
tile.kernel @minimum params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %low = arith.constant dense<-1.0> : !row
    %o = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low) -> (!row) {
      %s = "test.scores"() : () -> !s
      %m = tile.reduce min %s axis 1 : !s -> !row
      %less = arith.cmpf olt, %m, %top : !row
      %t = arith.select %less, %m, %top : tensor<64xi1, #row>, !row
      scf.yield %t : !row
    }
    "test.use"(%o) : (!row) -> ()
    tile.return
  }

// Left alone: a sum is none of its parts; a maximum that is stored; one that all arms need; one
// whose rows several warps share, which would have to wait for each other in the branch; selections
// by two conditions; an arm that is computed behind the first selection.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: warp_all
tile.kernel @others params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%n: index):
    tile.yield
  } body {
  ^bb0(%n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %low = arith.constant dense<-1.0> : !row
    %low2 = arith.constant dense<-1.0> : !row2
    %o:2 = scf.for %i = %c0 to %n step %c1 iter_args(%top = %low, %top2 = %low2) -> (!row, !row2) {
      %s = "test.scores"() : () -> !s
      %sum = tile.reduce sum %s axis 1 : !s -> !row
      %is = arith.cmpf olt, %sum, %top : !row
      %t0 = arith.select %is, %top, %sum : tensor<64xi1, #row>, !row
      "test.use"(%t0) : (!row) -> ()

      %stored = tile.reduce max %s axis 1 : !s -> !row
      %is1 = arith.cmpf olt, %stored, %top : !row
      %t1 = arith.select %is1, %top, %stored : tensor<64xi1, #row>, !row
      "test.use"(%t1, %stored) : (!row, !row) -> ()

      %both = tile.reduce max %s axis 1 : !s -> !row
      %is2 = arith.cmpf olt, %both, %top : !row
      %half = arith.addf %both, %top : !row
      %t2 = arith.select %is2, %half, %both : tensor<64xi1, #row>, !row
      "test.use"(%t2) : (!row) -> ()

      %x = "test.scores"() : () -> !across
      %warps = tile.reduce max %x axis 1 : !across -> !row2
      %is3 = arith.cmpf olt, %warps, %top2 : !row2
      %t3 = arith.select %is3, %top2, %warps : tensor<64xi1, #row2>, !row2

      %two = tile.reduce max %s axis 1 : !s -> !row
      %is4 = arith.cmpf olt, %two, %top : !row
      %is5 = arith.cmpf ogt, %two, %low : !row
      %t4 = arith.select %is4, %top, %two : tensor<64xi1, #row>, !row
      %t5 = arith.select %is5, %top, %two : tensor<64xi1, #row>, !row
      "test.use"(%t4, %t5) : (!row, !row) -> ()

      %late = tile.reduce max %s axis 1 : !s -> !row
      %is6 = arith.cmpf olt, %late, %top : !row
      %t6 = arith.select %is6, %top, %late : tensor<64xi1, #row>, !row
      %arm = "test.arm"(%t6) : (!row) -> !row
      %t7 = arith.select %is6, %arm, %late : tensor<64xi1, #row>, !row
      scf.yield %t7, %t3 : !row, !row2
    }
    "test.use"(%o#0, %o#1) : (!row, !row2) -> ()
    tile.return
  }
