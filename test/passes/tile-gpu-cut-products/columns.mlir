// Products whose result has no room in registers beside a sum are issued some columns at a time.
// RUN: tile-opt %s --tile-gpu-cut-products | FileCheck %s
// RUN: tile-opt %s --tile-gpu-cut-products --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   --tile-gpu-specialize-warps --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   | FileCheck %s --check-prefix=TURNS
// RUN: tile-opt %s --tile-gpu-cut-products --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   --tile-gpu-specialize-warps --tile-gpu-schedule-loops --tile-gpu-apply-schedule \
// RUN:   --tile-nvvm-pipeline | FileCheck %s --check-prefix=WGMMA

#acc = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#scale = #tile_gpu.linear<shape = [128, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#few = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
!a = !tile_gpu.memdesc<128x128xf8E4M3FN, #s>
!b = !tile_gpu.memdesc<256x128xf8E4M3FN, #s>
!bt = !tile_gpu.memdesc<128x256xf8E4M3FN, #t>
!c = !tile_gpu.memdesc<64x128xf8E4M3FN, #s>
!ct = !tile_gpu.memdesc<128x64xf8E4M3FN, #t>
!acc = tensor<128x256xf32, #acc>
!few = tensor<128x64xf32, #few>
!column = tensor<128x1xf32, #scale>
!row = tensor<128xf32, #tile_gpu.linear<shape = [128], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]]>>
#K = #tile.dim<"K", 128, 4096, opt = 4096, multiple_of = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// 128 registers of a sum leave room for 64 of a result: two parts, each with the arithmetic on it
// behind it. A scale of rows is the same for both, the product of both begins anew.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<128x256xf32
// CHECK: %[[A:.*]] = tile_gpu.tma_fetch
// CHECK: %[[F:.*]] = tile_gpu.tma_fetch
// CHECK: %[[B:.*]] = tile_gpu.memdesc_permute %[[F]]
// CHECK: %[[P:.*]] = tile_gpu.wgmma %[[A]], %[[B]] column 0, %{{.*}} : {{.*}}, tensor<128x128xf32
// CHECK: %[[S:.*]] = tile.broadcast %{{.*}} -> tensor<128x128xf32
// CHECK: %[[X:.*]] = arith.mulf %[[P]], %[[S]]
// CHECK: %[[O:.*]] = tile_gpu.extract_part %[[SUM]] at [0, 0]
// CHECK: %[[N:.*]] = arith.addf %[[O]], %[[X]]
// CHECK: %[[Q:.*]] = tile_gpu.wgmma %[[A]], %[[B]] column 128, %{{.*}} : {{.*}}, tensor<128x128xf32
// CHECK: arith.mulf %[[Q]]
// CHECK: tile_gpu.extract_part %[[SUM]] at [0, 128]
// CHECK: %[[M:.*]] = arith.addf
// CHECK: %[[BOTH:.*]] = tile_gpu.join_parts %[[N]], %[[M]] {dim = 1 : i64}
// CHECK: scf.yield %[[BOTH]]
// The second one takes the registers of the first. Two warpgroups take no turns.
// TURNS-LABEL: tile.kernel @scaled
// TURNS: consumer {
// TURNS-NOT: tile_gpu.turn
// TURNS: scf.for
// TURNS-NOT: tile_gpu.turn
// TURNS: %[[P:.*]] = tile_gpu.wgmma {{.*}} column 0, {{.*}} async
// TURNS-NOT: tile_gpu.turn
// TURNS: %[[D:.*]] = tile_gpu.wgmma_wait %[[P]]
// TURNS: %[[X:.*]] = arith.mulf %[[D]]
// TURNS: %[[N:.*]] = arith.addf %{{.*}}, %[[X]]
// TURNS: tile_gpu.optimization_barrier %[[N]]
// TURNS-NEXT: tile_gpu.wgmma {{.*}} column 128, %[[D]] async {tile_gpu.overwrites}
// TURNS-NOT: tile_gpu.turn
// The next trip's tile is waited for ahead of the wait for the last product.
// TURNS: tile_gpu.ring_peek
// TURNS: tile_gpu.wgmma_wait
// TURNS-NOT: tile_gpu.turn
// TURNS: flight = 0)], apart, peek>
// WGMMA-LABEL: llvm.func @scaled
// WGMMA-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k32
// WGMMA-NOT: wgmma.mma_async
// WGMMA-LABEL: llvm.func @fits
tile.kernel @scaled params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !acc
  %scale = arith.constant dense<3.0> : !column
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 128], swizzle = 128>
  %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 256], swizzle = 128>
  %o = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 128], swizzle = 128>
  %r = scf.for %k = %c0 to %n step %c128 iter_args(%sum = %zero) -> (!acc) {
    %a = tile_gpu.tma_fetch %d[%k, %c0] : !a
    %f = tile_gpu.tma_fetch %e[%k, %c128] : !b
    %b = tile_gpu.memdesc_permute %f {permutation = array<i64: 1, 0>} : !b -> !bt
    %q = tile_gpu.wgmma %a, %b, %zero : !a, !bt, !acc
    %t = tile.broadcast %scale : !column -> !acc
    %x = arith.mulf %q, %t : !acc
    %next = arith.addf %sum, %x : !acc
    scf.yield %next : !acc
  }
  tile_gpu.tma_store %r, %o[%c0, %c0] {columns = 32 : i64} : !acc
  tile.return
}

// 32 registers of a result fit beside 32 of a sum.
// CHECK-LABEL: tile.kernel @fits
// CHECK-NOT: column
// CHECK: tile_gpu.wgmma {{.*}}, tensor<128x64xf32
tile.kernel @fits params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !few
  %scale = arith.constant dense<3.0> : !column
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 128], swizzle = 128>
  %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 64], swizzle = 128>
  %o = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 128], swizzle = 128>
  %r = scf.for %k = %c0 to %n step %c128 iter_args(%sum = %zero) -> (!few) {
    %a = tile_gpu.tma_fetch %d[%k, %c0] : !a
    %f = tile_gpu.tma_fetch %e[%k, %c128] : !c
    %b = tile_gpu.memdesc_permute %f {permutation = array<i64: 1, 0>} : !c -> !ct
    %q = tile_gpu.wgmma %a, %b, %zero : !a, !ct, !few
    %t = tile.broadcast %scale : !column -> !few
    %x = arith.mulf %q, %t : !few
    %next = arith.addf %sum, %x : !few
    scf.yield %next : !few
  }
  tile_gpu.tma_store %r, %o[%c0, %c0] {columns = 32 : i64} : !few
  tile.return
}

// A product that goes on with a sum has no result beside it.
// CHECK-LABEL: tile.kernel @added
// CHECK-NOT: column
// CHECK: tile_gpu.wgmma {{.*}}, tensor<128x256xf32
tile.kernel @added params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !acc
  %scale = arith.constant dense<3.0> : !column
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 128], swizzle = 128>
  %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 256], swizzle = 128>
  %o = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 128], swizzle = 128>
  %r = scf.for %k = %c0 to %n step %c128 iter_args(%sum = %zero) -> (!acc) {
    %a = tile_gpu.tma_fetch %d[%k, %c0] : !a
    %f = tile_gpu.tma_fetch %e[%k, %c128] : !b
    %b = tile_gpu.memdesc_permute %f {permutation = array<i64: 1, 0>} : !b -> !bt
    %next = tile_gpu.wgmma %a, %b, %sum : !a, !bt, !acc
    scf.yield %next : !acc
  }
  tile_gpu.tma_store %r, %o[%c0, %c0] {columns = 32 : i64} : !acc
  tile.return
}

// Of a row's maximum all columns are needed at once.
// CHECK-LABEL: tile.kernel @reduced
// CHECK-NOT: column
// CHECK: tile_gpu.wgmma {{.*}}, tensor<128x256xf32
tile.kernel @reduced params [#tile.param<"a", in, align = 16>] dims [#K] constexprs []
  attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%p: !tile.ptr<f8E4M3FN>):
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.dim #K
  %zero = arith.constant dense<0.0> : !acc
  %scale = arith.constant dense<3.0> : !column
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 128], swizzle = 128>
  %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [128, 256], swizzle = 128>
  %o = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 128], swizzle = 128>
  %r = scf.for %k = %c0 to %n step %c128 iter_args(%sum = %zero) -> (!acc) {
    %a = tile_gpu.tma_fetch %d[%k, %c0] : !a
    %f = tile_gpu.tma_fetch %e[%k, %c128] : !b
    %b = tile_gpu.memdesc_permute %f {permutation = array<i64: 1, 0>} : !b -> !bt
    %q = tile_gpu.wgmma %a, %b, %zero : !a, !bt, !acc
    %m = tile.reduce max %q axis 1 : !acc -> !row
    %h = tile.reshape %m : !row -> !column
    %t = tile.broadcast %h : !column -> !acc
    %y = arith.mulf %q, %t : !acc
    %next = arith.addf %sum, %y : !acc
    scf.yield %next : !acc
  }
  tile_gpu.tma_store %r, %o[%c0, %c0] {columns = 32 : i64} : !acc
  tile.return
}

}
