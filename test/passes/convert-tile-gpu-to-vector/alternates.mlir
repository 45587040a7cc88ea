// A tile with two places: a local variable has the distance of the one whose turn it is, 0 first,
// then as many bytes as the tile has; reads go to the place that was written.
// RUN: tile-opt %s --tile-gpu-allocate-shared --convert-tile-gpu-to-vector | FileCheck %s
#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @turns
// CHECK-SAME: tile_gpu.shared_bytes = 16384
// CHECK: %[[VARIABLE:.*]] = llvm.alloca
// CHECK: llvm.store %c0_i32{{.*}}, %[[VARIABLE]]
// CHECK: scf.for
// CHECK: %[[NOW:.*]] = llvm.load %[[VARIABLE]]
// CHECK: %[[NEXT:.*]] = arith.subi %c8192_i32{{.*}}, %[[NOW]]
// CHECK: llvm.store %[[NEXT]], %[[VARIABLE]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[%[[NOW]]]
// CHECK: llvm.getelementptr %[[PLACE]]
// CHECK: llvm.store
tile.kernel @turns params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  scf.for %i = %c0 to %c8 step %c1 {
    %a = tile_gpu.local_alloc %t {tile_gpu.alternates} : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  }
  tile.return
}
}
