// RUN: tile-opt %s --test-print-divisibility --split-input-file --verify-diagnostics

// A later trip of the outer loop makes worse what the inner one was first seen with; a result of
// two branches divides by what both divide by.
tile.kernel @nested params [] dims [] constexprs []
  grid {
    tile.yield
  } body {
    // expected-remark @below {{divisor 0}}
    %c0 = arith.constant 0 : index
    // expected-remark @below {{divisor 4}}
    %c4 = arith.constant 4 : index
    // expected-remark @below {{divisor 6}}
    %c6 = arith.constant 6 : index
    // expected-remark @below {{divisor 64}}
    %c64 = arith.constant 64 : index
    // expected-remark @below {{argument 0: divisor 4}}
    // expected-remark @below {{argument 1: divisor 2}}
    // expected-remark @below {{divisor 2}}
    %r = scf.for %i = %c0 to %c64 step %c4 iter_args(%a = %c64) -> (index) {
      // expected-remark @below {{argument 0: divisor 6}}
      // expected-remark @below {{argument 1: divisor 2}}
      // expected-remark @below {{divisor 2}}
      %s = scf.for %j = %c0 to %a step %c6 iter_args(%b = %a) -> (index) {
        // expected-remark @below {{divisor 2}}
        %double = arith.addi %b, %b : index
        scf.yield %double : index
      }
      // expected-remark @below {{divisor 1}}
      %is = arith.cmpi eq, %i, %c0 : index
      // expected-remark @below {{divisor 2}}
      %p = scf.if %is -> (index) {
        scf.yield %s : index
      } else {
        // expected-remark @below {{divisor 2}}
        %sum = arith.addi %s, %c6 : index
        scf.yield %sum : index
      }
      scf.yield %p : index
    }
    tile.return
  }

// -----

// A block's argument is what all branches to it hand on.
// expected-remark @below {{argument 0: divisor 1}}
func.func @blocks(%n: index) -> index {
  // expected-remark @below {{divisor 8}}
  %c8 = arith.constant 8 : index
  // expected-remark @below {{divisor 12}}
  %c12 = arith.constant 12 : index
  // expected-remark @below {{divisor 16}}
  %c16 = arith.constant 16 : index
  cf.br ^head(%c8 : index)
^head(%x: index):
  // expected-remark @below {{divisor 4}}
  %next = arith.addi %x, %c12 : index
  // expected-remark @below {{divisor 1}}
  %less = arith.cmpi slt, %next, %n : index
  cf.cond_br %less, ^head(%next : index), ^end(%x : index)
^end(%y: index):
  // expected-remark @below {{divisor 64}}
  %more = arith.muli %y, %c16 : index
  return %more : index
}

// -----

// expected-remark @below {{argument 0: divisor 1}}
func.func @while(%n: index) -> index {
  // expected-remark @below {{divisor 16}}
  %c16 = arith.constant 16 : index
  // expected-remark @below {{divisor 24}}
  %c24 = arith.constant 24 : index
  // expected-remark @below {{argument 0: divisor 8}}
  // expected-remark @below {{argument 0: divisor 128}}
  // expected-remark @below {{divisor 128}}
  %w = scf.while (%x = %c16) : (index) -> index {
    // expected-remark @below {{divisor 1}}
    %less = arith.cmpi slt, %x, %n : index
    // expected-remark @below {{divisor 128}}
    %times = arith.muli %x, %c16 : index
    scf.condition(%less) %times : index
  } do {
  ^bb0(%y: index):
    // expected-remark @below {{divisor 8}}
    %z = arith.addi %y, %c24 : index
    scf.yield %z : index
  }
  return %w : index
}
