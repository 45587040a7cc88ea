// RUN: tile-opt %s --tile-expand-math --split-input-file | FileCheck %s
// RUN: tile-opt %s --tile-expand-math=processor=gpu --split-input-file \
// RUN:   | FileCheck %s --check-prefix=GPU

// No elementary function is left, on scalars nor on vectors, and a vector stays whole but for what
// is inline PTX.
// CHECK-LABEL: func @families
// CHECK-NOT: math.{{exp|log|sin|cos|tan|erf|pow|rsqrt}}
// GPU-LABEL: func @families
// GPU-NOT: math.{{exp|log|sin|cos|tan|erf|pow|rsqrt}}
func.func @families(%x: vector<6xf32>, %y: f64) -> (vector<6xf32>, f64) {
  %0 = math.exp %x : vector<6xf32>
  %1 = math.exp2 %0 : vector<6xf32>
  %2 = math.expm1 %1 : vector<6xf32>
  %3 = math.log %2 : vector<6xf32>
  %4 = math.log2 %3 : vector<6xf32>
  %5 = math.log1p %4 : vector<6xf32>
  %6 = math.sin %5 : vector<6xf32>
  %7 = math.cos %6 : vector<6xf32>
  %8 = math.tan %7 : vector<6xf32>
  %9 = math.tanh %8 : vector<6xf32>
  %10 = math.erf %9 : vector<6xf32>
  %11 = math.rsqrt %10 : vector<6xf32>
  %12 = math.powf %11, %x : vector<6xf32>
  %13 = math.sin %y : f64
  %14 = math.powf %13, %y : f64
  return %12, %14 : vector<6xf32>, f64
}

// -----

// 16-bit floats are computed in f32 and rounded once.
// CHECK-LABEL: func @narrow
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: f16
// CHECK: %[[RESULT:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK: %[[BWIDE:.*]] = arith.extf %{{.*}} : vector<4xbf16> to vector<4xf32>
// CHECK: %[[ROOT:.*]] = math.sqrt %[[BWIDE]] : vector<4xf32>
// CHECK: %[[BRESULT:.*]] = arith.truncf %[[ROOT]] : vector<4xf32> to vector<4xbf16>
// CHECK: return %[[RESULT]], %[[BRESULT]]
func.func @narrow(%x: f16, %y: vector<4xbf16>) -> (f16, vector<4xbf16>) {
  %0 = math.exp %x : f16
  %1 = math.sqrt %y : vector<4xbf16>
  return %0, %1 : f16, vector<4xbf16>
}

// -----

// A square is a product.
// CHECK-LABEL: func @square
// CHECK: %[[R:.*]] = arith.mulf %[[X:.*]], %[[X]] : f32
// CHECK-NEXT: return %[[R]]
func.func @square(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %0 = math.powf %x, %two : f32
  return %0 : f32
}

// -----

// `afn` permits NVIDIA's instructions alone on the GPU; on the CPU it changes nothing.
// GPU-LABEL: func @fast
// GPU: %[[SCALED:.*]] = arith.mulf %arg0
// GPU: %[[E:.*]] = llvm.intr.exp2(%[[SCALED]]) {fastmathFlags = #llvm.fastmath<afn>}
// GPU-NEXT: %[[T:.*]] = llvm.intr.tanh(%[[E]])
// GPU-NEXT: %[[S:.*]] = llvm.intr.sin(%[[T]])
// GPU-NEXT: %[[C:.*]] = llvm.intr.cos(%[[S]])
// GPU-NEXT: return %[[C]]
// CHECK-LABEL: func @fast
// CHECK-NOT: llvm.intr
func.func @fast(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x fastmath<afn> : vector<8xf32>
  %1 = math.tanh %0 fastmath<afn> : vector<8xf32>
  %2 = math.sin %1 fastmath<afn> : vector<8xf32>
  %3 = math.cos %2 fastmath<afn> : vector<8xf32>
  return %3 : vector<8xf32>
}

// -----

// erf is then tanh of a polynomial.
// GPU-LABEL: func @erf
// GPU: %[[T:.*]] = llvm.intr.tanh(%{{.*}})
// GPU-NEXT: return %[[T]]
// CHECK-LABEL: func @erf
// CHECK-NOT: llvm.
func.func @erf(%x: f32) -> f32 {
  %0 = math.erf %x fastmath<afn> : f32
  return %0 : f32
}

// -----

// f32 exp on the GPU is one sequence of inline PTX for each element, whose only approximate
// instruction flushes nothing that could be there: its argument is reduced.
// GPU-LABEL: func @exp
// GPU-COUNT-4: llvm.inline_asm {{.*}}fma.rn.sat.f32{{.*}}ex2.approx.ftz.f32
// GPU-NOT: llvm.inline_asm
// GPU: vector.from_elements
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  return %0 : vector<4xf32>
}
