// Products in batches, and sums that leave the tensor core.
// RUN: tile-opt %s --tile-gpu-allocate-shared --convert-tile-gpu-to-vector --split-input-file \
// RUN:   | FileCheck %s

// Two batches of 16 x 8 by one instruction each: registers of a batch follow those of the one
// before.
#acc = #tile_gpu.linear<shape = [2, 16, 8], register = [[0, 0, 1], [0, 8, 0], [1, 0, 0]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = []>
#a = #tile_gpu.linear<shape = [2, 16, 16], register = [[0, 0, 1], [0, 8, 0], [0, 0, 8], [1, 0, 0]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], [0, 2, 0], [0, 4, 0]], warp = []>
#b = #tile_gpu.linear<shape = [2, 16, 8], register = [[0, 1, 0], [0, 8, 0], [1, 0, 0]], lane = [[0, 2, 0], [0, 4, 0], [0, 0, 1], [0, 0, 2], [0, 0, 4]], warp = []>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @batched
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: vector.from_elements {{.*}} : vector<8xf32>
tile.kernel @batched params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<2x16x16xf16, #a>
    %b = tensor.splat %x : tensor<2x16x8xf16, #b>
    %c = arith.constant dense<0.0> : tensor<2x16x8xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<2x16x16xf16, #a>, tensor<2x16x8xf16, #b>, tensor<2x16x8xf32, #acc>
    tile.return
  }
}

// -----

// 8-bit floats, K of 64 in steps of 32: each step starts from zero and is added in f32.
#acc = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a = #tile_gpu.linear<shape = [16, 64], register = [[0, 1], [0, 2], [8, 0], [0, 16], [0, 32]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile_gpu.linear<shape = [64, 8], register = [[1, 0], [2, 0], [16, 0], [32, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_89">} {
// CHECK-LABEL: func.func @promoted
// CHECK: %[[ZERO:.*]] = llvm.mlir.zero : f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"({{.*}}, %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]])
// CHECK-COUNT-4: llvm.fadd
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"({{.*}}, %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]])
// CHECK-COUNT-4: llvm.fadd
tile.kernel @promoted params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
  ^bb0(%x: f8E4M3FN):
    tile.yield
  } body {
  ^bb0(%x: f8E4M3FN):
    %a = tensor.splat %x : tensor<16x64xf8E4M3FN, #a>
    %b = tensor.splat %x : tensor<64x8xf8E4M3FN, #b>
    %c = arith.constant dense<1.0> : tensor<16x8xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c promote 32 : tensor<16x64xf8E4M3FN, #a>, tensor<64x8xf8E4M3FN, #b>, tensor<16x8xf32, #acc>
    tile.return
  }
}
