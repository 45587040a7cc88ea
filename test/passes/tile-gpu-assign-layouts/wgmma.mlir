// RUN: tile-opt %s --tile-gpu-assign-layouts --canonicalize --split-input-file 2>&1 | FileCheck %s
// RUN: sed s/sm_90a/sm_90/ %s | tile-opt - --tile-gpu-assign-layouts --split-input-file 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OLD
// OLD-NOT: R0401
// OLD-NOT: wgmma

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Two warpgroups along M; f16 lies in shared memory as it was loaded, transposed by its name alone.
// CHECK-LABEL: tile.kernel @transposed
// CHECK-SAME: tile_gpu.num_warps = 8
// CHECK: %[[MA:.*]] = tile_gpu.local_alloc {{.*}} -> <128x32xf16, #tile_gpu.shared<order = [1, 0], swizzle = 64>>
// CHECK: %[[MB:.*]] = tile_gpu.local_alloc {{.*}} -> <64x32xf16, #tile_gpu.shared<order = [1, 0], swizzle = 64>>
// CHECK: %[[TB:.*]] = tile_gpu.memdesc_permute %[[MB]] {{.*}} -> <32x64xf16, #tile_gpu.shared<order = [0, 1], swizzle = 64>>
// CHECK: %[[S:.*]] = tile_gpu.wgmma %[[MA]], %[[TB]], %{{.*}} tensor<128x64xf32, #tile_gpu.linear<shape = [128, 64], register = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0], [64, 0]]>>
// What threads already hold as fragments stays in registers.
// CHECK: %[[P:.*]] = arith.truncf %[[S]]
// CHECK: tile_gpu.wgmma %[[P]], %[[MB]], %{{.*}} : tensor<128x64xf16, {{.*}}, <64x32xf16
tile.kernel @transposed
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
    %c128 = arith.constant 128 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %zero2 = arith.constant dense<0.0> : tensor<128x32xf32>
    %av = tile.view %a[%c128, %c32] strides [%c32, %c1] : !tile.ptr<f16> -> !tile.view<128x32xf16>
    %bv = tile.view %b[%c64, %c32] strides [%c32, %c1] : !tile.ptr<f16> -> !tile.view<64x32xf16>
    %cv = tile.view %c[%c128, %c32] strides [%c32, %c1] : !tile.ptr<f16> -> !tile.view<128x32xf16>
    %at = tile.load %av[%c0, %c0] pad %pad : f16 {sizes = array<i64: 128, 32>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<128x32xf16> -> tensor<128x32xf16>
    %bt = tile.load %bv[%c0, %c0] pad %pad : f16 {sizes = array<i64: 64, 32>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<64x32xf16> -> tensor<64x32xf16>
    %t = tile.permute %bt {permutation = array<i64: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
    %s = tile.dot %at, %t, %zero precision full : tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>
    %p = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
    %o = tile.dot %p, %bt, %zero2 precision full : tensor<128x64xf16>, tensor<64x32xf16>, tensor<128x32xf32>
    %h = arith.truncf %o : tensor<128x32xf32> to tensor<128x32xf16>
    tile.store %h, %cv[%c0, %c0] {sizes = array<i64: 128, 32>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<128x32xf16>, !tile.view<128x32xf16>
    tile.return
  }
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Elements of other sizes need K as the fastest dimension: b is transposed on its way to shared
// memory. Sums of 8-bit floats in full precision are added outside tensor cores.
// CHECK-LABEL: tile.kernel @order
// CHECK: tile_gpu.local_alloc {{.*}} -> <64x32xf8E4M3FN, #tile_gpu.shared<order = [1, 0], swizzle = 32>>
// CHECK: tile_gpu.local_alloc {{.*}} -> <32x16xf8E5M2, #tile_gpu.shared<order = [0, 1], swizzle = 32>>
// CHECK: %[[PART:.*]] = tile_gpu.wgmma {{.*}}, %[[ZERO:[a-z0-9_]+]] : {{.*}}f8E4M3FN
// CHECK: %[[SUM:.*]] = arith.addf {{.*}}, %[[PART]]
// CHECK: tile_gpu.wgmma {{.*}}, %[[SUM]] : {{.*}}f8E4M3FN
// CHECK-NOT: arith.addf
// CHECK: tile_gpu.wgmma {{.*}} : !tile_gpu.memdesc<64x32xi8, #tile_gpu.shared<order = [1, 0], swizzle = 32>>, <32x16xi8, #tile_gpu.shared<order = [0, 1], swizzle = 32>>, tensor<64x16xi32
// CHECK: tile_gpu.wgmma {{.*}} : !tile_gpu.memdesc<64x32xf32, #tile_gpu.shared<order = [1, 0], swizzle = 128>>, <32x16xf32, #tile_gpu.shared<order = [0, 1], swizzle = 128>>
tile.kernel @order
  params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>, #tile.param<"c", out, align = 16>, #tile.param<"d", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: f32, %y: i8, %c: !tile.ptr<f32>, %d: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: f32, %y: i8, %c: !tile.ptr<f32>, %d: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %cv = tile.view %c[%c64, %c16] strides [%c16, %c1] : !tile.ptr<f32> -> !tile.view<64x16xf32>
    %dv = tile.view %d[%c64, %c16] strides [%c16, %c1] : !tile.ptr<i32> -> !tile.view<64x16xi32>
    %a = tensor.splat %x : tensor<64x32xf32>
    %b = tensor.splat %x : tensor<32x16xf32>
    %acc = tensor.splat %x : tensor<64x16xf32>
    %a8 = arith.truncf %a : tensor<64x32xf32> to tensor<64x32xf8E4M3FN>
    %b8 = arith.truncf %b : tensor<32x16xf32> to tensor<32x16xf8E5M2>
    %full = tile.dot %a8, %b8, %acc precision full : tensor<64x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<64x16xf32>
    %fast = tile.dot %a8, %b8, %full precision fast : tensor<64x32xf8E4M3FN>, tensor<32x16xf8E5M2>, tensor<64x16xf32>
    %ai = tensor.splat %y : tensor<64x32xi8>
    %bi = tensor.splat %y : tensor<32x16xi8>
    %zero = arith.constant dense<0> : tensor<64x16xi32>
    %ci = tile.dot %ai, %bi, %zero precision full : tensor<64x32xi8>, tensor<32x16xi8>, tensor<64x16xi32>
    %ct = tile.dot %a, %b, %fast precision tf32 : tensor<64x32xf32>, tensor<32x16xf32>, tensor<64x16xf32>
    tile.store %ct, %cv[%c0, %c0] {sizes = array<i64: 64, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<64x16xf32>, !tile.view<64x16xf32>
    tile.store %ci, %dv[%c0, %c0] {sizes = array<i64: 64, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<64x16xi32>, !tile.view<64x16xi32>
    tile.return
  }
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// What wgmma cannot do says why; a product in full f32 precision was never meant for tensor cores.
// CHECK: remark: dot by mma.sync or scalar code instead of wgmma: expected M of at least 64, or of at least 8 where N is 64, found 32 by 16 [R0401]
// CHECK: remark: dot by mma.sync or scalar code instead of wgmma: expected K of at least 16, found 8 [R0401]
// CHECK-NOT: R0401
// CHECK-LABEL: tile.kernel @fallback
// CHECK: tile_gpu.mma
// CHECK: tile_gpu.fma_dot
// CHECK: tile_gpu.fma_dot
tile.kernel @fallback
  params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>, #tile.param<"c", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: f16, %y: f32, %c: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: f16, %y: f32, %c: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %cv = tile.view %c[%c64, %c16] strides [%c16, %c1] : !tile.ptr<f32> -> !tile.view<64x16xf32>
    %a = tensor.splat %x : tensor<32x32xf16>
    %b = tensor.splat %x : tensor<32x16xf16>
    %acc = tensor.splat %y : tensor<32x16xf32>
    %s = tile.dot %a, %b, %acc precision full : tensor<32x32xf16>, tensor<32x16xf16>, tensor<32x16xf32>
    %a2 = tensor.splat %x : tensor<64x8xf16>
    %b2 = tensor.splat %x : tensor<8x16xf16>
    %acc2 = tensor.splat %y : tensor<64x16xf32>
    %s2 = tile.dot %a2, %b2, %acc2 precision full : tensor<64x8xf16>, tensor<8x16xf16>, tensor<64x16xf32>
    %a3 = tensor.splat %y : tensor<64x16xf32>
    %b3 = tensor.splat %y : tensor<16x16xf32>
    %s3 = tile.dot %a3, %b3, %s2 precision full : tensor<64x16xf32>, tensor<16x16xf32>, tensor<64x16xf32>
    tile.store %s, %cv[%c0, %c0] {sizes = array<i64: 32, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<32x16xf32>, !tile.view<64x16xf32>
    tile.store %s3, %cv[%c0, %c0] {sizes = array<i64: 64, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<64x16xf32>, !tile.view<64x16xf32>
    tile.return
  }
}

// -----

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Few rows: b's transpose by a's, whose result is the transposed accumulator.
// CHECK-NOT: R0401
// CHECK-LABEL: tile.kernel @few
// CHECK: %[[MA:.*]] = tile_gpu.local_alloc {{.*}} -> <16x32xf16, #tile_gpu.shared<order = [1, 0], swizzle = 64>>
// CHECK: %[[MB:.*]] = tile_gpu.local_alloc {{.*}} -> <32x64xf16, #tile_gpu.shared<order = [1, 0], swizzle = 128>>
// CHECK: %[[TA:.*]] = tile_gpu.memdesc_permute %[[MA]] {{.*}} -> <32x16xf16, #tile_gpu.shared<order = [0, 1], swizzle = 64>>
// CHECK: %[[TB:.*]] = tile_gpu.memdesc_permute %[[MB]] {{.*}} -> <64x32xf16, #tile_gpu.shared<order = [0, 1], swizzle = 128>>
// CHECK: %[[D:.*]] = tile_gpu.wgmma %[[TB]], %[[TA]], %{{.*}} tensor<64x16xf32, #tile_gpu.linear<shape = [64, 16], register = {{\[\[}}0, 1], [8, 0], [0, 8]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [32, 0]]>>
// CHECK: tile.permute %[[D]] {{.*}} -> tensor<16x64xf32, #tile_gpu.linear<shape = [16, 64], register = {{\[\[}}1, 0], [0, 8], [8, 0]], lane
tile.kernel @few
  params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : tensor<16x64xf32>
    %av = tile.view %a[%c16, %c32] strides [%c32, %c1] : !tile.ptr<f16> -> !tile.view<16x32xf16>
    %bv = tile.view %b[%c32, %c64] strides [%c64, %c1] : !tile.ptr<f16> -> !tile.view<32x64xf16>
    %cv = tile.view %c[%c16, %c64] strides [%c64, %c1] : !tile.ptr<f32> -> !tile.view<16x64xf32>
    %at = tile.load %av[%c0, %c0] pad %pad : f16 {sizes = array<i64: 16, 32>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<16x32xf16> -> tensor<16x32xf16>
    %bt = tile.load %bv[%c0, %c0] pad %pad : f16 {sizes = array<i64: 32, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : !tile.view<32x64xf16> -> tensor<32x64xf16>
    %s = tile.dot %at, %bt, %zero precision full : tensor<16x32xf16>, tensor<32x64xf16>, tensor<16x64xf32>
    tile.store %s, %cv[%c0, %c0] {sizes = array<i64: 16, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: true, true>} : tensor<16x64xf32>, !tile.view<16x64xf32>
    tile.return
  }
}
