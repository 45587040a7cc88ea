// Products say which part of them is real. Terms behind it are not added, so operands need no masks where the extent
// along K is a multiple of what matrix instructions add at once, 32 bytes; else loads give zeros up to that, and what
// was computed is masked.
// RUN: tile-opt %s --tile-gpu-pad-extents --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @whole
// CHECK-NOT: arith.select
// CHECK: tile.dot %{{.*}} precision full {valid = array<i64: 96, 176, 48>} : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
tile.kernel @whole params [] dims [] constexprs [] grid { tile.yield } body {
  %a = arith.constant dense<1.0> : tensor<96x48xf16>
  %b = arith.constant dense<1.0> : tensor<48x176xf16>
  %c = arith.constant dense<0.0> : tensor<96x176xf32>
  %d = tile.dot %a, %b, %c precision full : tensor<96x48xf16>, tensor<48x176xf16>, tensor<96x176xf32>
  tile.return
}

// -----

// 40 of f16 become 48: the loaded operand is 0 there by its padding, the computed one by a mask.
// CHECK-LABEL: tile.kernel @parts
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[T:.*]] = tile.permute %[[A]]
// CHECK: %[[B:.*]] = arith.addf
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %[[B]], %{{.*}} : tensor<64x64xi1>, tensor<64x64xf16>
// CHECK: tile.dot %[[T]], %[[MASKED]], %{{.*}} precision full {valid = array<i64: 64, 64, 48>}
tile.kernel @parts
  params [#tile.param<"x", in, align = 16>] dims [#tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>):
    %n = tile.dim #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f16
    %v = tile.view %x[%n, %n] strides [%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    %a = tile.load %v[%c0, %c0] pad %pad : f16 {sizes = array<i64: 40, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<40x64xf16>
    %t = tile.permute %a {permutation = array<i64: 1, 0>} : tensor<40x64xf16> -> tensor<64x40xf16>
    %b = arith.addf %a, %a : tensor<40x64xf16>
    %c = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = tile.dot %t, %b, %c precision full : tensor<64x40xf16>, tensor<40x64xf16>, tensor<64x64xf32>
    tile.return
  }

// -----

// Padding that is not 0 is masked.
// CHECK-LABEL: tile.kernel @other
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %[[A]], %{{.*}}
// CHECK: tile.dot %[[MASKED]],
tile.kernel @other
  params [#tile.param<"x", in, align = 16>] dims [#tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>):
    %n = tile.dim #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 1.0 : f16
    %v = tile.view %x[%n, %n] strides [%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
    %a = tile.load %v[%c0, %c0] pad %pad : f16 {sizes = array<i64: 64, 40>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<64x40xf16>
    %b = arith.constant dense<1.0> : tensor<40x64xf16>
    %c = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = tile.dot %a, %b, %c precision full : tensor<64x40xf16>, tensor<40x64xf16>, tensor<64x64xf32>
    tile.return
  }
