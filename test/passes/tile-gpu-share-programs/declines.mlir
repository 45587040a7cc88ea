// Programs that stay in one block: sums whose order the source fixes, a running maximum that the
// loop stores, memory that the kernel writes and reads, stores at the same place in each trip.
// RUN: tile-opt %s --tile-gpu-share-programs | FileCheck %s
// CHECK-NOT: tile_gpu.part_share
// CHECK-NOT: tile_gpu.split_parts
#N = #tile.dim<"N", 1, 1048576, opt = 1048576, multiple_of = 1>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @ordered
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", inout, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c1 = arith.constant 1 : index
    tile.yield %c1 : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : tensor<1024xf32>
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r = scf.for %k = %c0 to %n step %c1024 iter_args(%s = %zeros) -> (tensor<1024xf32>) {
      %v = tile.load %xv[%k] pad %zero : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
      %a = arith.addf %s, %v : tensor<1024xf32>
      scf.yield %a : tensor<1024xf32>
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf32>, !tile.view<?xf32>
    tile.return
  }
tile.kernel @running
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", inout, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c1 = arith.constant 1 : index
    tile.yield %c1 : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : tensor<1024xf32>
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %r = scf.for %k = %c0 to %n step %c1024 iter_args(%s = %zero) -> (f32) {
      %v = tile.load %xv[%k] pad %zero : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
      %m = tile.reduce max %v : tensor<1024xf32> -> f32
      %t = arith.maximumf %s, %m : f32
      %tops = tensor.splat %t : tensor<1024xf32>
      tile.store %tops, %yv[%k] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf32>, !tile.view<?xf32>
      scf.yield %t : f32
    }
    tile.return
  }
tile.kernel @inplace
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", inout, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c1 = arith.constant 1 : index
    tile.yield %c1 : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : tensor<1024xf32>
    %xv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    scf.for %k = %c0 to %n step %c1024 {
      %v = tile.load %xv[%k] pad %zero : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
      %a = arith.addf %v, %v : tensor<1024xf32>
      tile.store %a, %yv[%k] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf32>, !tile.view<?xf32>
    }
    tile.return
  }
tile.kernel @same_place
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", inout, align = 16>] dims [#N] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c1 = arith.constant 1 : index
    tile.yield %c1 : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : tensor<1024xf32>
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    scf.for %k = %c0 to %n step %c1024 {
      %v = tile.load %xv[%k] pad %zero : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
      tile.store %v, %yv[%c0] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf32>, !tile.view<?xf32>
    }
    tile.return
  }
}
