// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --convert-tile-gpu-to-vector --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-nvvm-pipeline --split-input-file | FileCheck %s --check-prefix=LLVM

// One box for each panel of 128 bytes, and for each 256 rows. Equal maps are one parameter, asked
// for at the start; what nothing uses is none.
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @load
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {{.*}}, %{{.*}}: i64 {llvm.range = #llvm.constant_range<i64, 1, 1025>}, %[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr)
// CHECK-SAME: tile_gpu.tensor_maps = [#tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 256], swizzle = 128>, #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128>]
// CHECK: scf.if
// CHECK-NEXT: nvvm.prefetch tensormap, %[[A]]
// CHECK-NEXT: nvvm.prefetch tensormap, %[[B]]
// CHECK: %[[K:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[M:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: %[[T0:.*]] = llvm.addrspacecast %[[S:.*]] : !llvm.ptr<3> to !llvm.ptr<7>
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[T0]], %[[A]], %[[BAR:.*]], box[%[[K]], %[[M]]]
// CHECK: %[[K64:.*]] = arith.addi %[[K]], %{{.*}} : i32
// CHECK: llvm.getelementptr %[[S]][65536]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]], %[[BAR]], box[%[[K64]], %[[M]]]
// CHECK: %[[M256:.*]] = arith.addi %[[M]], %{{.*}} : i32
// CHECK: llvm.getelementptr %[[S]][32768]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]], %[[BAR]], box[%[[K]], %[[M256]]]
// CHECK: llvm.getelementptr %[[S]][98304]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[B]],
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]],
// CHECK-COUNT-3: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: nvvm.cp.async
// LLVM-LABEL: llvm.func @load
// LLVM-SAME: %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
tile.kernel @load params [#tile.param<"x", in, align = 16>] dims [#tile.dim<"N", 1, 1024, opt = 1, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f16>):
    %c8 = arith.constant 8 : index
    tile.yield %c8 : index
  } body {
  ^bb0(%x: !tile.ptr<f16>):
    %n = tile.dim #tile.dim<"N", 1, 1024, opt = 1, multiple_of = 1>
    %p = tile.program_id 0
    %r = tile_gpu.ring : !tile_gpu.ring<1, !tile_gpu.memdesc<512x128xf16, #shared>, !tile_gpu.memdesc<128x64xf16, #shared>>
    %big, %small, %bar = tile_gpu.ring_acquire %r : !tile_gpu.ring<1, !tile_gpu.memdesc<512x128xf16, #shared>, !tile_gpu.memdesc<128x64xf16, #shared>>
      -> !tile_gpu.memdesc<512x128xf16, #shared>, !tile_gpu.memdesc<128x64xf16, #shared>
    %a = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 256], swizzle = 128>
    tile_gpu.tma_load %a [%n, %p] into %big, %bar : !tile_gpu.memdesc<512x128xf16, #shared>
    %b = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    tile_gpu.tma_load %b [%n, %p] into %small, %bar : !tile_gpu.memdesc<128x64xf16, #shared>
    %unused = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 16], swizzle = 64>
    %c = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 256], swizzle = 128>
    tile_gpu.tma_load %c [%p, %n] into %big, %bar : !tile_gpu.memdesc<512x128xf16, #shared>
    tile.return
  }
}

// -----

// What is read once leaves the second-level cache first, by a branch: where it is not, the copy has
// no policy at all.
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @once
// CHECK: scf.if %{{.*}} {
// CHECK: %[[FIRST:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;"
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} l2_cache_hint = %[[FIRST]]
// CHECK: } else {
// CHECK-NOT: l2_cache_hint
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: l2_cache_hint
// CHECK: return
tile.kernel @once params [#tile.param<"x", in, align = 16>] dims [#tile.dim<"N", 1, 1024, opt = 1, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f16>):
    %c8 = arith.constant 8 : index
    tile.yield %c8 : index
  } body {
  ^bb0(%x: !tile.ptr<f16>):
    %n = tile.dim #tile.dim<"N", 1, 1024, opt = 1, multiple_of = 1>
    %c2 = arith.constant 2 : index
    %p = tile.program_id 0
    %few = arith.cmpi sle, %n, %c2 : index
    %r = tile_gpu.ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    %tile, %bar = tile_gpu.ring_acquire %r : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %a = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    tile_gpu.tma_load %a [%n, %p] into %tile, %bar once %few : !tile_gpu.memdesc<128x64xf16, #shared>
    tile.return
  }
}

// -----

// Two warpgroups with 64 rows each, memory for 128 columns of 256: each on its own, by stmatrix, 64
// columns into one half while the other half is copied. The last wait keeps the shared memory till
// it has been read.
#acc = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @store
// CHECK: tile_gpu.shared_bytes = 32768
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvvm.barrier id = %[[ID:.*]] number_of_threads = %{{.*}}
// CHECK-COUNT-4: nvvm.stmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>
// CHECK-NOT: nvvm.stmatrix
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.barrier id
// CHECK: scf.if
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvvm.barrier id
// CHECK: llvm.getelementptr %{{.*}}[16384]
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK-NOT: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK-COUNT-2: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK-NOT: nvvm.barrier
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK-NEXT: return
// LLVM-LABEL: llvm.func @store
tile.kernel @store params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64}
  grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %t = arith.constant dense<1.0> : tensor<128x256xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      tile_gpu.tma_store %t, %d [%c0, %c0] {columns = 128 : i64} : tensor<128x256xf16, #acc>
    }
    tile.return
  }
}

// -----

// Rows that are cut: of each block of rows so many are stored as the limit leaves it, and the copy
// begins where that many are left of the map's first dimension of rows.
#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @cut
// CHECK-DAG: %[[LIMIT:.*]] = arith.index_cast %c77{{.*}} : index to i32
// CHECK-DAG: %[[FIRST:.*]] = arith.index_cast %c5{{.*}} : index to i32
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[ROW:.*]] : i32
// CHECK: %[[LEFT:.*]] = arith.subi %[[LIMIT]], %[[ROW]] : i32
// CHECK: %[[SOME:.*]] = arith.maxsi %[[LEFT]], %c0_i32
// CHECK: %[[SEEN:.*]] = arith.minsi %[[SOME]], %c64_i32
// CHECK: %[[SKIP:.*]] = arith.subi %c64_i32{{.*}}, %[[SEEN]]
// CHECK: %[[TO:.*]] = arith.addi %[[AT]], %[[SEEN]]
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%{{.*}}, %[[SKIP]], %[[TO]]]
tile.kernel @cut params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64}
  grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c77 = arith.constant 77 : index
    %t = arith.constant dense<1.0> : tensor<128x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0, 0], box = [64, 64, 1], swizzle = 128>
    tile_gpu.tma_store %t, %d [%c0, %c77, %c5] {columns = 64 : i64} : tensor<128x64xf16, #acc>
    tile.return
  }
}

// -----

// Stores that must keep their order: all threads together, one of them copies. Warpgroups side by
// side: each copies its own columns. 32-bit elements by plain stores.
#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#split = #tile_gpu.linear<shape = [64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 64]]>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @together
// CHECK: tile_gpu.shared_bytes = 49152
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: nvvm.barrier{{$}}
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.cp.async.bulk.wait_group 0{{$}}
// CHECK-COUNT-16: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier id = {{.*}} number_of_threads
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: nvvm.cp.async.bulk.tensor.global.shared.cta
tile.kernel @together params [#tile.param<"y", out, align = 16>, #tile.param<"z", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64}
  grid {
  ^bb0(%y: !tile.ptr<f16>, %z: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>, %z: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %t = arith.constant dense<1.0> : tensor<128x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    tile_gpu.tma_store %t, %d [%c0, %c0] {columns = 64 : i64, ordered} : tensor<128x64xf16, #acc>
    %s = arith.constant dense<1.0> : tensor<64x128xf32, #split>
    %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 1, order = [1, 0], box = [32, 64], swizzle = 128>
    tile_gpu.tma_store %s, %e [%c0, %c0] {columns = 128 : i64} : tensor<64x128xf32, #split>
    tile.return
  }
}

// -----

// A store that no loop repeats, of two halves of the memory: no copy has read there before.
#acc = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @once
// CHECK-NOT: nvvm.cp.async.bulk.wait_group
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK-NOT: nvvm.cp.async.bulk.wait_group
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvvm.barrier id
// CHECK-COUNT-4: nvvm.stmatrix
tile.kernel @once params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64}
  grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %t = arith.constant dense<1.0> : tensor<128x256xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    tile_gpu.tma_store %t, %d [%c0, %c0] {columns = 128 : i64} : tensor<128x256xf16, #acc>
    tile.return
  }
}

// -----

// Sums: each warp stages and copies its own 16 rows and waits for itself alone. Lanes of odd rows
// store other columns first, so that rows beside each other meet different banks.
#split = #tile_gpu.linear<shape = [64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 64]]>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @sums
// CHECK: tile_gpu.shared_bytes = 32768
// CHECK: %[[FOUR:.*]] = arith.constant 4 : i32
// CHECK-NOT: nvvm.barrier
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[BIT:.*]] = arith.andi %{{.*}}, %{{.*}} : i32
// CHECK: %[[ODD:.*]] = arith.cmpi ne, %[[BIT]]
// CHECK: arith.select %[[ODD]], %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK-COUNT-16: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK-NEXT: nvvm.fence.proxy
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.reduce
// CHECK-NOT: nvvm.cp.async.bulk.tensor.reduce
// CHECK-NOT: nvvm.barrier
// CHECK: return
tile.kernel @sums params [#tile.param<"z", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64}
  grid {
  ^bb0(%z: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%z: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %s = arith.constant dense<1.0> : tensor<64x128xf32, #split>
    %e = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 16], swizzle = 128>
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      tile_gpu.tma_store %s, %e [%c0, %c0] {add, columns = 128 : i64} : tensor<64x128xf32, #split>
    }
    tile.return
  }
}

// -----

// Rows behind the limit: each warpgroup clears them all, 16 bytes of a thread at a time, and only
// writes: another warpgroup may do the same. Columns: the swizzle taken back, what is cut in two
// element by element.
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @clear
// CHECK: %[[CUTS:.*]] = arith.cmpi slt, %[[N:.*]], %c128 : index
// CHECK: scf.if %[[CUTS]]
// CHECK: %[[T:.*]] = arith.andi %{{.*}}, %c127_i32
// CHECK: scf.for %{{.*}} = %[[T]] to %c1024_i32 step %c128_i32
// CHECK-NOT: llvm.load
// CHECK: %[[BEHIND:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: scf.if %[[BEHIND]]
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<3>
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
// CHECK: %[[CUTS2:.*]] = arith.cmpi slt, %[[N]], %c64 : index
// CHECK: scf.if %[[CUTS2]]
// CHECK: arith.xori
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<3>
// CHECK: } else {
// CHECK-COUNT-7: llvm.store %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<3>
// LLVM-LABEL: llvm.func @clear
tile.kernel @clear params [] dims [#tile.dim<"N", 1, 1024, opt = 1, multiple_of = 1>] constexprs [] attributes {tile_gpu.num_warps = 8 : i64}
  grid { tile.yield } body {
    %n = tile.dim #tile.dim<"N", 1, 1024, opt = 1, multiple_of = 1>
    %r = tile_gpu.ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    %m = tile_gpu.ring_wait %r : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>> -> !tile_gpu.memdesc<128x64xf16, #shared>
    tile_gpu.clear_from %m, %n {dim = 0 : i64} : !tile_gpu.memdesc<128x64xf16, #shared>
    tile_gpu.clear_from %m, %n {dim = 1 : i64} : !tile_gpu.memdesc<128x64xf16, #shared>
    tile.return
  }
}
