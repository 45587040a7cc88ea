// RUN: tile-opt %s --split-input-file --tile-gpu-set-eviction-policies | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-gpu-set-eviction-policies --tile-gpu-make-persistent \
// RUN:   --tile-gpu-specialize-warps | FileCheck %s --check-prefix=RING

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
#M = #tile.dim<"M", 1, 4096, opt = 4096, multiple_of = 1>
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// What moves with rows is read once if there are no more than two programs along columns, and the
// other way round. The condition stands before the loop over programs, and goes to the producer's
// copy.
// CHECK-LABEL: tile.kernel @product
// CHECK: body
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[FEW_COLUMNS:.*]] = arith.cmpi sle, %[[COLUMNS:.*]], %[[TWO]]
// CHECK-DAG: %[[FEW_ROWS:.*]] = arith.cmpi sle, %[[ROWS:.*]], %{{.*}} : index
// CHECK-DAG: %[[ROWS]] = tile.dim <"M"
// CHECK-DAG: %[[COLUMNS]] = tile.dim <"N"
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] once %[[FEW_COLUMNS]] :
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] once %[[FEW_ROWS]] :
// A loop that does not move the place reads it again.
// CHECK: scf.for
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] :
// A quotient may be the same for many programs.
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] :
// What moves with all of the grid is streamed.
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] {tile_gpu.cache = "stream"} :
// What the source says stays.
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] {tile_gpu.cache = "keep"} :
// RING-LABEL: tile.kernel @product
// RING: %[[FEW_ROWS:.*]] = arith.cmpi sle
// RING: tile_gpu.block_id
// RING: scf.for
// RING: tile_gpu.tma_load {{.*}} once
// RING: tile_gpu.tma_load {{.*}} {tile_gpu.cache = "stream"}
tile.kernel @product params [#tile.param<"a", in, align = 16>] dims [#M, #N] constexprs []
  attributes {tile.persistent, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %m = tile.dim #M
  %n = tile.dim #N
  tile.yield %m, %n : index, index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %most = arith.constant 1073741824 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %row = arith.muli %i, %c64 : index
  %column = arith.muli %j, %c64 : index
  %half = arith.divui %i, %c64 : index
  scf.for %k = %c0 to %c512 step %c64 {
    %at = arith.minsi %k, %most : index
    %x = tile_gpu.tma_fetch %d[%at, %row] : !a
    %y = tile_gpu.tma_fetch %d[%column, %at] : !a
    %u = tile_gpu.local_load %x : !a -> tensor<64x64xf16, #rows>
    %v = tile_gpu.local_load %y : !a -> tensor<64x64xf16, #rows>
  }
  scf.for %k = %c0 to %c512 step %c64 {
    %x = tile_gpu.tma_fetch %d[%column, %row] : !a
    %y = tile_gpu.tma_fetch %d[%half, %k] : !a
    %place = arith.addi %column, %k : index
    %z = tile_gpu.tma_fetch %d[%row, %place] : !a
    %w = tile_gpu.tma_fetch %d[%row, %place] {tile_gpu.cache = "keep"} : !a
    %t = tile_gpu.local_load %x : !a -> tensor<64x64xf16, #rows>
    %u = tile_gpu.local_load %y : !a -> tensor<64x64xf16, #rows>
    %v = tile_gpu.local_load %z : !a -> tensor<64x64xf16, #rows>
    %s = tile_gpu.local_load %w : !a -> tensor<64x64xf16, #rows>
  }
  tile.return
}
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// The trips of a split loop are its part's own; what stands beside the loop is left alone.
// CHECK-LABEL: tile.kernel @parts
// CHECK: tile_gpu.tma_fetch {{.*}}] :
// CHECK: tile_gpu.tma_fetch {{.*}}] {tile_gpu.cache = "stream"} :
tile.kernel @parts params [#tile.param<"a", in, align = 16>] dims [] constexprs []
  attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.split_parts = 3 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  tile.yield %c7, %c3 : index, index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id 0
  %part = tile.program_id 1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
  %u = tile_gpu.local_load %x : !a -> tensor<64x64xf16, #rows>
  %lo = arith.muli %part, %c512 : index
  %hi = arith.addi %lo, %c512 : index
  scf.for %k = %lo to %hi step %c64 {
    %y = tile_gpu.tma_fetch %d[%k, %i] : !a
    %v = tile_gpu.local_load %y : !a -> tensor<64x64xf16, #rows>
  }
  tile.return
}
}
