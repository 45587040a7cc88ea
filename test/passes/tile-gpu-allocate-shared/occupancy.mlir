// A kernel whose places take more than its share of a multiprocessor has its occupancy lowered, and
// says which tiles take it; silently where a pass has chosen the occupancy.
// RUN: tile-opt %s --tile-gpu-allocate-shared --verify-diagnostics | FileCheck %s

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!tile16 = !tile_gpu.memdesc<64x64xf16, #shared>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Two tiles of 8 KiB at once: of 228 KiB 13 blocks have 16 KiB and the line that the system takes.
// CHECK-LABEL: tile.kernel @lowered
// CHECK-SAME: tile.occupancy = 13 : i64
// CHECK-SAME: tile_gpu.shared_bytes = 16384 : i64
// expected-warning @below {{occupancy(14) is lowered to 13: a block needs 16384 bytes of shared memory, 14 blocks on a multiprocessor have 15360 each; make the kernel's tiles smaller, the largest first, or its stages fewer [W0607]}}
tile.kernel @lowered params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile.occupancy = 14 : i64} grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  // expected-note @below {{8192 bytes for a tile of 64x64 'f16'}}
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile16
  // expected-note @below {{8192 bytes for a tile of 64x64 'f16'}}
  %b = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile16
  %r = tile_gpu.fma_dot %a, %b, %c : !tile16, !tile16, tensor<64x64xf32, #rows>
  tile.return
}

// CHECK-LABEL: tile.kernel @fits
// CHECK-SAME: tile.occupancy = 13 : i64
tile.kernel @fits params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile.occupancy = 13 : i64} grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile16
  %b = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile16
  %r = tile_gpu.fma_dot %a, %b, %c : !tile16, !tile16, tensor<64x64xf32, #rows>
  tile.return
}

// CHECK-LABEL: tile.kernel @open
// CHECK-SAME: tile.occupancy = 13 : i64
tile.kernel @open params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile.occupancy = 14 : i64, tile_gpu.open_occupancy} grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile16
  %b = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile16
  %r = tile_gpu.fma_dot %a, %b, %c : !tile16, !tile16, tensor<64x64xf32, #rows>
  tile.return
}
}
