// With turns, the next trip's tile is waited for before the last product.
// RUN: tile-opt %s --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   | FileCheck %s

#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<128x64xf16, #s>
!b = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<128x64xf32, #acc>

// Once before the loop, then before the last wait of each iteration that has another behind it.
// CHECK-LABEL: tile.kernel @two
// CHECK:      consumer {
// CHECK:        %[[SOME:.*]] = arith.cmpi slt, %[[LOW:.*]], %[[HIGH:.*]] : index
// CHECK-NEXT:   scf.if %[[SOME]] {
// CHECK-NEXT:     tile_gpu.ring_peek %[[RING:.*]] :
// CHECK-NEXT:   }
// CHECK-NEXT:   %{{.*}} = scf.for %[[I:.*]] = %[[LOW]] to %[[HIGH]] step %[[STEP:.*]] iter_args
// CHECK-NEXT:     tile_gpu.ring_wait %[[RING]] full
// CHECK:          tile_gpu.ring_wait %{{[0-9]+}} :
// CHECK:          tile_gpu.wgmma_wait {{.*}} {pending = 1 : i64}
// CHECK-NEXT:     %[[E:.*]] = math.exp2
// CHECK-NEXT:     %[[HELD:.*]] = tile_gpu.optimization_barrier %[[E]]
// CHECK-NEXT:     %[[NEXT:.*]] = arith.addi %[[I]], %[[STEP]] : index
// CHECK-NEXT:     %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[HIGH]] : index
// CHECK-NEXT:     scf.if %[[MORE]] {
// CHECK-NEXT:       tile_gpu.ring_peek %[[RING]] :
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[LAST:.*]] = tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
// CHECK:          arith.addf %[[HELD]], %[[LAST]]
tile.kernel @two params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %keys = tile_gpu.ring : !tile_gpu.ring<2, !a>
  %values = tile_gpu.ring : !tile_gpu.ring<2, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %o = scf.for %i = %c0 to %c9 step %c1 iter_args(%e = %zero) -> (!acc) {
      %x = tile_gpu.ring_wait %keys : !tile_gpu.ring<2, !a> -> !a
      %y = tile_gpu.ring_wait %values : !tile_gpu.ring<2, !b> -> !b
      %p = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %q = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %r = tile_gpu.wgmma_wait %p {pending = 1 : i64} : !acc
      %f = math.exp2 %r : !acc
      %t = tile_gpu.wgmma_wait %q {pending = 0 : i64} : !acc
      tile_gpu.ring_release %keys : !tile_gpu.ring<2, !a>
      tile_gpu.ring_release %values : !tile_gpu.ring<2, !b>
      %g = arith.addf %f, %t : !acc
      scf.yield %g : !acc
    }
  }
  tile.return
}

// A ring of one slot, which is held till the wait: the producer could never fill it for the next
// iteration.
// CHECK-LABEL: tile.kernel @one
// CHECK-NOT: ring_peek
tile.kernel @one params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %keys = tile_gpu.ring : !tile_gpu.ring<2, !a>
  %values = tile_gpu.ring : !tile_gpu.ring<1, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %i = %c0 to %c9 step %c1 {
      %x = tile_gpu.ring_wait %keys : !tile_gpu.ring<2, !a> -> !a
      %y = tile_gpu.ring_wait %values : !tile_gpu.ring<1, !b> -> !b
      %p = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %q = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %r = tile_gpu.wgmma_wait %p {pending = 1 : i64} : !acc
      %t = tile_gpu.wgmma_wait %q {pending = 0 : i64} : !acc
      tile_gpu.ring_release %keys : !tile_gpu.ring<2, !a>
      tile_gpu.ring_release %values : !tile_gpu.ring<1, !b>
    }
  }
  tile.return
}

// Arithmetic on the accumulator between the products.
// CHECK-LABEL: tile.kernel @scaled
// CHECK-NOT: ring_peek
tile.kernel @scaled params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %keys = tile_gpu.ring : !tile_gpu.ring<2, !a>
  %values = tile_gpu.ring : !tile_gpu.ring<2, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %i = %c0 to %c9 step %c1 {
      %x = tile_gpu.ring_wait %keys : !tile_gpu.ring<2, !a> -> !a
      %y = tile_gpu.ring_wait %values : !tile_gpu.ring<2, !b> -> !b
      %p = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %z = arith.mulf %zero, %zero : !acc
      %q = tile_gpu.wgmma %x, %y, %z async : !a, !b, !acc
      %r = tile_gpu.wgmma_wait %p {pending = 1 : i64} : !acc
      %t = tile_gpu.wgmma_wait %q {pending = 0 : i64} : !acc
      tile_gpu.ring_release %keys : !tile_gpu.ring<2, !a>
      tile_gpu.ring_release %values : !tile_gpu.ring<2, !b>
    }
  }
  tile.return
}

// A loop of one product in flight does, too.
// CHECK-LABEL: tile.kernel @single
// CHECK: tile_gpu.ring_peek
// CHECK: turns, peek>
tile.kernel @single params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !a, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %i = %c0 to %c9 step %c1 {
      %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !a, !b> -> !a, !b
      %p = tile_gpu.wgmma %x, %y, %zero async : !a, !b, !acc
      %t = tile_gpu.wgmma_wait %p {pending = 0 : i64} : !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !a, !b>
    }
  }
  tile.return
}
