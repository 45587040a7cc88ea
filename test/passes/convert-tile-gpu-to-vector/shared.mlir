// RUN: tile-opt %s --tile-gpu-allocate-shared --convert-tile-gpu-to-vector --split-input-file \
// RUN:   | FileCheck %s

#rows = #tile_gpu.linear<shape = [16, 64], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#operandA = #tile_gpu.linear<shape = [16, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Stored 16 bytes at a time; read as fragments of 4 matrices, straight where K is the fastest
// dimension.
// CHECK-LABEL: func.func @straight
// CHECK-COUNT-1: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<3>
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-NOT: nvvm.ldmatrix
tile.kernel @straight params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  %t = arith.constant dense<1.0> : tensor<16x64xf16, #rows>
  %m = tile_gpu.local_alloc %t : tensor<16x64xf16, #rows> -> !tile_gpu.memdesc<16x64xf16, #shared>
  %x = tile_gpu.local_load %m : !tile_gpu.memdesc<16x64xf16, #shared> -> tensor<16x64xf16, #operandA>
  tile.return
}
}

// -----

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#operandB = #tile_gpu.linear<shape = [64, 64], register = [[1, 0], [8, 0], [16, 0], [32, 0], [0, 8], [0, 16], [0, 32]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#swapped = #tile_gpu.shared<order = [0, 1], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Transposed where N is the fastest. A permuted tile of shared memory is the same memory.
// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<3>
// CHECK-COUNT-16: layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK-COUNT-16: layout = #nvvm.mma_layout<row>, num = 4 : i32
tile.kernel @transposed params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  %t = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  %m = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %x = tile_gpu.local_load %m : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #operandB>
  %p = tile_gpu.memdesc_permute %m {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<64x64xf16, #shared> -> !tile_gpu.memdesc<64x64xf16, #swapped>
  %y = tile_gpu.local_load %p : !tile_gpu.memdesc<64x64xf16, #swapped> -> tensor<64x64xf16, #operandB>
  tile.return
}
}

// -----

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#lanes = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[1, 0], [0, 8], [0, 16], [0, 32], [2, 0]], warp = [[4, 0], [8, 0]]>
#registers = #tile_gpu.linear<shape = [64, 64], register = [[16, 0], [0, 2], [0, 4], [0, 1], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#columns = #tile_gpu.linear<shape = [64, 64], register = [[1, 0], [2, 0], [4, 0], [0, 16], [0, 32]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Conversions: registers renamed; through shared memory for the warp; for the block, with wide
// stores. Truth values are bytes there.
// CHECK-LABEL: func.func @conversions
// CHECK: %[[I:.*]] = vector.broadcast
// CHECK: %[[R:.*]] = vector.shuffle %[[I]], %[[I]] [0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15, 16
// CHECK-COUNT-8: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: arith.extui %{{.*}} : vector<32xi1> to vector<32xi8>
// CHECK: llvm.store {{.*}} : vector<8xi8>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// Four lanes that want bytes of the same words load a word each.
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xi8>
// CHECK: arith.cmpi ne, {{.*}} : vector<32xi8>
tile.kernel @conversions params [#tile.param<"x", scalar, align = 1>, #tile.param<"b", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64}
  grid {
  ^bb0(%x: f32, %b: i1):
    tile.yield
  } body {
  ^bb0(%x: f32, %b: i1):
    %t = tensor.splat %x : tensor<64x64xf32, #rows>
    %u = tensor.splat %b : tensor<64x64xi1, #rows>
    %r = tile_gpu.convert_layout %t : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #registers>
    %l = tile_gpu.convert_layout %t : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #lanes>
    %c = tile_gpu.convert_layout %u : tensor<64x64xi1, #rows> -> tensor<64x64xi1, #columns>
    tile.return
  }

// Rounds through the same bytes within warps: the warp meets before each round and behind its
// stores, the block never.
// CHECK-LABEL: func.func @rounds
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: llvm.load {{.*}} !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: nvvm.bar
// CHECK: return
tile.kernel @rounds params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64}
  grid {
  ^bb0(%x: f32):
    tile.yield
  } body {
  ^bb0(%x: f32):
    %t = tensor.splat %x : tensor<64x64xf32, #rows>
    %l = tile_gpu.convert_layout %t {tile_gpu.rounds = 2 : i64} : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #lanes>
    tile.return
  }
}
