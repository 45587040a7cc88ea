// RUN: tile-opt %s --tile-gpu-use-tma | FileCheck %s

#four = #tile_gpu.linear<shape = [4, 128], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[1, 0], [2, 0]]>
#acc = #tile_gpu.linear<shape = [4, 4], register = [], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [0, 0]], warp = [[0, 0], [0, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
#K = #tile.dim<"K", 128, 65536, opt = 4096, multiple_of = 128>

#bytes = #tile_gpu.linear<shape = [8, 128], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0]], warp = [[2, 0], [4, 0]]>
#nibbles = #tile_gpu.linear<shape = [8, 256], register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [0, 32], [0, 64], [0, 128], [1, 0]], warp = [[2, 0], [4, 0]]>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// The pattern of a swizzle repeats every 8 rows: panels of 4 rows would start in its middle, which
// the hardware refuses.
// CHECK-LABEL: tile.kernel @four_rows
// CHECK-NOT: tma_fetch
// CHECK: tile.load
tile.kernel @four_rows params [#tile.param<"a", in, align = 16>] dims [#K] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %pad = arith.constant 0.0 : f16
  %zero = arith.constant dense<0.0> : tensor<4x4xf32, #acc>
  %k = tile.dim #K
  %v = tile.view %p[%c4, %k] strides[%k, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  %r = scf.for %i = %c0 to %k step %c128 iter_args(%sum = %zero) -> (tensor<4x4xf32, #acc>) {
    %x = tile.load %v[%c0, %i] pad %pad : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: true, true>, sizes = array<i64: 4, 128>, steps = array<i64: 1, 1>} : !tile.view<?x?xf16> -> tensor<4x128xf16, #four>
    %m = tile_gpu.local_alloc %x : tensor<4x128xf16, #four> -> !tile_gpu.memdesc<4x128xf16, #s>
    %y = tile_gpu.memdesc_permute %m {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<4x128xf16, #s> -> !tile_gpu.memdesc<128x4xf16, #t>
    %n = tile_gpu.fma_dot %m, %y, %sum : !tile_gpu.memdesc<4x128xf16, #s>, !tile_gpu.memdesc<128x4xf16, #t>, tensor<4x4xf32, #acc>
    scf.yield %n : tensor<4x4xf32, #acc>
  }
  tile.return
}



// Without a product a tile of nibbles that lies in shared memory only for the copy's sake is loaded
// into registers.
// CHECK-LABEL: tile.kernel @no_product
// CHECK-NOT: local_alloc
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: tile_gpu.unpack %[[X]]
tile.kernel @no_product params [#tile.param<"a", in, align = 16>] dims [#K] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<i8>):
  tile.yield
} body {
^bb0(%p: !tile.ptr<i8>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %pad = arith.constant 0 : i8
  %zero = arith.constant dense<0.0> : tensor<8x256xf16, #nibbles>
  %k = tile.dim #K
  %v = tile.view %p[%c8, %k] strides[%k, %c1] : !tile.ptr<i8> -> !tile.view<?x?xi8>
  %r = scf.for %i = %c0 to %k step %c128 iter_args(%sum = %zero) -> (tensor<8x256xf16, #nibbles>) {
    %x = tile.load %v[%c0, %i] pad %pad : i8 {has_end = array<i1: false, false>, in_bounds = array<i1: true, true>, sizes = array<i64: 8, 128>, steps = array<i64: 1, 1>} : !tile.view<?x?xi8> -> tensor<8x128xi8, #bytes>
    %m = tile_gpu.local_alloc %x : tensor<8x128xi8, #bytes> -> !tile_gpu.memdesc<8x128xi8, #s>
    %y = tile_gpu.local_load %m : !tile_gpu.memdesc<8x128xi8, #s> -> tensor<8x128xi8, #bytes>
    %u = tile_gpu.unpack %y : tensor<8x128xi8, #bytes> -> tensor<8x256xi4, #nibbles>
    %h = arith.uitofp %u : tensor<8x256xi4, #nibbles> to tensor<8x256xf16, #nibbles>
    %n = arith.addf %sum, %h : tensor<8x256xf16, #nibbles>
    scf.yield %n : tensor<8x256xf16, #nibbles>
  }
  tile.return
}
}
