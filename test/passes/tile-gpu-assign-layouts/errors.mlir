// RUN: tile-opt %s --tile-gpu-assign-layouts --verify-diagnostics

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @odd
  params [] dims [] constexprs []
  grid { tile.yield } body {
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{tile extent 48 is not a power of two; found a tile of shape [48]}}
    %p = tile.iota %c0 step 1 : tensor<48xindex>
    tile.return
  }
}
