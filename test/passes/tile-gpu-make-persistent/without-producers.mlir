// RUN: tile-opt %s --split-input-file --tile-gpu-make-persistent | FileCheck %s

// Without TMA no warp loads ahead of a program's end, so the GPU starts programs one by one.
// CHECK-LABEL: tile.kernel @alone
// CHECK-NOT: scf.for
// CHECK: tile.program_id
module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
tile.kernel @alone params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile.persistent}
  grid {
  ^bb0(%y: !tile.ptr<f32>):
    %programs = arith.constant 4096 : index
    tile.yield %programs : index
  } body {
  ^bb0(%y: !tile.ptr<f32>):
    %c1 = arith.constant 1 : index
    %c4096 = arith.constant 4096 : index
    %one = arith.constant 1.0 : f32
    %vy = tile.view %y[%c4096] strides[%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %i = tile.program_id 0
    tile.store %one, %vy[%i] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    tile.return
  }
}

// -----

// What programs share is loaded once for a block.
// CHECK-LABEL: tile.kernel @sharing
// CHECK: tile.load
// CHECK: scf.for
module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
tile.kernel @sharing params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile.persistent}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %programs = arith.constant 4096 : index
    tile.yield %programs : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4096 = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    %vx = tile.view %x[%c4096] strides[%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %vy = tile.view %y[%c4096] strides[%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %scale = tile.load %vx[%c0] pad %zero : f32 {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xf32> -> f32
    %i = tile.program_id 0
    tile.store %scale, %vy[%i] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    tile.return
  }
}

// -----

// With TMA a block takes several.
// CHECK-LABEL: tile.kernel @ahead
// CHECK: scf.for
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @ahead params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile.persistent}
  grid {
  ^bb0(%y: !tile.ptr<f32>):
    %programs = arith.constant 4096 : index
    tile.yield %programs : index
  } body {
  ^bb0(%y: !tile.ptr<f32>):
    %c1 = arith.constant 1 : index
    %c4096 = arith.constant 4096 : index
    %one = arith.constant 1.0 : f32
    %vy = tile.view %y[%c4096] strides[%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %i = tile.program_id 0
    tile.store %one, %vy[%i] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : f32, !tile.view<?xf32>
    tile.return
  }
}
