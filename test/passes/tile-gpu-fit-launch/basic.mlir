// A product by wgmma takes half a register for each column and 26 more: what leaves threads fewer
// is fitted.
// RUN: tile-opt %s --tile-gpu-fit-launch --split-input-file --verify-diagnostics | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#c32 = #tile_gpu.linear<shape = [32, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#a16 = #tile_gpu.linear<shape = [32, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#b16 = #tile_gpu.linear<shape = [32, 16], register = [[1, 0], [8, 0], [16, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]>
!m = !tile_gpu.memdesc<64x64xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// 9 blocks of 128 threads leave 56 registers, 8 leave 64.
// CHECK-LABEL: tile.kernel @many
// CHECK-SAME: tile.occupancy = 8
// expected-warning @below {{occupancy(9) is lowered to 8: 9 blocks of 128 threads leave a thread 56 registers, and a product of 64 x 64 by wgmma takes 58 registers of a thread [W0607]}}
tile.kernel @many params [] dims [] constexprs [] attributes {tile.occupancy = 9 : i64, tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #acc>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #acc> -> !m
  %p = tile_gpu.wgmma %a, %a, %zero : !m, !m, tensor<64x64xf32, #acc>
  tile.return
}
// CHECK-LABEL: tile.kernel @few
// CHECK-SAME: tile.maxreg = 64
// expected-warning @below {{maxreg(40) is raised to 64: a product of 64 x 64 by wgmma takes 58 registers of a thread [W0607]}}
tile.kernel @few params [] dims [] constexprs [] attributes {tile.maxreg = 40 : i64, tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #acc>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #acc> -> !m
  %p = tile_gpu.wgmma %a, %a, %zero : !m, !m, tensor<64x64xf32, #acc>
  tile.return
}
// ptxas gives no thread fewer than 24, and refuses mma.sync with fewer than 28.
// CHECK-LABEL: tile.kernel @fewest
// CHECK-SAME: tile.maxreg = 24
// expected-warning @below {{maxreg(16) is raised to 24: the assembler gives a thread 24 at least, for its largest instruction [W0607]}}
tile.kernel @fewest params [] dims [] constexprs [] attributes {tile.maxreg = 16 : i64, tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  tile.return
}
// CHECK-LABEL: tile.kernel @mma
// CHECK-SAME: tile.maxreg = 32
// expected-warning @below {{maxreg(16) is raised to 32: the assembler gives a thread 28 at least, for its largest instruction [W0607]}}
tile.kernel @mma params [] dims [] constexprs [] attributes {tile.maxreg = 16 : i64, tile_gpu.num_warps = 2 : i64} grid { tile.yield } body {
  %a = arith.constant dense<0.0> : tensor<32x32xf16, #a16>
  %b = arith.constant dense<0.0> : tensor<32x16xf16, #b16>
  %c = arith.constant dense<0.0> : tensor<32x16xf32, #c32>
  %d = tile_gpu.mma %a, %b, %c : tensor<32x32xf16, #a16>, tensor<32x16xf16, #b16>, tensor<32x16xf32, #c32>
  tile.return
}
// What fits stays, without a word.
// CHECK-LABEL: tile.kernel @fits
// CHECK-SAME: tile.maxreg = 128 : i64, tile.occupancy = 4 : i64
tile.kernel @fits params [] dims [] constexprs [] attributes {tile.maxreg = 128 : i64, tile.occupancy = 4 : i64, tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  tile.return
}
// expected-warning @below {{maxreg(255) is lowered to 64: 1024 threads of a block share 65536 registers [W0607]}}
tile.kernel @shared params [] dims [] constexprs [] attributes {tile.maxreg = 255 : i64, tile_gpu.num_warps = 32 : i64} grid { tile.yield } body {
  tile.return
}
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_86">} {
// expected-warning @below {{occupancy(32) is lowered to 16: sm_86 runs 16 blocks on a multiprocessor [W0607]}}
tile.kernel @blocks params [] dims [] constexprs [] attributes {tile.occupancy = 32 : i64, tile_gpu.num_warps = 1 : i64} grid { tile.yield } body {
  tile.return
}
// expected-error @below {{needs 'tile_gpu.num_warps', which tile-gpu-assign-layouts sets}}
tile.kernel @unknown params [] dims [] constexprs [] grid { tile.yield } body {
  tile.return
}
}

// -----

// No occupancy helps a product that the threads of one block cannot hold.
#acc = #tile_gpu.linear<shape = [512, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0], [128, 0], [256, 0]]>
#wide = #tile_gpu.linear<shape = [512, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0], [128, 0], [256, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @wide params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 32 : i64} grid { tile.yield } body {
  %zero = arith.constant dense<0.0> : tensor<512x256xf32, #wide>
  %t = arith.constant dense<0.0> : tensor<512x64xf16, #acc>
  %u = arith.constant dense<0.0> : tensor<64x256xf16>
  %a = tile_gpu.local_alloc %t : tensor<512x64xf16, #acc> -> !tile_gpu.memdesc<512x64xf16, #s>
  %b = builtin.unrealized_conversion_cast %u : tensor<64x256xf16> to !tile_gpu.memdesc<64x256xf16, #s>
  // expected-error @below {{a product of 64 x 256 by wgmma takes 154 registers of a thread, and the 1024 threads of a block have 64 each; make the product's tile, here 512 x 256 in powers of two, smaller}}
  %p = tile_gpu.wgmma %a, %b, %zero : !tile_gpu.memdesc<512x64xf16, #s>, !tile_gpu.memdesc<64x256xf16, #s>, tensor<512x256xf32, #wide>
  tile.return
}
}
