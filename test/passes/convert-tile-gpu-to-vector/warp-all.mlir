// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --convert-tile-gpu-to-vector | FileCheck %s

#row = #tile_gpu.linear<shape = [128], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// What a thread holds, then a vote of its warp.
// CHECK-LABEL: func.func @all
// CHECK: %[[MASK:.*]] = arith.cmpf oeq, %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK: %[[A:.*]] = vector.extract %[[MASK]][0]
// CHECK: %[[B:.*]] = vector.extract %[[MASK]][1]
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]] : i1
// CHECK: %[[EVERYBODY:.*]] = arith.constant -1 : i32
// CHECK: nvvm.vote.sync all %[[EVERYBODY]], %[[BOTH]]
tile.kernel @all params [#tile.param<"f", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%f: f32):
  tile.yield
} body {
^bb0(%f: f32):
  %x = tensor.splat %f : tensor<128xf32, #row>
  %one = arith.constant dense<1.0> : tensor<128xf32, #row>
  %mask = arith.cmpf oeq, %x, %one : tensor<128xf32, #row>
  %all = tile_gpu.warp_all %mask : tensor<128xi1, #row>
  tile.return
}
}
