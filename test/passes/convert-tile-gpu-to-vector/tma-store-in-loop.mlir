// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --convert-tile-gpu-to-vector | FileCheck %s

// One thread of the only warpgroup names its place of shared memory: a register that is set ahead
// of both loops. Named as a symbol in the loop it would keep ptxas from uniform registers there.
#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @loops
// CHECK: %[[SYMBOL:.*]] = llvm.mlir.addressof @tile_shared
// CHECK: %[[NUMBER:.*]] = llvm.ptrtoint %[[SYMBOL]]
// CHECK: %[[HELD:.*]] = llvm.inline_asm{{.*}}"mov.b32 $0, $1;", "=r,r" %[[NUMBER]]
// CHECK: %[[PLACE:.*]] = llvm.inttoptr %[[HELD]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.stmatrix
// CHECK: scf.if
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %[[PLACE]],
tile.kernel @loops params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64}
  grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        tile_gpu.tma_store %t, %d [%i, %j] {columns = 64 : i64} : tensor<64x64xf16, #acc>
      }
    }
    tile.return
  }

// CHECK-LABEL: func.func @once
// CHECK-NOT: llvm.inline_asm{{.*}}"mov.b32
// CHECK: return
tile.kernel @once params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64}
  grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %t = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    tile_gpu.tma_store %t, %d [%c0, %c0] {columns = 64 : i64} : tensor<64x64xf16, #acc>
    tile.return
  }
}
