// RUN: tile-opt %s --tile-gpu-allocate-shared --split-input-file --verify-diagnostics

#rows = #tile_gpu.linear<shape = [256, 256], register = [[0, 1], [0, 2], [0, 4], [0, 64], [0, 128], [16, 0], [32, 0], [64, 0], [128, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_86">} {
// expected-error @below {{kernel 'large' needs 131072 bytes of shared memory, sm_86 has 101376 for a block; make its tiles smaller, the largest first}}
tile.kernel @large params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<256x256xf16, #rows>
  // expected-note @below {{131072 bytes for a tile of 256x256 'f16'}}
  %a = tile_gpu.local_alloc %t : tensor<256x256xf16, #rows> -> !tile_gpu.memdesc<256x256xf16, #shared>
  %x = tile_gpu.local_load %a : !tile_gpu.memdesc<256x256xf16, #shared> -> tensor<256x256xf16, #rows>
  tile.return
}
}

// -----

#row = #tile_gpu.linear<shape = [32], register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
#plain = #tile_gpu.shared<order = [0], swizzle = 0>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_86">} {
tile.kernel @carried params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant dense<0.0> : tensor<32xf32, #row>
  %a = tile_gpu.local_alloc %t : tensor<32xf32, #row> -> !tile_gpu.memdesc<32xf32, #plain>
  // expected-error @below {{takes a tile of shared memory through control flow, which is not supported}}
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%m = %a) -> (!tile_gpu.memdesc<32xf32, #plain>) {
    scf.yield %m : !tile_gpu.memdesc<32xf32, #plain>
  }
  tile.return
}
}

// -----

// A ring is counted, but is no tile to make smaller.
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_86">} {
// expected-error @below {{needs 131200 bytes of shared memory}}
tile.kernel @rings params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  %r = tile_gpu.ring : <2, <256x128xf16, #shared>>
  tile_gpu.ring_release %r : <2, <256x128xf16, #shared>>
  tile.return
}
}
