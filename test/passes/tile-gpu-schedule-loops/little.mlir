// One product beside little arithmetic, as a sum that is scaled on the way, takes no turns: each
// warpgroup computes under the other's product anyway.
// RUN: tile-opt %s --tile-gpu-schedule-loops --tile-gpu-apply-schedule | FileCheck %s

#acc = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
!a = !tile_gpu.memdesc<128x64xf16, #s>
!b = !tile_gpu.memdesc<64x128xf16, #t>
!acc = tensor<128x128xf32, #acc>

// CHECK-LABEL: tile.kernel @little
// CHECK-NOT: tile_gpu.turn_wait
// CHECK: tile_gpu.wgmma
tile.kernel @little params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %half = arith.constant dense<0.5> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !a, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %i = %c0 to %c9 step %c1 iter_args(%sum = %zero) -> (!acc) {
      %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !a, !b> -> !a, !b
      %p = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %r = tile_gpu.wgmma_wait %p {pending = 0 : i64} : !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !a, !b>
      %h = arith.mulf %r, %half fastmath<contract> : !acc
      %next = arith.addf %sum, %h fastmath<contract> : !acc
      scf.yield %next : !acc
    }
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @much
// CHECK: tile_gpu.turn_wait
// CHECK-NEXT: tile_gpu.wgmma
// CHECK-NEXT: tile_gpu.turn_pass
tile.kernel @much params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %half = arith.constant dense<0.5> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !a, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %i = %c0 to %c9 step %c1 iter_args(%sum = %zero) -> (!acc) {
      %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !a, !b> -> !a, !b
      %p = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %r = tile_gpu.wgmma_wait %p {pending = 0 : i64} : !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !a, !b>
      %h = math.exp %r : !acc
      %next = arith.addf %sum, %h : !acc
      scf.yield %next : !acc
    }
  }
  tile.return
}
