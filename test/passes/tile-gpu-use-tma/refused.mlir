// RUN: tile-opt %s --tile-gpu-use-tma --verify-diagnostics --split-input-file | FileCheck %s

// What TMA cannot copy stays as it is, and a remark says why.
// CHECK-NOT: tile_gpu.tma

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#swapped = #tile_gpu.shared<order = [0, 1], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 4>
#dimS = #tile.dim<"x.stride.0", 1, 65536, opt = 4096, multiple_of = 1>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @loads params [#tile.param<"x", in, align = 16>, #tile.param<"y", inout, align = 16>, #tile.param<"z", in, align = 8>]
    dims [#dimN, #dimS] constexprs [] grid { ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>, %z: !tile.ptr<f16>): tile.yield } body {
^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>, %z: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %true = arith.constant true
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %mask = arith.constant dense<true> : tensor<64x64xi1, #rows>
  %n = tile.dim #dimN
  %s = tile.dim #dimS
  %odd = tile.view %x[%n, %n] strides[%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  %free = tile.view %x[%n, %n] strides[%s, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  %good = tile.view %x[%n, %c64] strides[%c64, %c1] : !tile.ptr<f16> -> !tile.view<?x64xf16>
  %written = tile.view %y[%n, %c64] strides[%c64, %c1] : !tile.ptr<f16> -> !tile.view<?x64xf16>
  %lowly = tile.view %z[%n, %c64] strides[%c64, %c1] : !tile.ptr<f16> -> !tile.view<?x64xf16>
  scf.for %i = %c0 to %n step %c64 {
    // expected-remark @+1 {{operand is not copied by TMA: 'N % 8 == 0' would make the rows of 'x' multiples of 16 bytes [R0402]}}
    %t0 = tile.load %odd[%i, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<64x64xf16, #rows>
    %m0 = tile_gpu.local_alloc %t0 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r0 = tile_gpu.local_load %m0 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // expected-remark @+1 {{stride 0 of 'x' is not known to be a multiple of 8 elements (16 bytes) [R0402]}}
    %t1 = tile.load %free[%i, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<64x64xf16, #rows>
    %m1 = tile_gpu.local_alloc %t1 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r1 = tile_gpu.local_load %m1 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // expected-remark @+1 {{its padding is not 0 [R0402]}}
    %t2 = tile.load %good[%i, %c0] pad %one : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m2 = tile_gpu.local_alloc %t2 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r2 = tile_gpu.local_load %m2 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // expected-remark @+1 {{it has a mask [R0402]}}
    %t3 = tile.load %good[%i, %c0] pad %zero : f16 mask %mask : tensor<64x64xi1, #rows> {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m3 = tile_gpu.local_alloc %t3 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r3 = tile_gpu.local_load %m3 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // expected-remark @+1 {{its steps are not from 1 to 8 [R0402]}}
    %t4 = tile.load %good[%i, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 9, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m4 = tile_gpu.local_alloc %t4 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r4 = tile_gpu.local_load %m4 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // expected-remark @+1 {{'y' may be written while the kernel runs [R0402]}}
    %t5 = tile.load %written[%i, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m5 = tile_gpu.local_alloc %t5 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r5 = tile_gpu.local_load %m5 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // expected-remark @+1 {{'z' need not be aligned to 16 bytes; without 'align' it is [R0402]}}
    %t6 = tile.load %lowly[%i, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m6 = tile_gpu.local_alloc %t6 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r6 = tile_gpu.local_load %m6 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // expected-remark @+1 {{the tile's fastest dimension in shared memory is not that of 'x' [R0402]}}
    %t7 = tile.load %good[%i, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m7 = tile_gpu.local_alloc %t7 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #swapped>
    %r7 = tile_gpu.local_load %m7 : !tile_gpu.memdesc<64x64xf16, #swapped> -> tensor<64x64xf16, #rows>
    // The position before the slice exists in the tensor.
    %before = arith.subi %i, %c64 : index
    %slice = tile.subview %good indices [] lows [%c64] highs [%n] {kinds = array<i32: 2, 1>} : !tile.view<?x64xf16> -> !tile.view<?x64xf16>
    // expected-remark @+1 {{positions before the slice are not proven absent [R0402]}}
    %t8 = tile.load %slice[%before, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m8 = tile_gpu.local_alloc %t8 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r8 = tile_gpu.local_load %m8 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // Where it begins in a row is the hardware's matter too: it takes multiples of 16 bytes alone.
    %four = arith.constant 4 : index
    // expected-remark @+1 {{where it begins along dimension 1 of 'x' is not known to be a multiple of 8 elements (16 bytes) [R0402]}}
    %t10 = tile.load %good[%i, %four] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m10 = tile_gpu.local_alloc %t10 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r10 = tile_gpu.local_load %m10 : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    // No product: no remark.
    %t9 = tile.load %good[%i, %c0] pad %one : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m9 = tile_gpu.local_alloc %t9 : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  }
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    // expected-remark @+1 {{it stands in a loop that ends by a condition [R0402]}}
    %t = tile.load %good[%c0, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
    %m = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
    %r = tile_gpu.local_load %m : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    scf.yield
  }
  tile.return
}
}

// -----

// Stores: a tensor that is accessed twice, one that is read as well, steps. A lone load is no
// reason for a producer.
#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 4>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @stores params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>, #tile.param<"z", out, align = 16>, #tile.param<"w", inout, align = 16>]
    dims [#dimN] constexprs [] grid { ^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %w: !tile.ptr<f32>): tile.yield } body {
^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %w: !tile.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f16
  %init = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %n = tile.dim #dimN
  %v = tile.view %x[%n, %c64] strides[%c64, %c1] : !tile.ptr<f16> -> !tile.view<?x64xf16>
  %vy = tile.view %y[%n, %c64] strides[%c64, %c1] : !tile.ptr<f32> -> !tile.view<?x64xf32>
  %vz = tile.view %z[%n, %c64] strides[%c64, %c1] : !tile.ptr<f32> -> !tile.view<?x64xf32>
  %vw = tile.view %w[%n, %c64] strides[%c64, %c1] : !tile.ptr<f32> -> !tile.view<?x64xf32>
  %t = tile.load %v[%c0, %c0] pad %zero : f16 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<64x64xf16, #rows>
  %m = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %d = tile_gpu.wgmma %m, %m, %init : !tile_gpu.memdesc<64x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<64x64xf32, #acc>
  tile.store %d, %vy[%c0, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 2, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #acc>, !tile.view<?x64xf32>
  tile.store %d, %vz[%c0, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #acc>, !tile.view<?x64xf32>
  tile.store %d, %vz[%c64, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #acc>, !tile.view<?x64xf32>
  tile.store %d, %vw[%c0, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #acc>, !tile.view<?x64xf32>
  tile.return
}
}
