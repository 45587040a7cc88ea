// Schedules written by hand: two products that run beside the next trip's first, and an order.
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-apply-schedule | FileCheck %s
// A schedule is realised once.
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-apply-schedule > %t.once
// RUN: tile-opt %t.once --allow-unregistered-dialect --tile-gpu-apply-schedule | diff %t.once -

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @two_staged
// CHECK: scf.if
// CHECK:   tile_gpu.wgmma {{.*}} : !tile_gpu.memdesc
// CHECK:   %[[P0:.*]] = arith.truncf
// CHECK:   scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[P:.*]] = %[[P0]], %[[LAST:.*]] = %{{.*}})
// The later one by the schedule's order comes first, though it stands behind the other in the text.
// CHECK:     %[[W:.*]] = tile_gpu.tma_fetch {{.*}}[%c64, %[[LAST]]] {tile_gpu.ring = 2 : i64}
// CHECK:     %[[V:.*]] = tile_gpu.tma_fetch {{.*}}[%c0, %[[LAST]]] {tile_gpu.ring = 1 : i64}
// CHECK:     %[[S:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: %[[B:.*]] = tile_gpu.wgmma %[[P]], %[[W]], %[[Y]] async
// CHECK-NEXT: %[[A:.*]] = tile_gpu.wgmma %[[P]], %[[V]], %[[X]] async
// CHECK-NEXT: %[[SCORES:.*]] = tile_gpu.wgmma_wait %[[S]] {pending = 2 : i64}
// CHECK:     math.exp2 %[[SCORES]]
// CHECK:     %[[B1:.*]] = tile_gpu.wgmma_wait %[[B]] {pending = 1 : i64}
// CHECK-NEXT: %[[A1:.*]] = tile_gpu.wgmma_wait %[[A]] {pending = 0 : i64}
// CHECK:     scf.yield %[[A1]], %[[B1]]
// The entries are those of the products as they stand now.
// CHECK:   } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0), (stage = 1, order = 2, flight = 0)]>}
// CHECK:   tile_gpu.wgmma
// CHECK:   tile_gpu.wgmma
tile.kernel @two_staged params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %mq = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o:2 = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero, %y = %zero) -> (!acc, !acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %mq, %k, %zero : !m, !m, !acc
      %e = math.exp2 %s : !acc
      %p = arith.truncf %e : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %a = tile_gpu.wgmma %p, %v, %x : !p, !m, !acc
      %w = tile_gpu.tma_fetch %d [%c64, %i] : !m
      %b = tile_gpu.wgmma %p, %w, %y : !p, !m, !acc
      scf.yield %a, %b : !acc, !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 2, flight = 0), (stage = 1, order = 1, flight = 0)]>}
    "test.use"(%o#0, %o#1) : (!acc, !acc) -> ()
    tile.return
  }

// The second product in the text is issued first, and alone is in flight.
// CHECK-LABEL: tile.kernel @order
// CHECK: scf.for
// CHECK:   %[[B:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK:   %[[A:.*]] = tile_gpu.wgmma {{.*}} : !tile_gpu.memdesc
// CHECK-NOT: tile_gpu.wgmma_wait %[[A]]
// CHECK:   tile_gpu.wgmma_wait %[[B]] {pending = 0 : i64}
// CHECK: #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 0, order = 1)]>
tile.kernel @order params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %o:2 = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero, %y = %zero) -> (!acc, !acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %a = tile_gpu.wgmma %k, %k, %x : !m, !m, !acc
      %w = tile_gpu.tma_fetch %d [%c64, %i] : !m
      %b = tile_gpu.wgmma %k, %w, %y : !m, !m, !acc
      scf.yield %a, %b : !acc, !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 1), (stage = 0, order = 0, flight = 0)]>}
    "test.use"(%o#0, %o#1) : (!acc, !acc) -> ()
    tile.return
  }
}
