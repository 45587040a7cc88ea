// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --convert-tile-gpu-to-vector --split-input-file | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#ra = #tile_gpu.linear<shape = [64, 32], register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>
#rb = #tile_gpu.linear<shape = [32, 8], register = [[0, 1], [0, 2], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 0], [0, 0]]>
#sa = #tile_gpu.shared<order = [1, 0], swizzle = 64>
#sb = #tile_gpu.shared<order = [1, 0], swizzle = 0>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Operands are stored, made visible to the tensor cores, and waited for. A has K fastest: 32 bytes
// a step within a row; b has N fastest in rows of 16 bytes: 16 rows a step. The zero accumulator is
// no operand.
// CHECK-LABEL: func.func @plain
// CHECK: llvm.store
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: llvm.store
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.barrier
// CHECK: llvm.ptrtoint
// 512 bytes between groups of 8 rows, swizzled by 64 bytes: 32 << 32 | 1 << 16 | 2 << 62.
// CHECK: arith.constant -9223371899415756800 : i64
// CHECK: llvm.inline_asm has_side_effects
// CHECK-SAME: setp.ne.b32 zero, 0, 0;\0Asetp.ne.b32 add, 1, 0;\0Awgmma.fence.sync.aligned;\0Aadd.s64 a, $4, 0;\0Aadd.s64 b, $5, 0;\0A
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0,$1,$2,$3}, a, b, zero, 1, 1, 0, 1;\0A
// CHECK-SAME: add.s64 a, $4, 2;\0Aadd.s64 b, $5, 16;\0A
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0,$1,$2,$3}, a, b, add, 1, 1, 0, 1;\0A
// CHECK-SAME: wgmma.commit_group.sync.aligned;\0Awgmma.wait_group.sync.aligned 0;\0A}", "=&f,=&f,=&f,=&f,l,l,~{memory}"
// CHECK: vector.from_elements {{.*}} : vector<4xf32>
tile.kernel @plain params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<64x32xf16, #ra>
    %b = tensor.splat %x : tensor<32x8xf16, #rb>
    %c = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
    %ma = tile_gpu.local_alloc %a : tensor<64x32xf16, #ra> -> !tile_gpu.memdesc<64x32xf16, #sa>
    %mb = tile_gpu.local_alloc %b : tensor<32x8xf16, #rb> -> !tile_gpu.memdesc<32x8xf16, #sb>
    %d = tile_gpu.wgmma %ma, %mb, %c : !tile_gpu.memdesc<64x32xf16, #sa>, !tile_gpu.memdesc<32x8xf16, #sb>, tensor<64x8xf32, #acc>
    tile.return
  }

// What is stored is fenced behind the product that does not read it, ahead of the barrier.
// CHECK-LABEL: func.func @under
// CHECK: nvvm.barrier
// CHECK: wgmma.mma_async
// CHECK: llvm.store
// CHECK-NOT: nvvm.fence.proxy
// CHECK: wgmma.mma_async
// CHECK: nvvm.fence.proxy
// CHECK-NEXT: nvvm.barrier
// CHECK: wgmma.mma_async
tile.kernel @under params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<64x32xf16, #ra>
    %b = tensor.splat %x : tensor<32x8xf16, #rb>
    %c = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
    %ma = tile_gpu.local_alloc %a : tensor<64x32xf16, #ra> -> !tile_gpu.memdesc<64x32xf16, #sa>
    %mb = tile_gpu.local_alloc %b : tensor<32x8xf16, #rb> -> !tile_gpu.memdesc<32x8xf16, #sb>
    %d = tile_gpu.wgmma %ma, %mb, %c : !tile_gpu.memdesc<64x32xf16, #sa>, !tile_gpu.memdesc<32x8xf16, #sb>, tensor<64x8xf32, #acc>
    %mc = tile_gpu.local_alloc %b : tensor<32x8xf16, #rb> -> !tile_gpu.memdesc<32x8xf16, #sb>
    %e = tile_gpu.wgmma %ma, %mb, %d async : !tile_gpu.memdesc<64x32xf16, #sa>, !tile_gpu.memdesc<32x8xf16, #sb>, tensor<64x8xf32, #acc>
    %f = tile_gpu.wgmma %ma, %mc, %e async : !tile_gpu.memdesc<64x32xf16, #sa>, !tile_gpu.memdesc<32x8xf16, #sb>, tensor<64x8xf32, #acc>
    tile.return
  }
}

// -----

// Two warpgroups, 128 rows each in two blocks: the second one starts 64 rows further, 64 * 128
// bytes. Left in flight, then waited for; held, so that nothing behind it moves up.
#acc = #tile_gpu.linear<shape = [256, 8], register = [[0, 1], [8, 0], [128, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#ra = #tile_gpu.linear<shape = [256, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [128, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#rb = #tile_gpu.linear<shape = [64, 8], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 0], [0, 0]]>
#sa = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#sb = #tile_gpu.shared<order = [0, 1], swizzle = 128>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @blocks
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[A:.*]] = llvm.ptrtoint
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[C7:.*]] = arith.constant 7 : i32
// CHECK: %[[GROUP:.*]] = arith.shrui %[[TID]], %[[C7]]
// CHECK: arith.andi %[[GROUP]],
// CHECK: arith.constant 13 : i32
// CHECK: arith.shli
// CHECK: llvm.inline_asm
// CHECK-SAME: add.s64 a, $8, 0;\0Aadd.s64 b, $9, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0,$1,$2,$3}, a, b, add, 1, 1, 0, 0;
// CHECK-SAME: add.s64 a, $8, 1024;\0Aadd.s64 b, $9, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$4,$5,$6,$7}, a, b, add, 1, 1, 0, 0;
// CHECK-SAME: add.s64 a, $8, 6;\0Aadd.s64 b, $9, 6;
// CHECK-SAME: wgmma.commit_group.sync.aligned;\0A}", "=f,=f,=f,=f,=f,=f,=f,=f,l,l,0,1,2,3,4,5,6,7,~{memory}"
// CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
// CHECK: llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
tile.kernel @blocks params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: bf16, %y: f32):
    tile.yield
  } body {
  ^bb0(%x: bf16, %y: f32):
    %a = tensor.splat %x : tensor<256x64xbf16, #ra>
    %b = tensor.splat %x : tensor<64x8xbf16, #rb>
    %c = tensor.splat %y : tensor<256x8xf32, #acc>
    %ma = tile_gpu.local_alloc %a : tensor<256x64xbf16, #ra> -> !tile_gpu.memdesc<256x64xbf16, #sa>
    %mb = tile_gpu.local_alloc %b : tensor<64x8xbf16, #rb> -> !tile_gpu.memdesc<64x8xbf16, #sb>
    %d = tile_gpu.wgmma %ma, %mb, %c async : !tile_gpu.memdesc<256x64xbf16, #sa>, !tile_gpu.memdesc<64x8xbf16, #sb>, tensor<256x8xf32, #acc>
    %e = tile_gpu.wgmma_wait %d {pending = 1 : i64} : tensor<256x8xf32, #acc>
    %f = tile_gpu.optimization_barrier %e : tensor<256x8xf32, #acc>
    tile.return
  }
}

// -----

// A in registers, four of its own for each step; a sum of halves in pairs.
#acc = #tile_gpu.linear<shape = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tile_gpu.linear<shape = [64, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rb = #tile_gpu.linear<shape = [32, 8], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#sb = #tile_gpu.shared<order = [0, 1], swizzle = 64>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @registers
// CHECK: llvm.inline_asm
// CHECK-SAME: m64n8k16.f16.f16.f16 {$0,$1}, {$2,$3,$4,$5}, b, add, 1, 1, 0;
// CHECK-SAME: m64n8k16.f16.f16.f16 {$0,$1}, {$6,$7,$8,$9}, b, add, 1, 1, 0;
// CHECK-SAME: "=r,=r,r,r,r,r,r,r,r,r,l,0,1,~{memory}"
tile.kernel @registers params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<64x32xf16, #a>
    %b = tensor.splat %x : tensor<32x8xf16, #rb>
    %c = tensor.splat %x : tensor<64x8xf16, #acc>
    %mb = tile_gpu.local_alloc %b : tensor<32x8xf16, #rb> -> !tile_gpu.memdesc<32x8xf16, #sb>
    %d = tile_gpu.wgmma %a, %mb, %c : tensor<64x32xf16, #a>, !tile_gpu.memdesc<32x8xf16, #sb>, tensor<64x8xf16, #acc>
    tile.return
  }
}

// -----

// A part of A, which meets b from row 16 on: 32 bytes further in a row.
#acc = #tile_gpu.linear<shape = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tile_gpu.linear<shape = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#rb = #tile_gpu.linear<shape = [32, 8], register = [[1, 0], [2, 0], [4, 0]], lane = [[8, 0], [16, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 0]]>
#sb = #tile_gpu.shared<order = [0, 1], swizzle = 64>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @part
// CHECK: llvm.inline_asm
// CHECK-SAME: add.s64 b, $6, 2;\0Awgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {$0,$1}, {$2,$3,$4,$5}, b, add, 1, 1, 0;\0Awgmma.commit_group
tile.kernel @part params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<64x16xf16, #a>
    %b = tensor.splat %x : tensor<32x8xf16, #rb>
    %c = tensor.splat %x : tensor<64x8xf16, #acc>
    %mb = tile_gpu.local_alloc %b : tensor<32x8xf16, #rb> -> !tile_gpu.memdesc<32x8xf16, #sb>
    %d = tile_gpu.wgmma %a, %mb from 16, %c : tensor<64x16xf16, #a>, !tile_gpu.memdesc<32x8xf16, #sb>, tensor<64x8xf16, #acc>
    tile.return
  }
}

// -----

// Two warpgroups that share the columns of 64 rows: 64 each, so the second starts 64 * 32 bytes
// further in b. 8-bit floats of two kinds; i8 knows no signs of operands.
#acc = #tile_gpu.linear<shape = [64, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [0, 64]]>
#ra = #tile_gpu.linear<shape = [64, 32], register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0], [0, 0]]>
#rb = #tile_gpu.linear<shape = [32, 128], register = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[16, 0], [0, 1], [0, 2], [0, 4], [0, 8]], warp = [[0, 16], [0, 32], [0, 64]]>
#sa = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#sb = #tile_gpu.shared<order = [0, 1], swizzle = 32>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @columns
// CHECK: arith.constant 11 : i32
// CHECK: arith.shli
// CHECK: llvm.inline_asm
// CHECK-SAME: m64n64k32.f32.e4m3.e5m2 {$0,{{.*}},$31}, a, b, add, 1, 1;
// CHECK: llvm.inline_asm
// CHECK-SAME: m64n64k32.s32.s8.s8 {$0,{{.*}},$31}, a, b, add;
tile.kernel @columns params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>, #tile.param<"z", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: i8, %y: i32, %z: f32):
    tile.yield
  } body {
  ^bb0(%x: i8, %y: i32, %z: f32):
    %a = tensor.splat %x : tensor<64x32xi8, #ra>
    %b = tensor.splat %x : tensor<32x128xi8, #rb>
    %fa = arith.bitcast %a : tensor<64x32xi8, #ra> to tensor<64x32xf8E4M3FN, #ra>
    %fb = arith.bitcast %b : tensor<32x128xi8, #rb> to tensor<32x128xf8E5M2, #rb>
    %c = tensor.splat %y : tensor<64x128xi32, #acc>
    %fc = tensor.splat %z : tensor<64x128xf32, #acc>
    %mfa = tile_gpu.local_alloc %fa : tensor<64x32xf8E4M3FN, #ra> -> !tile_gpu.memdesc<64x32xf8E4M3FN, #sa>
    %mfb = tile_gpu.local_alloc %fb : tensor<32x128xf8E5M2, #rb> -> !tile_gpu.memdesc<32x128xf8E5M2, #sb>
    %fd = tile_gpu.wgmma %mfa, %mfb, %fc : !tile_gpu.memdesc<64x32xf8E4M3FN, #sa>, !tile_gpu.memdesc<32x128xf8E5M2, #sb>, tensor<64x128xf32, #acc>
    %ma = tile_gpu.local_alloc %a : tensor<64x32xi8, #ra> -> !tile_gpu.memdesc<64x32xi8, #sa>
    %mb = tile_gpu.local_alloc %b : tensor<32x128xi8, #rb> -> !tile_gpu.memdesc<32x128xi8, #sb>
    %d = tile_gpu.wgmma %ma, %mb, %c : !tile_gpu.memdesc<64x32xi8, #sa>, !tile_gpu.memdesc<32x128xi8, #sb>, tensor<64x128xi32, #acc>
    tile.return
  }
}

// -----

#acc = #tile_gpu.linear<shape = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#ra = #tile_gpu.linear<shape = [64, 8], register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0], [2, 0], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]]>
#rb = #tile_gpu.linear<shape = [8, 8], register = [[1, 0], [2, 0]], lane = [[4, 0], [0, 1], [0, 2], [0, 4], [0, 0]], warp = [[0, 0], [0, 0]]>
#sa = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#sb = #tile_gpu.shared<order = [0, 1], swizzle = 32>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @tf32
// CHECK: llvm.inline_asm
// CHECK-SAME: m64n8k8.f32.tf32.tf32 {$0,$1,$2,$3}, a, b, add, 1, 1;
tile.kernel @tf32 params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f32):
    tile.yield
  } body {
  ^bb0(%x: f32):
    %a = tensor.splat %x : tensor<64x8xf32, #ra>
    %b = tensor.splat %x : tensor<8x8xf32, #rb>
    %c = tensor.splat %x : tensor<64x8xf32, #acc>
    %ma = tile_gpu.local_alloc %a : tensor<64x8xf32, #ra> -> !tile_gpu.memdesc<64x8xf32, #sa>
    %mb = tile_gpu.local_alloc %b : tensor<8x8xf32, #rb> -> !tile_gpu.memdesc<8x8xf32, #sb>
    %d = tile_gpu.wgmma %ma, %mb, %c : !tile_gpu.memdesc<64x8xf32, #sa>, !tile_gpu.memdesc<8x8xf32, #sb>, tensor<64x8xf32, #acc>
    tile.return
  }
}
