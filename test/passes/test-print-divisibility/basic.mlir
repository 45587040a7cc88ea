// RUN: tile-opt %s --test-print-divisibility --split-input-file --verify-diagnostics

#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 24>
tile.kernel @arithmetic params [] dims [#M] constexprs []
  grid {
    // expected-remark @below {{divisor 24}}
    %m = tile.dim #M
    tile.yield %m : index
  } body {
    // expected-remark @below {{divisor 24}}
    %m = tile.dim #M
    // expected-remark @below {{divisor 1}}
    %i = tile.program_id 0
    // expected-remark @below {{divisor 128}}
    %c128 = arith.constant 128 : index
    // expected-remark @below {{divisor 3}}
    %c3 = arith.constant -3 : index
    // expected-remark @below {{divisor 0}}
    %c0 = arith.constant 0 : index
    // expected-remark @below {{divisor 128}}
    %start = arith.muli %i, %c128 : index
    // expected-remark @below {{divisor 8}}
    %sum = arith.addi %start, %m : index
    // expected-remark @below {{divisor 24}}
    %same = arith.subi %m, %c0 : index
    // expected-remark @below {{divisor 8}}
    %third = arith.divsi %m, %c3 : index
    // expected-remark @below {{divisor 1}}
    %inexact = arith.ceildivsi %m, %c128 : index
    // expected-remark @below {{divisor 8}}
    %least = arith.minsi %m, %c128 : index
    // expected-remark @below {{divisor 8}}
    %rest = arith.remsi %m, %c128 : index
    // expected-remark @below {{divisor 72}}
    %product = arith.muli %m, %c3 : index
    // expected-remark @below {{divisor 2}}
    %c2 = arith.constant 2 : index
    // expected-remark @below {{divisor 96}}
    %left = arith.shli %m, %c2 : index
    // expected-remark @below {{divisor 6}}
    %right = arith.shrui %m, %c2 : index
    // expected-remark @below {{divisor 24}}
    %narrow = arith.index_cast %m : index to i32
    // expected-remark @below {{divisor 128}}
    %masked = arith.andi %i, %c128 : index
    // i32 wraps around: 24 * 2^30 is a multiple of 8 still, and of 3 no longer.
    // expected-remark @below {{divisor 8}}
    %wrapped = arith.addi %narrow, %narrow : i32
    // The sign becomes a digit.
    // expected-remark @below {{divisor 8}}
    %unsigned = arith.index_castui %narrow : i32 to index
    // expected-remark @below {{divisor 24}}
    %signed = arith.index_cast %narrow : i32 to index
    tile.return
  }

// -----

// An induction variable is a lower bound plus steps; a value carried round a loop is what it starts
// from plus what is added.
#K = #tile.dim<"K", 1, 65536, opt = 4096, multiple_of = 32>
tile.kernel @loop params [] dims [#K] constexprs []
  grid {
    tile.yield
  } body {
    // expected-remark @below {{divisor 32}}
    %k = tile.dim #K
    // expected-remark @below {{divisor 48}}
    %c48 = arith.constant 48 : index
    // expected-remark @below {{divisor 0}}
    %c0 = arith.constant 0 : index
    // expected-remark @below {{argument 0: divisor 16}}
    // expected-remark @below {{argument 1: divisor 8}}
    // expected-remark @below {{divisor 8}}
    %r = scf.for %i = %k to %k step %c48 iter_args(%sum = %c0) -> (index) {
      // expected-remark @below {{divisor 8}}
      %c8 = arith.constant 8 : index
      // expected-remark @below {{divisor 16}}
      %more = arith.addi %i, %c48 : index
      // expected-remark @below {{divisor 8}}
      %next = arith.addi %sum, %c8 : index
      scf.yield %next : index
    }
    tile.return
  }
