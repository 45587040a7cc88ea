// RUN: tile-opt %s --tile-gpu-make-persistent | FileCheck %s

// What divides the numbers of all programs, the programs of a band and its rows, is inverted once
// for each block; a program multiplies.
#M = #tile.dim<"M", 1, 1024, opt = 32, multiple_of = 1>
#N = #tile.dim<"N", 1, 4096, opt = 32, multiple_of = 1>
#E = #tile.dim<"E", 0, 4096, opt = 32, multiple_of = 1>

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

// So is what the source itself divides a program's number by, if that is certain to be 1 or more.
// CHECK-LABEL: tile.kernel @source
// CHECK: body
// CHECK: %[[COLUMNS:.*]] = arith.ceildivsi %{{.*}}, %c128
// CHECK: %[[CLAMPED:.*]] = arith.minui %[[COLUMNS]]
// CHECK: arith.divui %c-1_i32
// CHECK: scf.for
// CHECK-NOT: arith.divsi
// CHECK: arith.mului_extended
// CHECK-NOT: arith.remsi
// CHECK: arith.mului_extended
// CHECK-NOT: arith.mului_extended
// CHECK: arith.divsi
// CHECK: tile.return
tile.kernel @source params [#tile.param<"y", out, align = 16>] dims [#M, #E] constexprs [] attributes {tile.persistent}
  grid {
  ^bb0(%y: !tile.ptr<i32>):
    %m = tile.dim #M
    tile.yield %m : index
  } body {
  ^bb0(%y: !tile.ptr<i32>):
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %m = tile.dim #M
    %e = tile.dim #E
    %columns = arith.ceildivsi %m, %c128 : index
    %p = tile.program_id 0
    %row = arith.divsi %p, %columns : index
    %column = arith.remsi %p, %columns : index
    %other = arith.divsi %p, %e : index
    %vy = tile.view %y[%m] strides[%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = arith.addi %row, %column : index
    %b = arith.addi %a, %other : index
    %value = arith.index_cast %b : index to i32
    tile.store %value, %vy[%p] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : i32, !tile.view<?xi32>
    tile.return
  }
}
