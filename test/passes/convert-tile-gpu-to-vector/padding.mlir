// RUN: tile-opt %s --tile-gpu-layout-pipeline --convert-tile-gpu-to-vector --canonicalize --cse \
// RUN:   | FileCheck %s

// Padding that is a constant: registers begin with it, two elements of 16 bits in each. What is not
// known, or wider, is selected.
// CHECK-LABEL: func.func @padding
// CHECK: llvm.inline_asm {{.*}}"mov.b32 $0, 4227922944; mov.b32 $1, 4227922944;{{.*}} ld.global.nc.v2.b32
// CHECK-NOT: arith.select
// CHECK: llvm.inline_asm {{.*}}"mov.b32 $0, 0; {{.*}} ld.global.nc.v4.b32
// CHECK: arith.select
// CHECK: llvm.inline_asm {{.*}}"mov.b32 $0, 0; {{.*}} ld.global.nc.v4.b32
// CHECK: arith.select {{.*}} : vector<2xf64>
#N = #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @padding
  params [#tile.param<"x", in, align = 16>, #tile.param<"z", in, align = 16>, #tile.param<"d", in, align = 16>, #tile.param<"p", scalar, align = 1>,
          #tile.param<"y", out, align = 16>, #tile.param<"e", out, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f16>, %z: !tile.ptr<f32>, %d: !tile.ptr<f64>, %p: f32, %y: !tile.ptr<f32>, %e: !tile.ptr<f64>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %z: !tile.ptr<f32>, %d: !tile.ptr<f64>, %p: f32, %y: !tile.ptr<f32>, %e: !tile.ptr<f64>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lowest = arith.constant 0xFC00 : f16
    %one = arith.constant 1.0 : f64
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f16> -> !tile.view<?xf16>
    %zv = tile.view %z[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %dv = tile.view %d[%n] strides [%c1] : !tile.ptr<f64> -> !tile.view<?xf64>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %ev = tile.view %e[%n] strides [%c1] : !tile.ptr<f64> -> !tile.view<?xf64>
    %a = tile.load %xv[%c0] pad %lowest : f16 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf16> -> tensor<1024xf16>
    %b = tile.load %zv[%c0] pad %p : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
    %c = tile.load %dv[%c0] pad %one : f64 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf64> -> tensor<1024xf64>
    %w = arith.extf %a : tensor<1024xf16> to tensor<1024xf32>
    %s = arith.addf %w, %b : tensor<1024xf32>
    tile.store %s, %yv[%c0] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf32>, !tile.view<?xf32>
    tile.store %c, %ev[%c0] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf64>, !tile.view<?xf64>
    tile.return
  }
}
