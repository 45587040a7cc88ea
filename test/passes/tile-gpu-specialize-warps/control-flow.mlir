// RUN: tile-opt %s --tile-gpu-specialize-warps | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#lanes = #tile_gpu.linear<shape = [128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
#K = #tile.dim<"K", 1, 65536, opt = 4096, multiple_of = 8>
!tile = !tile_gpu.memdesc<64x64xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A tile that a whole loop reads has a ring of one slot, given back after the loop; products left
// in flight give theirs back after their wait. A loop variable that only coordinates need is the
// producer's too; the accumulator is not.
// CHECK-LABEL: tile.kernel @attention
// CHECK-DAG: %[[Q:.*]] = tile_gpu.ring : <1, <64x64xf16
// CHECK-DAG: %[[KEYS:.*]] = tile_gpu.ring : <8, <64x64xf16
// CHECK: producer {
// CHECK:   tile_gpu.ring_acquire %[[Q]]
// CHECK:   scf.for %{{.*}} iter_args(%[[AT:[^ ]*]] = %{{[^ ]*}}) -> (index) {
// CHECK:     tile_gpu.ring_acquire %[[KEYS]]
// CHECK:     tile_gpu.tma_load %{{.*}}[%{{.*}}, %[[AT]]]
// CHECK:     scf.yield %{{[^ ]*}} : index
// CHECK: } consumer {
// CHECK:   tile_gpu.ring_wait %[[Q]]
// CHECK:   scf.for
// CHECK:     tile_gpu.ring_wait %[[KEYS]]
// CHECK:     tile_gpu.memdesc_permute
// CHECK:     tile_gpu.wgmma {{.*}} async
// CHECK-NOT: ring_release
// CHECK:     tile_gpu.wgmma_wait
// CHECK-NEXT: tile_gpu.ring_release %[[KEYS]]
// CHECK:   }
// CHECK-NEXT: tile_gpu.ring_release %[[Q]]
tile.kernel @attention params [#tile.param<"q", in, align = 16>] dims [#K] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%q: !tile.ptr<f16>):
  tile.yield
} body {
^bb0(%q: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %k = tile.dim #K
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %qt = tile_gpu.tma_fetch %d[%c0, %c0] : !tile
  %r:2 = scf.for %i = %c0 to %k step %c64 iter_args(%acc = %zero, %at = %c64) -> (tensor<64x64xf32, #acc>, index) {
    %kt = tile_gpu.tma_fetch %d[%c0, %at] : !tile
    %p = tile_gpu.memdesc_permute %kt {permutation = array<i64: 1, 0>} : !tile -> !tile_gpu.memdesc<64x64xf16, #t>
    %x = tile_gpu.wgmma %qt, %p, %zero async : !tile, !tile_gpu.memdesc<64x64xf16, #t>, tensor<64x64xf32, #acc>
    %y = tile_gpu.wgmma_wait %x {pending = 0 : i64} : tensor<64x64xf32, #acc>
    %sum = arith.addf %acc, %y : tensor<64x64xf32, #acc>
    %next = arith.addi %at, %c64 : index
    scf.yield %sum, %next : tensor<64x64xf32, #acc>, index
  }
  tile.return
}

// A coordinate and a branch that come from a tile are computed by the consumers and sent.
// CHECK-LABEL: tile.kernel @grouped
// CHECK-COUNT-2: tile_gpu.ring : <2>
// CHECK: producer {
// CHECK-NOT: tile.reduce
// CHECK:   %[[SENT:.*]] = tile_gpu.scalar_receive %{{.*}} -> index
// CHECK:   %[[GO:.*]] = tile_gpu.scalar_receive %{{.*}} -> i1
// CHECK:   scf.if %[[GO]] {
// CHECK:     tile_gpu.tma_load %{{.*}}[%{{.*}}, %[[SENT]]]
// CHECK: } consumer {
// CHECK:   %[[ROW:.*]] = tile.reduce
// CHECK-NEXT: tile_gpu.scalar_send %{{.*}}, %[[ROW]]
tile.kernel @grouped params [#tile.param<"a", in, align = 16>, #tile.param<"o", in, align = 16>] dims [#K] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%a: !tile.ptr<f16>, %o: !tile.ptr<i32>):
  tile.yield
} body {
^bb0(%a: !tile.ptr<f16>, %o: !tile.ptr<i32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %k = tile.dim #K
  %view = tile.view %o[%k] strides[%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
  %offsets = tile.load %view[%c0] pad %z : i32 {sizes = array<i64: 128>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xi32> -> tensor<128xi32, #lanes>
  %positions = arith.index_cast %offsets : tensor<128xi32, #lanes> to tensor<128xindex, #lanes>
  %row = tile.reduce max %positions : tensor<128xindex, #lanes> -> index
  %bits = arith.trunci %offsets : tensor<128xi32, #lanes> to tensor<128xi1, #lanes>
  %go = tile.reduce or %bits : tensor<128xi1, #lanes> -> i1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  scf.if %go {
    %x = tile_gpu.tma_fetch %d[%c0, %row] : !tile
    %y = tile_gpu.wgmma %x, %x, %zero : !tile, !tile, tensor<64x64xf32, #acc>
  }
  tile.return
}
}
