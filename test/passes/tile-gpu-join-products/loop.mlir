// RUN: tile-opt %s --tile-gpu-join-products | FileCheck %s
// RUN: tile-opt %s --tile-gpu-join-products --tile-gpu-specialize-warps \
// RUN:   | FileCheck %s --check-prefix=RING
// RUN: tile-opt %s --tile-gpu-join-products --tile-gpu-specialize-warps \
// RUN:   --tile-nvvm-pipeline | FileCheck %s --check-prefix=WGMMA

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!t = !tile_gpu.memdesc<64x64xf16, #t>
!f = tensor<64x64xf32, #acc>
#narrow = #tile_gpu.linear<shape = [64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!n = !tile_gpu.memdesc<32x64xf16, #s>
!u = !tile_gpu.memdesc<64x32xf16, #t>
!g = tensor<64x32xf32, #narrow>
#broad = #tile_gpu.linear<shape = [64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!w = !tile_gpu.memdesc<64x128xf16, #s>
!h = tensor<64x128xf32, #broad>
#K = #tile.dim<"K", 64, 4096, opt = 4096, multiple_of = 64>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Two products of a become one of 128 columns, whose sum is in two parts behind the loop; the other
// variable of the loop keeps its place before them. b and c are neighbours in a slot.
// CHECK-LABEL: tile.kernel @two
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%[[COUNT:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}}) -> (index, tensor<64x128xf32
// CHECK-NEXT: %[[A:.*]] = tile_gpu.tma_fetch
// CHECK: %[[B:.*]] = tile_gpu.tma_fetch
// CHECK-NEXT: %[[C:.*]] = tile_gpu.tma_fetch
// CHECK-NEXT: %[[M:.*]] = tile_gpu.memdesc_join %[[B]], %[[C]] {dim = 1 : i64}
// CHECK-SAME: -> <64x128xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
// CHECK-NEXT: %[[P:.*]] = tile_gpu.wgmma %[[A]], %[[M]], %[[ACC]]
// CHECK: scf.yield %{{.*}}, %[[P]]
// CHECK: tile_gpu.extract_part %[[SUMS]]#1 at [0, 0]
// CHECK: tile_gpu.extract_part %[[SUMS]]#1 at [0, 64]
// RING-LABEL: tile.kernel @two
// RING: tile_gpu.warp_specialize producer
// RING: %[[SLOT:.*]]:3, %{{.*}} = tile_gpu.ring_acquire
// RING: tile_gpu.tma_load {{.*}} into %[[SLOT]]#0
// RING: tile_gpu.tma_load {{.*}} into %[[SLOT]]#1
// RING: tile_gpu.tma_load {{.*}} into %[[SLOT]]#2
// RING: %[[FULL:.*]]:3 = tile_gpu.ring_wait
// RING-NEXT: %[[JOINED:.*]] = tile_gpu.memdesc_join %[[FULL]]#1, %[[FULL]]#2
// RING: tile_gpu.wgmma %[[FULL]]#0, %[[JOINED]]
// WGMMA-LABEL: llvm.func @two
// WGMMA: wgmma.mma_async.sync.aligned.m64n128k16
// WGMMA-NOT: wgmma.mma_async.sync.aligned.m64n64k16
tile.kernel @two params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !f
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %r:3 = scf.for %k = %c0 to %n step %c64 iter_args(%g = %zero, %i = %c0, %u = %zero)
      -> (!f, index, !f) {
    %x = tile_gpu.tma_fetch %d[%k, %c0] : !m
    %b = tile_gpu.tma_fetch %d[%k, %k] : !m
    %p1 = tile_gpu.wgmma %x, %b, %g : !m, !m, !f
    %next = arith.addi %i, %k : index
    %c = tile_gpu.tma_fetch %d[%k, %next] : !m
    %p2 = tile_gpu.wgmma %x, %c, %u : !m, !m, !f
    scf.yield %p1, %next, %p2 : !f, index, !f
  }
  %s = arith.addf %r#0, %r#2 : !f
  %at = arith.addi %r#1, %c0 : index
  tile_gpu.tma_store %s, %d[%at, %c0] {columns = 64 : i64} : !f
  tile.return
}

// Four of 32 columns: one of 128. Tiles whose rows lie along K are joined behind their permutations.
// CHECK-LABEL: tile.kernel @four
// CHECK: %[[B:.*]] = tile_gpu.memdesc_permute
// CHECK: %[[C:.*]] = tile_gpu.memdesc_permute
// CHECK: %[[D:.*]] = tile_gpu.memdesc_permute
// CHECK: %[[E:.*]] = tile_gpu.memdesc_permute
// CHECK: tile_gpu.memdesc_join %[[B]], %[[C]], %[[D]], %[[E]]
// CHECK-COUNT-1: tile_gpu.wgmma
// CHECK-NOT: tile_gpu.wgmma
// WGMMA-LABEL: llvm.func @four
// WGMMA: wgmma.mma_async.sync.aligned.m64n128k16
tile.kernel @four params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !g
  %da = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 32], swizzle = 128>
  %r:4 = scf.for %k = %c0 to %n step %c64 iter_args(%g = %zero, %h = %zero, %i = %zero, %j = %zero)
      -> (!g, !g, !g, !g) {
    %x = tile_gpu.tma_fetch %da[%k, %c0] : !m
    %b = tile_gpu.tma_fetch %d[%k, %k] : !n
    %bt = tile_gpu.memdesc_permute %b {permutation = array<i64: 1, 0>} : !n -> !u
    %p1 = tile_gpu.wgmma %x, %bt, %g : !m, !u, !g
    %c = tile_gpu.tma_fetch %d[%c64, %k] : !n
    %ct = tile_gpu.memdesc_permute %c {permutation = array<i64: 1, 0>} : !n -> !u
    %p2 = tile_gpu.wgmma %x, %ct, %h : !m, !u, !g
    %e = tile_gpu.tma_fetch %d[%k, %c64] : !n
    %et = tile_gpu.memdesc_permute %e {permutation = array<i64: 1, 0>} : !n -> !u
    %p3 = tile_gpu.wgmma %x, %et, %i : !m, !u, !g
    %f = tile_gpu.tma_fetch %d[%c0, %k] : !n
    %ft = tile_gpu.memdesc_permute %f {permutation = array<i64: 1, 0>} : !n -> !u
    %p4 = tile_gpu.wgmma %x, %ft, %j : !m, !u, !g
    scf.yield %p1, %p2, %p3, %p4 : !g, !g, !g, !g
  }
  %s = arith.addf %r#0, %r#1 : !g
  %v = arith.addf %r#2, %r#3 : !g
  %w = arith.addf %s, %v : !g
  %o = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 64], swizzle = 128>
  tile_gpu.tma_store %w, %o[%c0, %c0] {columns = 32 : i64} : !g
  tile.return
}

// Left alone: another first operand; a sum that the loop uses; one that does not begin at zero.
// CHECK-LABEL: tile.kernel @apart
// CHECK-NOT: memdesc_join
tile.kernel @apart params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !f
  %one = arith.constant dense<1.0> : !f
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %r:4 = scf.for %k = %c0 to %n step %c64 iter_args(%g = %zero, %h = %zero, %i = %zero, %j = %one)
      -> (!f, !f, !f, !f) {
    %x = tile_gpu.tma_fetch %d[%k, %c0] : !m
    %y = tile_gpu.tma_fetch %d[%c64, %c0] : !m
    %b = tile_gpu.tma_fetch %d[%k, %k] : !m
    %p1 = tile_gpu.wgmma %x, %b, %g : !m, !m, !f
    %c = tile_gpu.tma_fetch %d[%c64, %k] : !m
    %p2 = tile_gpu.wgmma %y, %c, %h : !m, !m, !f
    %e = tile_gpu.tma_fetch %d[%k, %c64] : !m
    %p3 = tile_gpu.wgmma %x, %e, %i : !m, !m, !f
    %p3b = arith.addf %p3, %p1 : !f
    %f = tile_gpu.tma_fetch %d[%c0, %k] : !m
    %p4 = tile_gpu.wgmma %x, %f, %j : !m, !m, !f
    scf.yield %p1, %p2, %p3b, %p4 : !f, !f, !f, !f
  }
  %s = arith.addf %r#0, %r#1 : !f
  %v = arith.addf %r#2, %r#3 : !f
  %w = arith.addf %s, %v : !f
  tile_gpu.tma_store %w, %d[%c0, %c0] {columns = 64 : i64} : !f
  tile.return
}

// Two of three products of 128 columns: one of 256, the widest instruction.
// CHECK-LABEL: tile.kernel @wide
// CHECK: tile_gpu.memdesc_join {{.*}} -> <64x256xf16
// CHECK-COUNT-2: tile_gpu.wgmma
// CHECK-NOT: tile_gpu.wgmma
// CHECK: tile_gpu.extract_part %{{.*}} at [0, 128]
// WGMMA-LABEL: llvm.func @wide
// WGMMA: wgmma.mma_async.sync.aligned.m64n256k16
tile.kernel @wide params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !h
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %r:3 = scf.for %k = %c0 to %n step %c64 iter_args(%g = %zero, %h = %zero, %i = %zero)
      -> (!h, !h, !h) {
    %x = tile_gpu.tma_fetch %d[%k, %c0] : !m
    %b = tile_gpu.tma_fetch %d[%k, %k] : !w
    %p1 = tile_gpu.wgmma %x, %b, %g : !m, !w, !h
    %c = tile_gpu.tma_fetch %d[%k, %c64] : !w
    %p2 = tile_gpu.wgmma %x, %c, %h : !m, !w, !h
    %e = tile_gpu.tma_fetch %d[%c64, %k] : !w
    %p3 = tile_gpu.wgmma %x, %e, %i : !m, !w, !h
    scf.yield %p1, %p2, %p3 : !h, !h, !h
  }
  %s = arith.addf %r#0, %r#1 : !h
  %t = arith.addf %s, %r#2 : !h
  tile_gpu.tma_store %t, %d[%c0, %c0] {columns = 64 : i64} : !h
  tile.return
}
}
