// RUN: tile-opt %s --tile-gpu-schedule-tiles-dynamically | FileCheck %s

!tile = !tile_gpu.memdesc<64x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
!ring = !tile_gpu.ring<4, !tile>

// Both sides leave a program alone by the same test, of memory that nothing writes: the producer
// passes over it. A program beyond the last is not tested, for nothing is there to be read.
// CHECK-LABEL: tile.kernel @idle
// CHECK: producer {
// CHECK:   %[[NEXT:.*]] = scf.while : () -> index {
// CHECK-NEXT: %[[TAKEN:.*]] = tile_gpu.program_take %[[TOTAL:.*]]
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[TAKEN]], %[[TOTAL]] : index
// CHECK-NEXT: %[[SKIPPED:.*]] = scf.if %[[EXISTS]] -> (i1) {
// CHECK-NEXT:   %[[LENGTH:.*]] = tile.load %{{.*}}[%[[TAKEN]]]
// CHECK-NEXT:   %[[BUSY:.*]] = arith.cmpi sgt, %[[LENGTH]]
// CHECK-NEXT:   %[[TRUE:.*]] = arith.constant true
// CHECK-NEXT:   %[[NOT:.*]] = arith.xori %[[BUSY]], %[[TRUE]]
// CHECK-NEXT:   scf.yield %[[NOT]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT:   scf.yield %[[FALSE]]
// CHECK:      scf.condition(%[[SKIPPED]]) %[[TAKEN]]
// CHECK:      tile_gpu.program_send %[[NEXT]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: } consumer {
tile.kernel @idle params [#tile.param<"x", in, align = 16>, #tile.param<"n", scalar, align = 1>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%x: !tile.ptr<i32>, %n: index, %y: !tile.ptr<i32>):
  tile.yield %n : index
} body {
^bb0(%x: !tile.ptr<i32>, %n: index, %y: !tile.ptr<i32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0 : i32
  %lengths = tile.view %x[%n] strides[%c1] : <i32> -> <?xi32>
  %result = tile.view %y[%n] strides[%c1] : <i32> -> <?xi32>
  %ring = tile_gpu.ring : !ring
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      %length = tile.load %lengths[%p] pad %zero : i32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : <?xi32> -> i32
      %busy = arith.cmpi sgt, %length, %zero : i32
      scf.if %busy {
        scf.for %i = %c0 to %c9 step %c1 {
          %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
        }
      }
    }
  } consumer {
    scf.for %p = %block to %n step %blocks {
      %length = tile.load %lengths[%p] pad %zero : i32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : <?xi32> -> i32
      %busy = arith.cmpi sgt, %length, %zero : i32
      scf.if %busy {
        scf.for %i = %c0 to %c9 step %c1 {
          %m = tile_gpu.ring_wait %ring : !ring -> !tile
          tile_gpu.ring_release %ring : !ring
        }
      }
    }
  }
  tile.return
}

// To the consumers it is not idle: they store.
// CHECK-LABEL: tile.kernel @stores
// CHECK-NOT: scf.while : ()
// CHECK: tile.return
tile.kernel @stores params [#tile.param<"x", in, align = 16>, #tile.param<"n", scalar, align = 1>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%x: !tile.ptr<i32>, %n: index, %y: !tile.ptr<i32>):
  tile.yield %n : index
} body {
^bb0(%x: !tile.ptr<i32>, %n: index, %y: !tile.ptr<i32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0 : i32
  %lengths = tile.view %x[%n] strides[%c1] : <i32> -> <?xi32>
  %result = tile.view %y[%n] strides[%c1] : <i32> -> <?xi32>
  %ring = tile_gpu.ring : !ring
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      %length = tile.load %lengths[%p] pad %zero : i32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : <?xi32> -> i32
      %busy = arith.cmpi sgt, %length, %zero : i32
      scf.if %busy {
        scf.for %i = %c0 to %c9 step %c1 {
          %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
        }
      }
    }
  } consumer {
    scf.for %p = %block to %n step %blocks {
      %length = tile.load %lengths[%p] pad %zero : i32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : <?xi32> -> i32
      %busy = arith.cmpi sgt, %length, %zero : i32
      scf.if %busy {
        scf.for %i = %c0 to %c9 step %c1 {
          %m = tile_gpu.ring_wait %ring : !ring -> !tile
          tile_gpu.ring_release %ring : !ring
        }
      } else {
        tile.store %zero, %result[%p] {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : i32, <?xi32>
      }
    }
  }
  tile.return
}

// The memory may be written meanwhile: sides that look at different times might not agree.
// CHECK-LABEL: tile.kernel @written
// CHECK-NOT: scf.while : ()
// CHECK: tile.return
tile.kernel @written params [#tile.param<"x", in, align = 16>, #tile.param<"n", scalar, align = 1>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%x: !tile.ptr<i32>, %n: index, %y: !tile.ptr<i32>):
  tile.yield %n : index
} body {
^bb0(%x: !tile.ptr<i32>, %n: index, %y: !tile.ptr<i32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0 : i32
  %lengths = tile.view %y[%n] strides[%c1] : <i32> -> <?xi32>
  %result = tile.view %y[%n] strides[%c1] : <i32> -> <?xi32>
  %ring = tile_gpu.ring : !ring
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.for %p = %block to %n step %blocks {
      %length = tile.load %lengths[%p] pad %zero : i32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : <?xi32> -> i32
      %busy = arith.cmpi sgt, %length, %zero : i32
      scf.if %busy {
        scf.for %i = %c0 to %c9 step %c1 {
          %m, %full = tile_gpu.ring_acquire %ring : !ring -> !tile
        }
      }
    }
  } consumer {
    scf.for %p = %block to %n step %blocks {
      %length = tile.load %lengths[%p] pad %zero : i32 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: -1>, steps = array<i64: 1>} : <?xi32> -> i32
      %busy = arith.cmpi sgt, %length, %zero : i32
      scf.if %busy {
        scf.for %i = %c0 to %c9 step %c1 {
          %m = tile_gpu.ring_wait %ring : !ring -> !tile
          tile_gpu.ring_release %ring : !ring
        }
      }
    }
  }
  tile.return
}
