// RUN: tile-opt %s -o %t.before && tile-opt %s --tile-prove-in-bounds=remarks=false -o %t.after \
// RUN:   2>&1 | count 0
// RUN: diff %t.before %t.after

// Near misses, each of which one wrong assumption would let through: an end that clips, a start
// that may be negative, a block of 128 on a grid of blocks of 64, a loop whose last step overhangs,
// a sub-view that an index may empty.
#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 64>
tile.kernel @near params [#tile.param<"x", in, align = 16>] dims [#M] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>):
    %m = tile.dim #M
    %c64 = arith.constant 64 : index
    %g = arith.ceildivsi %m, %c64 : index
    tile.yield %g : index
  } body {
  ^bb0(%x: !tile.ptr<f32>):
    %m = tile.dim #M
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %i = tile.program_id 0
    %start = arith.muli %i, %c64 : index
    %before = arith.subi %start, %c1 : index
    %most = arith.subi %m, %c1 : index
    %view = tile.view %x [%m] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %view2 = tile.view %x [%m, %m] strides [%m, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %a = tile.load %view [%start] ends [%most] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: true>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %b = tile.load %view [%before] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    %c = tile.load %view [%start] pad %zero : f32 {sizes = array<i64: 128>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<128xf32>
    scf.for %k = %c0 to %m step %c48 {
      %d = tile.load %view [%k] pad %zero : f32 {sizes = array<i64: 48>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<48xf32>
    }
    %row = tile.subview %view2 indices [%before] lows [] highs [] {kinds = array<i32: 0, 1>} : !tile.view<?x?xf32> -> !tile.view<?xf32>
    %e = tile.load %row [%start] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<64xf32>
    tile.return
  }
