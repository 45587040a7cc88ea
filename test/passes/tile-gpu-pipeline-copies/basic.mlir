// RUN: tile-opt %s --tile-gpu-assign-layouts --tile-gpu-pipeline-copies | FileCheck %s
// A target without cp.async, which only tests have.
// RUN: sed s/sm_80/sm_95/ %s | tile-opt - --test-targets --tile-gpu-assign-layouts \
// RUN:   --tile-gpu-pipeline-copies | FileCheck %s --check-prefix=OLD
// OLD-NOT: tile_gpu.async
// Copies stay whole where a further try asks for it, and nothing is left of the question.
// RUN: sed 's/constexprs \[\] grid/constexprs [] attributes {tile_gpu.whole_copies = 1 : i64} grid/' %s \
// RUN:   | tile-opt - --tile-gpu-assign-layouts --tile-gpu-pipeline-copies \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// WHOLE-LABEL: tile.kernel @product
// WHOLE-NOT: whole_copies
// WHOLE: scf.for
// WHOLE: tile_gpu.async_copy
// WHOLE: tile_gpu.async_copy
// WHOLE-NEXT: tile_gpu.async_commit
// WHOLE: tile_gpu.local_load
// WHOLE: tile_gpu.mma
// WHOLE-NOT: whole_copies

// Three stages are ahead (a trip's products take less than a copy): their copies stand before the
// loop, each in a group, those of trips that there may not be under a condition. The wait and the
// barrier stand ahead of the last step of the products; behind them the first step's fragments of
// the next trip. Copies stand behind the fragments of the step to come.
// CHECK-LABEL: tile.kernel @product
// CHECK: body {
// CHECK-DAG: %[[SA:.*]] = tile_gpu.local_slots : <5, <64x32xf16,
// CHECK-DAG: %[[SB:.*]] = tile_gpu.local_slots : <5, <32x64xf16,
// CHECK: tile_gpu.async_copy %{{.*}}[%{{.*}}, %c0{{.*}}] into %{{.*}} when %{{.*}}
// CHECK: tile_gpu.async_copy
// CHECK: tile_gpu.async_commit
// CHECK-COUNT-3: tile_gpu.async_commit
// CHECK: tile_gpu.async_wait {pending = 3 : i64}
// CHECK-NEXT: tile_gpu.barrier
// CHECK: %[[A0:.*]] = tile_gpu.local_load %{{.*}} at [0, 0]
// CHECK: %[[B0:.*]] = tile_gpu.local_load %{{.*}} at [0, 0]
// CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args(%[[ACC:[a-z0-9_]+]] = {{.*}}, %[[SLOT:[a-z0-9_]+]] = {{.*}}, %[[A:[a-z0-9_]+]] = %[[A0]], %[[B:[a-z0-9_]+]] = %[[B0]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]],
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]],
// CHECK: %[[MA:.*]] = tile_gpu.slot %[[SA]][%[[SLOT]]]
// CHECK: %[[MB:.*]] = tile_gpu.slot %[[SB]][%[[SLOT]]]
// CHECK: %[[A1:.*]] = tile_gpu.local_load %[[MA]] at [0, 16]
// CHECK: %[[B1:.*]] = tile_gpu.local_load %[[MB]] at [16, 0]
// CHECK-NEXT: tile_gpu.async_copy %{{.*}}[%{{.*}}, %[[NEXT]]] into %{{.*}} when %[[MORE]]
// CHECK-NEXT: tile_gpu.async_copy %{{.*}}[%[[NEXT]], %{{.*}}] into %{{.*}} when %[[MORE]]
// CHECK-NEXT: tile_gpu.async_commit
// CHECK-NEXT: %[[C0:.*]] = tile_gpu.mma %[[A]], %[[B]], %[[ACC]]
// CHECK: tile_gpu.async_wait {pending = 3 : i64}
// CHECK-NEXT: tile_gpu.barrier
// CHECK: tile_gpu.local_load %{{.*}} at [0, 0]
// CHECK: tile_gpu.local_load %{{.*}} at [0, 0]
// CHECK: tile_gpu.mma %[[A1]], %[[B1]], %[[C0]]
module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
tile.kernel @product params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>, #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>, #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>] constexprs [] grid {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = arith.ceildivsi %0, %c64 : index
  %3 = arith.ceildivsi %1, %c64 : index
  tile.yield %2, %3 : index, index
} body {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cst = arith.constant 0.000000e+00 : f16
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"K", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %3 = tile.view %arg0[%0, %1] strides[%1, %c1] : <f16> -> <?x?xf16>
  %4 = tile.view %arg1[%1, %2] strides[%2, %c1] : <f16> -> <?x?xf16>
  %5 = tile.view %arg2[%0, %2] strides[%2, %c1] : <f32> -> <?x?xf32>
  %6 = tile.program_id 0
  %7 = tile.program_id 1
  %8 = arith.muli %6, %c64 : index
  %9 = arith.muli %7, %c64 : index
  %10 = scf.for %arg3 = %c0 to %1 step %c32 iter_args(%arg4 = %cst_0) -> (tensor<64x64xf32>) {
    %11 = tile.load %3[%8, %arg3] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %12 = tile.load %4[%arg3, %9] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<32x64xf16>
    %13 = tile.dot %11, %12, %arg4 precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %13 : tensor<64x64xf32>
  }
  tile.store %10, %5[%8, %9] {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>} : tensor<64x64xf32>, <?x?xf32>
  tile.return
}

// As many stages as the source asks for.
// CHECK-LABEL: tile.kernel @asked
// CHECK: tile_gpu.local_slots : <2,
// CHECK: tile_gpu.async_wait {pending = 0 : i64}
tile.kernel @asked params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>, #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>, #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>] constexprs [] grid {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = arith.ceildivsi %0, %c64 : index
  %3 = arith.ceildivsi %1, %c64 : index
  tile.yield %2, %3 : index, index
} body {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cst = arith.constant 0.000000e+00 : f16
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"K", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %3 = tile.view %arg0[%0, %1] strides[%1, %c1] : <f16> -> <?x?xf16>
  %4 = tile.view %arg1[%1, %2] strides[%2, %c1] : <f16> -> <?x?xf16>
  %5 = tile.view %arg2[%0, %2] strides[%2, %c1] : <f32> -> <?x?xf32>
  %6 = tile.program_id 0
  %7 = tile.program_id 1
  %8 = arith.muli %6, %c64 : index
  %9 = arith.muli %7, %c64 : index
  %10 = scf.for %arg3 = %c0 to %1 step %c32 iter_args(%arg4 = %cst_0) -> (tensor<64x64xf32>) {
    %11 = tile.load %3[%8, %arg3] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %12 = tile.load %4[%arg3, %9] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<32x64xf16>
    %13 = tile.dot %11, %12, %arg4 precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %13 : tensor<64x64xf32>
  } {tile.num_stages = 2 : i64}
  tile.store %10, %5[%8, %9] {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>} : tensor<64x64xf32>, <?x?xf32>
  tile.return
}

// No more than the loop has trips, and none where there is one.
// CHECK-LABEL: tile.kernel @few
// CHECK: tile_gpu.local_slots : <3,
tile.kernel @few params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>, #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>, #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>] constexprs [] grid {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c64 = arith.constant 96 : index
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = arith.ceildivsi %0, %c64 : index
  %3 = arith.ceildivsi %1, %c64 : index
  tile.yield %2, %3 : index, index
} body {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 96 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cst = arith.constant 0.000000e+00 : f16
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"K", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %3 = tile.view %arg0[%0, %1] strides[%1, %c1] : <f16> -> <?x?xf16>
  %4 = tile.view %arg1[%1, %2] strides[%2, %c1] : <f16> -> <?x?xf16>
  %5 = tile.view %arg2[%0, %2] strides[%2, %c1] : <f32> -> <?x?xf32>
  %6 = tile.program_id 0
  %7 = tile.program_id 1
  %8 = arith.muli %6, %c64 : index
  %9 = arith.muli %7, %c64 : index
  %10 = scf.for %arg3 = %c0 to %c64 step %c32 iter_args(%arg4 = %cst_0) -> (tensor<64x64xf32>) {
    %11 = tile.load %3[%8, %arg3] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %12 = tile.load %4[%arg3, %9] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<32x64xf16>
    %13 = tile.dot %11, %12, %arg4 precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %13 : tensor<64x64xf32>
  }
  tile.store %10, %5[%8, %9] {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>} : tensor<64x64xf32>, <?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @once
// CHECK-NOT: tile_gpu.async
// CHECK: tile.return
tile.kernel @once params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>, #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>, #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>] constexprs [] grid {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = arith.ceildivsi %0, %c64 : index
  %3 = arith.ceildivsi %1, %c64 : index
  tile.yield %2, %3 : index, index
} body {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cst = arith.constant 0.000000e+00 : f16
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"K", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %3 = tile.view %arg0[%0, %1] strides[%1, %c1] : <f16> -> <?x?xf16>
  %4 = tile.view %arg1[%1, %2] strides[%2, %c1] : <f16> -> <?x?xf16>
  %5 = tile.view %arg2[%0, %2] strides[%2, %c1] : <f32> -> <?x?xf32>
  %6 = tile.program_id 0
  %7 = tile.program_id 1
  %8 = arith.muli %6, %c64 : index
  %9 = arith.muli %7, %c64 : index
  %10 = scf.for %arg3 = %c0 to %c32 step %c32 iter_args(%arg4 = %cst_0) -> (tensor<64x64xf32>) {
    %11 = tile.load %3[%8, %arg3] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    %12 = tile.load %4[%arg3, %9] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<32x64xf16>
    %13 = tile.dot %11, %12, %arg4 precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %13 : tensor<64x64xf32>
  }
  tile.store %10, %5[%8, %9] {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>} : tensor<64x64xf32>, <?x?xf32>
  tile.return
}
}
