// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-guard-masks --canonicalize \
// RUN:   | FileCheck %s

#l = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#row = #tile_gpu.linear<shape = [128, 1], register = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#rows = #tile_gpu.linear<shape = [128], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32], [64]]>
#columns = #tile_gpu.linear<shape = [128], register = [[1], [8], [16], [32], [64]], lane = [[2], [4], [0], [0], [0]], warp = [[0], [0], [0]]>
#small = #tile_gpu.linear<shape = [128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64], [0]]>

// The first row against the last column: m + shift >= n + 127. The mask stands where it is needed,
// and where a scalar is so large that sums wrap around: each is compared with 2^56, moved up by it.
// CHECK-LABEL: tile.kernel @causal
// CHECK: ^bb0(%[[M:.*]]: index, %[[N:.*]]: index, %[[SHIFT:.*]]: index, %[[X:.*]]: f32):
// CHECK-DAG: %[[C127:.*]] = arith.constant 127 : index
// CHECK-DAG: %[[TILE:.*]] = tensor.splat %[[X]]
// CHECK-DAG: %[[MOST:.*]] = arith.constant 72057594037927936 : index
// CHECK-DAG: %[[TWICE:.*]] = arith.constant 144115188075855872 : index
// CHECK-DAG: %[[MOVED:.*]] = arith.addi %[[SHIFT]], %[[MOST]] : index
// CHECK-DAG: %[[SMALL:.*]] = arith.cmpi ult, %[[MOVED]], %[[TWICE]] : index
// CHECK-DAG: %[[LOW:.*]] = arith.addi %[[M]], %[[SHIFT]] : index
// CHECK-DAG: %[[HIGH:.*]] = arith.addi %[[N]], %[[C127]] : index
// CHECK-DAG: %[[HOLDS:.*]] = arith.cmpi sge, %[[LOW]], %[[HIGH]] : index
// CHECK-DAG: %[[SOME:.*]] = arith.andi %{{.*}}, %[[SMALL]]
// CHECK: %[[ALL:.*]] = arith.andi %[[SOME]], %{{.*}}
// CHECK-NEXT: scf.if %[[ALL]]
// CHECK-NEXT: scf.yield %[[TILE]]
// CHECK-NEXT: } else {
// CHECK: tile.iota %[[N]]
// CHECK: arith.cmpi sge
// CHECK: %[[S:.*]] = arith.select
// CHECK-NEXT: scf.yield %[[S]]
tile.kernel @causal params [#tile.param<"m", scalar, align = 1>, #tile.param<"n", scalar, align = 1>, #tile.param<"s", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%m: index, %n: index, %shift: index, %x: f32):
    tile.yield
  } body {
  ^bb0(%m: index, %n: index, %shift: index, %x: f32):
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %never = arith.constant dense<0xFF800000> : tensor<128x128xf32, #l>
    %r = tile.iota %m step 1 : tensor<128xindex, #rows>
    %c = tile.reshape %r : tensor<128xindex, #rows> -> tensor<128x1xindex, #row>
    %s = tensor.splat %shift : tensor<128x1xindex, #row>
    %d = arith.addi %c, %s : tensor<128x1xindex, #row>
    %i = tile.broadcast %d : tensor<128x1xindex, #row> -> tensor<128x128xindex, #l>
    %k = tile.iota %n step 1 : tensor<128xindex, #columns>
    %j = tile.broadcast %k : tensor<128xindex, #columns> -> tensor<128x128xindex, #l>
    %mask = arith.cmpi sge, %i, %j : tensor<128x128xindex, #l>
    %masked = arith.select %mask, %tile, %never : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
    %sum = tile.reduce sum %masked : tensor<128x128xf32, #l> -> f32
    "test.use"(%sum) : (f32) -> ()
    tile.return
  }

// Below both ends, and not before the start.
// CHECK-LABEL: tile.kernel @inside
// CHECK: ^bb0(%{{.*}}: !tile.ptr<f32>, %[[N:.*]]: index, %[[END:.*]]: index, %{{.*}}: f32):
// CHECK-DAG: %[[LAST:.*]] = arith.addi %[[N]], %{{.*}} : index
// CHECK-DAG: %[[A:.*]] = arith.cmpi sge, %[[N]], %{{.*}} : index
// CHECK-DAG: %[[B:.*]] = arith.cmpi slt, %[[LAST]], %{{.*}} : index
// CHECK-DAG: %[[C:.*]] = arith.cmpi slt, %[[LAST]], %[[END]] : index
// CHECK-DAG: %[[D:.*]] = arith.cmpi slt, %[[N]], %{{.*}} : index
// CHECK-DAG: %[[AB:.*]] = arith.andi %[[A]], %[[B]]
// CHECK-DAG: %[[ABD:.*]] = arith.andi %[[AB]], %[[D]]
// CHECK: %[[ALL:.*]] = arith.andi %[[ABD]], %[[C]]
// CHECK: scf.if %[[ALL]]
// CHECK: tile.inside
tile.kernel @inside params [#tile.param<"p", in, align = 16>, #tile.param<"n", scalar, align = 1>, #tile.param<"e", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%p: !tile.ptr<f32>, %n: index, %end: index, %x: f32):
    tile.yield
  } body {
  ^bb0(%p: !tile.ptr<f32>, %n: index, %end: index, %x: f32):
    %c1 = arith.constant 1 : index
    %c1000 = arith.constant 1000 : index
    %v = tile.view %p[%c1000] strides [%c1] : !tile.ptr<f32> -> !tile.view<1000xf32>
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %never = arith.constant dense<0xFF800000> : tensor<128x128xf32, #l>
    %k = tile.inside %v[%n] ends [%end] {sizes = array<i64: 128>, steps = array<i64: 1>, has_end = array<i1: true>, in_bounds = array<i1: false>} : !tile.view<1000xf32> -> tensor<128xi1, #columns>
    %mask = tile.broadcast %k : tensor<128xi1, #columns> -> tensor<128x128xi1, #l>
    %masked = arith.select %mask, %tile, %never : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
    %sum = tile.reduce sum %masked : tensor<128x128xf32, #l> -> f32
    "test.use"(%sum) : (f32) -> ()
    tile.return
  }

// What costs little, and masks of values, stay.
// CHECK-LABEL: tile.kernel @stay
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @stay params [#tile.param<"m", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%m: index, %x: f32):
    tile.yield
  } body {
  ^bb0(%m: index, %x: f32):
    %few = tensor.splat %x : tensor<128xf32, #small>
    %zero = arith.constant dense<0.0> : tensor<128xf32, #small>
    %i = tile.iota %m step 1 : tensor<128xindex, #small>
    %limit = arith.constant dense<100> : tensor<128xindex, #small>
    %under = arith.cmpi slt, %i, %limit : tensor<128xindex, #small>
    %a = arith.select %under, %few, %zero : tensor<128xi1, #small>, tensor<128xf32, #small>
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %none = arith.constant dense<0.0> : tensor<128x128xf32, #l>
    %positive = arith.cmpf ogt, %tile, %none : tensor<128x128xf32, #l>
    %b = arith.select %positive, %tile, %none : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
    %sa = tile.reduce sum %a : tensor<128xf32, #small> -> f32
    %sb = tile.reduce sum %b : tensor<128x128xf32, #l> -> f32
    "test.use"(%sa, %sb) : (f32, f32) -> ()
    tile.return
  }

// Bounded scalars need no check: those of 32 bits, and counters of loops between them.
// CHECK-LABEL: tile.kernel @bounded
// CHECK-NOT: 72057594037927936
// CHECK: scf.if
// CHECK: tile.return
tile.kernel @bounded params [#tile.param<"m", scalar, align = 1>, #tile.param<"e", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%m: i32, %e: i32, %x: f32):
    tile.yield
  } body {
  ^bb0(%m: i32, %e: i32, %x: f32):
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %start = arith.index_cast %m : i32 to index
    %end = arith.index_cast %e : i32 to index
    %tile = tensor.splat %x : tensor<128x128xf32, #l>
    %never = arith.constant dense<0xFF800000> : tensor<128x128xf32, #l>
    %r = tile.iota %start step 1 : tensor<128xindex, #rows>
    %c = tile.reshape %r : tensor<128xindex, #rows> -> tensor<128x1xindex, #row>
    %i = tile.broadcast %c : tensor<128x1xindex, #row> -> tensor<128x128xindex, #l>
    scf.for %n = %c0 to %end step %c128 {
      %k = tile.iota %n step 1 : tensor<128xindex, #columns>
      %j = tile.broadcast %k : tensor<128xindex, #columns> -> tensor<128x128xindex, #l>
      %mask = arith.cmpi sge, %i, %j : tensor<128x128xindex, #l>
      %masked = arith.select %mask, %tile, %never : tensor<128x128xi1, #l>, tensor<128x128xf32, #l>
      %sum = tile.reduce sum %masked : tensor<128x128xf32, #l> -> f32
      "test.use"(%sum) : (f32) -> ()
    }
    tile.return
  }

// An encoding of another dialect is no layout.
// CHECK-LABEL: tile.kernel @foreign
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @foreign params [#tile.param<"m", scalar, align = 1>, #tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%m: index, %x: f32):
    tile.yield
  } body {
  ^bb0(%m: index, %x: f32):
    %tile = tensor.splat %x : tensor<4096xf32, #foreign<layout>>
    %r = tile.iota %m step 1 : tensor<4096xindex, #foreign<layout>>
    %limit = tensor.splat %m : tensor<4096xindex, #foreign<layout>>
    %mask = arith.cmpi sge, %r, %limit : tensor<4096xindex, #foreign<layout>>
    %masked = arith.select %mask, %tile, %tile : tensor<4096xi1, #foreign<layout>>, tensor<4096xf32, #foreign<layout>>
    "test.use"(%masked) : (tensor<4096xf32, #foreign<layout>>) -> ()
    tile.return
  }
