// RUN: tile-opt %s --tile-gpu-allocate-shared | FileCheck %s

// A block asks for whole lines. One that reduces has 256 bytes for words, whether warps share rows
// or not, which nobody knows before layouts: the cost model reckons with the same. With products there
// is none, as what fits beside rings is dear.

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#row = #tile_gpu.linear<shape = [64], register = [[16], [32]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @reduces
// CHECK-SAME: tile_gpu.shared_bytes = 256 : i64
// CHECK: tile.reduce max %{{[0-9a-z_]+}} axis 1 :
tile.kernel @reduces params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  %m = tile.reduce max %t axis 1 : tensor<64x64xf32, #rows> -> tensor<64xf32, #row>
  tile.return
}

// They are beside what else is there.
// CHECK-LABEL: tile.kernel @keeps
// CHECK-SAME: tile_gpu.shared_bytes = 8448 : i64
tile.kernel @keeps params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  %m = tile.reduce max %x axis 1 : tensor<64x64xf16, #rows> -> tensor<64xf16, #row>
  tile.return
}

// CHECK-LABEL: tile.kernel @computes
// CHECK-SAME: tile_gpu.shared_bytes = 0 : i64
tile.kernel @computes params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  %u = arith.addf %t, %t : tensor<64x64xf32, #rows>
  tile.return
}

// CHECK-LABEL: tile.kernel @multiplies
// CHECK-SAME: tile_gpu.shared_bytes = 0 : i64
tile.kernel @multiplies params [] dims [] constexprs [] grid { tile.yield } body {
  %a = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  %h = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %r = tile.dot %h, %h, %a precision full : tensor<64x64xf16, #rows>, tensor<64x64xf16, #rows>, tensor<64x64xf32, #rows>
  %m = tile.reduce max %r axis 1 : tensor<64x64xf32, #rows> -> tensor<64xf32, #row>
  tile.return
}
}
