// RUN: tile-opt %s --tile-gpu-allocate-shared --convert-tile-gpu-to-vector --split-input-file \
// RUN:   | FileCheck %s

// Two warps along M, 16x16 of the product each: two fragments along N, two steps of K.
#acc = #tile_gpu.linear<shape = [32, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#a = #tile_gpu.linear<shape = [32, 32], register = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#b = #tile_gpu.linear<shape = [32, 16], register = [[1, 0], [8, 0], [16, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]>
#a8 = #tile_gpu.linear<shape = [32, 32], register = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#b8 = #tile_gpu.linear<shape = [32, 16], register = [[1, 0], [2, 0], [16, 0], [0, 8]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]>
#a32 = #tile_gpu.linear<shape = [32, 8], register = [[8, 0], [0, 4]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#b32 = #tile_gpu.linear<shape = [8, 16], register = [[4, 0], [0, 8]], lane = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @f16
// CHECK-SAME: %[[A:[a-z0-9]+]]: f16
// CHECK-COUNT-8: vector.shuffle {{.*}} : vector<16xf16>, vector<16xf16>
// CHECK-COUNT-8: vector.shuffle {{.*}} : vector<16xf16>, vector<16xf16>
// CHECK-COUNT-4: nvvm.mma.sync {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
// CHECK-NOT: nvvm.mma.sync
// CHECK: vector.from_elements {{.*}} : vector<8xf32>
tile.kernel @f16 params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<32x32xf16, #a>
    %b = tensor.splat %x : tensor<32x16xf16, #b>
    %c = arith.constant dense<0.0> : tensor<32x16xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x16xf16, #b>, tensor<32x16xf32, #acc>
    tile.return
  }

// Halves in pairs where the accumulator is f16.
// CHECK-LABEL: func.func @halves
// CHECK-COUNT-4: nvvm.mma.sync {{.*}} -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
// CHECK: vector.from_elements {{.*}} : vector<8xf16>
tile.kernel @halves params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<32x32xf16, #a>
    %b = tensor.splat %x : tensor<32x16xf16, #b>
    %c = arith.constant dense<0.0> : tensor<32x16xf16, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<32x32xf16, #a>, tensor<32x16xf16, #b>, tensor<32x16xf16, #acc>
    tile.return
  }

// CHECK-LABEL: func.func @bf16
// CHECK: llvm.bitcast {{.*}} : vector<2xbf16> to i32
// CHECK-COUNT-4: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>
tile.kernel @bf16 params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: bf16):
    tile.yield
  } body {
  ^bb0(%x: bf16):
    %a = tensor.splat %x : tensor<32x32xbf16, #a>
    %b = tensor.splat %x : tensor<32x16xbf16, #b>
    %c = arith.constant dense<0.0> : tensor<32x16xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<32x32xbf16, #a>, tensor<32x16xbf16, #b>, tensor<32x16xf32, #acc>
    tile.return
  }

// CHECK-LABEL: func.func @tf32
// CHECK-COUNT-8: nvvm.convert.float.to.tf32
// CHECK-COUNT-2: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}k = 8
tile.kernel @tf32 params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f32):
    tile.yield
  } body {
  ^bb0(%x: f32):
    %a = tensor.splat %x : tensor<32x8xf32, #a32>
    %b = tensor.splat %x : tensor<8x16xf32, #b32>
    %c = arith.constant dense<0.0> : tensor<32x16xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<32x8xf32, #a32>, tensor<8x16xf32, #b32>, tensor<32x16xf32, #acc>
    tile.return
  }

// CHECK-LABEL: func.func @i8
// CHECK: llvm.bitcast {{.*}} : vector<4xi8> to i32
// CHECK-COUNT-2: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}k = 32
tile.kernel @i8 params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: i8):
    tile.yield
  } body {
  ^bb0(%x: i8):
    %a = tensor.splat %x : tensor<32x32xi8, #a8>
    %b = tensor.splat %x : tensor<32x16xi8, #b8>
    %c = arith.constant dense<0> : tensor<32x16xi32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<32x32xi8, #a8>, tensor<32x16xi8, #b8>, tensor<32x16xi32, #acc>
    tile.return
  }

// 8-bit floats are widened, those of a step where it is.
// CHECK-LABEL: func.func @f8
// CHECK-COUNT-4: nvvm.convert.f8x2.to.f16x2 {{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
// CHECK-COUNT-2: nvvm.convert.f8x2.to.f16x2 {{.*}} : vector<2xi8>(f8E5M2) -> vector<2xf16>
// CHECK-NOT: nvvm.convert
// CHECK: nvvm.mma.sync {{.*}}k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
tile.kernel @f8 params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f8E4M3FN, %y: f8E5M2):
    tile.yield
  } body {
  ^bb0(%x: f8E4M3FN, %y: f8E5M2):
    %a = tensor.splat %x : tensor<32x32xf8E4M3FN, #a8>
    %b = tensor.splat %y : tensor<32x16xf8E5M2, #b8>
    %c = arith.constant dense<0.0> : tensor<32x16xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<32x32xf8E4M3FN, #a8>, tensor<32x16xf8E5M2, #b8>, tensor<32x16xf32, #acc>
    tile.return
  }
}

// -----

#acc = #tile_gpu.linear<shape = [32, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#a8 = #tile_gpu.linear<shape = [32, 32], register = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0]]>
#b8 = #tile_gpu.linear<shape = [32, 16], register = [[1, 0], [2, 0], [16, 0], [0, 8]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0]]>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_89">} {
// CHECK-LABEL: func.func @f8
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"
tile.kernel @f8 params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f8E4M3FN, %y: f8E5M2):
    tile.yield
  } body {
  ^bb0(%x: f8E4M3FN, %y: f8E5M2):
    %a = tensor.splat %x : tensor<32x32xf8E4M3FN, #a8>
    %b = tensor.splat %y : tensor<32x16xf8E5M2, #b8>
    %c = arith.constant dense<0.0> : tensor<32x16xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<32x32xf8E4M3FN, #a8>, tensor<32x16xf8E5M2, #b8>, tensor<32x16xf32, #acc>
    tile.return
  }
}

// -----

// Products of f64, a fragment of 16 rows and 8 of K: one instruction of 9.0, four of 8.0, which have
// 8 rows and 4 of K. A lane's two elements of K are those that the instruction has 4 apart, of both
// operands. Of 8 rows there is half of that, and the instruction's other rows repeat it.
#acc = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile_gpu.linear<shape = [8, 16], register = [[1, 0], [0, 8]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#accHalf = #tile_gpu.linear<shape = [8, 16], register = [[0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#aHalf = #tile_gpu.linear<shape = [8, 8], register = [[0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @f64
// CHECK: %[[A0:.*]] = vector.extract %[[A:.*]][0] : f64 from vector<4xf64>
// CHECK: %[[A1:.*]] = vector.extract %[[A]][1]
// CHECK: %[[A2:.*]] = vector.extract %[[A]][2]
// CHECK: %[[A3:.*]] = vector.extract %[[A]][3]
// CHECK: %[[B0:.*]] = vector.extract %[[B:.*]][0] : f64 from vector<4xf64>
// CHECK: %[[B1:.*]] = vector.extract %[[B]][1]
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"(%[[A0]], %[[A2]], %[[A1]], %[[A3]], %[[B0]], %[[B1]], %{{.*}}) : (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64) -> !llvm.struct<(f64, f64, f64, f64)>
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"
// CHECK-NOT: llvm.call_intrinsic
tile.kernel @f64 params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
  ^bb0(%x: f64):
    tile.yield
  } body {
  ^bb0(%x: f64):
    %a = tensor.splat %x : tensor<16x8xf64, #a>
    %b = tensor.splat %x : tensor<8x16xf64, #b>
    %c = arith.constant dense<0.0> : tensor<16x16xf64, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<16x8xf64, #a>, tensor<8x16xf64, #b>, tensor<16x16xf64, #acc>
    tile.return
  }

// CHECK-LABEL: func.func @f64_half
// CHECK: %[[A0:.*]] = vector.extract %[[A:.*]][0] : f64 from vector<2xf64>
// CHECK: %[[A1:.*]] = vector.extract %[[A]][1]
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"(%[[A0]], %[[A0]], %[[A1]], %[[A1]],
tile.kernel @f64_half params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
  ^bb0(%x: f64):
    tile.yield
  } body {
  ^bb0(%x: f64):
    %a = tensor.splat %x : tensor<8x8xf64, #aHalf>
    %b = tensor.splat %x : tensor<8x16xf64, #b>
    %c = arith.constant dense<0.0> : tensor<8x16xf64, #accHalf>
    %d = tile_gpu.mma %a, %b, %c : tensor<8x8xf64, #aHalf>, tensor<8x16xf64, #b>, tensor<8x16xf64, #accHalf>
    tile.return
  }
}

// -----

#acc = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#a = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile_gpu.linear<shape = [8, 8], register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = []>
#a8 = #tile_gpu.linear<shape = [16, 32], register = [[0, 1], [0, 2], [8, 0], [0, 16]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
#b8 = #tile_gpu.linear<shape = [32, 8], register = [[1, 0], [2, 0], [16, 0]], lane = [[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp = []>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
// Rows 0 to 7 with both elements of K, then rows 8 to 15.
// CHECK-LABEL: func.func @f64
// CHECK: %[[A0:.*]] = vector.extract %[[A:.*]][0] : f64 from vector<4xf64>
// CHECK: %[[A1:.*]] = vector.extract %[[A]][1]
// CHECK: %[[A2:.*]] = vector.extract %[[A]][2]
// CHECK: %[[A3:.*]] = vector.extract %[[A]][3]
// CHECK: %[[B0:.*]] = vector.extract %[[B:.*]][0] : f64 from vector<2xf64>
// CHECK: %[[B1:.*]] = vector.extract %[[B]][1]
// CHECK: %[[UPPER:.*]] = llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"(%[[A0]], %[[B0]], %{{.*}}, %{{.*}}) : (f64, f64, f64, f64) -> !llvm.struct<(f64, f64)>
// CHECK: %[[SUM0:.*]] = llvm.extractvalue %[[UPPER]][0]
// CHECK: %[[SUM1:.*]] = llvm.extractvalue %[[UPPER]][1]
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"(%[[A1]], %[[B1]], %[[SUM0]], %[[SUM1]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"(%[[A2]], %[[B0]],
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"(%[[A3]], %[[B1]],
// CHECK-NOT: llvm.call_intrinsic
tile.kernel @f64 params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
  ^bb0(%x: f64):
    tile.yield
  } body {
  ^bb0(%x: f64):
    %a = tensor.splat %x : tensor<16x8xf64, #a>
    %b = tensor.splat %x : tensor<8x8xf64, #b>
    %c = arith.constant dense<0.0> : tensor<16x8xf64, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<16x8xf64, #a>, tensor<8x8xf64, #b>, tensor<16x8xf64, #acc>
    tile.return
  }

// 8-bit floats of a fragment become those of two of f16, the first 16 of K in the first. f8E5M2 is
// the upper byte of an f16; f8E4M3FN is shifted, and scaled by 2^8.
// CHECK-LABEL: func.func @float8_as_f16
// CHECK-COUNT-4: llvm.bitcast {{.*}} : vector<4xi8> to i32
// CHECK: arith.addi
// CHECK: arith.shli
// CHECK-COUNT-4: llvm.fmul {{.*}} : vector<2xf16>
// CHECK: nvvm.mma.sync {{.*}}k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
// CHECK-COUNT-4: llvm.fmul {{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fmul
// CHECK: nvvm.mma.sync {{.*}}k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
// CHECK-NOT: nvvm.mma.sync
tile.kernel @float8_as_f16 params [#tile.param<"x", scalar, align = 1>, #tile.param<"y", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 1 : i64} grid {
  ^bb0(%x: f8E4M3FN, %y: f8E5M2):
    tile.yield
  } body {
  ^bb0(%x: f8E4M3FN, %y: f8E5M2):
    %a = tensor.splat %x : tensor<16x32xf8E4M3FN, #a8>
    %b = tensor.splat %y : tensor<32x8xf8E5M2, #b8>
    %c = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
    %d = tile_gpu.mma %a, %b, %c : tensor<16x32xf8E4M3FN, #a8>, tensor<32x8xf8E5M2, #b8>, tensor<16x8xf32, #acc>
    tile.return
  }
}

// -----

// A scalar dot: a loop over K, 4 positions of which are multiplied while the next 4 are read. Of a
// row-major A each thread reads 4 neighbours along K at once, of B 4 columns at once.
#acc = #tile_gpu.linear<shape = [16, 32], register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#rows = #tile_gpu.linear<shape = [16, 64], register = [[0, 1], [0, 2], [8, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]], warp = [[2, 0], [4, 0]]>
#rowsB = #tile_gpu.linear<shape = [64, 32], register = [[0, 1], [0, 2], [16, 0], [32, 0]], lane = [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @scalar
// CHECK-COUNT-5: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK: scf.for %[[PART:.*]] = {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<16xf32>) : i32
// CHECK-COUNT-5: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-4: llvm.intr.fma({{.*}}) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-NOT: llvm.intr.fma
// CHECK: %[[NEXT:.*]] = arith.addi %[[PART]], %{{.*}} : i32
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[NEXT]]
// CHECK: arith.select %[[EXISTS]], %[[NEXT]], %{{.*}} : i32
// CHECK-COUNT-5: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-4: llvm.intr.fma({{.*}}) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-NOT: llvm.intr.fma
// CHECK: scf.yield
tile.kernel @scalar params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f32):
    tile.yield
  } body {
  ^bb0(%x: f32):
    %a = tensor.splat %x : tensor<16x64xf32, #rows>
    %b = tensor.splat %x : tensor<64x32xf32, #rowsB>
    %c = arith.constant dense<0.0> : tensor<16x32xf32, #acc>
    %sa = tile_gpu.local_alloc %a : tensor<16x64xf32, #rows> -> !tile_gpu.memdesc<16x64xf32, #shared>
    %sb = tile_gpu.local_alloc %b : tensor<64x32xf32, #rowsB> -> !tile_gpu.memdesc<64x32xf32, #shared>
    %d = tile_gpu.fma_dot %sa, %sb, %c : !tile_gpu.memdesc<16x64xf32, #shared>, !tile_gpu.memdesc<64x32xf32, #shared>, tensor<16x32xf32, #acc>
    tile.return
  }

// Operands are widened to the accumulator's type.
// CHECK-LABEL: func.func @widened
// CHECK: arith.extf {{.*}} : vector<4xf16> to vector<4xf32>
// CHECK: arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
tile.kernel @widened params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%x: f16):
    tile.yield
  } body {
  ^bb0(%x: f16):
    %a = tensor.splat %x : tensor<16x64xf16, #rows>
    %b = tensor.splat %x : tensor<64x32xf16, #rowsB>
    %c = arith.constant dense<0.0> : tensor<16x32xf32, #acc>
    %sa = tile_gpu.local_alloc %a : tensor<16x64xf16, #rows> -> !tile_gpu.memdesc<16x64xf16, #shared>
    %sb = tile_gpu.local_alloc %b : tensor<64x32xf16, #rowsB> -> !tile_gpu.memdesc<64x32xf16, #tile_gpu.shared<order = [1, 0], swizzle = 64>>
    %d = tile_gpu.fma_dot %sa, %sb, %c : !tile_gpu.memdesc<16x64xf16, #shared>, !tile_gpu.memdesc<64x32xf16, #tile_gpu.shared<order = [1, 0], swizzle = 64>>, tensor<16x32xf32, #acc>
    tile.return
  }
}
