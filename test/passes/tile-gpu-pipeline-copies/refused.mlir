// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-gpu-assign-layouts=remarks=false \
// RUN:   --tile-gpu-pipeline-copies | FileCheck %s
// CHECK-NOT: tile_gpu.async

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
tile.kernel @padded params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>, #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>, #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>] constexprs [] grid {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = arith.ceildivsi %0, %c64 : index
  %3 = arith.ceildivsi %1, %c64 : index
  tile.yield %2, %3 : index, index
} body {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cst = arith.constant 1.000000e+00 : f16
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"K", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %3 = tile.view %arg0[%0, %1] strides[%1, %c1] : <f16> -> <?x?xf16>
  %4 = tile.view %arg1[%1, %2] strides[%2, %c1] : <f16> -> <?x?xf16>
  %5 = tile.view %arg2[%0, %2] strides[%2, %c1] : <f32> -> <?x?xf32>
  %6 = tile.program_id 0
  %7 = tile.program_id 1
  %8 = arith.muli %6, %c64 : index
  %9 = arith.muli %7, %c64 : index
  %10 = scf.for %arg3 = %c0 to %1 step %c32 iter_args(%arg4 = %cst_0) -> (tensor<64x64xf32>) {
    // expected-remark @+1 {{operand is not copied ahead: its padding is not 0 [R0406]}}
    %11 = tile.load %3[%8, %arg3] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    // expected-remark @+1 {{operand is not copied ahead: its padding is not 0 [R0406]}}
    %12 = tile.load %4[%arg3, %9] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<32x64xf16>
    %13 = tile.dot %11, %12, %arg4 precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %13 : tensor<64x64xf32>
  }
  tile.store %10, %5[%8, %9] {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>} : tensor<64x64xf32>, <?x?xf32>
  tile.return
}
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
tile.kernel @written params [#tile.param<"a", inout, align = 16>, #tile.param<"b", inout, align = 16>, #tile.param<"c", out, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>, #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>, #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>] constexprs [] grid {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = arith.ceildivsi %0, %c64 : index
  %3 = arith.ceildivsi %1, %c64 : index
  tile.yield %2, %3 : index, index
} body {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cst = arith.constant 0.000000e+00 : f16
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"K", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %3 = tile.view %arg0[%0, %1] strides[%1, %c1] : <f16> -> <?x?xf16>
  %4 = tile.view %arg1[%1, %2] strides[%2, %c1] : <f16> -> <?x?xf16>
  %5 = tile.view %arg2[%0, %2] strides[%2, %c1] : <f32> -> <?x?xf32>
  %6 = tile.program_id 0
  %7 = tile.program_id 1
  %8 = arith.muli %6, %c64 : index
  %9 = arith.muli %7, %c64 : index
  %10 = scf.for %arg3 = %c0 to %1 step %c32 iter_args(%arg4 = %cst_0) -> (tensor<64x64xf32>) {
    // expected-remark @+1 {{operand is not copied ahead: its memory may be written while the kernel runs [R0406]}}
    %11 = tile.load %3[%8, %arg3] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    // expected-remark @+1 {{operand is not copied ahead: its memory may be written while the kernel runs [R0406]}}
    %12 = tile.load %4[%arg3, %9] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<32x64xf16>
    %13 = tile.dot %11, %12, %arg4 precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %13 : tensor<64x64xf32>
  }
  tile.store %10, %5[%8, %9] {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>} : tensor<64x64xf32>, <?x?xf32>
  tile.return
}
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
tile.kernel @converted params [#tile.param<"a", inout, align = 16>, #tile.param<"b", inout, align = 16>, #tile.param<"c", out, align = 16>] dims [#tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>, #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>, #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>] constexprs [] grid {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = arith.ceildivsi %0, %c64 : index
  %3 = arith.ceildivsi %1, %c64 : index
  tile.yield %2, %3 : index, index
} body {
^bb0(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f16>, %arg2: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %cst = arith.constant 0.000000e+00 : f16
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %0 = tile.dim <"M", 1, 65536, opt = 4096, multiple_of = 1>
  %1 = tile.dim <"K", 8, 65536, opt = 4096, multiple_of = 8>
  %2 = tile.dim <"N", 8, 65536, opt = 4096, multiple_of = 8>
  %3 = tile.view %arg0[%0, %1] strides[%1, %c1] : <f16> -> <?x?xf16>
  %4 = tile.view %arg1[%1, %2] strides[%2, %c1] : <f16> -> <?x?xf16>
  %5 = tile.view %arg2[%0, %2] strides[%2, %c1] : <f32> -> <?x?xf32>
  %6 = tile.program_id 0
  %7 = tile.program_id 1
  %8 = arith.muli %6, %c64 : index
  %9 = arith.muli %7, %c64 : index
  %10 = scf.for %arg3 = %c0 to %1 step %c32 iter_args(%arg4 = %cst_0) -> (tensor<64x64xf32>) {
    // expected-remark @+4 {{operand is not copied ahead: its values are computed from what is loaded [R0406]}}
    %11 = tile.load %3[%8, %arg3] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<64x32xf16>
    // expected-remark @+1 {{operand is not copied ahead: its memory may be written while the kernel runs [R0406]}}
    %12 = tile.load %4[%arg3, %9] pad %cst : f16 {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>} : <?x?xf16> -> tensor<32x64xf16>
    %h = arith.negf %11 : tensor<64x32xf16>
    %13 = tile.dot %h, %12, %arg4 precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    scf.yield %13 : tensor<64x64xf32>
  }
  tile.store %10, %5[%8, %9] {has_end = array<i1: false, false>, in_bounds = array<i1: false, false>, sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>} : tensor<64x64xf32>, <?x?xf32>
  tile.return
}
}
