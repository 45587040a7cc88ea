// RUN: tile-opt %s --tile-gpu-prefetch-coordinates | FileCheck %s

#row = #tile_gpu.linear<shape = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>

// What the producer waits for is computed and sent a program ahead, inside the branch that it
// stands in, and carried.
// CHECK-LABEL: tile.kernel @branches
// CHECK: consumer {
// CHECK:   %[[ROWS:.*]] = tile.load
// CHECK:   %[[HAS:.*]] = arith.cmpi slt, %[[BEGIN:.*]], %[[END:.*]] : index
// CHECK:   %[[FIRST:.*]]:2 = scf.if %[[HAS]] -> (index, index) {
// CHECK:     tile.reduce
// CHECK:     tile_gpu.scalar_send
// CHECK:     scf.if %{{.*}} -> (index) {
// CHECK:       tile_gpu.scalar_send
// CHECK:     } else {
// CHECK-NEXT:  %[[NONE:.*]] = arith.constant 0 : index
// CHECK-NEXT:  scf.yield %[[NONE]]
// CHECK:   scf.for %[[P:.*]] = %[[BEGIN]] to %[[END]] step %[[STEP:.*]] iter_args(%[[A:.*]] = %[[FIRST]]#0, %[[B:.*]] = %[[FIRST]]#1)
// CHECK:     %[[NEXT:.*]] = arith.addi %[[P]], %[[STEP]] : index
// CHECK:     arith.cmpi slt, %[[NEXT]], %[[END]] : index
// CHECK:     %[[SENT:.*]]:2 = scf.if
// CHECK:       tensor.splat %[[NEXT]]
// CHECK:       tile_gpu.scalar_send
// CHECK:       tile_gpu.scalar_send
// CHECK-NOT: tile.reduce
// CHECK-NOT: scalar_send
// CHECK:     arith.cmpi slt, %[[A]]
// CHECK:     tile.store %{{.*}}, %{{.*}}[%[[B]]]
// CHECK:     scf.yield %[[SENT]]#0, %[[SENT]]#1
tile.kernel @branches params [#tile.param<"a", in, align = 16>, #tile.param<"o", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%a: !tile.ptr<i64>, %o: !tile.ptr<i64>):
  tile.yield
} body {
^bb0(%a: !tile.ptr<i64>, %o: !tile.ptr<i64>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c32 = arith.constant 32 : index
  %pad = arith.constant 0 : i64
  %from = tile.view %a[%c32] strides[%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
  %to = tile.view %o[%c32] strides[%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
  %begin, %step = tile_gpu.block_id
  %first = tile_gpu.ring : !tile_gpu.ring<2>
  %second = tile_gpu.ring : !tile_gpu.ring<2>
  tile_gpu.warp_specialize producer {
  } consumer {
    %rows = tile.load %from[%c0] pad %pad : i64 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 32>, steps = array<i64: 1>} : !tile.view<?xi64> -> tensor<32xi64, #row>
    %places = arith.index_cast %rows : tensor<32xi64, #row> to tensor<32xindex, #row>
    scf.for %p = %begin to %c9 step %step {
      %all = tensor.splat %p : tensor<32xindex, #row>
      %sums = arith.addi %places, %all : tensor<32xindex, #row>
      %x = tile.reduce sum %sums : tensor<32xindex, #row> -> index
      tile_gpu.scalar_send %first, %x : !tile_gpu.ring<2>, index
      %go = arith.cmpi slt, %x, %c9 : index
      scf.if %go {
        %y = tile.reduce max %sums : tensor<32xindex, #row> -> index
        tile_gpu.scalar_send %second, %y : !tile_gpu.ring<2>, index
        tile.store %pad, %to[%y] {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: -1>, steps = array<i64: 1>} : i64, !tile.view<?xi64>
      }
    }
  }
  tile.return
}

// What another store of the same program may have changed is not read a program earlier.
// CHECK-LABEL: tile.kernel @written
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[a-z0-9]*}} {
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: tile_gpu.scalar_send
tile.kernel @written params [#tile.param<"o", inout, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%o: !tile.ptr<i64>):
  tile.yield
} body {
^bb0(%o: !tile.ptr<i64>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c32 = arith.constant 32 : index
  %pad = arith.constant 0 : i64
  %to = tile.view %o[%c32] strides[%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
  %begin, %step = tile_gpu.block_id
  %first = tile_gpu.ring : !tile_gpu.ring<2>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %p = %begin to %c9 step %step {
      %x = tile.load %to[%p] pad %pad : i64 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: -1>, steps = array<i64: 1>} : !tile.view<?xi64> -> i64
      %y = arith.index_cast %x : i64 to index
      tile_gpu.scalar_send %first, %y : !tile_gpu.ring<2>, index
      tile.store %pad, %to[%y] {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: -1>, steps = array<i64: 1>} : i64, !tile.view<?xi64>
    }
  }
  tile.return
}

// Small tiles that a branch loads at a place known by then are loaded a program ahead, too, behind
// the sends: their bounds are checked there. Not what another branch may not compute, nor what a
// loop loads.
// CHECK-LABEL: tile.kernel @loads
// CHECK: consumer {
// CHECK:   scf.if %{{.*}} -> (index, tensor<32xi64
// CHECK:     tile_gpu.scalar_send %{{.*}}, %[[X:.*]] :
// CHECK:     %[[T:.*]] = tile.load %{{.*}}[%[[X]]]
// CHECK:     scf.yield %[[X]], %[[T]]
// CHECK:   scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[NOW:.*]] = %{{.*}})
// CHECK:     %[[NEXT:.*]]:2 = scf.if
// CHECK:       tile_gpu.scalar_send
// CHECK:       tile.load
// CHECK:     arith.cmpi slt
// CHECK-NEXT: scf.if
// CHECK-NEXT:  tile.store %[[NOW]]
// CHECK:       arith.divsi
// CHECK:       tile.load
// CHECK:       tile.store
// CHECK:       scf.for
// CHECK:         tile.load
// CHECK:     scf.yield %[[NEXT]]#0, %[[NEXT]]#1
tile.kernel @loads params [#tile.param<"a", in, align = 16>, #tile.param<"o", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.persistent} grid {
^bb0(%a: !tile.ptr<i64>, %o: !tile.ptr<i64>):
  tile.yield
} body {
^bb0(%a: !tile.ptr<i64>, %o: !tile.ptr<i64>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c32 = arith.constant 32 : index
  %pad = arith.constant 0 : i64
  %from = tile.view %a[%c32] strides[%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
  %to = tile.view %o[%c32] strides[%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
  %begin, %step = tile_gpu.block_id
  %first = tile_gpu.ring : !tile_gpu.ring<2>
  tile_gpu.warp_specialize producer {
  } consumer {
    %rows = tile.load %from[%c0] pad %pad : i64 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 32>, steps = array<i64: 1>} : !tile.view<?xi64> -> tensor<32xi64, #row>
    %places = arith.index_cast %rows : tensor<32xi64, #row> to tensor<32xindex, #row>
    scf.for %p = %begin to %c9 step %step {
      %all = tensor.splat %p : tensor<32xindex, #row>
      %sums = arith.addi %places, %all : tensor<32xindex, #row>
      %x = tile.reduce sum %sums : tensor<32xindex, #row> -> index
      tile_gpu.scalar_send %first, %x : !tile_gpu.ring<2>, index
      %go = arith.cmpi slt, %x, %c9 : index
      scf.if %go {
        %t = tile.load %from[%x] pad %pad : i64 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 32>, steps = array<i64: 1>} : !tile.view<?xi64> -> tensor<32xi64, #row>
        tile.store %t, %to[%x] {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 32>, steps = array<i64: 1>} : tensor<32xi64, #row>, !tile.view<?xi64>
        %d = arith.divsi %c32, %x : index
        %u = tile.load %from[%d] pad %pad : i64 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 32>, steps = array<i64: 1>} : !tile.view<?xi64> -> tensor<32xi64, #row>
        tile.store %u, %to[%d] {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 32>, steps = array<i64: 1>} : tensor<32xi64, #row>, !tile.view<?xi64>
        scf.for %i = %c0 to %c9 step %c1 {
          %v = tile.load %from[%x] pad %pad : i64 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 32>, steps = array<i64: 1>} : !tile.view<?xi64> -> tensor<32xi64, #row>
          tile.store %v, %to[%i] {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 32>, steps = array<i64: 1>} : tensor<32xi64, #row>, !tile.view<?xi64>
        }
      }
    }
  }
  tile.return
}
