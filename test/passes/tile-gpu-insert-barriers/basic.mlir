// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers | FileCheck %s
// A second run finds nothing to add.
// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --tile-gpu-insert-barriers | FileCheck %s

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#columns = #tile_gpu.linear<shape = [64, 64], register = [[1, 0], [2, 0], [4, 0], [0, 16], [0, 32]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]]>
#lanes = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[1, 0], [0, 8], [0, 16], [0, 32], [2, 0]], warp = [[4, 0], [8, 0]]>
#columns_of_rows = #tile_gpu.linear<shape = [64], register = [[1], [2], [4]], lane = [[8], [16], [32], [0], [0]], warp = [[0], [0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// One barrier between both writes and both reads. The conversion waits inside, so only what comes
// before its own write needs a barrier: the reads of the memory that it reuses.
// CHECK-LABEL: tile.kernel @straight
// CHECK-NOT: barrier
// CHECK: local_alloc
// CHECK-NEXT: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_load
// CHECK-NEXT: local_load
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: convert_layout
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: convert_layout
// CHECK-NEXT: tile.return
tile.kernel @straight params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %b = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  %y = tile_gpu.local_load %b : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  %c = tile_gpu.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %d = tile_gpu.convert_layout %c : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #rows>
  tile.return
}

// A loop's next iteration overwrites what this one reads.
// CHECK-LABEL: tile.kernel @loop
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_alloc
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_load
// CHECK-NEXT: }
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: convert_layout
tile.kernel @loop params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  }
  %c = tile_gpu.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  tile.return
}

// Alternatives do not wait for each other; what follows waits for either.
// CHECK-LABEL: tile.kernel @branch
// CHECK: scf.if
// CHECK-NOT: barrier
// CHECK: else
// CHECK-NEXT: convert_layout
// CHECK: tile_gpu.barrier
// CHECK-NEXT: convert_layout
tile.kernel @branch params [] dims [] constexprs [] grid { tile.yield } body {
  %true = arith.constant true
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  scf.if %true {
    %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  } else {
    %b = tile_gpu.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  }
  %c = tile_gpu.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  tile.return
}

// An exchange within warps waits for the warp alone: its writes and reads are still open
// afterwards.
// CHECK-LABEL: tile.kernel @warp
// CHECK: convert_layout
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: local_alloc
tile.kernel @warp params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %c = tile_gpu.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #lanes>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  tile.return
}

// Reductions across warps wait inside, and each has its own few words: one barrier each in straight
// code. In a loop the second one's keeps the first from overwriting what is still read.
// CHECK-LABEL: tile.kernel @reductions
// CHECK-NOT: barrier
// CHECK: tile.return
tile.kernel @reductions params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  scf.for %i = %c0 to %c8 step %c1 {
    %m = tile.reduce max %t : tensor<64x64xf32, #rows> -> f32
    %s = tile.reduce sum %t : tensor<64x64xf32, #rows> -> f32
  }
  tile.return
}

// So do scans and reductions by a function, whose region is no block of the program.
// CHECK-LABEL: tile.kernel @functions
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.scan
// CHECK: scf.for
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile.reduce_by
tile.kernel @functions params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.scan %t axis 0 : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #rows> {
    ^bb0(%left: f32, %right: f32):
      %sum = arith.addf %left, %right : f32
      tile.scan_yield %sum : f32
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.reduce_by %t axis 0 : tensor<64x64xf32, #rows> -> tensor<64xf32, #columns_of_rows> {
    ^bb0(%left: f32, %right: f32):
      %sum = arith.mulf %left, %right : f32
      tile.scan_yield %sum : f32
    }
  }
  tile.return
}
}
