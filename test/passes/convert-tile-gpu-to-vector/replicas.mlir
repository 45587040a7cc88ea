// Warps that hold the same elements convert them each in a copy of its own: nothing orders one
// warp's loads after another's stores. Tiles whose copies would be large wait for the block.
// RUN: tile-opt %s --tile-gpu-allocate-shared --convert-tile-gpu-to-vector \
// RUN:   | FileCheck %s --implicit-check-not=nvvm.barrier

#halves = #tile_gpu.linear<shape = [32], register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[0], [0]]>
#whole = #tile_gpu.linear<shape = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>
// Bit 0 of a warp's number chooses the half that it holds, bit 1 nothing.
#pairs = #tile_gpu.linear<shape = [64], register = [[1], [2]], lane = [[4], [8], [16], [0], [0]], warp = [[32], [0]]>
#spread = #tile_gpu.linear<shape = [64], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [0]]>
#long = #tile_gpu.linear<shape = [512], register = [[1], [2], [128], [256]], lane = [[4], [8], [16], [32], [64]], warp = [[0], [0]]>
#turned = #tile_gpu.linear<shape = [512], register = [[32], [64], [128], [256]], lane = [[1], [2], [4], [8], [16]], warp = [[0], [0]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @replicas
tile.kernel @replicas params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64}
  grid {
  ^bb0(%x: f32):
    tile.yield
  } body {
  ^bb0(%x: f32):
    %a = tensor.splat %x : tensor<32xf32, #halves>
    // All four warps: a copy of 128 bytes each.
    // CHECK: %[[BITS:.*]] = arith.constant 128 : i32
    // CHECK: arith.muli %{{.*}}, %[[BITS]]
    // CHECK: %[[BITS2:.*]] = arith.constant 256 : i32
    // CHECK: arith.muli %{{.*}}, %[[BITS2]]
    // CHECK: llvm.getelementptr
    // CHECK: llvm.store
    // CHECK: nvvm.bar.warp.sync
    %b = tile_gpu.convert_layout %a : tensor<32xf32, #halves> -> tensor<32xf32, #whole>
    %c = tensor.splat %x : tensor<64xf32, #pairs>
    // Two pairs of warps: two copies of 256 bytes.
    // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK: arith.shrui %{{.*}}, %[[ONE]]
    // CHECK: arith.constant 256 : i32
    // CHECK: llvm.getelementptr
    // CHECK: nvvm.bar.warp.sync
    %d = tile_gpu.convert_layout %c : tensor<64xf32, #pairs> -> tensor<64xf32, #spread>
    %e = tensor.splat %x : tensor<512xf32, #long>
    // CHECK: llvm.store
    // CHECK: nvvm.barrier
    %f = tile_gpu.convert_layout %e : tensor<512xf32, #long> -> tensor<512xf32, #turned>
    tile.return
  }
}
