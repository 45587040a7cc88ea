// Formats are known by LLVM's description of them alone: numbers of two that no dtype has yet, with
// an infinity behind the largest number. Folding the code that the pass makes gives the bytes.
// RUN: tile-opt %s --tile-expand-float8 --canonicalize | FileCheck %s
// RUN: tile-opt %s --tile-expand-float8=processor=gpu --canonicalize | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Ties go to the even neighbour, the smallest is 2^-6, the largest 15.5, and NaN stays.
// CHECK-LABEL: func @round_e3m4
// CHECK: dense<[6, 111, 111, -17, 1, 111, 48, 120]> : vector<8xi8>
func.func @round_e3m4() -> vector<8xi8> {
  %x = arith.constant dense<[0.1, 15.5, 16.0, -1.0e6, 0.015625, 0x7F800000, 1.03125, 0x7FC00000]>
      : vector<8xf32>
  %f = tile.round_float8 %x : vector<8xf32> -> vector<8xf8E3M4>
  %bits = arith.bitcast %f : vector<8xf8E3M4> to vector<8xi8>
  return %bits : vector<8xi8>
}

// CHECK-LABEL: func @widen_e3m4
// CHECK: dense<[9.375000e-02, 1.550000e+01, 1.562500e-02, 1.000000e+00, 0x7F800000, 0x7FC00000,
// CHECK-SAME: -0.000000e+00, -1.550000e+01]> : vector<8xf32>
func.func @widen_e3m4() -> vector<8xf32> {
  %bits = arith.constant dense<[6, 111, 1, 48, 112, 120, 128, 239]> : vector<8xi8>
  %f = arith.bitcast %bits : vector<8xi8> to vector<8xf8E3M4>
  %x = arith.extf %f : vector<8xf8E3M4> to vector<8xf32>
  return %x : vector<8xf32>
}

// CHECK-LABEL: func @round_e4m3
// CHECK: dense<[56, 119, 119, 124]> : vector<4xi8>
func.func @round_e4m3() -> vector<4xi8> {
  %x = arith.constant dense<[1.0, 240.0, 300.0, 0x7FC00000]> : vector<4xf32>
  %f = tile.round_float8 %x : vector<4xf32> -> vector<4xf8E4M3>
  %bits = arith.bitcast %f : vector<4xf8E4M3> to vector<4xi8>
  return %bits : vector<4xi8>
}
}
