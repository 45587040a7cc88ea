// A tile with two places, which trips take in turns: what is written does not meet what was read
// the time before, and one barrier a trip is left, between the write and its reads.
// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers | FileCheck %s
// A second run finds nothing to add.
// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --tile-gpu-insert-barriers | FileCheck %s

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#columns = #tile_gpu.linear<shape = [64, 64], register = [[1, 0], [2, 0], [4, 0], [0, 16], [0, 32]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @turns
// CHECK-SAME: tile_gpu.shared_bytes = 16384
// CHECK: scf.for
// CHECK-NEXT: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_load
// CHECK-NEXT: }
// Behind the loop the same bytes are someone else's.
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: convert_layout
tile.kernel @turns params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = tile_gpu.local_alloc %t {tile_gpu.alternates} : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  }
  %c = tile_gpu.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  tile.return
}

// Of two such tiles neither hides what is done with the other one, which may lie in the same bytes.
// CHECK-LABEL: tile.kernel @two
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_load
// CHECK-NEXT: }
tile.kernel @two params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = tile_gpu.local_alloc %t {tile_gpu.alternates} : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    %b = tile_gpu.local_alloc %t {tile_gpu.alternates} : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %y = tile_gpu.local_load %b : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  }
  tile.return
}
}
