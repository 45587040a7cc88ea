// Warpgroups issue in turn the products that a trip has in flight.
// RUN: tile-opt %s --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   | FileCheck %s

#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#acc_four = #tile_gpu.linear<shape = [256, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0], [128, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<128x64xf16, #s>
!a_four = !tile_gpu.memdesc<256x64xf16, #s>
!b = !tile_gpu.memdesc<64x64xf16, #s>

// CHECK-LABEL: tile.kernel @two
// CHECK:      consumer {
// CHECK-NEXT:   tile_gpu.turn_start
// CHECK:        scf.for
// CHECK:          tile_gpu.turn_wait
// CHECK-NEXT:     tile_gpu.wgmma
// CHECK-NEXT:     tile_gpu.wgmma
// CHECK-NEXT:     tile_gpu.turn_pass
// CHECK-NEXT:     tile_gpu.wgmma_wait
// CHECK:        } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 0, order = 1, flight = 0)], turns>}
// CHECK-NEXT:   tile_gpu.turn_end
tile.kernel @two params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %ring = tile_gpu.ring : !tile_gpu.ring<1, !a, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<1, !a, !b> -> !a, !b
    scf.for %i = %c0 to %c9 step %c1 {
      %p = tile_gpu.wgmma %x, %y, %zero async : !a, !b, tensor<128x64xf32, #acc>
      %q = tile_gpu.wgmma %x, %y, %zero async : !a, !b, tensor<128x64xf32, #acc>
      %r = tile_gpu.wgmma_wait %p {pending = 1 : i64} : tensor<128x64xf32, #acc>
      %t = tile_gpu.wgmma_wait %q {pending = 0 : i64} : tensor<128x64xf32, #acc>
    }
  }
  tile.return
}

// There are named barriers for four.
// CHECK-LABEL: tile.kernel @four
// CHECK:      consumer {
// CHECK-NEXT:   tile_gpu.turn_start
// CHECK:        tile_gpu.turn_pass
// CHECK:        flight = 0)], turns>}
tile.kernel @four params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 16 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<256x64xf32, #acc_four>
  %ring = tile_gpu.ring : !tile_gpu.ring<1, !a_four, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<1, !a_four, !b> -> !a_four, !b
    scf.for %i = %c0 to %c9 step %c1 {
      %p = tile_gpu.wgmma %x, %y, %zero async : !a_four, !b, tensor<256x64xf32, #acc_four>
      %q = tile_gpu.wgmma %x, %y, %zero async : !a_four, !b, tensor<256x64xf32, #acc_four>
      %r = tile_gpu.wgmma_wait %p {pending = 1 : i64} : tensor<256x64xf32, #acc_four>
      %t = tile_gpu.wgmma_wait %q {pending = 0 : i64} : tensor<256x64xf32, #acc_four>
    }
  }
  tile.return
}
