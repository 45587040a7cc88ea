// RUN: tile-opt %s --tile-gpu-assign-layouts --tile-gpu-vectorize-accesses | FileCheck %s

// Rows are aligned and their ends divisible: 4 floats at once, read-only.
// CHECK-LABEL: tile.kernel @proven
// CHECK: tile.load {{.*}}tile_gpu.read_only, tile_gpu.vector = 4 : i64}
tile.kernel @proven
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 8>] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 8>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 4096>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<4096xf32>
    tile.store %a, %yv[%c0] {sizes = array<i64: 4096>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<4096xf32>, !tile.view<?xf32>
    tile.return
  }

// Nothing is known of N: one element at a time, four where a check at run time allows it. Step 2: never.
// CHECK-LABEL: tile.kernel @unknown
// CHECK: tile.load {{.*}}tile_gpu.fastest = 0 : i64, tile_gpu.read_only, tile_gpu.vector = 1 : i64, tile_gpu.vector_if = 4 : i64}
// CHECK: tile.store
// CHECK-NOT: vector
// CHECK: tile.return
tile.kernel @unknown
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %xv[%c0] pad %pad : f32 {sizes = array<i64: 4096>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<4096xf32>
    tile.store %a, %yv[%c0] {sizes = array<i64: 4096>, steps = array<i64: 2>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<4096xf32>, !tile.view<?xf32>
    tile.return
  }
