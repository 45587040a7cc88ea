// In loops where products run under the arithmetic on others, each is in flight until its result is
// used.
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   | FileCheck %s --check-prefix=SCHEDULE
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule | FileCheck %s
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule --tile-gpu-specialize-warps --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule | FileCheck %s --check-prefix=RINGS
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   | FileCheck %s --check-prefix=BARRIERS

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#columns = #tile_gpu.linear<shape = [64], register = [[1], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!mt = !tile_gpu.memdesc<64x64xf16, #t>
!v = !tile_gpu.memdesc<64xf32, #tile_gpu.shared<order = [0], swizzle = 0>>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>

// The second product that needs no other one steps before that which does.
// SCHEDULE-LABEL: tile.kernel @gradients
// SCHEDULE: #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 0, order = 2, flight = 0), (stage = 0, order = 1, flight = 0), (stage = 0, order = 3, flight = 0), (stage = 0, order = 4, flight = 0)], vectors_first>
// SCHEDULE-LABEL: tile.kernel @chained
// SCHEDULE: #tile_gpu.schedule<[(stage = 0, order = 0), (stage = 0, order = 1), (stage = 0, order = 2)]>

// The load and the fetched vector first, then what needs no other product; each further product
// behind what it needs, but for one whose operand is a copy of what another product's is made of: it
// steps behind the store for that other one. Waits where results are used.
// CHECK-LABEL: tile.kernel @gradients
// CHECK: scf.for
// CHECK:   %[[W:.*]] = tile.load
// CHECK:   %[[F:.*]] = tile_gpu.tma_fetch {{.*}}64xf32
// CHECK-NEXT: %[[R:.*]] = tile_gpu.local_load %[[F]]
// CHECK:   %[[S:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: %[[D:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK:   %[[S1:.*]] = tile_gpu.wgmma_wait %[[S]] {pending = 1 : i64}
// CHECK:   %[[P:.*]] = math.exp2
// CHECK-NEXT: %[[D1:.*]] = tile_gpu.wgmma_wait %[[D]] {pending = 0 : i64}
// CHECK:   %[[DS:.*]] = arith.mulf %[[P]], %[[D1]]
// CHECK:   %[[MEM:.*]] = tile_gpu.local_alloc
// CHECK-NEXT: %[[VIEW:.*]] = tile_gpu.memdesc_permute %[[MEM]]
// CHECK-NEXT: %[[P16:.*]] = arith.truncf %[[P]]
// CHECK-NEXT: %[[GV:.*]] = tile_gpu.wgmma %[[P16]], {{.*}} async
// CHECK-NEXT: %[[DQ:.*]] = tile_gpu.wgmma %[[VIEW]], {{.*}} async
// CHECK-NEXT: %[[GK:.*]] = tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: %[[DQ1:.*]] = tile_gpu.wgmma_wait %[[DQ]] {pending = 1 : i64}
// CHECK:   "test.add"(%[[DQ1]])
// CHECK:   tile_gpu.wgmma_wait %[[GV]] {pending = 1 : i64}
// CHECK:   tile_gpu.wgmma_wait %[[GK]] {pending = 0 : i64}
// CHECK:   scf.yield

// A slot goes back when the last product that reads it is done. The vector has come with the first
// product's operand, and what is stored for the third one has fenced its read. Products that wait
// for each other's results take no turns.
// RINGS-LABEL: tile.kernel @gradients
// RINGS-NOT: tile_gpu.turn_wait
// RINGS: %[[RING:.*]] = tile_gpu.ring per_warp : <{{[0-9]+}}, <64x64xf16, {{.*}}>>, <64xf32, {{.*}}>>>
// RINGS: consumer
// RINGS: scf.for
// RINGS:   %[[X:.*]]:2 = tile_gpu.ring_wait %[[RING]]
// RINGS:   tile_gpu.local_load %[[X]]#1
// RINGS:   tile_gpu.wgmma {{.*}} async
// RINGS-NOT: tile_gpu.ring_release
// RINGS:   "test.add"
// RINGS-NOT: tile_gpu.ring_release
// RINGS:   tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
// RINGS-NEXT: tile_gpu.ring_release %[[RING]] {tile_gpu.fenced}

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A barrier before the store of the next iteration's tile, which may meet the product in flight,
// and one before its product.
// BARRIERS-LABEL: tile.kernel @gradients
// BARRIERS: scf.for
// BARRIERS:   tile_gpu.barrier
// BARRIERS-NEXT: tile_gpu.local_alloc
// BARRIERS:   tile_gpu.barrier
// BARRIERS-NEXT: tile_gpu.wgmma
// BARRIERS-NOT: tile_gpu.barrier
// BARRIERS:   scf.yield
tile.kernel @gradients params [#tile.param<"q", in, align = 16>, #tile.param<"w", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %w: !tile.ptr<f32>, %n: index):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %dv = tile_gpu.descriptor <param = 1, order = [0], box = [64], swizzle = 0>
    %view = tile.view %w[%n] strides[%c1] : <f32> -> <?xf32>
    %k = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o:2 = scf.for %i = %c0 to %n step %c64 iter_args(%gv = %zero, %gk = %zero) -> (!acc, !acc) {
      %x = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %xt = tile_gpu.memdesc_permute %x {permutation = array<i64: 1, 0>} : !m -> !mt
      %s = tile_gpu.wgmma %k, %xt, %zero : !m, !mt, !acc
      %row = tile.load %view[%i] pad %pad : f32 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 64>, steps = array<i64: 1>} : <?xf32> -> tensor<64xf32, #columns>
      %rows = tile.broadcast %row : tensor<64xf32, #columns> -> !acc
      %z = arith.subf %s, %rows : !acc
      %f = tile_gpu.tma_fetch %dv [%i] : !v
      %scale = tile_gpu.local_load %f : !v -> tensor<64xf32, #columns>
      %scales = tile.broadcast %scale : tensor<64xf32, #columns> -> !acc
      %y = arith.mulf %z, %scales : !acc
      %p = math.exp2 %y : !acc
      %p16 = arith.truncf %p : !acc to !p
      %gv1 = tile_gpu.wgmma %p16, %x, %gv : !p, !m, !acc
      %dp = tile_gpu.wgmma %k, %x, %zero : !m, !m, !acc
      %ds = arith.mulf %p, %dp : !acc
      %ds16 = arith.truncf %ds : !acc to !p
      %mem = tile_gpu.local_alloc %ds16 : !p -> !m
      %memt = tile_gpu.memdesc_permute %mem {permutation = array<i64: 1, 0>} : !m -> !mt
      %dq = tile_gpu.wgmma %memt, %k, %zero : !mt, !m, !acc
      "test.add"(%dq) : (!acc) -> ()
      %gk1 = tile_gpu.wgmma %ds16, %x, %gk : !p, !m, !acc
      scf.yield %gv1, %gk1 : !acc, !acc
    }
    "test.use"(%o#0, %o#1) : (!acc, !acc) -> ()
    tile.return
  }

// Not where a product adds to another one of the same iteration, which it would wait for.
// CHECK-LABEL: tile.kernel @chained
// CHECK-NOT: async
tile.kernel @chained params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %x = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %a = tile_gpu.wgmma %x, %x, %sum : !m, !m, !acc
      %b = tile_gpu.wgmma %x, %x, %a : !m, !m, !acc
      %c = tile_gpu.wgmma %x, %x, %b : !m, !m, !acc
      scf.yield %c : !acc
    }
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }
}
