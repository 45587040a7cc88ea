// RUN: tile-opt %s --tile-gpu-assign-layouts --canonicalize | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
// A load takes a blocked layout, 16 bytes a thread; its users follow; a mask is computed where it
// is used.
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: tile_gpu.num_warps = 4
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<4x128xf32, #tile_gpu.linear<shape = [4, 128], register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}1, 0], [2, 0]]>>
// CHECK: %[[M:.*]] = tile.reduce max %[[X]] axis 1 {{.*}} -> tensor<4xf32, #tile_gpu.linear<shape = [4], register = [], lane = {{\[\[}}0], [0], [0], [0], [0]], warp = {{\[\[}}1], [2]]>>
// CHECK: tile.reshape %[[M]]
// CHECK: tile.broadcast
// CHECK-NOT: convert_layout
// CHECK: tile.return
tile.kernel @rows
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  attributes {tile.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%c4, %c128] strides [%c128, %c1] : !tile.ptr<f32> -> !tile.view<4x128xf32>
    %yv = tile.view %y[%c4, %c128] strides [%c128, %c1] : !tile.ptr<f32> -> !tile.view<4x128xf32>
    %a = tile.load %xv[%c0, %c0] pad %pad : f32 {sizes = array<i64: 4, 128>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<4x128xf32> -> tensor<4x128xf32>
    %m = tile.reduce max %a axis 1 : tensor<4x128xf32> -> tensor<4xf32>
    %r = tile.reshape %m : tensor<4xf32> -> tensor<4x1xf32>
    %b = tile.broadcast %r : tensor<4x1xf32> -> tensor<4x128xf32>
    %d = arith.subf %a, %b : tensor<4x128xf32>
    tile.store %d, %yv[%c0, %c0] {sizes = array<i64: 4, 128>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<4x128xf32>, !tile.view<4x128xf32>
    tile.return
  }

// Rows that are reduced lie in one warp each, however long: lanes share them, and what is left are
// registers.
// CHECK-LABEL: tile.kernel @long_rows
// CHECK: tile.load {{.*}} -> tensor<4x512xf32, #tile_gpu.linear<shape = [4, 512], register = {{\[\[}}0, 1], [0, 2], [0, 128], [0, 256]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}1, 0], [2, 0]]>>
// A number for each row is stored by the warp that has it.
// CHECK-NOT: convert_layout
// CHECK: tile.return
tile.kernel @long_rows
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  attributes {tile.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c512 = arith.constant 512 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%c4, %c512] strides [%c512, %c1] : !tile.ptr<f32> -> !tile.view<4x512xf32>
    %yv = tile.view %y[%c4] strides [%c1] : !tile.ptr<f32> -> !tile.view<4xf32>
    %a = tile.load %xv[%c0, %c0] pad %pad : f32 {sizes = array<i64: 4, 512>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<4x512xf32> -> tensor<4x512xf32>
    %m = tile.reduce max %a axis 1 : tensor<4x512xf32> -> tensor<4xf32>
    tile.store %m, %yv[%c0] {sizes = array<i64: 4>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<4xf32>, !tile.view<4xf32>
    tile.return
  }

// Fewer rows than warps: all warps share each row, and a thread has the same columns of both.
// CHECK-LABEL: tile.kernel @few_rows
// CHECK: tile.load {{.*}} -> tensor<2x1024xf32, #tile_gpu.linear<shape = [2, 1024], register = {{\[\[}}0, 1], [0, 2], [0, 512], [1, 0]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = {{\[\[}}0, 128], [0, 256]]>>
tile.kernel @few_rows
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  attributes {tile.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c1024 = arith.constant 1024 : index
    %pad = arith.constant 0.0 : f32
    %xv = tile.view %x[%c2, %c1024] strides [%c1024, %c1] : !tile.ptr<f32> -> !tile.view<2x1024xf32>
    %yv = tile.view %y[%c2] strides [%c1] : !tile.ptr<f32> -> !tile.view<2xf32>
    %a = tile.load %xv[%c0, %c0] pad %pad : f32 {sizes = array<i64: 2, 1024>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<2x1024xf32> -> tensor<2x1024xf32>
    %m = tile.reduce max %a axis 1 : tensor<2x1024xf32> -> tensor<2xf32>
    tile.store %m, %yv[%c0] {sizes = array<i64: 2>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<2xf32>, !tile.view<2xf32>
    tile.return
  }

// A dot of f16 works on fragments from swizzled shared memory; the loop carries its accumulator in
// the fragments' layout.
// CHECK-LABEL: tile.kernel @product
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[MA:.*]] = tile_gpu.local_alloc %[[A]] {{.*}} -> <64x32xf16, #tile_gpu.shared<order = [1, 0], swizzle = 64>>
// CHECK: tile_gpu.local_alloc
// CHECK: %[[FA:.*]] = tile_gpu.local_load %[[MA]]
// CHECK: tile_gpu.mma %[[FA]],
// CHECK: scf.yield
// CHECK: arith.truncf
tile.kernel @product
  params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %av = tile.view %a[%c64, %c256] strides [%c256, %c1] : !tile.ptr<f16> -> !tile.view<64x256xf16>
    %bv = tile.view %b[%c256, %c64] strides [%c64, %c1] : !tile.ptr<f16> -> !tile.view<256x64xf16>
    %cv = tile.view %c[%c64, %c64] strides [%c64, %c1] : !tile.ptr<f16> -> !tile.view<64x64xf16>
    %sum = scf.for %k = %c0 to %c256 step %c32 iter_args(%acc = %zero) -> tensor<64x64xf32> {
      %at = tile.load %av[%c0, %k] pad %pad : f16 {sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<64x256xf16> -> tensor<64x32xf16>
      %bt = tile.load %bv[%k, %c0] pad %pad : f16 {sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<256x64xf16> -> tensor<32x64xf16>
      %next = tile.dot %at, %bt, %acc precision full : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %h = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    tile.store %h, %cv[%c0, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<64x64xf16>, !tile.view<64x64xf16>
    tile.return
  }

// Warps that nobody asked for: 32 elements of the largest tile to a thread where tiles are reduced
// and nothing loops; 16 elsewhere, in 4 to 16 warps.
// CHECK-LABEL: tile.kernel @sums
// CHECK-SAME: tile_gpu.num_warps = 2
tile.kernel @sums params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<2048xf32>
  %s = tile.reduce sum %t : tensor<2048xf32> -> f32
  tile.return
}

// CHECK-LABEL: tile.kernel @looped_sums
// CHECK-SAME: tile_gpu.num_warps = 4
tile.kernel @looped_sums params [#tile.param<"x", in, align = 16>] dims [] constexprs [] grid {
^bb0(%x: !tile.ptr<f32>):
  tile.yield
} body {
^bb0(%x: !tile.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c4096 = arith.constant 4096 : index
  %pad = arith.constant 0.0 : f32
  %v = tile.view %x[%c8, %c4096] strides [%c4096, %c1] : !tile.ptr<f32> -> !tile.view<8x4096xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %t = tile.load %v[%i, %c0] pad %pad : f32 {sizes = array<i64: -1, 2048>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<8x4096xf32> -> tensor<2048xf32>
    %s = tile.reduce sum %t : tensor<2048xf32> -> f32
  }
  tile.return
}

// A loop that reads nothing waits for reductions alone: as few warps as have room for the tile,
// where other programs run meanwhile.
// CHECK-LABEL: tile.kernel @held_sums
// CHECK-SAME: tile_gpu.num_warps = 1
tile.kernel @held_sums params [] dims [] constexprs [] grid {
  %many = arith.constant 4096 : index
  tile.yield %many : index
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<2048xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.reduce sum %t : tensor<2048xf32> -> f32
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @held_alone
// CHECK-SAME: tile_gpu.num_warps = 4
tile.kernel @held_alone params [] dims [] constexprs [] grid {
  %few = arith.constant 100 : index
  tile.yield %few : index
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<2048xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %s = tile.reduce sum %t : tensor<2048xf32> -> f32
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @small_product
// CHECK-SAME: tile_gpu.num_warps = 2
tile.kernel @small_product params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
^bb0(%x: f16):
  tile.yield
} body {
^bb0(%x: f16):
  %a = tensor.splat %x : tensor<32x32xf16>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %p = tile.dot %a, %a, %zero precision full : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
  tile.return
}
}
