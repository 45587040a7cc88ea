// RUN: tile-opt %s --convert-tile-gpu-to-vector --split-input-file --verify-diagnostics
// Tiles without a layout, or with one of another shape, ended the lowering instead of being
// refused.

#layout = #tile_gpu.linear<shape = [64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @none params [#tile.param<"x", in, align = 16>] dims [] constexprs [] grid {
^bb0(%x: !tile.ptr<f32>):
  tile.yield
} body {
^bb0(%x: !tile.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %v = tile.view %x[%c64] strides [%c1] : !tile.ptr<f32> -> !tile.view<64xf32>
  // expected-error @+1 {{expected a tile with a layout of its shape, as tile-gpu-assign-layouts leaves them, found 'tensor<64xf32>'}}
  %t = tile.load %v[%c0] pad %zero : f32 {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<64xf32> -> tensor<64xf32>
  tile.return
}
}

// -----

#layout = #tile_gpu.linear<shape = [64], register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = []>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @other params [] dims [] constexprs [] grid { tile.yield } body {
  // expected-error @+1 {{expected a tile with a layout of its shape}}
  %t = arith.constant dense<0.0> : tensor<128xf32, #layout>
  tile.return
}
}
