// RUN: tile-opt %s --tile-gpu-schedule-tiles-dynamically | FileCheck %s

!tile = !tile_gpu.memdesc<64x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
!ring = !tile_gpu.ring<4, !tile>

// Consumers hear of the next program behind the last loop of this one, and compute there where it
// lies: ahead of the store, and not before the next program's first copy. What quotients are made
// from, here the width, is moved out; what is no quotient stays where it is.
// CHECK-LABEL: tile.kernel @places
// CHECK: } consumer {
// CHECK:   %[[WIDTH:.*]] = arith.addi
// CHECK:   %[[ROW:.*]] = arith.divui %[[BLOCK:.*]], %[[WIDTH]] : index
// CHECK:   %[[COLUMN:.*]] = arith.remui %[[BLOCK]], %[[WIDTH]] : index
// CHECK:   scf.while (%{{.*}} = %[[BLOCK]], %{{.*}} = %[[ROW]], %{{.*}} = %[[COLUMN]])
// CHECK:   } do {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[I:.*]]: index, %[[J:.*]]: index):
// CHECK-NOT:  arith.divui
// CHECK:      %[[TRIPS:.*]] = arith.addi %[[J]], %{{.*}} : index
// CHECK:      scf.for %{{.*}} = %{{.*}} to %[[TRIPS]]
// CHECK:      }
// CHECK-NEXT: %[[NEXT:.*]] = tile_gpu.program_receive
// CHECK-NEXT: %[[I2:.*]] = arith.divui %[[NEXT]], %[[WIDTH]] : index
// CHECK-NEXT: %[[J2:.*]] = arith.remui %[[NEXT]], %[[WIDTH]] : index
// CHECK-NEXT: tile.store %{{.*}}, %{{.*}}[%[[I]]]
// CHECK-NEXT: scf.yield %[[NEXT]], %[[I2]], %[[J2]] : index, index, index
tile.kernel @places params [#tile.param<"n", scalar, align = 1>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%n: index, %y: !tile.ptr<i32>):
  tile.yield %n : index
} body {
^bb0(%n: index, %y: !tile.ptr<i32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %result = tile.view %y[%n] strides[%c1] : <i32> -> <?xi32>
  %ring = tile_gpu.ring : !ring
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      %width = arith.addi %n, %c1 : index
      %j = arith.remui %p, %width : index
      %trips = arith.addi %j, %c1 : index
      scf.for %t = %c0 to %trips step %c1 {
        %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
      }
    }
  } consumer {
    scf.for %p = %block to %n step %blocks {
      %width = arith.addi %n, %c1 : index
      %i = arith.divui %p, %width : index
      %j = arith.remui %p, %width : index
      %trips = arith.addi %j, %c1 : index
      scf.for %t = %c0 to %trips step %c1 {
        %m = tile_gpu.ring_wait %ring : !ring -> !tile
        tile_gpu.ring_release %ring : !ring
      }
      tile.store %one, %result[%i] {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : i32, <?xi32>
    }
  }
  tile.return
}
