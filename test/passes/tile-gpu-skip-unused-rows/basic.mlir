// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-skip-unused-rows --split-input-file | FileCheck %s

#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 8>

// Two warpgroups along M, and a store with an end along M: rows from the start to the end matter, counted outside of the
// loop. A product that starts from nothing has no accumulator to give back.
// CHECK-LABEL: tile.kernel @ends
// CHECK: %[[START:.*]] = arith.index_cast
// CHECK: %[[END:.*]] = arith.index_cast
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[ALL:.*]] = arith.constant 128 : index
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[END]], %[[START]] : index
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[START]] : index
// CHECK: %[[MOST:.*]] = arith.minui %[[LEFT]], %[[ALL]] : index
// CHECK: %[[ROWS:.*]] = arith.select %[[SOME]], %[[MOST]], %[[ZERO]] : index
// CHECK: scf.for
// CHECK: tile_gpu.wgmma %{{.*}}, %{{.*}}, %{{.*}} rows %[[ROWS]] :
// CHECK: tile_gpu.wgmma %{{.*}}, %{{.*}}, %{{[^ ]*}} :
tile.kernel @ends params [#tile.param<"c", out, align = 16>, #tile.param<"first", scalar, align = 1>, #tile.param<"last", scalar, align = 1>]
    dims [#dimN] constexprs [] grid {
^bb0(%c: !tile.ptr<f32>, %first: i64, %last: i64):
  tile.yield
} body {
^bb0(%c: !tile.ptr<f32>, %first: i64, %last: i64):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %two = arith.constant dense<2.0> : tensor<128x64xf32, #acc>
  %ma = "test.memory"() : () -> !tile_gpu.memdesc<128x64xf16, #shared>
  %mb = "test.memory"() : () -> !tile_gpu.memdesc<64x64xf16, #shared>
  %n = tile.dim #dimN
  %vc = tile.view %c[%n, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
  %start = arith.index_cast %first : i64 to index
  %end = arith.index_cast %last : i64 to index
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32, #acc>) {
    %next = tile_gpu.wgmma %ma, %mb, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
    scf.yield %next : tensor<128x64xf32, #acc>
  }
  %twice = arith.mulf %sum, %two : tensor<128x64xf32, #acc>
  tile.store %twice, %vc[%start, %c0] ends[%end] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  %once = tile_gpu.wgmma %ma, %mb, %zeros : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
  tile.store %once, %vc[%start, %c64] ends[%end] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  tile.return
}

// -----

#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 8>

// All products matter: the sum is stored with another end too, its rows are added up, its start changes in the loop, or the
// store has an end along columns.
// CHECK-LABEL: tile.kernel @seen
// CHECK-NOT: rows %
// CHECK: tile.return
tile.kernel @seen params [#tile.param<"c", out, align = 16>, #tile.param<"s", out, align = 16>, #tile.param<"first", scalar, align = 1>, #tile.param<"last", scalar, align = 1>]
    dims [#dimN] constexprs [] grid {
^bb0(%c: !tile.ptr<f32>, %s: !tile.ptr<f32>, %first: i64, %last: i64):
  tile.yield
} body {
^bb0(%c: !tile.ptr<f32>, %s: !tile.ptr<f32>, %first: i64, %last: i64):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %ma = "test.memory"() : () -> !tile_gpu.memdesc<128x64xf16, #shared>
  %mb = "test.memory"() : () -> !tile_gpu.memdesc<64x64xf16, #shared>
  %n = tile.dim #dimN
  %vc = tile.view %c[%n, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
  %vs = tile.view %s[%n] strides[%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
  %start = arith.index_cast %first : i64 to index
  %end = arith.index_cast %last : i64 to index
  %other = arith.addi %end, %c1 : index
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32, #acc>) {
    %next = tile_gpu.wgmma %ma, %mb, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
    scf.yield %next : tensor<128x64xf32, #acc>
  }
  tile.store %sum, %vc[%start, %c0] ends[%end] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  tile.store %sum, %vc[%start, %c64] ends[%other] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  %added = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32, #acc>) {
    %next = tile_gpu.wgmma %ma, %mb, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
    scf.yield %next : tensor<128x64xf32, #acc>
  }
  tile.store %added, %vc[%start, %c0] ends[%end] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  %columns = tile.reduce sum %added axis 0 : tensor<128x64xf32, #acc> -> tensor<64xf32, #tile_gpu.linear<shape = [64], register = [[1], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0], [0]]>>
  tile.store %columns, %vs[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32, #tile_gpu.linear<shape = [64], register = [[1], [8], [16], [32]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0], [0]]>>, !tile.view<?xf32>
  %moving = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32, #acc>) {
    %next = tile_gpu.wgmma %ma, %mb, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
    %here = arith.addi %start, %k : index
    tile.store %next, %vc[%here, %c0] ends[%end] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
    scf.yield %next : tensor<128x64xf32, #acc>
  }
  %wide = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<128x64xf32, #acc>) {
    %next = tile_gpu.wgmma %ma, %mb, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
    scf.yield %next : tensor<128x64xf32, #acc>
  }
  tile.store %wide, %vc[%c0, %start] ends[%end] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, true>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  tile.return
}

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 8>

// One warpgroup has all rows.
// CHECK-LABEL: tile.kernel @one
// CHECK-NOT: rows %
// CHECK: tile.return
tile.kernel @one params [#tile.param<"c", out, align = 16>, #tile.param<"first", scalar, align = 1>, #tile.param<"last", scalar, align = 1>]
    dims [#dimN] constexprs [] grid {
^bb0(%c: !tile.ptr<f32>, %first: i64, %last: i64):
  tile.yield
} body {
^bb0(%c: !tile.ptr<f32>, %first: i64, %last: i64):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %m = "test.memory"() : () -> !tile_gpu.memdesc<64x64xf16, #shared>
  %n = tile.dim #dimN
  %vc = tile.view %c[%n, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
  %start = arith.index_cast %first : i64 to index
  %end = arith.index_cast %last : i64 to index
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<64x64xf32, #acc>) {
    %next = tile_gpu.wgmma %m, %m, %acc : !tile_gpu.memdesc<64x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<64x64xf32, #acc>
    scf.yield %next : tensor<64x64xf32, #acc>
  }
  tile.store %sum, %vc[%start, %c0] ends[%end] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<64x64xf32, #acc>, !tile.view<?x?xf32>
  tile.return
}
