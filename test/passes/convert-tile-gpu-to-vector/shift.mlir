// A tile moved by one position: own registers, the lane beside, the edge's.
// RUN: tile-opt %s --convert-tile-gpu-to-vector | FileCheck %s

#rows = #tile_gpu.linear<shape = [2, 64], register = [[0, 1], [1, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
#edge = #tile_gpu.linear<shape = [2, 1], register = [[1, 0]], lane = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], warp = []>
#above = #tile_gpu.linear<shape = [1, 64], register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @shifts
tile.kernel @shifts params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
  %a = arith.constant dense<1.0> : tensor<2x64xf32, #rows>
  %e = arith.constant dense<2.0> : tensor<2x1xf32, #edge>
  %r = arith.constant dense<3.0> : tensor<1x64xf32, #above>
  // Each register of a row but one, and a shuffle for each row.
  // CHECK-COUNT-2: nvvm.shfl.sync idx
  // CHECK: arith.select
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [4, 0, 5, 2] : vector<4xf32>, vector<2xf32>
  %b = tile_gpu.shift %a, %e {dim = 1, offset = -1} : tensor<2x64xf32, #rows>, tensor<2x1xf32, #edge>
  // CHECK-NOT: nvvm.shfl
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [2, 3, 4, 5] : vector<4xf32>, vector<2xf32>
  %c = tile_gpu.shift %b, %r {dim = 0, offset = 1} : tensor<2x64xf32, #rows>, tensor<1x64xf32, #above>
  tile.return
}
}
