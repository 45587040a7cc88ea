// RUN: tile-opt %s --tile-gpu-assign-layouts --tile-gpu-vectorize-accesses | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
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
// CHECK: tile.load {{.*}}tile_gpu.fastest = 0 : i64, tile_gpu.read_only, tile_gpu.vector = 1 : i64, tile_gpu.vector_if = 4 : i64, tile_gpu.windows}
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

// Programs' and loops' starts are multiples of 32 columns, rows of 8: 8 halves at once, without a
// check at run time. A start that may be odd takes one at a time.
// CHECK-LABEL: tile.kernel @starts
// CHECK: scf.for
// CHECK: tile.load {{.*}}tile_gpu.read_only, tile_gpu.vector = 8 : i64}
// CHECK: tile.load {{.*}}tile_gpu.vector = 1 : i64, tile_gpu.vector_if = 8 : i64, tile_gpu.windows}
// CHECK: tile.store {{.*}}tile_gpu.vector = 8 : i64}
tile.kernel @starts
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>]
  dims [#tile.dim<"M", 1, 4096, opt = 4096, multiple_of = 1>, #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 8>] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>):
    %m = tile.dim #tile.dim<"M", 1, 4096, opt = 4096, multiple_of = 1>
    tile.yield %m : index
  } body {
  ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>):
    %m = tile.dim #tile.dim<"M", 1, 4096, opt = 4096, multiple_of = 1>
    %n = tile.dim #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 8>
    %row = tile.program_id 0
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c1024 = arith.constant 1024 : index
    %pad = arith.constant 0.0 : f16
    %xv = tile.view %x[%m, %n] strides [%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    %yv = tile.view %y[%m, %n] strides [%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    %first = arith.muli %row, %c32 : index
    scf.for %k = %first to %n step %c1024 {
      %a = tile.load %xv[%row, %k] pad %pad : f16 {sizes = array<i64: 1, 1024>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<1x1024xf16>
      %odd = arith.addi %k, %c1 : index
      %b = tile.load %xv[%row, %odd] pad %pad : f16 {sizes = array<i64: 1, 1024>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<1x1024xf16>
      %c = arith.addf %a, %b : tensor<1x1024xf16>
      tile.store %c, %yv[%row, %k] {sizes = array<i64: 1, 1024>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<1x1024xf16>, !tile.view<?x?xf16>
    }
    tile.return
  }
}
