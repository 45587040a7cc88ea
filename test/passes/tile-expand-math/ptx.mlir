// RUN: tile-opt %s --tile-expand-math=processor=gpu | mlir-opt --convert-scf-to-cf \
// RUN:   --convert-cf-to-llvm --convert-math-to-llvm --convert-arith-to-llvm --convert-vector-to-llvm \
// RUN:   --convert-func-to-llvm --reconcile-unrealized-casts | mlir-translate --mlir-to-llvmir \
// RUN:   | llc -mtriple=nvptx64-nvidia-cuda -mcpu=sm_90 | FileCheck %s --implicit-check-not=call

// Every function selects on NVPTX without a call; exp and rsqrt use the special function unit, sqrt
// is exact.
// CHECK: ex2.approx.f32
// CHECK: rsqrt.approx.f32
// CHECK: sqrt.rn.f32
// CHECK: cvt.rni.f32.f32
func.func @all(%p: !llvm.ptr<1>) {
  %x = llvm.load %p : !llvm.ptr<1> -> vector<4xf32>
  %0 = math.exp %x : vector<4xf32>
  %1 = math.exp2 %0 : vector<4xf32>
  %2 = math.expm1 %1 : vector<4xf32>
  %3 = math.log %2 : vector<4xf32>
  %4 = math.log2 %3 : vector<4xf32>
  %5 = math.log1p %4 : vector<4xf32>
  %6 = math.sin %5 : vector<4xf32>
  %7 = math.cos %6 : vector<4xf32>
  %8 = math.tan %7 : vector<4xf32>
  %9 = math.tanh %8 : vector<4xf32>
  %10 = math.erf %9 : vector<4xf32>
  %11 = math.rsqrt %10 : vector<4xf32>
  %12 = math.sqrt %11 : vector<4xf32>
  %13 = math.powf %12, %x : vector<4xf32>
  %14 = math.roundeven %13 : vector<4xf32>
  llvm.store %14, %p : vector<4xf32>, !llvm.ptr<1>
  %y = llvm.load %p : !llvm.ptr<1> -> f64
  %15 = math.sin %y : f64
  %16 = math.tan %15 : f64
  %17 = math.erf %16 : f64
  %18 = math.powf %17, %y : f64
  %19 = math.log1p %18 : f64
  %20 = math.tanh %19 : f64
  llvm.store %20, %p : f64, !llvm.ptr<1>
  %z = llvm.load %p : !llvm.ptr<1> -> vector<2xbf16>
  %21 = math.exp %z : vector<2xbf16>
  %22 = math.floor %21 : vector<2xbf16>
  llvm.store %22, %p : vector<2xbf16>, !llvm.ptr<1>
  return
}
