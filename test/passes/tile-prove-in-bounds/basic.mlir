// RUN: tile-opt %s --tile-prove-in-bounds --split-input-file --verify-diagnostics | FileCheck %s

// A matrix product: M is a multiple of the block, so rows are in bounds; so are steps of 64 along
// K; N is not a multiple of 256.
// CHECK-LABEL: tile.kernel @matmul
// CHECK: tile.load {{.*}} in_bounds = array<i1: true, true>
// CHECK: tile.load {{.*}} in_bounds = array<i1: true, false>
// CHECK: tile.store {{.*}} in_bounds = array<i1: true, false>
#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 128>
#N = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 8>
#K = #tile.dim<"K", 1, 65536, opt = 4096, multiple_of = 64>
tile.kernel @matmul
    params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>]
    dims [#M, #N, #K] constexprs []
  grid {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
    %m = tile.dim #M
    %n = tile.dim #N
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %gm = arith.ceildivsi %m, %c128 : index
    %gn = arith.ceildivsi %n, %c256 : index
    tile.yield %gm, %gn : index, index
  } body {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
    %m = tile.dim #M
    %n = tile.dim #N
    %k = tile.dim #K
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %i = tile.program_id 0
    %j = tile.program_id 1
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c256 : index
    %zero = arith.constant 0.0 : f16
    %va = tile.view %a [%m, %k] strides [%k, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    %vb = tile.view %b [%k, %n] strides [%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    %vc = tile.view %c [%m, %n] strides [%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    %acc = arith.constant dense<0.0> : tensor<128x256xf16>
    %r = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %acc) -> (tensor<128x256xf16>) {
      %ta = tile.load %va [%row, %kk] ends [%k] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, true>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<128x64xf16>
      // expected-remark @below {{masked access: dimension 1 of the view may be clipped; 'N % 256 == 0' would remove the mask [R0301]}}
      %tb = tile.load %vb [%kk, %column] pad %zero : f16 {sizes = array<i64: 64, 256>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<64x256xf16>
      %d = tile.dot %ta, %tb, %s precision full : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf16>
      scf.yield %d : tensor<128x256xf16>
    }
    // expected-remark @below {{masked access: dimension 1 of the view may be clipped; 'N % 256 == 0' would remove the mask [R0301]}}
    tile.store %r, %vc [%row, %column] {sizes = array<i64: 128, 256>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<128x256xf16>, !tile.view<?x?xf16>
    tile.return
  }

// -----

// A row of the grid exists; a tile of 128 may not fit into it, one of 64 does, for a multiple of 32
// above 32 is 64 or more. A group index k / 32 exists if k does.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.load {{.*}} in_bounds = array<i1: true, false>
// CHECK: tile.load {{.*}} in_bounds = array<i1: true, true>
// CHECK: tile.load {{.*}} in_bounds = array<i1: true, true>
#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>
#V = #tile.dim<"V", 33, 65536, opt = 4096, multiple_of = 32>
tile.kernel @rows params [#tile.param<"x", in, align = 16>] dims [#M, #V] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>):
    %m = tile.dim #M
    tile.yield %m : index
  } body {
  ^bb0(%x: !tile.ptr<f32>):
    %m = tile.dim #M
    %v = tile.dim #V
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %groups = arith.divsi %v, %c32 : index
    %row = tile.program_id 0
    %zero = arith.constant 0.0 : f32
    %vx = tile.view %x [%m, %v] strides [%v, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %vg = tile.view %x [%m, %groups] strides [%groups, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    // expected-remark @below {{masked access: dimension 1 of the view may be clipped; 'V % 128 == 0' would remove the mask [R0301]}}
    %a = tile.load %vx [%row, %c0] pad %zero : f32 {sizes = array<i64: -1, 128>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf32> -> tensor<128xf32>
    %b = tile.load %vx [%row, %c0] pad %zero : f32 {sizes = array<i64: -1, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf32> -> tensor<64xf32>
    scf.for %k = %c0 to %v step %c16 {
      %g = arith.divsi %k, %c32 : index
      %s = tile.load %vg [%row, %g] pad %zero : f32 {sizes = array<i64: -1, -1>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf32> -> f32
    }
    tile.return
  }

// -----

// Clamped starts, steps, sub-views, constants.
// CHECK-LABEL: tile.kernel @clamped
// CHECK: tile.load {{.*}} in_bounds = array<i1: true>
// CHECK: tile.load {{.*}} in_bounds = array<i1: false>
// CHECK: tile.inside {{.*}} in_bounds = array<i1: true>
// CHECK: tile.load {{.*}} in_bounds = array<i1: true>
// CHECK: tile.load {{.*}} in_bounds = array<i1: true>
#N = #tile.dim<"N", 256, 65536, opt = 4096, multiple_of = 1>
tile.kernel @clamped params [#tile.param<"x", in, align = 16>, #tile.param<"i", scalar, align = 1>] dims [#N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %i: i32):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %i: i32):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c192 = arith.constant 192 : index
    %zero = arith.constant 0.0 : f32
    %index = arith.index_cast %i : i32 to index
    %high = arith.subi %n, %c64 : index
    %low = arith.maxsi %index, %c0 : index
    %start = arith.minsi %low, %high : index
    %vx = tile.view %x [%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %a = tile.load %vx [%start] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    // expected-remark @below {{masked access: dimension 0 of the view may be clipped [R0301]}}
    %b = tile.load %vx [%low] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %c = tile.inside %vx [%c1] {sizes = array<i64: 128>, steps = array<i64: 2>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<128xi1>
    %sub = tile.subview %vx indices [] lows [%c64] highs [%n] {kinds = array<i32: 2>} : !tile.view<?xf32> -> !tile.view<?xf32>
    %d = tile.load %sub [%c0] pad %zero : f32 {sizes = array<i64: 192>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<192xf32>
    %e = tile.load %vx [%c192] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: -1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    tile.return
  }
