// RUN: tile-opt %s --tile-expand-math | FileCheck %s
// RUN: tile-opt %s --tile-expand-math=processor=gpu | FileCheck %s

// What processors have themselves stays.
// CHECK-LABEL: func @native
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.ceil
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: math.trunc
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.copysign
// CHECK-NEXT: math.fma
// CHECK-NEXT: math.isnan
// CHECK-NEXT: math.ctpop
// CHECK-NEXT: math.ctlz
// CHECK-NEXT: return
func.func @native(%x: vector<4xf32>, %i: i32) -> (vector<4xf32>, vector<4xi1>, i32) {
  %0 = math.sqrt %x : vector<4xf32>
  %1 = math.floor %0 : vector<4xf32>
  %2 = math.ceil %1 : vector<4xf32>
  %3 = math.roundeven %2 : vector<4xf32>
  %4 = math.trunc %3 : vector<4xf32>
  %5 = math.absf %4 : vector<4xf32>
  %6 = math.copysign %5, %x : vector<4xf32>
  %7 = math.fma %6, %6, %x : vector<4xf32>
  %8 = math.isnan %7 : vector<4xf32>
  %9 = math.ctpop %i : i32
  %10 = math.ctlz %9 : i32
  return %7, %8, %10 : vector<4xf32>, vector<4xi1>, i32
}
