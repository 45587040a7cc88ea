// What the source asks is checked: a value of another kind, another place, a name that nobody
// reads.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 'tile.num_warps' to be an i64 from 1 to 32, found 0}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile.num_warps = 0 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile.fp' to be "strict", "contract" or "fast", found "quick"}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile.fp = "quick"} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile.cluster' to be two positive numbers, found array<i64: 2>}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile.cluster = array<i64: 2>} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile.may_alias' to be an array of pairs of strings}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile.may_alias = [["a"]]} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{'tile.unroll' belongs on a loop}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile.unroll = 4 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{unknown attribute 'tile.warps'}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile.warps = 4 : i64} grid { tile.yield } body { tile.return }

// -----

tile.kernel @k params [] dims [] constexprs [] grid { tile.yield } body {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @below {{expected 'tile.num_stages' to be an i64 from 1 to 8, found 9223372036854775807 : i64}}
  scf.for %i = %zero to %one step %one {
  } {tile.num_stages = 9223372036854775807 : i64}
  tile.return
}
