// The blocks of a cluster share the trips of a program's loops: each starts sums from 0 but the
// first, all merge the states of all in their order, and the first alone stores outside of loops.
// RUN: tile-opt %s --tile-gpu-share-programs | FileCheck %s
// RUN: sed 's/"sm_90a"/"sm_80"/' %s | tile-opt --tile-gpu-share-programs \
// RUN:   | FileCheck %s --check-prefix=ALONE
// RUN: sed 's/opt = 2,/opt = 512,/; s/opt = 262144/opt = 16384/' %s \
// RUN:   | tile-opt --tile-gpu-share-programs | FileCheck %s --check-prefix=ALONE
// Where vectors do not fit rows, several blocks have to ask for a multiprocessor's share.
// RUN: sed 's/opt = 2,/opt = 64,/; s/opt = 262144/opt = 32768/' %s \
// RUN:   | tile-opt --tile-gpu-share-programs | FileCheck %s --check-prefix=ODD
// RUN: sed 's/opt = 2,/opt = 64,/; s/opt = 262144, multiple_of = 1/opt = 32768, multiple_of = 64/' %s \
// RUN:   | tile-opt --tile-gpu-share-programs | FileCheck %s --check-prefix=ALONE
// ODD-LABEL: tile.kernel @online
// ODD-SAME: tile_gpu.split_parts = 8
// ALONE-LABEL: tile.kernel @online
// ALONE-NOT: tile_gpu.part_share

// CHECK-LABEL: tile.kernel @online
// CHECK-SAME: attributes {tile_gpu.split_cluster, tile_gpu.split_parts = 8 : i64} grid
// CHECK: tile.yield %{{.*}}, %c8{{.*}} : index, index
// CHECK: %[[PART:.*]] = tile.program_id 1
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[PART]], %c0
// CHECK: arith.ceildivsi
// CHECK: %[[CHUNK:.*]] = arith.ceildivui
// CHECK: arith.muli %[[PART]], %[[CHUNK]]
// CHECK: %[[BEGIN:.*]] = arith.addi
// CHECK: %[[END:.*]] = arith.addi %c0{{.*}}, %{{.*}} : index
// A sum's start counts once; a maximum's may count in each block.
// CHECK: %[[START:.*]] = arith.select %[[FIRST]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[STATE:.*]]:2 = scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%{{.*}} = %[[START]], %{{.*}} = %{{.*}})
// CHECK: %[[SUM:.*]] = tensor.splat %[[STATE]]#0 : tensor<1xf32>
// CHECK: %[[TOP:.*]] = tensor.splat %[[STATE]]#1 : tensor<1xf32>
// CHECK: %[[PLACE:.*]] = tile_gpu.part_share %[[SUM]], %[[TOP]]
// CHECK-COUNT-8: tile_gpu.part_read {{[0-7]}} of 8 at %[[PLACE]] slice %[[PART]] {dims = array<i64: -1, -1>}
// CHECK-NEXT: tile_gpu.part_release
// The maximum of all, then each sum relative to it.
// CHECK-COUNT-7: arith.maximumf
// CHECK: %[[CHANGE:.*]] = arith.subf
// CHECK: %[[FACTOR:.*]] = math.exp %[[CHANGE]]
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]] : f32
// The other loop over the same blocks has the same share.
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: tile.store
// CHECK: scf.if %[[FIRST]] {
// CHECK-NEXT: tile.store
#M = #tile.dim<"M", 1, 1024, opt = 2, multiple_of = 1>
#N = #tile.dim<"N", 1, 1048576, opt = 262144, multiple_of = 1>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @online
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>, #tile.param<"s", out, align = 16>]
  dims [#M, #N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %s: !tile.ptr<f32>):
    %m = tile.dim #M
    tile.yield %m : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %s: !tile.ptr<f32>):
    %m = tile.dim #M
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %pad = arith.constant 0xFF800000 : f32
    %low = arith.constant -1.0e+30 : f32
    %three = arith.constant 3.0 : f32
    %row = tile.program_id 0
    %xv = tile.view %x[%m, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %yv = tile.view %y[%m, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %sv = tile.view %s[%m] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r:2 = scf.for %k = %c0 to %n step %c1024 iter_args(%sum = %three, %top = %low) -> (f32, f32) {
      %v = tile.load %xv[%row, %k] pad %pad : f32 {sizes = array<i64: -1, 1024>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, false>} : !tile.view<?x?xf32> -> tensor<1024xf32>
      %most = tile.reduce max %v : tensor<1024xf32> -> f32
      %t = arith.maximumf %top, %most fastmath<reassoc> : f32
      %change = arith.subf %top, %t fastmath<reassoc> : f32
      %factor = math.exp %change fastmath<reassoc> : f32
      %scaled = arith.mulf %sum, %factor fastmath<reassoc> : f32
      %tops = tensor.splat %t : tensor<1024xf32>
      %difference = arith.subf %v, %tops fastmath<reassoc> : tensor<1024xf32>
      %power = math.exp %difference fastmath<reassoc> : tensor<1024xf32>
      %added = tile.reduce sum %power : tensor<1024xf32> -> f32
      %next = arith.addf %scaled, %added fastmath<reassoc> : f32
      scf.yield %next, %t : f32, f32
    }
    %sums = tensor.splat %r#0 : tensor<1024xf32>
    scf.for %k = %c0 to %n step %c1024 {
      %v = tile.load %xv[%row, %k] pad %pad : f32 {sizes = array<i64: -1, 1024>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, false>} : !tile.view<?x?xf32> -> tensor<1024xf32>
      %q = arith.divf %v, %sums : tensor<1024xf32>
      tile.store %q, %yv[%row, %k] {sizes = array<i64: -1, 1024>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, false>} : tensor<1024xf32>, !tile.view<?x?xf32>
    }
    tile.store %r#0, %sv[%row] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    tile.return
  }
}
