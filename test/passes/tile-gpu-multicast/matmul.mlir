// RUN: tile-opt %s --split-input-file --tile-gpu-multicast --verify-diagnostics | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-gpu-multicast --tile-gpu-make-persistent \
// RUN:   --tile-gpu-specialize-warps | FileCheck %s --check-prefix=RING

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
!b = !tile_gpu.memdesc<64x256xf16, #s>
!t = !tile_gpu.memdesc<256x64xf16, #s>
#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Programs of a pair differ in the row, as bands run along rows: what depends on columns alone is
// shared. A tile of four boxes keeps its map; one of a single box gets half of it.
// CHECK-LABEL: tile.kernel @bands
// CHECK-SAME: tile_gpu.cluster = 2
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] : <64x64xf16
// CHECK: tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
// CHECK: tile_gpu.tma_fetch {{.*}} multicast : <64x256xf16
// CHECK: tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
// CHECK: tile_gpu.tma_fetch {{.*}} multicast : <256x64xf16
// RING-LABEL: tile.kernel @bands
// RING: %[[TWO:.*]] = arith.constant 2 : index
// RING: %[[LAST:.*]] = arith.subi %{{.*}}, %
// RING: %[[PAIRS:.*]] = arith.ceildivsi %{{.*}}, %
// RING: arith.muli %[[PAIRS]], %
// RING-DAG: tile_gpu.ring per_warp : <2, <64x64xf16
// RING-DAG: tile_gpu.ring clustered : <2, <64x256xf16
// RING-DAG: tile_gpu.ring clustered : <2, <256x64xf16
// RING: arith.minui %{{.*}}, %[[LAST]]
// RING: tile_gpu.tma_load {{.*}} multicast
tile.kernel @bands params [#tile.param<"a", in, align = 16>] dims [] constexprs []
  attributes {tile.cluster = array<i64: 2, 1>, tile.grouped = 8 : i64, tile.persistent, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c7 = arith.constant 7 : index
  tile.yield %c7, %c7 : index, index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 256], swizzle = 128>
  %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
  %y = tile_gpu.tma_fetch %d[%j, %c0] : !b
  %z = tile_gpu.tma_fetch %e[%c0, %j] : !t
  %u = tile_gpu.local_load %x : !a -> tensor<64x64xf16, #rows>
  tile.return
}
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A scan is as alike as what it goes over and what its function reads.
// CHECK-LABEL: tile.kernel @scanned
// CHECK: tile_gpu.tma_fetch {{.*}} multicast
// CHECK: tile_gpu.tma_fetch
// CHECK-NOT: multicast
// CHECK: tile.return
tile.kernel @scanned params [#tile.param<"a", in, align = 16>] dims [] constexprs []
  attributes {tile.cluster = array<i64: 2, 1>, tile.persistent, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c7 = arith.constant 7 : index
  tile.yield %c7, %c7 : index, index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %ti = tensor.splat %i : tensor<16xindex>
  %tj = tensor.splat %j : tensor<16xindex>
  %si = tile.scan %ti axis 0 : tensor<16xindex> -> tensor<16xindex> {
  ^bb0(%left: index, %right: index):
    %s = arith.addi %left, %right : index
    tile.scan_yield %s : index
  }
  %sj = tile.scan %tj axis 0 : tensor<16xindex> -> tensor<16xindex> {
  ^bb0(%left: index, %right: index):
    %s = arith.addi %left, %right : index
    tile.scan_yield %s : index
  }
  %sk = tile.scan %ti axis 0 : tensor<16xindex> -> tensor<16xindex> {
  ^bb0(%left: index, %right: index):
    %s = arith.addi %left, %j : index
    tile.scan_yield %s : index
  }
  %xi = tensor.extract %si[%c0] : tensor<16xindex>
  %xj = tensor.extract %sj[%c0] : tensor<16xindex>
  %xk = tensor.extract %sk[%c0] : tensor<16xindex>
  %x = tile_gpu.tma_fetch %d[%c0, %xi] : !a
  %y = tile_gpu.tma_fetch %d[%c0, %xj] : !a
  %z = tile_gpu.tma_fetch %d[%c0, %xk] : !a
  tile.return
}
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Without bands the programs of a pair differ along the last axis. A loop that goes on for
// different numbers of trips, or a loop variable that starts differently, is not shared.
// CHECK-LABEL: tile.kernel @uniform
// CHECK: multicast
// CHECK-NOT: multicast
tile.kernel @uniform params [#tile.param<"a", in, align = 16>] dims [] constexprs []
  attributes {tile.cluster = array<i64: 2, 1>, tile.persistent, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c7 = arith.constant 7 : index
  tile.yield %c7, %c7 : index, index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  scf.for %k = %c0 to %i step %c1 {
    %x = tile_gpu.tma_fetch %d[%k, %i] : !a
  }
  scf.for %k = %c0 to %j step %c1 {
    %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
  }
  %r = scf.for %k = %c0 to %i step %c1 iter_args(%at = %j) -> (index) {
    %x = tile_gpu.tma_fetch %d[%at, %i] : !a
    %n = arith.addi %at, %c1 : index
    scf.yield %n : index
  }
  tile.return
}
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A cluster of one block is none, and asked for: nothing is to be said.
// CHECK-LABEL: tile.kernel @one
// CHECK-NOT: tile_gpu.cluster
tile.kernel @one params [] dims [] constexprs [] attributes {tile.cluster = array<i64: 1, 1>, tile.persistent} grid { tile.yield } body {
  tile.return
}
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @eight
// CHECK-NOT: tile_gpu.cluster
// expected-warning @below {{is lowered to 1: only clusters of 2 or 4 blocks share loads [W0607]}}
tile.kernel @eight params [] dims [] constexprs [] attributes {tile.cluster = array<i64: 4, 2>, tile.persistent} grid { tile.yield } body {
  tile.return
}
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @parts
// CHECK-NOT: tile_gpu.cluster
// expected-remark @below {{clusters are not used: expected as many blocks as the split loop has parts, 2, 4 or 8, and that a slice of its result is enough for what follows [R0405]}}
tile.kernel @parts params [] dims [] constexprs [] attributes {tile.cluster = array<i64: 2, 1>, tile.persistent, tile_gpu.split_parts = 2 : i64} grid {
  %c2 = arith.constant 2 : index
  tile.yield %c2 : index
} body {
  tile.return
}
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>
!b = !tile_gpu.memdesc<64x256xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Four programs are a square: what depends on columns alone is shared along rows, what depends on
// rows alone along columns, what depends on neither along rows. A block's slots are filled by it and
// by two others. The launch starts a block for each program of whole squares.
// CHECK-LABEL: tile.kernel @squares
// CHECK-NOT: tile.persistent
// CHECK-SAME: tile_gpu.cluster = 4 : i64
// CHECK-SAME: tile_gpu.paired_axes = array<i64: 0, 1>
// CHECK: tile_gpu.tma_fetch {{.*}} multicast {across = 2 : i64} : <64x64xf16
// CHECK: tile_gpu.tma_fetch %{{[^{]*}} multicast : <64x256xf16
// CHECK: tile_gpu.tma_fetch %{{[^{]*}} multicast : <64x64xf16
// CHECK: tile_gpu.tma_fetch %{{[^ ]*}}[%{{[^,]*}}, %{{[^ ]*}}] : <64x64xf16
// RING-LABEL: tile.kernel @squares
// RING: tile_gpu.ring clustered {across = 2 : i64}
// RING: tile_gpu.ring clustered :
// RING: tile_gpu.tma_load {{.*}} multicast {across = 2 : i64}
tile.kernel @squares params [#tile.param<"a", in, align = 16>] dims [] constexprs []
  attributes {tile.cluster = array<i64: 4, 1>, tile.grouped = 8 : i64, tile.persistent, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c7 = arith.constant 7 : index
  tile.yield %c7, %c7 : index, index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
  %y = tile_gpu.tma_fetch %d[%j, %c0] : !b
  %z = tile_gpu.tma_fetch %d[%c0, %c0] : !a
  %w = tile_gpu.tma_fetch %d[%j, %i] : !a
  tile.return
}
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!a = !tile_gpu.memdesc<64x64xf16, #s>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Where nothing is shared along one of the two axes, pairs are left; a kernel that is not persistent
// has pairs of programs by its launch.
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: tile_gpu.cluster = 2 : i64
// CHECK-SAME: tile_gpu.paired_axes = array<i64: 1>
// CHECK: tile_gpu.tma_fetch %{{[^{]*}} multicast :
tile.kernel @rows params [#tile.param<"a", in, align = 16>] dims [] constexprs []
  attributes {tile.cluster = array<i64: 2, 2>, tile_gpu.num_warps = 4 : i64} grid {
^bb0(%p: !tile.ptr<f16>):
  %c7 = arith.constant 7 : index
  tile.yield %c7, %c7 : index, index
} body {
^bb0(%p: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %j = tile.program_id 1
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
  %x = tile_gpu.tma_fetch %d[%c0, %i] : !a
  tile.return
}
}
