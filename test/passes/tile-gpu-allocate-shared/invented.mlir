// The limits of a GPU that is one row of a table (target/TestTargets.cpp).
// RUN: tile-opt %s --test-targets --tile-gpu-allocate-shared --verify-diagnostics

#rows = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [0, 2], [0, 4], [0, 64], [0, 128], [16, 0], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_95">} {
// expected-error @below {{kernel 'large' needs 65536 bytes of shared memory, sm_95 has 50176 for a block}}
tile.kernel @large params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<128x256xf16, #rows>
  // expected-note @below {{65536 bytes for a tile of 128x256 'f16'}}
  %a = tile_gpu.local_alloc %t : tensor<128x256xf16, #rows> -> !tile_gpu.memdesc<128x256xf16, #shared>
  %x = tile_gpu.local_load %a : !tile_gpu.memdesc<128x256xf16, #shared> -> tensor<128x256xf16, #rows>
  tile.return
}
}
