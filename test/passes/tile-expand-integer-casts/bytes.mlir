// f32 to bytes: the conversion to 32 bits clamps and makes 0 of NaN, and packing clamps to bytes, so
// none of what the program says stays, nor what rounds.
// RUN: tile-opt %s --tile-expand-integer-casts | FileCheck %s

// CHECK-LABEL: func.func @rounded
// CHECK-NOT: {{roundeven|cmpf|maximumf}}
// CHECK: %[[FOURTH:.*]] = vector.extract %arg0[3]
// CHECK: %[[D:.*]] = llvm.call_intrinsic "llvm.nvvm.f2i.rn"(%[[FOURTH]])
// CHECK: %[[C:.*]] = llvm.call_intrinsic "llvm.nvvm.f2i.rn"
// CHECK: %[[UPPER:.*]] = llvm.inline_asm "cvt.pack.sat.s8.s32.b32 $0, $1, $2, $3;", "=r,r,r,r" %[[D]], %[[C]], %c0
// CHECK: %[[B:.*]] = llvm.call_intrinsic "llvm.nvvm.f2i.rn"
// CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.f2i.rn"
// CHECK: llvm.inline_asm "cvt.pack.sat.s8.s32.b32 $0, $1, $2, $3;", "=r,r,r,r" %[[B]], %[[A]], %[[UPPER]]
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.f2i.rn"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: vector.bitcast %{{.*}} : vector<2xi32> to vector<8xi8>
func.func @rounded(%x: vector<8xf32>) -> vector<8xi8> {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %low = arith.constant dense<-128.0> : vector<8xf32>
  %high = arith.constant dense<127.0> : vector<8xf32>
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.cmpf uno, %0, %0 : vector<8xf32>
  %2 = arith.select %1, %zero, %0 : vector<8xi1>, vector<8xf32>
  %3 = arith.maximumf %2, %low : vector<8xf32>
  %4 = arith.minimumf %3, %high : vector<8xf32>
  %5 = arith.fptosi %4 : vector<8xf32> to vector<8xi8>
  return %5 : vector<8xi8>
}

// Without a sign, cut off, and with a clamp of the program's own, which stays.
// CHECK-LABEL: func.func @cut
// CHECK: arith.minimumf
// CHECK: llvm.call_intrinsic "llvm.nvvm.f2i.rz"
// CHECK: cvt.pack.sat.u8.s32.b32
// CHECK-NOT: arith.fptoui
func.func @cut(%x: vector<4xf32>) -> vector<4xi8> {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %own = arith.constant dense<99.0> : vector<4xf32>
  %high = arith.constant dense<255.0> : vector<4xf32>
  %0 = arith.minimumf %x, %own : vector<4xf32>
  %1 = arith.cmpf uno, %0, %0 : vector<4xf32>
  %2 = arith.select %1, %zero, %0 : vector<4xi1>, vector<4xf32>
  %3 = arith.maximumf %2, %zero : vector<4xf32>
  %4 = arith.minimumf %3, %high : vector<4xf32>
  %5 = arith.fptoui %4 : vector<4xf32> to vector<4xi8>
  return %5 : vector<4xi8>
}

// What rounds stays for others; other limits, no word of bytes, f64 and 16 bits are left as they
// are.
// CHECK-LABEL: func.func @left
// CHECK: math.roundeven
// CHECK: llvm.call_intrinsic "llvm.nvvm.f2i.rn"
// CHECK-COUNT-3: arith.fptosi
// CHECK-NOT: llvm.call_intrinsic
func.func @left(%x: vector<4xf32>, %y: vector<2xf32>)
    -> (vector<4xf32>, vector<4xi8>, vector<4xi8>, vector<2xi8>, vector<4xi16>) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %low = arith.constant dense<-128.0> : vector<4xf32>
  %high = arith.constant dense<127.0> : vector<4xf32>
  %less = arith.constant dense<100.0> : vector<4xf32>
  %zero2 = arith.constant dense<0.0> : vector<2xf32>
  %low2 = arith.constant dense<-128.0> : vector<2xf32>
  %high2 = arith.constant dense<127.0> : vector<2xf32>
  %0 = math.roundeven %x : vector<4xf32>
  %1 = arith.cmpf uno, %0, %0 : vector<4xf32>
  %2 = arith.select %1, %zero, %0 : vector<4xi1>, vector<4xf32>
  %3 = arith.maximumf %2, %low : vector<4xf32>
  %4 = arith.minimumf %3, %high : vector<4xf32>
  %5 = arith.fptosi %4 : vector<4xf32> to vector<4xi8>
  %6 = arith.minimumf %3, %less : vector<4xf32>
  %7 = arith.fptosi %6 : vector<4xf32> to vector<4xi8>
  %8 = arith.cmpf uno, %y, %y : vector<2xf32>
  %9 = arith.select %8, %zero2, %y : vector<2xi1>, vector<2xf32>
  %10 = arith.maximumf %9, %low2 : vector<2xf32>
  %11 = arith.minimumf %10, %high2 : vector<2xf32>
  %12 = arith.fptosi %11 : vector<2xf32> to vector<2xi8>
  %13 = arith.fptosi %4 : vector<4xf32> to vector<4xi16>
  return %0, %5, %7, %12, %13
      : vector<4xf32>, vector<4xi8>, vector<4xi8>, vector<2xi8>, vector<4xi16>
}
