// RUN: tile-opt %s --tile-gpu-make-persistent | FileCheck %s

// Programs whose loops differ in length: a band of rows has two programs for each block, if that is
// more than the 8 rows that are asked for, and all bands have about as many.
#H = #tile.dim<"H", 1, 1024, opt = 32, multiple_of = 1>
#S = #tile.dim<"S", 1, 4096, opt = 32, multiple_of = 1>

// CHECK-LABEL: tile.kernel @uneven
// CHECK: %{{.*}}, %[[BLOCKS:.*]] = tile_gpu.block_id
// CHECK: %[[TWO:.*]] = arith.muli %[[BLOCKS]], %{{.*}} : index
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[LEAST:.*]] = arith.maxui %{{.*}}, %[[C8]] : index
// CHECK: %[[QUOTIENT:.*]] = arith.divui %{{.*}}, %[[LEAST]] : index
// CHECK: %[[BANDS:.*]] = arith.maxsi %[[QUOTIENT]]
// CHECK: arith.divui %{{.*}}, %[[BANDS]] : index
// CHECK: scf.for
// CHECK: scf.for
tile.kernel @uneven params [] dims [#H, #S] constexprs [] attributes {tile.persistent, tile.grouped = 8 : i64}
  grid {
    %h = tile.dim #H
    %s = tile.dim #S
    tile.yield %h, %s : index, index
  } body {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = tile.program_id 1
    scf.for %j = %c0 to %i step %c1 {
      scf.yield
    }
    tile.return
  }

// Programs alike keep the bands that are asked for.
// CHECK-LABEL: tile.kernel @even
// CHECK-NOT: maxui
// CHECK: tile.return
tile.kernel @even params [] dims [#H, #S] constexprs [] attributes {tile.persistent, tile.grouped = 8 : i64}
  grid {
    %h = tile.dim #H
    %s = tile.dim #S
    tile.yield %h, %s : index, index
  } body {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = tile.dim #S
    scf.for %j = %c0 to %s step %c1 {
      scf.yield
    }
    tile.return
  }
