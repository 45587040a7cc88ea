// What a loop waits for that happened before it is waited for in front of it; and no barrier stands
// in a warpgroup's turn, where the others would never reach it.
// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers | FileCheck %s
// A second run finds nothing to add.
// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --tile-gpu-insert-barriers | FileCheck %s

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @before
// CHECK: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: local_load
// CHECK-NOT: tile_gpu.barrier
// CHECK: tile.return
tile.kernel @before params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    }
  }
  tile.return
}

// The barrier that the trips need for themselves serves what came before as well.
// CHECK-LABEL: tile.kernel @own
// CHECK: local_alloc
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_load
// CHECK-NEXT: local_load
// CHECK-NEXT: }
// CHECK-NEXT: tile.return
tile.kernel @own params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    %b = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    %y = tile_gpu.local_load %b : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @turn
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.turn_wait
// CHECK-NEXT: local_load
// CHECK-NEXT: tile_gpu.turn_pass
tile.kernel @turn params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize producer {
  } consumer {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
    tile_gpu.turn_start
    scf.for %i = %c0 to %c8 step %c1 {
      %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
      tile_gpu.turn_wait
      %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
      tile_gpu.turn_pass
    }
    tile_gpu.turn_end
  }
  tile.return
}
}
