// RUN: not tile-opt %s --tile-bind-dimensions=values=M=8 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not tile-opt %s --tile-bind-dimensions=values=M=100 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MULTIPLE
// RUN: not tile-opt %s --tile-bind-dimensions=values=Q=16 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not tile-opt %s --tile-bind-dimensions=values=M=big 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NUMBER
// RUN: not tile-opt %s --tile-bind-dimensions=values=M=16,M=32 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWICE

// RANGE: expects dimension 'M' in 16..=65536, found it bound to 8
// MULTIPLE: expects dimension 'M' to be a multiple of 16, found it bound to 100
// NAME: no kernel has a dimension 'Q' to bind
// NUMBER: expected NAME=number for a dimension to bind, found 'M=big'
// TWICE: dimension 'M' is bound twice
#M = #tile.dim<"M", 16, 65536, opt = 4096, multiple_of = 16>
tile.kernel @k params [] dims [#M] constexprs []
  grid {
    %m = tile.dim #M
    tile.yield %m : index
  } body {
    tile.return
  }
