// In loops whose products all wait for one, the others run beside that one of the next trip.
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   | FileCheck %s --check-prefix=SCHEDULE
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule | FileCheck %s
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-schedule-loops \
// RUN:   --tile-gpu-apply-schedule --tile-gpu-specialize-warps | FileCheck %s --check-prefix=RINGS

// The decisions: what a trip leaves to the next, and where its sum is scaled.
// SCHEDULE-LABEL: tile.kernel @attention
// SCHEDULE: tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0)], scale_under>
// SCHEDULE-LABEL: tile.kernel @seen
// SCHEDULE: #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 0, order = 1, flight = 0)]>
// SCHEDULE-LABEL: tile.kernel @factors
// SCHEDULE: #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0)]>
// SCHEDULE-LABEL: tile.kernel @alone
// SCHEDULE: #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0)]>

// Copies of a fetch fill one ring.
// RINGS-LABEL: tile.kernel @attention
// RINGS-COUNT-3: tile_gpu.ring :
// RINGS-NOT: tile_gpu.ring :
// RINGS-LABEL: tile.kernel @seen

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!mt = !tile_gpu.memdesc<64x64xf16, #t>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>

#row = #tile_gpu.linear<shape = [64], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]>
#column = #tile_gpu.linear<shape = [64, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!row = tensor<64xf32, #row>
!column = tensor<64x1xf32, #column>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// The first iteration's first product, and its a.
// CHECK-LABEL: tile.kernel @attention
// CHECK: %[[Q:.*]] = tile_gpu.tma_fetch
// CHECK-NOT: tile_gpu.ring
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LOW:.*]], %[[HIGH:.*]] : index
// CHECK: scf.if %[[SOME]]
// CHECK: %[[K0:.*]] = tile_gpu.tma_fetch {{.*}} {tile_gpu.ring = 0 : i64}
// CHECK: %[[KT0:.*]] = tile_gpu.memdesc_permute %[[K0]]
// CHECK: %[[S0:.*]] = tile_gpu.wgmma %[[Q]], %[[KT0]], %{{.*}} :
// CHECK: %[[E0:.*]] = math.exp2 %[[S0]]
// CHECK: %[[LIMIT0:.*]] = arith.subi %[[HIGH]], %[[LOW]]
// CHECK-NOT: arith.mulf
// CHECK: %[[P0:.*]] = arith.truncf %[[E0]]
// CHECK: %[[START:.*]] = arith.addi %[[LOW]], %[[STEP:.*]] : index
// CHECK: %[[LOOP:.*]]:4 = scf.for %[[I:.*]] = %[[START]] to %[[HIGH]] step %[[STEP]] iter_args(%[[SUM:.*]] = %{{.*}}, %[[P:.*]] = %[[P0]], %[[LAST:.*]] = %[[LOW]], %[[LIMIT:.*]] = %[[LIMIT0]])
// The last iteration's b, cleared before the products.
// CHECK:   %[[V:.*]] = tile_gpu.tma_fetch {{.*}}[%{{.*}}, %[[LAST]]] {tile_gpu.ring = 1 : i64}
// CHECK:   tile_gpu.clear_from %[[V]], %[[LIMIT]]
// CHECK:   %[[K:.*]] = tile_gpu.tma_fetch {{.*}}[%{{.*}}, %[[I]]] {tile_gpu.ring = 0 : i64}
// CHECK:   %[[KT:.*]] = tile_gpu.memdesc_permute %[[K]]
// CHECK:   %[[S:.*]] = tile_gpu.wgmma %[[Q]], %[[KT]], %{{.*}} async
// What happens to the accumulator runs under the first product.
// CHECK:   %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[SCALE:.*]] :
// CHECK:   %[[O:.*]] = tile_gpu.wgmma %[[P]], %[[V]], %[[SCALED]] async
// CHECK:   %[[SCORES:.*]] = tile_gpu.wgmma_wait %[[S]] {pending = 1 : i64}
// CHECK:   %[[E:.*]] = math.exp2 %[[SCORES]]
// CHECK-NOT: truncf
// CHECK:   %[[OUT:.*]] = tile_gpu.wgmma_wait %[[O]] {pending = 0 : i64}
// CHECK-NOT: arith.mulf
// CHECK:   %[[PN:.*]] = arith.truncf %[[E]]
// CHECK:   scf.yield %[[OUT]], %[[PN]], %[[I]], %{{.*}}
// CHECK: %[[VL:.*]] = tile_gpu.tma_fetch {{.*}}[%{{.*}}, %[[LOOP]]#2] {tile_gpu.ring = 1 : i64}
// CHECK: tile_gpu.clear_from %[[VL]], %[[LOOP]]#3
// CHECK: %[[SCALEDL:.*]] = arith.mulf %[[LOOP]]#0, %[[SCALE]] :
// CHECK: %[[RESULT:.*]] = tile_gpu.wgmma %[[LOOP]]#1, %[[VL]], %[[SCALEDL]] :
// CHECK: scf.yield %[[RESULT]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %{{.*}}
tile.kernel @attention params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>, #tile.param<"f", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index, %f: f32):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index, %f: f32):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %scale = tensor.splat %f : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %mq = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %kt = tile_gpu.memdesc_permute %k {permutation = array<i64: 1, 0>} : !m -> !mt
      %s = tile_gpu.wgmma %mq, %kt, %zero : !m, !mt, !acc
      %e = math.exp2 %s : !acc
      %p = arith.truncf %e : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %limit = arith.subi %n, %i : index
      tile_gpu.clear_from %v, %limit {dim = 0 : i64} : !m
      %scaled = arith.mulf %sum, %scale : !acc
      %r = tile_gpu.wgmma %p, %v, %scaled : !p, !m, !acc
      scf.yield %r : !acc
    }
    %total = tile.reduce sum %o : !acc -> f32
    "test.use"(%total) : (f32) -> ()
    tile.return
  }

// Not where the accumulator is seen by what leads to a: the next iteration would see it too early.
// Both are waited for in their own trip then.
// CHECK-LABEL: tile.kernel @seen
// CHECK-NOT: stage = 1
tile.kernel @seen params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %mq = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %mq, %k, %zero : !m, !m, !acc
      %e = arith.addf %s, %sum : !acc
      %p = arith.truncf %e : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %r = tile_gpu.wgmma %p, %v, %sum : !p, !m, !acc
      scf.yield %r : !acc
    }
    %total = tile.reduce sum %o : !acc -> f32
    "test.use"(%total) : (f32) -> ()
    tile.return
  }

// Nor where b lies in memory that the next iteration stores to.
// CHECK-LABEL: tile.kernel @stored
// CHECK-NOT: stage = 1
tile.kernel @stored params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %half = arith.constant dense<0.5> : !p
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %mq = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %mq, %k, %zero : !m, !m, !acc
      %p = arith.truncf %s : !acc to !p
      %v = tile_gpu.local_alloc %half : !p -> !m
      %r = tile_gpu.wgmma %p, %v, %sum : !p, !m, !acc
      scf.yield %r : !acc
    }
    %total = tile.reduce sum %o : !acc -> f32
    "test.use"(%total) : (f32) -> ()
    tile.return
  }

// A factor of each row is kept for the next iteration, and used behind its first product.
// CHECK-LABEL: tile.kernel @factor
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[F:.*]] = %{{.*}})
// CHECK:   tile_gpu.wgmma {{.*}} async
// CHECK:   %[[NOW:.*]] = tile_gpu.optimization_barrier %[[F]]
// CHECK:   %[[COLUMN:.*]] = tile.reshape %[[NOW]]
// CHECK:   %[[ALL:.*]] = tile.broadcast %[[COLUMN]]
// CHECK:   %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[ALL]]
// CHECK:   tile_gpu.wgmma %[[P]], %{{.*}}, %[[SCALED]] async
// CHECK:   %[[ROW:.*]] = tile.reduce max
// CHECK:   %[[OUT:.*]] = tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
// CHECK:   scf.yield %[[OUT]], %{{.*}}, %{{.*}}, %[[ROW]]
// CHECK-NOT: tile_gpu.optimization_barrier
// CHECK: } else {
//
// A factor of each element is too much to keep: the accumulator is scaled at the iteration's end.
// CHECK-LABEL: tile.kernel @factors
// CHECK: scf.for
// CHECK:   tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: tile_gpu.wgmma {{.*}} async
// CHECK:   %[[OUT:.*]] = tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
// CHECK:   %[[SCALED:.*]] = arith.mulf %[[OUT]]
// CHECK:   scf.yield %[[SCALED]]
tile.kernel @factor params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %mq = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %mq, %k, %zero : !m, !m, !acc
      %row = tile.reduce max %s axis 1 : !acc -> !row
      %column = tile.reshape %row : !row -> !column
      %f = tile.broadcast %column : !column -> !acc
      %p = arith.truncf %s : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %scaled = arith.mulf %sum, %f : !acc
      %r = tile_gpu.wgmma %p, %v, %scaled : !p, !m, !acc
      scf.yield %r : !acc
    }
    %total = tile.reduce sum %o : !acc -> f32
    "test.use"(%total) : (f32) -> ()
    tile.return
  }
tile.kernel @factors params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %mq = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %mq, %k, %zero : !m, !m, !acc
      %f = math.exp2 %s : !acc
      %p = arith.truncf %s : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %scaled = arith.mulf %sum, %f : !acc
      %r = tile_gpu.wgmma %p, %v, %scaled : !p, !m, !acc
      scf.yield %r : !acc
    }
    %total = tile.reduce sum %o : !acc -> f32
    "test.use"(%total) : (f32) -> ()
    tile.return
  }

// One warpgroup alone scales at the iteration's end: its second product follows its first at once.
// CHECK-LABEL: tile.kernel @alone
// CHECK: scf.for
// CHECK:   tile_gpu.wgmma {{.*}} async
// CHECK-NEXT: tile_gpu.wgmma {{.*}} async
// CHECK:   %[[OUT:.*]] = tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
// CHECK:   %[[SCALED:.*]] = arith.mulf %[[OUT]]
// CHECK:   scf.yield %[[SCALED]]
tile.kernel @alone params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %mq = tile_gpu.tma_fetch %d [%c0, %c0] : !m
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %mq, %k, %zero : !m, !m, !acc
      %row = tile.reduce max %s axis 1 : !acc -> !row
      %column = tile.reshape %row : !row -> !column
      %f = tile.broadcast %column : !column -> !acc
      %p = arith.truncf %s : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %scaled = arith.mulf %sum, %f : !acc
      %r = tile_gpu.wgmma %p, %v, %scaled : !p, !m, !acc
      scf.yield %r : !acc
    }
    %total = tile.reduce sum %o : !acc -> f32
    "test.use"(%total) : (f32) -> ()
    tile.return
  }
}
