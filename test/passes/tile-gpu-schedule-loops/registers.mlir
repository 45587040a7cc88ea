// Products of a trip that leave few registers free: what a product's operand is converted from does
// not stay beside the copy, and large vectors are read where they are used.
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   | FileCheck %s --check-prefix=SCHEDULE
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule | FileCheck %s
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule --tile-gpu-specialize-warps | FileCheck %s --check-prefix=RINGS

#a = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#b = #tile_gpu.shared<order = [0, 1], swizzle = 128>
#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!acc = tensor<64x64xf32, #acc>
#s64 = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#c64 = #tile_gpu.linear<shape = [64], register = [[1], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]]>
#dq64 = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!s64 = tensor<64x64xf32, #s64>
!p64 = tensor<64x64xf16, #s64>
!c64 = tensor<64xf32, #c64>
!dq64 = tensor<64x64xf32, #dq64>
!m64 = !tile_gpu.memdesc<64x64xf16, #a>
!t64 = !tile_gpu.memdesc<64x64xf16, #b>
!d64 = !tile_gpu.memdesc<64x64xf16, #a>
!dt64 = !tile_gpu.memdesc<64x64xf16, #b>
!v64 = !tile_gpu.memdesc<64xf32, #tile_gpu.shared<order = [0], swizzle = 0>>
#s128 = #tile_gpu.linear<shape = [64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#c128 = #tile_gpu.linear<shape = [128], register = [[1], [8], [16], [32], [64]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]]>
#dq128 = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [64, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!s128 = tensor<64x128xf32, #s128>
!p128 = tensor<64x128xf16, #s128>
!c128 = tensor<128xf32, #c128>
!dq128 = tensor<128x64xf32, #dq128>
!m128 = !tile_gpu.memdesc<128x64xf16, #a>
!t128 = !tile_gpu.memdesc<64x128xf16, #b>
!d128 = !tile_gpu.memdesc<64x128xf16, #a>
!dt128 = !tile_gpu.memdesc<128x64xf16, #b>
!v128 = !tile_gpu.memdesc<128xf32, #tile_gpu.shared<order = [0], swizzle = 0>>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// 64 queries: there is room, and vectors come before the products. The third product, whose operand
// is a copy of p, is issued behind the store of what else is made of p.
// SCHEDULE-LABEL: tile.kernel @roomy
// SCHEDULE: [(stage = 0, order = 0, flight = 0), (stage = 0, order = 1, flight = 0), (stage = 0, order = 2, flight = 0), (stage = 0, order = 3, flight = 0), (stage = 0, order = 4, flight = 0)], vectors_first
// CHECK-LABEL: tile.kernel @roomy
// CHECK: scf.for
// CHECK:   tile_gpu.local_load
// CHECK:   tile_gpu.local_load
// CHECK:   tile_gpu.wgmma {{.*}} async
// CHECK:   tile_gpu.wgmma {{.*}} async
// CHECK:   %[[P:.*]] = math.exp2
// CHECK:   tile_gpu.wgmma_wait
// CHECK:   arith.mulf %[[P]]
// CHECK:   tile_gpu.local_alloc
// CHECK:   %[[P16:.*]] = arith.truncf %[[P]]
// CHECK-NEXT: tile_gpu.wgmma %[[P16]], {{.*}} async
tile.kernel @roomy params [#tile.param<"q", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    %c0 = arith.constant 0 : index
    %step = arith.constant 64 : index
    %none = arith.constant dense<0.0> : !s64
    %zero = arith.constant dense<0.0> : !acc
    %empty = arith.constant dense<0.0> : !dq64
    %dk = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %dx = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %dv = tile_gpu.descriptor <param = 1, order = [0], box = [64], swizzle = 0>
    %k = tile_gpu.tma_fetch %dk [%c0, %c0] : !m64
    %o:2 = scf.for %i = %c0 to %n step %step iter_args(%gv = %zero, %gk = %zero) -> (!acc, !acc) {
      %x = tile_gpu.tma_fetch %dx [%c0, %i] : !m64
      %xt = tile_gpu.memdesc_permute %x {permutation = array<i64: 1, 0>} : !m64 -> !t64
      %s = tile_gpu.wgmma %k, %xt, %none : !m64, !t64, !s64
      %e = tile_gpu.tma_fetch %dv [%i] : !v64
      %lse = tile_gpu.local_load %e : !v64 -> !c64
      %lses = tile.broadcast %lse : !c64 -> !s64
      %y = arith.subf %s, %lses : !s64
      %p = math.exp2 %y : !s64
      %dp = tile_gpu.wgmma %k, %xt, %none : !m64, !t64, !s64
      %f = tile_gpu.tma_fetch %dv [%i] : !v64
      %delta = tile_gpu.local_load %f : !v64 -> !c64
      %deltas = tile.broadcast %delta : !c64 -> !s64
      %z = arith.subf %dp, %deltas : !s64
      %ds = arith.mulf %p, %z : !s64
      %ds16 = arith.truncf %ds : !s64 to !p64
      %p16 = arith.truncf %p : !s64 to !p64
      %gv1 = tile_gpu.wgmma %p16, %x, %gv : !p64, !m64, !acc
      %mem = tile_gpu.local_alloc %ds16 : !p64 -> !d64
      %memt = tile_gpu.memdesc_permute %mem {permutation = array<i64: 1, 0>} : !d64 -> !dt64
      %dq = tile_gpu.wgmma %memt, %k, %empty : !dt64, !m64, !dq64
      "test.add"(%dq) : (!dq64) -> ()
      %gk1 = tile_gpu.wgmma %ds16, %x, %gk : !p64, !m64, !acc
      scf.yield %gv1, %gk1 : !acc, !acc
    }
    "test.use"(%o#0, %o#1) : (!acc, !acc) -> ()
    tile.return
  }

// 128 queries: no room for vectors ahead of the products, each is read where it is used.
// SCHEDULE-LABEL: tile.kernel @crowded
// SCHEDULE: [(stage = 0, order = 0, flight = 0), (stage = 0, order = 1, flight = 0), (stage = 0, order = 2, flight = 0), (stage = 0, order = 3, flight = 0), (stage = 0, order = 4, flight = 0)]>
// CHECK-LABEL: tile.kernel @crowded
// CHECK: scf.for
// CHECK:   %[[S:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK:   %[[D:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK-NOT: tile_gpu.local_load
// CHECK:   tile_gpu.wgmma_wait %[[S]] {pending = 1 : i64}
// CHECK:   tile_gpu.local_load
// CHECK:   %[[P:.*]] = math.exp2
// CHECK:   tile_gpu.wgmma_wait %[[D]] {pending = 0 : i64}
// CHECK:   arith.mulf %[[P]]
// CHECK:   tile_gpu.local_alloc
// CHECK:   %[[P16:.*]] = arith.truncf %[[P]]
// CHECK-NEXT: %[[GV:.*]] = tile_gpu.wgmma %[[P16]], {{.*}} async
// CHECK-NEXT: %[[DQ:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: %[[GK:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: tile_gpu.wgmma_wait %[[DQ]] {pending = 1 : i64}
// CHECK:   tile_gpu.wgmma_wait %[[GV]] {pending = 1 : i64}
// CHECK:   tile_gpu.wgmma_wait %[[GK]] {pending = 0 : i64}

// The vectors come with the tile, whose slot is held till the trip's last product is done.
// RINGS-LABEL: tile.kernel @crowded
// RINGS: %[[RING:.*]] = tile_gpu.ring per_warp : <8, <128x64xf16, {{.*}}>>, <128xf32, {{.*}}>>, <128xf32, {{.*}}>>>
// RINGS: consumer
// RINGS:   scf.for
// RINGS:   %[[X:.*]]:3 = tile_gpu.ring_wait %[[RING]]
// RINGS:   tile_gpu.local_load %[[X]]#1
// RINGS:   tile_gpu.local_load %[[X]]#2
// RINGS-NOT: tile_gpu.ring_release
// RINGS:   "test.add"
// RINGS:   tile_gpu.wgmma_wait
// RINGS:   tile_gpu.ring_release %[[RING]] {tile_gpu.fenced}
tile.kernel @crowded params [#tile.param<"q", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    %c0 = arith.constant 0 : index
    %step = arith.constant 128 : index
    %none = arith.constant dense<0.0> : !s128
    %zero = arith.constant dense<0.0> : !acc
    %empty = arith.constant dense<0.0> : !dq128
    %dk = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %dx = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    %dv = tile_gpu.descriptor <param = 1, order = [0], box = [128], swizzle = 0>
    %k = tile_gpu.tma_fetch %dk [%c0, %c0] : !m64
    %o:2 = scf.for %i = %c0 to %n step %step iter_args(%gv = %zero, %gk = %zero) -> (!acc, !acc) {
      %x = tile_gpu.tma_fetch %dx [%c0, %i] : !m128
      %xt = tile_gpu.memdesc_permute %x {permutation = array<i64: 1, 0>} : !m128 -> !t128
      %s = tile_gpu.wgmma %k, %xt, %none : !m64, !t128, !s128
      %e = tile_gpu.tma_fetch %dv [%i] : !v128
      %lse = tile_gpu.local_load %e : !v128 -> !c128
      %lses = tile.broadcast %lse : !c128 -> !s128
      %y = arith.subf %s, %lses : !s128
      %p = math.exp2 %y : !s128
      %dp = tile_gpu.wgmma %k, %xt, %none : !m64, !t128, !s128
      %f = tile_gpu.tma_fetch %dv [%i] : !v128
      %delta = tile_gpu.local_load %f : !v128 -> !c128
      %deltas = tile.broadcast %delta : !c128 -> !s128
      %z = arith.subf %dp, %deltas : !s128
      %ds = arith.mulf %p, %z : !s128
      %ds16 = arith.truncf %ds : !s128 to !p128
      %p16 = arith.truncf %p : !s128 to !p128
      %gv1 = tile_gpu.wgmma %p16, %x, %gv : !p128, !m128, !acc
      %mem = tile_gpu.local_alloc %ds16 : !p128 -> !d128
      %memt = tile_gpu.memdesc_permute %mem {permutation = array<i64: 1, 0>} : !d128 -> !dt128
      %dq = tile_gpu.wgmma %memt, %k, %empty : !dt128, !m64, !dq128
      "test.add"(%dq) : (!dq128) -> ()
      %gk1 = tile_gpu.wgmma %ds16, %x, %gk : !p128, !m128, !acc
      scf.yield %gv1, %gk1 : !acc, !acc
    }
    "test.use"(%o#0, %o#1) : (!acc, !acc) -> ()
    tile.return
  }
}
