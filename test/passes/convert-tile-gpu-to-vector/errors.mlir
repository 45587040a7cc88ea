// RUN: tile-opt %s --tile-gpu-allocate-shared --convert-tile-gpu-to-vector --split-input-file \
// RUN:   --verify-diagnostics

#acc = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile_gpu.linear<shape = [16, 8], register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @types params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16, %y: bf16):
    tile.yield
  } body {
  ^bb0(%x: f16, %y: bf16):
    %a = tensor.splat %x : tensor<16x16xf16, #a>
    %b = tensor.splat %y : tensor<16x8xbf16, #b>
    %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
    // expected-error @below {{tensor cores multiply f16, bf16, f32 (as tf32), f64, 8-bit floats and i8, found 'f16' by 'bf16' into 'f32'}}
    // expected-error @below {{failed to legalize operation 'tile_gpu.mma'}}
    %d = tile_gpu.mma %a, %b, %c : tensor<16x16xf16, #a>, tensor<16x8xbf16, #b>, tensor<16x8xf32, #acc>
    tile.return
  }
}

// -----

#row = #tile_gpu.linear<shape = [4, 32], register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = []>
#square = #tile_gpu.linear<shape = [4, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = []>
#plain = #tile_gpu.shared<order = [1, 0], swizzle = 0>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @narrowed params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f32):
    tile.yield
  } body {
  ^bb0(%x: f32):
    %a = tensor.splat %x : tensor<4x32xf32, #row>
    %m = tile_gpu.local_alloc %a : tensor<4x32xf32, #row> -> !tile_gpu.memdesc<4x32xf32, #plain>
    %t = tile_gpu.memdesc_permute %m {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<4x32xf32, #plain> -> !tile_gpu.memdesc<32x4xf32, #tile_gpu.shared<order = [0, 1], swizzle = 0>>
    %c = arith.constant dense<0.0> : tensor<4x4xf16, #square>
    // expected-error @below {{expected operands that convert exactly to 'f16', found 'f32' and 'f32'}}
    // expected-error @below {{failed to legalize operation 'tile_gpu.fma_dot'}}
    %d = tile_gpu.fma_dot %m, %t, %c : !tile_gpu.memdesc<4x32xf32, #plain>, !tile_gpu.memdesc<32x4xf32, #tile_gpu.shared<order = [0, 1], swizzle = 0>>, tensor<4x4xf16, #square>
    tile.return
  }
}
