// RUN: tile-opt %s --tile-optimize-pipeline=level=3 | FileCheck %s
// RUN: tile-opt %s --tile-optimize-pipeline=level=0 | FileCheck %s --check-prefix=NONE

// The grid's program is in bounds, so its mask goes, and so does the guard that ranges decide; what
// does not change in the loop leaves it.
// CHECK: tile.kernel @k
// CHECK: body
// CHECK-NOT: tile.inside
// CHECK-NOT: scf.if
// CHECK: math.sqrt
// CHECK: scf.for
// CHECK: tile.load
// CHECK-NOT: mask
// CHECK-SAME: in_bounds = array<i1: true>
// CHECK-NOT: math.sqrt
// CHECK: tile.store
// NONE: tile.inside
// NONE: scf.if
// NONE: in_bounds = array<i1: false>
#N = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 64>
tile.kernel @k params [#tile.param<"x", inout, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %most = arith.constant 65536 : index
    %zero = arith.constant 0.0 : f32
    %ok = arith.cmpi sle, %n, %most : index
    %view = tile.view %x [%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %first = tile.load %view [%c0] pad %zero : f32 {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> f32
    scf.for %i = %c0 to %n step %c64 {
      %inside = tile.inside %view [%i] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xi1>
      %t = tile.load %view [%i] pad %zero : f32 mask %inside : tensor<64xi1> {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
      scf.if %ok {
        %root = math.sqrt %first : f32
        %s = tensor.splat %root : tensor<64xf32>
        %r = arith.addf %t, %s : tensor<64xf32>
        tile.store %r, %view [%i] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<64xf32>, !tile.view<?xf32>
      }
    }
    tile.return
  }
