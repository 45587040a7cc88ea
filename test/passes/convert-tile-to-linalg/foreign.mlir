// RUN: tile-opt %s --convert-tile-to-linalg --verify-diagnostics

// Operations of GPUs would keep views that the conversion takes away.
tile.kernel @waits params [] dims [] constexprs [] grid {
  tile.yield
} body {
  // expected-error @+1 {{is for GPUs; code for the CPU comes from the tile dialect alone}}
  tile_gpu.barrier
  tile.return
}
