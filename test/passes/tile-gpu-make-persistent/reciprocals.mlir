// RUN: tile-opt %s --tile-gpu-make-persistent | FileCheck %s

// What divides the numbers of all programs, the programs of a band and its rows, is inverted once
// for each block; a program multiplies.
#M = #tile.dim<"M", 1, 1024, opt = 32, multiple_of = 1>
#N = #tile.dim<"N", 1, 4096, opt = 32, multiple_of = 1>

// CHECK-LABEL: tile.kernel @bands
// CHECK: %[[BAND:.*]] = arith.maxui
// CHECK: %[[BAND32:.*]] = arith.index_cast %[[BAND]] : index to i32
// CHECK: %[[INVERSE:.*]] = arith.divui %c-1_i32, %[[BAND32]] : i32
// CHECK: scf.for %[[P:.*]] =
// CHECK-NOT: arith.divui
// CHECK-NOT: arith.remui
// CHECK: %[[P32:.*]] = arith.index_cast %[[P]] : index to i32
// CHECK: %{{.*}}, %[[Q:.*]] = arith.mului_extended %[[P32]], %[[INVERSE]] : i32
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[Q]], %[[BAND32]]
// CHECK: %[[REST:.*]] = arith.subi %[[P32]], %[[PRODUCT]]
// CHECK: arith.cmpi uge, %[[REST]], %[[BAND32]]
// CHECK-NOT: arith.divui
// CHECK-NOT: arith.remui
// CHECK: arith.mului_extended
// CHECK-NOT: arith.divui
// CHECK-NOT: arith.remui
// CHECK: tile.return
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @bands params [] dims [#M, #N] constexprs [] attributes {tile.persistent, tile.grouped = 8 : i64}
  grid {
    %m = tile.dim #M
    %n = tile.dim #N
    tile.yield %m, %n : index, index
  } body {
    %i = tile.program_id 0
    %j = tile.program_id 1
    tile.return
  }
}
