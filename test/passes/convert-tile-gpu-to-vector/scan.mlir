// A scan goes along the axis: the four registers of a thread; five bits of the lane, whose totals
// alone are joined; one of the warp through shared memory, where a lane reads the total of a warp
// and one shuffle brings that of the warp before. At the end each element takes its carry in front,
// once. A take goes through shared memory, where each thread reads at its clamped
// positions.
// RUN: tile-opt %s --tile-gpu-layout-pipeline --tile-gpu-allocate-shared \
// RUN:   --convert-tile-gpu-to-vector --canonicalize --cse | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @scan
// CHECK-SAME: tile_gpu.shared_bytes = 256 : i64
// Registers of a thread follow each other, the last one's prefix is the total.
// CHECK: %[[TWO:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<1xf32>
// CHECK: %[[THREE:.*]] = arith.addf %[[TWO]], %{{.*}} : vector<1xf32>
// CHECK: %[[TOTAL:.*]] = arith.addf %[[THREE]], %{{.*}} : vector<1xf32>
// CHECK: %[[OLD:.*]] = vector.from_elements {{.*}} : vector<4xf32>
// Lanes' prefixes, what comes before each lane, and the total of all.
// CHECK-COUNT-7: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: scf.if
// CHECK: llvm.store
// CHECK: nvvm.barrier
// CHECK: llvm.load
// CHECK-COUNT-3: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK: %[[WIDE:.*]] = vector.shuffle {{.*}} [0, 0, 0, 0] : vector<1xf32>, vector<1xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[WIDE]], %[[OLD]] : vector<4xf32>
// CHECK: arith.select %{{.*}}, %[[SUM]], %[[OLD]] : {{.*}}vector<4xf32>
tile.kernel @scan
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<256xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.scan %a axis 0 : tensor<256xf32> -> tensor<256xf32> {
    ^bb0(%left: f32, %right: f32):
      %s = arith.addf %left, %right : f32
      tile.scan_yield %s : f32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xf32>, !tile.view<?xf32>
    tile.return
  }

// CHECK-LABEL: func.func @take
// CHECK-SAME: tile_gpu.shared_bytes = 1024
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: %[[LOW:.*]] = arith.maxsi %{{.*}} : vector<4xi32>
// CHECK: arith.minsi %[[LOW]], %{{.*}} : vector<4xi32>
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
tile.kernel @take
  params [#tile.param<"x", in, align = 16>, #tile.param<"k", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %k: !tile.ptr<i32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %kv = tile.view %k[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<256xf32>
    %p = tile.load %kv[%c0] pad %none : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.take %a[%p] axis 0 : tensor<256xf32>, tensor<256xi32> -> tensor<256xf32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xf32>, !tile.view<?xf32>
    tile.return
  }
}
