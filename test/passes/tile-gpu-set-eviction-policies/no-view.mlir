// A map of a parameter that the kernel has no view of, or not at all: nothing says how large its
// tensor is, and the number of programs alone decides.
// RUN: tile-opt %s --tile-gpu-set-eviction-policies | FileCheck %s
// CHECK: scf.for
// CHECK: tile_gpu.tma_fetch {{.*}} {tile_gpu.cache = "stream"}
// CHECK: tile_gpu.tma_fetch {{.*}} {tile_gpu.cache = "stream"}
!a = !tile_gpu.memdesc<64x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @k params [#tile.param<"a", in, align = 16>] dims [#N] constexprs []
  attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %n = tile.dim #N
  tile.yield %n : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id 0
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 7, order = [1, 0], box = [64, 64], swizzle = 128>
  %row = arith.muli %i, %c64 : index
  scf.for %k = %c0 to %c512 step %c64 {
    %x = tile_gpu.tma_fetch %d[%k, %row] : !a
    %y = tile_gpu.tma_fetch %e[%k, %row] : !a
  }
  tile.return
}
}
