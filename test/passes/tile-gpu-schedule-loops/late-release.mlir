// Products that nothing but the next trip touches stay in flight till then, where one warpgroup is
// alone.
// RUN: tile-opt %s -split-input-file --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
!b = !tile_gpu.memdesc<64x64xf16, #s>

// The slot goes back behind the next product's wait, the last one behind the loop, if there was
// any; the sum of a loop without a trip passes by the last wait.
// CHECK-LABEL: tile.kernel @one
// CHECK: %[[ALL:.*]] = scf.if
// CHECK-NEXT: %[[R:.*]] = scf.for %[[I:.*]] = %[[LOW:.*]] to %{{.*}} step
// CHECK:   tile_gpu.ring_wait
// CHECK:   %[[P:.*]] = tile_gpu.wgmma %{{.*}} async
// CHECK:   %[[S:.*]] = tile_gpu.wgmma_wait %[[P]] {pending = 1 : i64}
// CHECK:   %[[SECOND:.*]] = arith.cmpi ne, %[[I]], %[[LOW]]
// CHECK-NEXT: scf.if %[[SECOND]] {
// CHECK-NEXT:   tile_gpu.ring_release
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: %[[SUM:.*]] = tile_gpu.wgmma_wait %[[R]] {pending = 0 : i64}
// CHECK-NEXT: tile_gpu.ring_release
// CHECK-NEXT: scf.yield %[[SUM]]
// CHECK-NEXT: } else {
// CHECK: arith.addf %[[ALL]]
tile.kernel @one params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !a, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
      %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !a, !b> -> !a, !b
      %p = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x64xf32, #acc>
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !a, !b>
      scf.yield %p : tensor<64x64xf32, #acc>
    }
    %t = arith.addf %r, %r : tensor<64x64xf32, #acc>
  }
  tile.return
}

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
!b = !tile_gpu.memdesc<64x64xf16, #s>

// Not where the next slot is this one, where the sum is read in the loop, or where an operand is no
// slot's.
// CHECK-LABEL: tile.kernel @none
// CHECK-NOT: async
// CHECK-NOT: wgmma_wait
tile.kernel @none params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %half = arith.constant dense<0.5> : tensor<64x64xf32, #acc>
  %single = tile_gpu.ring : !tile_gpu.ring<1, !a, !b>
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !a, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
      %x, %y = tile_gpu.ring_wait %single : !tile_gpu.ring<1, !a, !b> -> !a, !b
      %p = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<64x64xf32, #acc>
      tile_gpu.ring_release %single : !tile_gpu.ring<1, !a, !b>
      scf.yield %p : tensor<64x64xf32, #acc>
    }
    %q = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
      %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !a, !b> -> !a, !b
      %scaled = arith.mulf %acc, %half : tensor<64x64xf32, #acc>
      %p = tile_gpu.wgmma %x, %y, %scaled : !a, !b, tensor<64x64xf32, #acc>
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !a, !b>
      scf.yield %p : tensor<64x64xf32, #acc>
    }
    %s = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #acc>) {
      %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !a, !b> -> !a, !b
      %small = arith.truncf %q : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
      %z = tile_gpu.local_alloc %small : tensor<64x64xf16, #acc> -> !a
      %p = tile_gpu.wgmma %z, %y, %acc : !a, !b, tensor<64x64xf32, #acc>
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !a, !b>
      scf.yield %p : tensor<64x64xf32, #acc>
    }
  }
  tile.return
}

// -----

#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<128x64xf16, #s>
!b = !tile_gpu.memdesc<64x64xf16, #s>

// Of two warpgroups one multiplies while the other waits.
// CHECK-LABEL: tile.kernel @two
// CHECK-NOT: async
tile.kernel @two params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !a, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32, #acc>) {
      %x, %y = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !a, !b> -> !a, !b
      %p = tile_gpu.wgmma %x, %y, %acc : !a, !b, tensor<128x64xf32, #acc>
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !a, !b>
      scf.yield %p : tensor<128x64xf32, #acc>
    }
  }
  tile.return
}

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
!b = !tile_gpu.memdesc<64x64xf16, #s>

// A slot that went back between the products goes back behind the wait, too. One that threads fill
// by cp.async two trips after its own does not go back.
// CHECK-LABEL: tile.kernel @beside
// CHECK: scf.for
// CHECK:   tile_gpu.wgmma {{.*}} async
// CHECK-NOT: ring_release
// CHECK:   tile_gpu.wgmma {{.*}} async
// CHECK-COUNT-2: tile_gpu.wgmma_wait {{.*}} {pending = 2 : i64}
// CHECK:   scf.if
// CHECK-NEXT: tile_gpu.ring_release %[[ONE:.*]] :
// CHECK:   scf.if
// CHECK-NEXT: tile_gpu.ring_release %[[TWO:.*]] :
// CHECK:   scf.yield
// CHECK: tile_gpu.wgmma_wait {{.*}} {pending = 1 : i64}
// CHECK: tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
tile.kernel @beside params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %one = tile_gpu.ring : !tile_gpu.ring<2, !b>
  %two = tile_gpu.ring : !tile_gpu.ring<2, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %slots = tile_gpu.local_slots : !tile_gpu.slots<3, !a>
    %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%g = %zero, %u = %zero) -> (tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>) {
      tile_gpu.async_wait fence {pending = 0 : i64}
      tile_gpu.barrier
      %x = tile_gpu.slot %slots[%c0] : !tile_gpu.slots<3, !a>
      %y = tile_gpu.ring_wait %one : !tile_gpu.ring<2, !b> -> !b
      %p = tile_gpu.wgmma %x, %y, %g : !a, !b, tensor<64x64xf32, #acc>
      tile_gpu.ring_release %one : !tile_gpu.ring<2, !b>
      %z = tile_gpu.ring_wait %two : !tile_gpu.ring<2, !b> -> !b
      %q = tile_gpu.wgmma %x, %z, %u : !a, !b, tensor<64x64xf32, #acc>
      tile_gpu.ring_release %two : !tile_gpu.ring<2, !b>
      scf.yield %p, %q : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
    }
  }
  tile.return
}

// Filled one trip after its own, a slot would be overwritten under the product.
// CHECK-LABEL: tile.kernel @early
// CHECK-NOT: wgmma {{.*}} async
// CHECK: tile.return
tile.kernel @early params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %one = tile_gpu.ring : !tile_gpu.ring<2, !b>
  tile_gpu.warp_specialize producer {
  } consumer {
    %slots = tile_gpu.local_slots : !tile_gpu.slots<3, !a>
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%g = %zero) -> (tensor<64x64xf32, #acc>) {
      tile_gpu.async_wait fence {pending = 1 : i64}
      tile_gpu.barrier
      %x = tile_gpu.slot %slots[%c0] : !tile_gpu.slots<3, !a>
      %y = tile_gpu.ring_wait %one : !tile_gpu.ring<2, !b> -> !b
      %p = tile_gpu.wgmma %x, %y, %g : !a, !b, tensor<64x64xf32, #acc>
      tile_gpu.ring_release %one : !tile_gpu.ring<2, !b>
      scf.yield %p : tensor<64x64xf32, #acc>
    }
  }
  tile.return
}
