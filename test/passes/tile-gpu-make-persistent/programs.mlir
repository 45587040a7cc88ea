// RUN: tile-opt %s --tile-gpu-make-persistent | FileCheck %s

#rows = #tile_gpu.linear<shape = [128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 8>

// What all programs share stands before the loop, loads of memory that nothing writes among it.
// CHECK-LABEL: tile.kernel @shared
// CHECK-SAME: tile_gpu.persistent
// CHECK: body
// CHECK:      %[[VIEW:.*]] = tile.view
// CHECK:      %[[SCALE:.*]] = tile.load %[[VIEW]]
// CHECK:      %[[BLOCK:.*]], %[[BLOCKS:.*]] = tile_gpu.block_id
// CHECK-NEXT: scf.for %[[PROGRAM:.*]] = %[[BLOCK]] to %{{.*}} step %[[BLOCKS]] {
// CHECK-NOT:  program_id
// CHECK:        %[[AT:.*]] = arith.muli %[[PROGRAM]]
// CHECK:        tile.load %[[VIEW]][%[[AT]]]
// CHECK:        tile.store
// CHECK:      {{^ +}$}}
// CHECK-NEXT: tile.return
tile.kernel @shared params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#M] constexprs [] attributes {tile.persistent}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %m = tile.dim #M
    %c128 = arith.constant 128 : index
    %programs = arith.ceildivsi %m, %c128 : index
    tile.yield %programs : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %m = tile.dim #M
    %vx = tile.view %x[%m] strides[%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %vy = tile.view %y[%m] strides[%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %scale = tile.load %vx[%c0] pad %zero : f32 {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> f32
    %i = tile.program_id 0
    %at = arith.muli %i, %c128 : index
    %t = tile.load %vx[%at] pad %zero : f32 {sizes = array<i64: 128>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<128xf32, #rows>
    %s = tensor.splat %scale : tensor<128xf32, #rows>
    %p = arith.mulf %t, %s : tensor<128xf32, #rows>
    tile.store %p, %vy[%at] {sizes = array<i64: 128>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<128xf32, #rows>, !tile.view<?xf32>
    tile.return
  }

// A kernel that does not ask for it stays as it is.
// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT: scf.for
// CHECK: tile.return
tile.kernel @plain params [] dims [] constexprs [] grid { tile.yield } body {
  tile.return
}
