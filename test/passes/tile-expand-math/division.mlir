// RUN: tile-opt %s --tile-expand-math=processor=gpu | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: tile-opt %s --tile-expand-math=processor=cpu | FileCheck %s --check-prefixes=CHECK,CPU

// Of the dividend 1, groups of eight share a branch to the division that takes all operands, within
// one statement.
// CHECK-LABEL: func.func @reciprocals
// CPU-NOT: inline_asm
// CPU: arith.divf {{.*}} : vector<16xf32>
// GPU: llvm.inline_asm "{ .reg .f32 q<8>, {{.*}}mov.b32 m, 0;\0A
// GPU-SAME: {{(rcp.approx.ftz.f32 q., .[0-9]*; [^A]*A){8}s}}etp.ge.u32 p, m, 4227858432; @!p bra RIGHT;
// GPU-SAME: {{(rcp.rn.f32 q., .[0-9]*;[^A]*A){8}R}}IGHT:
// GPU-SAME: "=f,=f,=f,=f,=f,=f,=f,=f,f,f,f,f,f,f,f,f"
// GPU: llvm.inline_asm
// GPU-NOT: llvm.inline_asm
func.func @reciprocals(%x: vector<16xf32>, %lane: i32) -> (vector<16xf32>, i32) {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %r = arith.divf %one, %x : vector<16xf32>
  return %r, %other : vector<16xf32>, i32
}

// A divisor in common.
// CHECK-LABEL: func.func @shared
// GPU: %[[R:.*]] = nvvm.rcp.approx.ftz.f %[[D:.*]] : f32
// GPU: math.fma %{{.*}}, %[[R]], %{{.*}} : f32
// GPU: %[[FINE:.*]] = math.fma %{{.*}}, %[[R]], %[[R]] : f32
// GPU: %[[WRONG:.*]] = arith.cmpi uge
// GPU-NOT: nvvm.rcp
// GPU: llvm.inline_asm "{ .reg .f32 q<4>, {{.*}}mul.rn.f32 q0, $7, $5; neg.f32 t, $7; fma.rn.f32 t, $4, q0, t;
// GPU-SAME: max.NaN.f32 m, m, t; mov.b32 u, $7; shl.b32 u, u, 1; sub.u32 u, u, 1; min.u32 l, l, u;
// GPU-SAME: setp.gtu.f32 p, m, 0f7F7FFFFF; setp.lt.u32 w, l, 620756991; or.pred p, p, w; or.pred p, p, $6;
// GPU-SAME: @!p bra RIGHT;{{.*}}div.rn.f32 q0, $7, $4;{{.*}}div.rn.f32 q3, $10, $4;{{.*}}RIGHT:
// GPU-SAME: %[[D]], %[[FINE]], %[[WRONG]],
func.func @shared(%x: vector<4xf32>, %d: f32, %lane: i32) -> (vector<4xf32>, i32) {
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %all = vector.broadcast %d : f32 to vector<4xf32>
  %r = arith.divf %x, %all : vector<4xf32>
  return %r, %other : vector<4xf32>, i32
}

// Within a loop, and, being few, left behind one, where they are done once.
// CHECK-LABEL: func.func @loops
// GPU: scf.for
// GPU: llvm.inline_asm
// CHECK: scf.yield
// GPU-NOT: llvm.inline_asm
// CHECK: return
func.func @loops(%x: vector<4xf32>, %d: f32, %lane: i32, %n: index) -> (vector<4xf32>, i32) {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %all = vector.broadcast %d : f32 to vector<4xf32>
  %y = scf.for %i = %zero to %n step %step iter_args(%a = %x) -> vector<4xf32> {
    %q = arith.divf %a, %all : vector<4xf32>
    scf.yield %q : vector<4xf32>
  }
  %r = arith.divf %y, %all : vector<4xf32>
  return %r, %other : vector<4xf32>, i32
}

// Many of them behind a loop, as where attention ends: one after another they would take as long as
// some trips. Of 65 in all, none.
// CHECK-LABEL: func.func @behind
// CHECK: scf.for
// GPU-COUNT-2: nvvm.rcp.approx.ftz.f
// GPU: llvm.inline_asm {{.*}}mul.rn.f32 q0, $14, $9;{{.*}}mul.rn.f32 q1, $15, $12;{{.*}}mul.rn.f32 q2, $16, $9;
// GPU-COUNT-2: nvvm.rcp.approx.ftz.f
// GPU: llvm.inline_asm
// CPU-NOT: llvm.inline_asm
// CHECK: return
func.func @behind(%x: vector<16xf32>, %d: f32, %e: f32, %lane: i32, %n: index)
    -> (vector<16xf32>, i32) {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %rows = vector.from_elements %d, %e, %d, %e, %d, %e, %d, %e, %d, %e, %d, %e, %d, %e, %d, %e
      : vector<16xf32>
  %y = scf.for %i = %zero to %n step %step iter_args(%a = %x) -> vector<16xf32> {
    %q = arith.addf %a, %rows : vector<16xf32>
    scf.yield %q : vector<16xf32>
  }
  %r = arith.divf %y, %rows : vector<16xf32>
  return %r, %other : vector<16xf32>, i32
}

// CHECK-LABEL: func.func @many_behind
// CHECK-NOT: llvm.inline_asm
// CHECK: return
func.func @many_behind(%x: vector<65xf32>, %d: f32, %lane: i32, %n: index)
    -> (vector<65xf32>, i32) {
  %zero = arith.constant 0 : index
  %step = arith.constant 1 : index
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %all = vector.broadcast %d : f32 to vector<65xf32>
  %y = scf.for %i = %zero to %n step %step iter_args(%a = %x) -> vector<65xf32> {
    %q = arith.addf %a, %all : vector<65xf32>
    scf.yield %q : vector<65xf32>
  }
  %r = arith.divf %y, %all : vector<65xf32>
  return %r, %other : vector<65xf32>, i32
}

// No thread waits for another: other warps run meanwhile, and more of them with fewer registers.
// CHECK-LABEL: func.func @streams
// CHECK-NOT: llvm.inline_asm
// CHECK: return
func.func @streams(%x: vector<4xf32>, %d: f32) -> vector<4xf32> {
  %all = vector.broadcast %d : f32 to vector<4xf32>
  %r = arith.divf %x, %all : vector<4xf32>
  return %r : vector<4xf32>
}

// Warps beside a producer are few: 32 elements of a trip are four groups. 64 of others are none.
// CHECK-LABEL: func.func @beside_producer
// GPU-COUNT-4: llvm.inline_asm
// CHECK: return
func.func @beside_producer(%x: vector<32xf32>, %d: f32, %lane: i32) -> (vector<32xf32>, i32)
    attributes {tile_gpu.producer_threads = 128 : i64} {
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %all = vector.broadcast %d : f32 to vector<32xf32>
  %r = arith.divf %x, %all : vector<32xf32>
  return %r, %other : vector<32xf32>, i32
}

// CHECK-LABEL: func.func @without_producer
// CHECK-NOT: llvm.inline_asm
// CHECK: return
func.func @without_producer(%x: vector<64xf32>, %d: f32, %lane: i32) -> (vector<64xf32>, i32) {
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %all = vector.broadcast %d : f32 to vector<64xf32>
  %r = arith.divf %x, %all : vector<64xf32>
  return %r, %other : vector<64xf32>, i32
}

// More elements in all than code should grow by.
// CHECK-LABEL: func.func @long
// CHECK-NOT: llvm.inline_asm
// CHECK: return
func.func @long(%x: vector<16xf32>, %d: f32, %lane: i32) -> (vector<16xf32>, i32) {
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %all = vector.broadcast %d : f32 to vector<16xf32>
  %0 = arith.divf %x, %all : vector<16xf32>
  %1 = arith.divf %0, %all : vector<16xf32>
  %2 = arith.divf %1, %all : vector<16xf32>
  %3 = arith.divf %2, %all : vector<16xf32>
  %4 = arith.divf %3, %all : vector<16xf32>
  return %4, %other : vector<16xf32>, i32
}

// Divisors of their own, one element, more than a thread has registers for, and permission to
// approximate: one operation, as it was.
// CHECK-LABEL: func.func @left
// CHECK-NOT: llvm.inline_asm
// CHECK-COUNT-4: arith.divf
// CHECK-NOT: arith.divf
func.func @left(%x: vector<4xf32>, %y: vector<4xf32>, %s: f32, %large: vector<32xf32>, %lane: i32)
    -> (vector<4xf32>, f32, vector<32xf32>, vector<4xf32>, i32) {
  %one = arith.constant 1.0 : f32
  %ones = arith.constant dense<1.0> : vector<32xf32>
  %few = arith.constant dense<1.0> : vector<4xf32>
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %0 = arith.divf %x, %y : vector<4xf32>
  %1 = arith.divf %one, %s : f32
  %2 = arith.divf %ones, %large : vector<32xf32>
  %3 = arith.divf %few, %x fastmath<arcp> : vector<4xf32>
  return %0, %1, %2, %3, %other : vector<4xf32>, f32, vector<32xf32>, vector<4xf32>, i32
}

// tanh of f32 is 1 - 2 / (exp(2|x|) + 1) with an approximate reciprocal, and a polynomial near 0,
// with the argument's sign, also that of -0: no branch, for numbers alone neither.
// CHECK-LABEL: func.func @tanh
// GPU-NOT: arith.divf
// GPU: llvm.intr.exp2
// GPU: %[[SUM:.*]] = arith.addf {{.*}} : vector<4xf32>
// GPU-COUNT-4: nvvm.rcp.approx.ftz.f
// GPU: %[[SIZE:.*]] = arith.select {{.*}} : vector<4xi1>, vector<4xf32>
// GPU: math.copysign %[[SIZE]]
// GPU: nvvm.rcp.approx.ftz.f
// GPU-NOT: {{arith.divf|scf.if}}
// CPU-COUNT-2: arith.divf
// GPU-LABEL: func.func @sigmoid
// CPU-LABEL: func.func @sigmoid
func.func @tanh(%x: vector<4xf32>, %y: f32) -> (vector<4xf32>, f32) {
  %0 = math.tanh %x : vector<4xf32>
  %1 = math.tanh %y : f32
  return %0, %1 : vector<4xf32>, f32
}

// 1 / (1 + exp(x)), of vectors and numbers, in kernels of any kind: the sum times 2^-24 is a number
// wherever the result is not 0, so without a branch.
// GPU-COUNT-4: ex2.approx.ftz.f32 e, r;{{.*}}fma.rn.f32 e, e, t, 0f33800000; rcp.approx.ftz.f32 e, e; mul.f32 $0, e, 0f33800000;
// GPU-NOT: {{arith.divf|scf.if}}
// GPU: rcp.approx.ftz.f
// GPU-NOT: {{arith.divf|scf.if}}
// CPU-COUNT-2: arith.divf
// GPU-LABEL: func.func @no_sigmoid
// CPU-LABEL: func.func @no_sigmoid
func.func @sigmoid(%x: vector<4xf32>, %y: f32) -> (vector<4xf32>, f32) {
  %ones = arith.constant dense<1.0> : vector<4xf32>
  %one = arith.constant 1.0 : f32
  %0 = math.exp %x : vector<4xf32>
  %1 = arith.addf %ones, %0 : vector<4xf32>
  %2 = arith.divf %ones, %1 : vector<4xf32>
  %3 = math.exp %y : f32
  %4 = arith.addf %3, %one : f32
  %5 = arith.divf %one, %4 : f32
  return %2, %5 : vector<4xf32>, f32
}

// Not where something else needs the exponential, or the division is another.
// CHECK-COUNT-2: arith.divf
func.func @no_sigmoid(%x: f32, %y: f32) -> (f32, f32, f32) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %0 = math.exp %x : f32
  %1 = arith.addf %one, %0 : f32
  %2 = arith.divf %one, %1 : f32
  %3 = math.exp %y : f32
  %4 = arith.addf %3, %two : f32
  %5 = arith.divf %one, %4 : f32
  return %0, %2, %5 : f32, f32, f32
}

// One divisor for all takes no registers: 32 elements of a thread are written out, too.
// CHECK-LABEL: func.func @one
// GPU-COUNT-4: llvm.inline_asm
// GPU-NOT: llvm.inline_asm
// CPU-NOT: llvm.inline_asm
func.func @one(%x: vector<32xf32>, %s: f32, %lane: i32) -> (vector<32xf32>, i32) {
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %all = vector.broadcast %s : f32 to vector<32xf32>
  %0 = arith.divf %x, %all : vector<32xf32>
  return %0, %other : vector<32xf32>, i32
}

// A constant's reciprocal is a constant. What is rounded to integers or f16 afterwards needs no look
// at tiny dividends; a power of two is left to LLVM, and a divisor out of the ordinary is one.
// CHECK-LABEL: func.func @constants
// GPU: llvm.inline_asm "{ .reg .f32 q<4>, {{.*}}mul.rn.f32 q0, $6, $5; {{.*}}min.u32
// GPU-SAME: %[[SEVEN:.*]], %[[SEVENTH:.*]], %{{.*}} : (
// GPU-NOT: nvvm.rcp
// GPU: llvm.inline_asm "{ .reg .f32 q<4>,
// GPU-NOT: min.u32
// GPU: llvm.inline_asm "{ .reg .f32 q<4>,
// GPU-NOT: min.u32
// CHECK-COUNT-2: arith.divf
// GPU-NOT: arith.divf
// CHECK: return
func.func @constants(%x: vector<4xf32>, %lane: i32)
    -> (vector<4xf32>, vector<4xf32>, vector<4xf16>, vector<4xf32>, vector<4xf32>, i32) {
  %other = nvvm.shfl.sync bfly %lane, %lane, %lane, %lane : i32 -> i32
  %seven = arith.constant dense<7.0> : vector<4xf32>
  %nine = arith.constant dense<9.0> : vector<4xf32>
  %eight = arith.constant dense<8.0> : vector<4xf32>
  %huge = arith.constant dense<3.0e30> : vector<4xf32>
  %0 = arith.divf %x, %seven : vector<4xf32>
  %1 = arith.divf %x, %nine : vector<4xf32>
  %2 = math.roundeven %1 : vector<4xf32>
  %3 = arith.addf %x, %nine : vector<4xf32>
  %4 = arith.divf %3, %nine : vector<4xf32>
  %5 = arith.truncf %4 : vector<4xf32> to vector<4xf16>
  %6 = arith.divf %x, %eight : vector<4xf32>
  %7 = arith.divf %x, %huge : vector<4xf32>
  return %0, %2, %5, %6, %7, %other
      : vector<4xf32>, vector<4xf32>, vector<4xf16>, vector<4xf32>, vector<4xf32>, i32
}
