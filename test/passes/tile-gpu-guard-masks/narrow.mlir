// Where a mask stays, positions are compared in 32 bits: counts from 0, and the distance between
// where they begin, which is cut off far beyond all counts.
// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-guard-masks --canonicalize --cse \
// RUN:   | FileCheck %s

#l = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#row = #tile_gpu.linear<shape = [128, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#rows = #tile_gpu.linear<shape = [128], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]]>
#columns = #tile_gpu.linear<shape = [128], register = [[1], [8], [16], [32], [64]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0], [0]]>

// m + i - (n + j) < w as i < j + (n - m + w): of columns a thread has most, so the distance goes to
// them, and the rows are the same in every trip.
// CHECK-LABEL: tile.kernel @window
// CHECK: ^bb0(%[[M32:.*]]: i32, %[[N32:.*]]: i32, %[[W32:.*]]: i32, %{{.*}}: f32):
// CHECK-DAG: %[[FAR:.*]] = arith.constant 1073741824 : index
// CHECK-DAG: %[[BACK:.*]] = arith.constant -1073741824 : index
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[M:.*]] = arith.index_cast %[[M32]] : i32 to index
// CHECK-DAG: %[[N:.*]] = arith.index_cast %[[N32]] : i32 to index
// CHECK-DAG: %[[W:.*]] = arith.index_cast %[[W32]] : i32 to index
// CHECK: } else {
// CHECK: %[[A:.*]] = arith.subi %[[M]], %[[N]] : index
// CHECK: %[[B:.*]] = arith.subi %[[A]], %[[W]] : index
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[B]], %[[BACK]] : index
// CHECK: %[[CUT:.*]] = arith.minsi %[[LEAST]], %[[FAR]] : index
// CHECK: %[[AWAY:.*]] = arith.subi %[[C0]], %[[CUT]] : index
// CHECK: %[[D:.*]] = arith.index_cast %[[AWAY]] : index to i32
// CHECK: %[[I:.*]] = tile.iota %[[C0]] step 1 : tensor<128xindex, #[[ROWS:.*]]>
// CHECK: arith.index_cast %[[I]] : tensor<128xindex, #{{.*}}> to tensor<128xi32, #{{.*}}>
// CHECK: %[[LEFT:.*]] = tile.broadcast %{{.*}} -> tensor<128x128xi32
// CHECK: %[[J:.*]] = tile.iota %[[C0]] step 1 : tensor<128xindex
// CHECK: %[[SMALL:.*]] = arith.index_cast %[[J]]
// CHECK: %[[SPLAT:.*]] = tensor.splat %[[D]] : tensor<128xi32
// CHECK: %[[MOVED:.*]] = arith.addi %[[SMALL]], %[[SPLAT]]
// CHECK: %[[RIGHT:.*]] = tile.broadcast %[[MOVED]]
// CHECK: arith.cmpi slt, %[[LEFT]], %[[RIGHT]] : tensor<128x128xi32
// CHECK-NOT: arith.cmpi {{.*}} tensor<128x128xindex
// CHECK: tile.return
tile.kernel @window params [#tile.param<"m", scalar, align = 1>, #tile.param<"n", scalar, align = 1>, #tile.param<"w", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%m32: i32, %n32: i32, %w32: i32, %x: f32):
    tile.yield
  } body {
  ^bb0(%m32: i32, %n32: i32, %w32: i32, %x: f32):
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %w = arith.index_cast %w32 : i32 to index
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %never = arith.constant dense<0xFF800000> : tensor<128x128xf32, #l>
    %r = tile.iota %m step 1 : tensor<128xindex, #rows>
    %c = tile.reshape %r : tensor<128xindex, #rows> -> tensor<128x1xindex, #row>
    %i = tile.broadcast %c : tensor<128x1xindex, #row> -> tensor<128x128xindex, #l>
    %k = tile.iota %n step 1 : tensor<128xindex, #columns>
    %j = tile.broadcast %k : tensor<128xindex, #columns> -> tensor<128x128xindex, #l>
    %d = arith.subi %i, %j : tensor<128x128xindex, #l>
    %s = tensor.splat %w : tensor<128x128xindex, #l>
    %mask = arith.cmpi slt, %d, %s : tensor<128x128xindex, #l>
    %masked = arith.select %mask, %tile, %never : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
    %sum = tile.reduce sum %masked : tensor<128x128xf32, #l> -> f32
    "test.use"(%sum) : (f32) -> ()
    tile.return
  }

// A sum with a number that may be any one of 64 bits wraps around, each element for itself.
// CHECK-LABEL: tile.kernel @unknown
// CHECK: } else {
// CHECK-NOT: i32
// CHECK: arith.cmpi sge, {{.*}} tensor<128x128xindex
// CHECK: tile.return
tile.kernel @unknown params [#tile.param<"m", scalar, align = 1>, #tile.param<"n", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%m: index, %n: index, %x: f32):
    tile.yield
  } body {
  ^bb0(%m: index, %n: index, %x: f32):
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %never = arith.constant dense<0xFF800000> : tensor<128x128xf32, #l>
    %r = tile.iota %m step 1 : tensor<128xindex, #rows>
    %c = tile.reshape %r : tensor<128xindex, #rows> -> tensor<128x1xindex, #row>
    %i = tile.broadcast %c : tensor<128x1xindex, #row> -> tensor<128x128xindex, #l>
    %k = tile.iota %n step 1 : tensor<128xindex, #columns>
    %j = tile.broadcast %k : tensor<128xindex, #columns> -> tensor<128x128xindex, #l>
    %mask = arith.cmpi sge, %i, %j : tensor<128x128xindex, #l>
    %masked = arith.select %mask, %tile, %never : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
    %sum = tile.reduce sum %masked : tensor<128x128xf32, #l> -> f32
    "test.use"(%sum) : (f32) -> ()
    tile.return
  }
