// RUN: tile-opt %s -o %t.before && tile-opt %s --tile-bind-dimensions -o %t.after && \
// RUN:   diff %t.before %t.after

// With nothing to bind nothing changes.
#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 16>
tile.kernel @k params [] dims [#M] constexprs []
  grid {
    %m = tile.dim #M
    tile.yield %m : index
  } body {
    tile.return
  }
