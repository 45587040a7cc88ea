// Eight nibbles of a word become four pairs of halves: bytes of the word and of the word shifted
// right by 4 side by side, the elements' bits and an exponent in one instruction, an addition. The
// numbers are 1024 + n and, in bf16, 128 + n; of signed elements the sign bit is flipped, which
// adds 8.
// RUN: tile-opt %s --tile-gpu-pipeline | FileCheck %s
// RUN: sed s/uitofp/sitofp/ %s | tile-opt - --tile-gpu-pipeline \
// RUN:   | FileCheck %s --check-prefix=SIGNED
// RUN: sed s/f16/bf16/g %s | tile-opt - --tile-gpu-pipeline | FileCheck %s --check-prefix=BF16
// f32 has room for five nibbles where they stand: 2^23 + n * 2^place, times 2^-place, less the rest.
// RUN: sed s/f16/f32/g %s | tile-opt - --tile-gpu-pipeline | FileCheck %s --check-prefix=F32
// RUN: sed 's/f16/f32/g; s/uitofp/sitofp/' %s | tile-opt - --tile-gpu-pipeline \
// RUN:   | FileCheck %s --check-prefix=F32-SIGNED

// CHECK-DAG: %[[MAGIC:.*]] = llvm.mlir.constant(1677747200 : i32) : i32
// CHECK-DAG: %[[MOVE:.*]] = llvm.mlir.constant(dense<-1.024000e+03> : vector<2xf16>) : vector<2xf16>
// CHECK: %[[UPPER:.*]] = llvm.lshr %[[WORD:.*]], %{{.*}} : i32
// CHECK: %[[BYTES:.*]] = llvm.call_intrinsic "llvm.nvvm.prmt"(%[[WORD]], %[[UPPER]], %{{.*}})
// CHECK: %[[BITS:.*]] = llvm.inline_asm "lop3.b32 $0, $1, 0x000f000f, $2, 0x6a;", "=r,r,r" %[[BYTES]], %[[MAGIC]]
// CHECK: %[[PAIR:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<2xf16>
// CHECK: llvm.fadd %[[PAIR]], %[[MOVE]] : vector<2xf16>
// CHECK-COUNT-3: lop3.b32

// SIGNED-DAG: llvm.mlir.constant(1678271496 : i32) : i32
// SIGNED-DAG: llvm.mlir.constant(dense<-1.032000e+03> : vector<2xf16>) : vector<2xf16>

// F32: %[[WORD:.*]] = llvm.extractelement
// F32: %[[BIG:.*]] = llvm.mlir.constant(1258291200 : i32) : i32
// F32: llvm.inline_asm "lop3.b32 $0, $1, 0x0000000f, $2, 0x6a;", "=r,r,r" %[[WORD]], %[[BIG]]
// F32: %[[BITS:.*]] = llvm.inline_asm "lop3.b32 $0, $1, 0x000000f0, $2, 0x6a;", "=r,r,r" %[[WORD]], %[[BIG]]
// F32: %[[NUMBER:.*]] = llvm.bitcast %[[BITS]] : i32 to f32
// F32: %[[UNIT:.*]] = llvm.mlir.constant(6.250000e-02 : f32) : f32
// F32: %[[LESS:.*]] = llvm.mlir.constant(-5.242880e+05 : f32) : f32
// F32: llvm.intr.fma(%[[NUMBER]], %[[UNIT]], %[[LESS]])
// F32: lop3.b32 $0, $1, 0x000f0000, $2, 0x6a;", "=r,r,r" %[[WORD]], %[[BIG]]
// F32: %[[REST:.*]] = llvm.lshr %[[WORD]], %{{.*}} : i32
// F32: lop3.b32 $0, $1, 0x0000000f, $2, 0x6a;", "=r,r,r" %[[REST]], %[[BIG]]
// F32: lop3.b32 $0, $1, 0x00000f00, $2, 0x6a;", "=r,r,r" %[[REST]], %[[BIG]]
// F32-NOT: prmt
// F32-SIGNED: llvm.mlir.constant(1258291208 : i32) : i32
// F32-SIGNED: llvm.mlir.constant(1258291328 : i32) : i32
// F32-SIGNED: llvm.mlir.constant(-5.242960e+05 : f32)

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
// BF16-DAG: llvm.mlir.constant(1124090624 : i32) : i32
// BF16-DAG: llvm.mlir.constant(dense<-1.280000e+02> : vector<2xbf16>) : vector<2xbf16>
// BF16: llvm.intr.fma{{.*}} : (vector<2xbf16>, vector<2xbf16>, vector<2xbf16>) -> vector<2xbf16>
tile.kernel @widen params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile.num_warps = 1 : i64} grid {
^bb0(%arg0: !tile.ptr<i4>, %arg1: !tile.ptr<f16>):
  %c1 = arith.constant 1 : index
  tile.yield %c1 : index
} body {
^bb0(%arg0: !tile.ptr<i4>, %arg1: !tile.ptr<f16>):
  %c1024 = arith.constant 1024 : index
  %c1 = arith.constant 1 : index
  %c0_i4 = arith.constant 0 : i4
  %0 = tile.view %arg0[%c1024] strides[%c1] : <i4> -> <1024xi4>
  %1 = tile.view %arg1[%c1024] strides[%c1] : <f16> -> <1024xf16>
  %2 = tile.program_id 0
  %3 = arith.muli %2, %c1024 : index
  %4 = tile.load %0[%3] pad %c0_i4 : i4 {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 1024>, steps = array<i64: 1>} : <1024xi4> -> tensor<1024xi4>
  %5 = arith.uitofp %4 : tensor<1024xi4> to tensor<1024xf16>
  tile.store %5, %1[%3] {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 1024>, steps = array<i64: 1>} : tensor<1024xf16>, <1024xf16>
  tile.return
}
}
