// The position of an extreme: a warp agrees on the value first, then each thread looks for it among
// its registers, from the farthest to the nearest, and the warp takes the lowest place. Warps
// exchange pairs. A NaN is the extreme of its row, and found as what is no number.
// RUN: tile-opt %s --split-input-file --tile-gpu-layout-pipeline --tile-gpu-allocate-shared \
// RUN:   --convert-tile-gpu-to-vector --canonicalize --cse | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @nearest
// CHECK-DAG: %[[NOWHERE:.*]] = arith.constant dense<1073741824> : vector<1xi32>
// CHECK-DAG: %[[LAST:.*]] = arith.constant dense<3> : vector<1xi32>
// CHECK-DAG: %[[FIRST:.*]] = arith.constant dense<0> : vector<1xi32>
// CHECK: arith.minimumf %{{.*}} : vector<2xf32>
// CHECK: arith.minimumf %{{.*}} : vector<1xf32>
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: %[[EQUAL:.*]] = arith.cmpf oeq, %[[OWN:.*]], %{{.*}} : vector<1xf32>
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[OWN]], %[[OWN]] : vector<1xf32>
// CHECK: %[[MATCH:.*]] = arith.ori %[[EQUAL]], %[[NAN]]
// CHECK: arith.select %[[MATCH]], %[[LAST]], %[[NOWHERE]]
// CHECK: arith.select %{{.*}}, %[[FIRST]], %{{.*}}
// CHECK: arith.addi
// CHECK-COUNT-5: arith.minsi %{{.*}} : vector<1xi32>
// CHECK: llvm.store
// CHECK: nvvm.barrier
// CHECK: arith.cmpf olt
tile.kernel @nearest
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<i64>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<i64>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 256 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%c1] strides [%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<256xf32>
    %i = tile.arg_reduce argmin %a : tensor<256xf32> -> index
    %p = arith.index_cast %i : index to i64
    tile.store %p, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : i64, !tile.view<?xi64>
    tile.return
  }
}

// -----

// Where a thread has many elements of a row, each is compared once, with the number beside the
// extreme: what is not at most that, or NaN.
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @many
// CHECK-DAG: %[[INFINITY:.*]] = arith.constant dense<0x7F800000> : vector<1xf32>
// CHECK-COUNT-5: nvvm.shfl.sync
// CHECK: %[[EXTREME:.*]] = arith.maximumf %{{.*}} : vector<1xf32>
// CHECK: %[[BITS:.*]] = arith.bitcast %[[EXTREME]] : vector<1xf32> to vector<1xi32>
// CHECK: %[[LIMIT:.*]] = arith.bitcast %{{.*}} : vector<1xi32> to vector<1xf32>
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[EXTREME]], %[[EXTREME]] : vector<1xf32>
// CHECK: %[[BOUND:.*]] = arith.select %[[NAN]], %[[INFINITY]], %[[LIMIT]]
// CHECK-COUNT-16: arith.cmpf ugt, %{{.*}}, %[[BOUND]] : vector<1xf32>
// CHECK-NOT: arith.cmpf
// CHECK: nvvm.shfl.sync
tile.kernel @many
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  attributes {tile.num_warps = 1 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<i64>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<i64>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 512 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%c1] strides [%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 512>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> tensor<512xf32>
    %i = tile.arg_reduce argmax %a : tensor<512xf32> -> index
    %p = arith.index_cast %i : index to i64
    tile.store %p, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : i64, !tile.view<?xi64>
    tile.return
  }
}
