// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-guard-masks --canonicalize \
// RUN:   | FileCheck %s

// Columns 112 to 127 are padding: the last one that counts is 111.
#l = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#columns = #tile_gpu.linear<shape = [128], register = [[1], [8], [16], [32], [64]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0], [0]]>

// CHECK-LABEL: tile.kernel @positions
// CHECK: ^bb0(%[[M:.*]]: index, %[[N:.*]]: index, %{{.*}}: f32):
// CHECK-DAG: %[[C111:.*]] = arith.constant 111 : index
// CHECK-DAG: %[[LAST:.*]] = arith.addi %[[N]], %[[C111]] : index
// CHECK: arith.cmpi sge, %[[M]], %[[LAST]] : index
// CHECK: scf.if
tile.kernel @positions params [#tile.param<"m", scalar, align = 1>, #tile.param<"n", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%m: index, %n: index, %x: f32):
    tile.yield
  } body {
  ^bb0(%m: index, %n: index, %x: f32):
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %never = arith.constant dense<0xFF800000> : tensor<128x128xf32, #l>
    %i = tensor.splat %m : tensor<128x128xindex, #l>
    %k = tile.iota %n step 1 {tile_gpu.real_extents = array<i64: 112>} : tensor<128xindex, #columns>
    %j = tile.broadcast %k : tensor<128xindex, #columns> -> tensor<128x128xindex, #l>
    %mask = arith.cmpi sge, %i, %j : tensor<128x128xindex, #l>
    %masked = arith.select %mask, %tile, %never : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
    %sum = tile.reduce sum %masked : tensor<128x128xf32, #l> -> f32
    "test.use"(%sum) : (f32) -> ()
    tile.return
  }

// The end that stands for the padding is no reason to test elements: n + 111 < n + 112.
// CHECK-LABEL: tile.kernel @inside
// CHECK: ^bb0(%{{.*}}: !tile.ptr<f32>, %[[N:.*]]: index, %{{.*}}: f32):
// CHECK-DAG: %[[C111:.*]] = arith.constant 111 : index
// CHECK-DAG: %[[LAST:.*]] = arith.addi %[[N]], %[[C111]] : index
// CHECK-DAG: arith.cmpi slt, %[[LAST]], %{{.*}} : index
// CHECK: scf.if
tile.kernel @inside params [#tile.param<"v", in, align = 16>, #tile.param<"n", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [#tile.dim<"L", 1, 4096, opt = 1, multiple_of = 1>] constexprs [] grid {
  ^bb0(%v: !tile.ptr<f32>, %n: index, %x: f32):
    tile.yield
  } body {
  ^bb0(%v: !tile.ptr<f32>, %n: index, %x: f32):
    %length = tile.dim #tile.dim<"L", 1, 4096, opt = 1, multiple_of = 1>
    %c1 = arith.constant 1 : index
    %c112 = arith.constant 112 : index
    %view = tile.view %v[%length] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %never = arith.constant dense<0xFF800000> : tensor<128x128xf32, #l>
    %end = arith.addi %n, %c112 : index
    %in = tile.inside %view[%n] ends[%end] {has_end = array<i1: true>, in_bounds = array<i1: false>, sizes = array<i64: 128>, steps = array<i64: 1>, tile_gpu.real_extents = array<i64: 112>} : !tile.view<?xf32> -> tensor<128xi1, #columns>
    %mask = tile.broadcast %in : tensor<128xi1, #columns> -> tensor<128x128xi1, #l>
    %masked = arith.select %mask, %tile, %never : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
    %sum = tile.reduce sum %masked : tensor<128x128xf32, #l> -> f32
    "test.use"(%sum) : (f32) -> ()
    tile.return
  }
