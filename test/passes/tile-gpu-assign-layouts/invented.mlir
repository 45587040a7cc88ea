// A GPU that is one row of a table and known by nothing else (target/TestTargets.cpp): products go
// where the row has instructions for them.
// RUN: tile-opt %s --test-targets --tile-gpu-assign-layouts --canonicalize | FileCheck %s

// CHECK: module attributes {tile_gpu.target = #tile_gpu.target<"sm_95">}
module attributes {tile_gpu.target = #tile_gpu.target<"sm_95">} {
// CHECK-LABEL: tile.kernel @products
// The row has f16 for warpgroups, and no bf16 at all.
// CHECK: tile_gpu.wgmma {{.*}}f16
// CHECK: tile_gpu.fma_dot {{.*}}bf16
tile.kernel @products
  params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<bf16>, %c: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pada = arith.constant 0.0 : f16
    %padb = arith.constant 0.0 : bf16
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %av = tile.view %a[%c64, %c64] strides [%c64, %c1] : !tile.ptr<f16> -> !tile.view<64x64xf16>
    %bv = tile.view %b[%c64, %c64] strides [%c64, %c1] : !tile.ptr<bf16> -> !tile.view<64x64xbf16>
    %cv = tile.view %c[%c64, %c64] strides [%c64, %c1] : !tile.ptr<f32> -> !tile.view<64x64xf32>
    %at = tile.load %av[%c0, %c0] pad %pada : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<64x64xf16> -> tensor<64x64xf16>
    %bt = tile.load %bv[%c0, %c0] pad %padb : bf16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<64x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %at, %at, %zero precision full : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %o = tile.dot %bt, %bt, %s precision full : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    tile.store %o, %cv[%c0, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<64x64xf32>, !tile.view<64x64xf32>
    tile.return
  }
}
