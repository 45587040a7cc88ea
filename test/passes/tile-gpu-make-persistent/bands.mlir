// RUN: tile-opt %s --tile-gpu-make-persistent | FileCheck %s

// Programs whose loops differ in length: all rows are one band where each block has four programs
// at most.
#H = #tile.dim<"H", 1, 1024, opt = 32, multiple_of = 1>
#S = #tile.dim<"S", 1, 4096, opt = 32, multiple_of = 1>

// CHECK-LABEL: tile.kernel @uneven
// CHECK: %{{.*}}, %[[BLOCKS:.*]] = tile_gpu.block_id
// CHECK: %[[MOST:.*]] = arith.muli %[[BLOCKS]], %c4 : index
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %[[MOST]] : index
// CHECK: %[[ROWS:.*]] = arith.maxsi
// CHECK: arith.select %[[FEW]], %[[ROWS]], %c8 : index
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
// CHECK-NOT: arith.select {{.*}} : index
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
