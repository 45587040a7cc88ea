// Schedules written by hand for loops of consumers: two sums in flight from trip to trip.
// RUN: tile-opt %s --tile-gpu-apply-schedule | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
// CHECK-LABEL: tile.kernel @two_sums
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK: scf.if
// CHECK-NEXT: %[[R:.*]]:2 = scf.for %[[I:.*]] = %[[LOW:.*]] to
// CHECK:   %[[A:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: %[[B:.*]] = tile_gpu.wgmma {{.*}} async
// Both of the trip before are done once two are in flight: its slot goes back.
// CHECK-NEXT: %[[A1:.*]] = tile_gpu.wgmma_wait %[[A]] {pending = 2 : i64}
// CHECK-NEXT: %[[B1:.*]] = tile_gpu.wgmma_wait %[[B]] {pending = 2 : i64}
// CHECK-NEXT: arith.cmpi ne, %[[I]], %[[LOW]]
// CHECK-NEXT: scf.if
// CHECK-NEXT:   tile_gpu.ring_release
// CHECK:   scf.yield %[[A1]], %[[B1]]
// Behind the loop, where it has made a trip: sums that no product has touched would else meet those
// in flight, for which ptxas serializes all products.
// CHECK: %[[A2:.*]] = tile_gpu.wgmma_wait %[[R]]#0 {pending = 1 : i64}
// CHECK-NEXT: %[[B2:.*]] = tile_gpu.wgmma_wait %[[R]]#1 {pending = 0 : i64}
// CHECK-NEXT: tile_gpu.ring_release
// CHECK-NEXT: scf.yield %[[A2]], %[[B2]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[ZERO]], %[[ZERO]]
tile.kernel @two_sums params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !m, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %zero, %y = %zero) -> (!acc, !acc) {
      %k, %v, %w = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !m, !m, !m> -> !m, !m, !m
      %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
      %b = tile_gpu.wgmma %k, %w, %y : !m, !m, !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !m, !m, !m>
      scf.yield %a, %b : !acc, !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 1), (stage = 0, order = 1, flight = 1)]>}
    %t = arith.addf %r#0, %r#1 : !acc
  }
  tile.return
}

// Products that are waited for one by one stay as they are.
// CHECK-LABEL: tile.kernel @at_once
// CHECK-NOT: async
tile.kernel @at_once params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %zero) -> (!acc) {
      %k, %v = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !m, !m> -> !m, !m
      %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !m, !m>
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0)]>}
    %t = arith.addf %r, %r : !acc
  }
  tile.return
}
