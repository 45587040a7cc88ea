// RUN: tile-opt %s --tile-gpu-schedule-tiles-dynamically | FileCheck %s

!tile = !tile_gpu.memdesc<64x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
!ring = !tile_gpu.ring<4, !tile>

// A loop whose trips depend on the program: the producer takes the next program from the count and
// tells the consumers.
// CHECK-LABEL: tile.kernel @uneven
// CHECK-SAME: tile_gpu.dynamic_schedule
// CHECK: %[[BLOCK:.*]], %{{.*}} = tile_gpu.block_id
// CHECK: %[[PROGRAMS:.*]] = tile_gpu.ring per_warp : <1>
// CHECK: producer {
// CHECK-NEXT: scf.while (%[[P:.*]] = %[[BLOCK]])
// CHECK-NEXT:   %[[EXISTS:.*]] = arith.cmpi slt, %[[P]], %[[TOTAL:.*]] : index
// CHECK-NEXT:   scf.condition(%[[EXISTS]]) %[[P]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[PROGRAM:.*]]: index):
// CHECK-NEXT:   %[[END:.*]] = arith.muli %[[PROGRAM]]
// CHECK-NEXT:   scf.for %{{.*}} to %[[END]]
// CHECK:        %[[NEXT:.*]] = tile_gpu.program_take %[[TOTAL]]
// CHECK-NEXT:   tile_gpu.program_send %[[NEXT]], %[[PROGRAMS]]
// CHECK-NEXT:   scf.yield %[[NEXT]]
// CHECK: } consumer {
// CHECK-NEXT: scf.while (%[[P:.*]] = %[[BLOCK]])
// CHECK-NEXT:   %[[EXISTS:.*]] = arith.cmpi slt, %[[P]], %[[TOTAL]] : index
// CHECK:        tile_gpu.ring_release
// CHECK-NEXT: }
// CHECK-NEXT:   %[[NEXT:.*]] = tile_gpu.program_receive %[[PROGRAMS]]
// CHECK-NEXT:   scf.yield %[[NEXT]]
tile.kernel @uneven params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%n: index):
  tile.yield %n : index
} body {
^bb0(%n: index):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %ring = tile_gpu.ring : !ring
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      %end = arith.muli %p, %c64 : index
      scf.for %i = %c0 to %end step %c64 {
        %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
      }
    }
  } consumer {
    scf.for %p = %block to %n step %blocks {
      %end = arith.muli %p, %c64 : index
      scf.for %i = %c0 to %end step %c64 {
        %m = tile_gpu.ring_wait %ring : !ring -> !tile
        tile_gpu.ring_release %ring : !ring
      }
    }
  }
  tile.return
}

// All programs are alike: shares may be dealt out.
// CHECK-LABEL: tile.kernel @even
// CHECK-NOT: scf.while
// CHECK: tile.return
tile.kernel @even params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%n: index):
  tile.yield %n : index
} body {
^bb0(%n: index):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %ring = tile_gpu.ring : !ring
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      %end = arith.muli %n, %c64 : index
      scf.for %i = %c0 to %end step %c64 {
        %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
      }
    }
  } consumer {
    scf.for %p = %block to %n step %blocks {
      %end = arith.muli %n, %c64 : index
      scf.for %i = %c0 to %end step %c64 {
        %m = tile_gpu.ring_wait %ring : !ring -> !tile
        tile_gpu.ring_release %ring : !ring
      }
    }
  }
  tile.return
}

// The blocks of a cluster go on together.
// CHECK-LABEL: tile.kernel @pairs
// CHECK-NOT: scf.while
// CHECK: tile.return
tile.kernel @pairs params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent, tile_gpu.cluster = 2 : i64} grid {
^bb0(%n: index):
  tile.yield %n : index
} body {
^bb0(%n: index):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %ring = tile_gpu.ring clustered : !ring
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      scf.for %i = %c0 to %p step %c64 {
        %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
      }
    }
  } consumer {
    scf.for %p = %block to %n step %blocks {
      scf.for %i = %c0 to %p step %c64 {
        %m = tile_gpu.ring_wait %ring : !ring -> !tile
        tile_gpu.ring_release %ring : !ring
      }
    }
  }
  tile.return
}

// Some programs have nothing to do. Consumers send ahead what the producer needs for the next
// program: its number is taken before the copies of this one, and received before the work on it. It
// is sent right before the copies, in either branch: the producer waits for what it has taken then.
// CHECK-LABEL: tile.kernel @ahead
// CHECK-SAME: tile_gpu.dynamic_schedule
// CHECK: producer {
// CHECK:   } do {
// CHECK-NEXT: ^bb0(%{{.*}}: index):
// CHECK-NEXT:   %[[TAKEN:.*]] = tile_gpu.program_take
// CHECK-NEXT:   tile_gpu.scalar_receive
// CHECK:        scf.if
// CHECK-NEXT:     tile_gpu.program_send %[[TAKEN]]
// CHECK-NEXT:   } else {
// CHECK-NEXT:     tile_gpu.program_send %[[TAKEN]]
// CHECK-NEXT:     scf.for
// CHECK:        scf.yield %[[TAKEN]]
// CHECK: } consumer {
// CHECK:   scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %[[FIRST:.*]]) : (index, index) -> (index, index)
// CHECK:   } do {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[NOW:.*]]: index):
// CHECK-NEXT:   %[[NEXT:.*]] = tile_gpu.program_receive
// CHECK-NEXT:   %[[SENT:.*]] = arith.muli %[[NEXT]]
// CHECK-NEXT:   tile_gpu.scalar_send %{{.*}}, %[[SENT]]
// CHECK:        arith.cmpi sge, %[[NOW]]
// CHECK:        scf.yield %[[NEXT]], %[[SENT]]
tile.kernel @ahead params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%n: index):
  tile.yield %n : index
} body {
^bb0(%n: index):
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c64 = arith.constant 64 : index
  %ring = tile_gpu.ring : !ring
  %scalars = tile_gpu.ring : !tile_gpu.ring<2>
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      %now = tile_gpu.scalar_receive %scalars : !tile_gpu.ring<2> -> index
      %none = arith.cmpi sge, %now, %n : index
      scf.if %none {
      } else {
        scf.for %i = %c0 to %c9 step %c64 {
          %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
        }
      }
    }
  } consumer {
    %first = arith.muli %block, %c64 : index
    tile_gpu.scalar_send %scalars, %first : !tile_gpu.ring<2>, index
    %last = scf.for %p = %block to %n step %blocks iter_args(%now = %first) -> (index) {
      %next = arith.addi %p, %blocks : index
      %sent = arith.muli %next, %c64 : index
      tile_gpu.scalar_send %scalars, %sent : !tile_gpu.ring<2>, index
      %none = arith.cmpi sge, %now, %n : index
      scf.if %none {
      } else {
        scf.for %i = %c0 to %c9 step %c64 {
          %m = tile_gpu.ring_wait %ring : !ring -> !tile
          tile_gpu.ring_release %ring : !ring
        }
      }
      scf.yield %sent : index
    }
  }
  tile.return
}
