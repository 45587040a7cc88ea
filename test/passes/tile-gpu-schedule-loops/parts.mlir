// A product whose first operand threads compute is issued in parts along K: each part is read ahead
// of the product before it and computed while that is in flight.
// RUN: tile-opt %s --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   | FileCheck %s
// RUN: tile-opt %s --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   --tile-gpu-specialize-warps --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   | FileCheck %s --check-prefix=RING

#acc = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#narrow = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#a = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#row = #tile_gpu.linear<shape = [128, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
#w = #tile_gpu.shared<order = [1, 0], swizzle = 64>
!x = !tile_gpu.memdesc<128x64xf16, #s>
!y = !tile_gpu.memdesc<64x64xf16, #s>
!xt = !tile_gpu.memdesc<64x128xf16, #t>
!yt = !tile_gpu.memdesc<64x64xf16, #t>
!w = !tile_gpu.memdesc<128x64xi8, #w>
!i = tensor<128x64xi8, #a>
!a = tensor<128x64xf16, #a>
!r = tensor<128x1xf16, #row>
!acc = tensor<128x128xf32, #acc>
#wide = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#deep = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#n = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!xd = !tile_gpu.memdesc<256x128xf16, #s>
!xdt = !tile_gpu.memdesc<128x256xf16, #t>
!wd = !tile_gpu.memdesc<128x128xi8, #n>
!id = tensor<128x128xi8, #deep>
!ad = tensor<128x128xf16, #deep>
!sum = tensor<128x256xf32, #wide>
!small = tensor<128x64xf32, #narrow>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @scaled
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[^ ]+]] =
// CHECK:   %[[W0:.*]] = tile_gpu.local_load %[[W:[^ ]+]] at [0, 0]
// CHECK:   %[[F0:.*]] = arith.sitofp %[[W0]] : tensor<128x32xi8
// CHECK:   %[[B0:.*]] = tile.broadcast {{.*}} -> tensor<128x32xf16
// CHECK:   %[[A0:.*]] = arith.mulf %[[F0]], %[[B0]]
// CHECK:   %[[W1:.*]] = tile_gpu.local_load %[[W]] at [0, 32]
// CHECK:   %[[P0:.*]] = tile_gpu.wgmma %[[A0]], %[[X:[^ ]+]] from 0, %[[SUM]] async
// CHECK:   %[[H1:.*]] = tile_gpu.optimization_barrier %[[W1]]
// CHECK:   %[[F1:.*]] = arith.sitofp %[[H1]]
// CHECK:   %[[A1:.*]] = arith.mulf %[[F1]]
// CHECK:   %[[P1:.*]] = tile_gpu.wgmma %[[A1]], %[[X]] from 32, %[[P0]] async
// CHECK:   %[[E:.*]] = tile_gpu.wgmma_wait %[[P1]] {pending = 0 : i64}
// CHECK-NOT: wgmma
// CHECK:   scf.yield %[[E]]
// CHECK: tile_gpu.schedule<[(stage = 0, order = 0, flight = 0, parts = 2), (stage = 0, order = 1, flight = 0, parts = 2)]>

// Among the rings: no turns. The last part stays in flight while the next trip's first is computed;
// its operand's slot goes back behind that, and the last trip's behind the loop. The slot that
// threads read goes back behind the first part's issue: right behind the loads its fence would wait
// for them.
// RING-LABEL: tile.kernel @scaled
// RING: } consumer {
// RING-NOT: tile_gpu.turn
// RING: scf.for
// RING:   tile_gpu.local_load {{.*}} at [0, 0]
// RING:   tile_gpu.local_load {{.*}} at [0, 32]
// RING-NOT: tile_gpu.ring_release
// RING:   tile_gpu.wgmma {{.*}} from 0, {{.*}} async
// RING-NEXT: tile_gpu.wgmma_wait {{.*}} {pending = 1 : i64}
// RING-NEXT: %[[SECOND:.*]] = arith.cmpi ne
// RING-NEXT: scf.if %[[SECOND]] {
// RING-NEXT: tile_gpu.ring_release %[[X:[^ ]+]]
// RING:   tile_gpu.ring_release
// RING-NOT: tile_gpu.ring_release
// RING:   tile_gpu.wgmma {{.*}} from 32, {{.*}} async
// RING-NEXT: %[[E:.*]] = tile_gpu.wgmma_wait {{.*}} {pending = 1 : i64}
// RING-NEXT: scf.yield %[[E]]
// RING-NEXT: schedule<[(stage = 0, order = 0, flight = 0, parts = 2), (stage = 0, order = 1, flight = 1, parts = 2)]>
// RING:   tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
// RING-NEXT: tile_gpu.ring_release
// RING-LABEL: tile.kernel @summed
tile.kernel @scaled params [#tile.param<"x", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %scale = arith.constant dense<0.5> : !r
    %dx = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    %dw = tile_gpu.descriptor <param = 1, order = [1, 0], box = [64, 128], swizzle = 64>
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %mw = tile_gpu.tma_fetch %dw [%i, %c0] : !w
      %q = tile_gpu.local_load %mw : !w -> !i
      %f = arith.sitofp %q : !i to !a
      %b = tile.broadcast %scale : !r -> !a
      %a = arith.mulf %f, %b : !a
      %mx = tile_gpu.tma_fetch %dx [%i, %c0] : !x
      %xt = tile_gpu.memdesc_permute %mx {permutation = array<i64: 1, 0>} : !x -> !xt
      %p = tile_gpu.wgmma %a, %xt, %sum : !a, !xt, !acc
      scf.yield %p : !acc
    }
    %t = arith.addf %o, %o : !acc
    tile.return
  }

// Not where the sum meets something else in each trip: its one product stays whole.
// CHECK-LABEL: tile.kernel @summed
// CHECK: local_load %{{[^ ]+}} :
// CHECK-NOT: from
// CHECK: tile_gpu.schedule<[(stage = 0, order = 0, flight = 0)]>
tile.kernel @summed params [#tile.param<"x", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %scale = arith.constant dense<0.5> : !r
    %dx = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    %dw = tile_gpu.descriptor <param = 1, order = [1, 0], box = [64, 128], swizzle = 64>
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %mw = tile_gpu.tma_fetch %dw [%i, %c0] : !w
      %q = tile_gpu.local_load %mw : !w -> !i
      %f = arith.sitofp %q : !i to !a
      %b = tile.broadcast %scale : !r -> !a
      %a = arith.mulf %f, %b : !a
      %mx = tile_gpu.tma_fetch %dx [%i, %c0] : !x
      %xt = tile_gpu.memdesc_permute %mx {permutation = array<i64: 1, 0>} : !x -> !xt
      %p = tile_gpu.wgmma %a, %xt, %sum : !a, !xt, !acc
      %h = arith.addf %p, %p : !acc
      scf.yield %h : !acc
    }
    %t = arith.addf %o, %o : !acc
    tile.return
  }

// Nor where the tensor cores would have no more than 64 clocks a part.
// CHECK-LABEL: tile.kernel @small
// CHECK-NOT: from
// CHECK: tile_gpu.schedule<[(stage = 0, order = 0, flight = 0)]>
tile.kernel @small params [#tile.param<"x", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !small
    %scale = arith.constant dense<0.5> : !r
    %dx = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %dw = tile_gpu.descriptor <param = 1, order = [1, 0], box = [64, 128], swizzle = 64>
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!small) {
      %mw = tile_gpu.tma_fetch %dw [%i, %c0] : !w
      %q = tile_gpu.local_load %mw : !w -> !i
      %f = arith.sitofp %q : !i to !a
      %b = tile.broadcast %scale : !r -> !a
      %a = arith.mulf %f, %b : !a
      %mx = tile_gpu.tma_fetch %dx [%i, %c0] : !y
      %xt = tile_gpu.memdesc_permute %mx {permutation = array<i64: 1, 0>} : !y -> !yt
      %p = tile_gpu.wgmma %a, %xt, %sum : !a, !yt, !small
      scf.yield %p : !small
    }
    %t = arith.addf %o, %o : !small
    tile.return
  }

// Three stages of 80 KiB have no room: the second operand is fetched in two pieces along K, whole
// boxes of its map, each with a ring of its own. The first one's slot goes back as soon as a later
// part is issued and those before are done, the second one's behind the next trip's second part: a
// branch between the first two would have ptxas serialize all of them.
// CHECK-LABEL: tile.kernel @deep
// CHECK: %[[X0:.*]] = tile_gpu.tma_fetch %{{[^ ]+}}[%[[I:[^,]+]], %{{.*}}] : <256x64xf16
// CHECK: %[[T0:.*]] = tile_gpu.memdesc_permute %[[X0]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %c64
// CHECK: %[[X1:.*]] = tile_gpu.tma_fetch %{{[^ ]+}}[%[[J]], %{{.*}}] : <256x64xf16
// CHECK: %[[T1:.*]] = tile_gpu.memdesc_permute %[[X1]]
// CHECK: tile_gpu.wgmma %{{[^ ]+}}, %[[T0]] from 0
// CHECK: tile_gpu.wgmma %{{[^ ]+}}, %[[T0]] from 32
// CHECK: tile_gpu.wgmma %{{[^ ]+}}, %[[T1]] from 0
// CHECK: tile_gpu.wgmma %{{[^ ]+}}, %[[T1]] from 32
// CHECK-NOT: <256x128xf16
// RING-LABEL: tile.kernel @deep
// RING: tile_gpu.ring {{.*}} <128x128xi8
// RING: %[[R0:.*]] = tile_gpu.ring : <2, <256x64xf16
// RING: %[[R1:.*]] = tile_gpu.ring : <2, <256x64xf16
// RING: } consumer {
// RING: tile_gpu.ring_wait %[[R0]]
// RING: tile_gpu.wgmma {{.*}} from 0
// RING-NEXT: tile_gpu.wgmma_wait {{.*}} {pending = 1
// RING-NOT: tile_gpu.ring_release
// RING: tile_gpu.wgmma {{.*}} from 32
// RING-NEXT: tile_gpu.wgmma_wait {{.*}} {pending = 1
// RING: scf.if
// RING-NEXT: tile_gpu.ring_release %[[R1]]
// RING: tile_gpu.ring_wait %[[R1]]
// RING: tile_gpu.wgmma {{.*}} from 0
// RING-NEXT: tile_gpu.wgmma_wait {{.*}} {pending = 1
// RING-NEXT: tile_gpu.ring_release %[[R0]]
// RING: tile_gpu.wgmma {{.*}} from 32
// RING-NEXT: tile_gpu.wgmma_wait {{.*}} {pending = 1
// RING-NEXT: scf.yield
// RING: tile_gpu.wgmma_wait {{.*}} {pending = 0
// RING-NEXT: tile_gpu.ring_release %[[R1]]
tile.kernel @deep params [#tile.param<"x", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %w: !tile.ptr<i8>, %n: index):
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !sum
    %dx = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 256], swizzle = 128>
    %dw = tile_gpu.descriptor <param = 1, order = [1, 0], box = [128, 128], swizzle = 128>
    %o = scf.for %i = %c0 to %n step %c128 iter_args(%sum = %zero) -> (!sum) {
      %mw = tile_gpu.tma_fetch %dw [%i, %c0] : !wd
      %q = tile_gpu.local_load %mw : !wd -> !id
      %a = arith.sitofp %q : !id to !ad
      %mx = tile_gpu.tma_fetch %dx [%i, %c0] : !xd
      %xt = tile_gpu.memdesc_permute %mx {permutation = array<i64: 1, 0>} : !xd -> !xdt
      %p = tile_gpu.wgmma %a, %xt, %sum : !ad, !xdt, !sum
      scf.yield %p : !sum
    }
    %t = arith.addf %o, %o : !sum
    tile.return
  }
}
