// RUN: tile-opt %s --tile-expand-float8 | FileCheck %s
// RUN: sed s/sm_90a/sm_80/ %s | tile-opt - --tile-expand-float8=processor=gpu | FileCheck %s
// RUN: tile-opt %s --tile-expand-float8=processor=gpu | FileCheck %s --check-prefix=GPU

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Nothing is left of the type: not in memory, nor across control flow, nor in constants.
// CHECK-LABEL: func @moves(%{{.*}}: i1) -> i8
// CHECK-NOT: f8E
func.func @moves(%c: i1) -> i8 {
  %zero = arith.constant 0 : index
  // CHECK: arith.constant 126 : i8
  %largest = arith.constant 448.0 : f8E4M3FN
  // CHECK: memref.alloc() : memref<4xi8>
  %m = memref.alloc() : memref<4xf8E4M3FN>
  %v = scf.if %c -> f8E4M3FN {
    %x = memref.load %m[%zero] : memref<4xf8E4M3FN>
    scf.yield %x : f8E4M3FN
  } else {
    scf.yield %largest : f8E4M3FN
  }
  memref.store %v, %m[%zero] : memref<4xf8E4M3FN>
  // CHECK-NOT: arith.bitcast
  %bits = arith.bitcast %v : f8E4M3FN to i8
  return %bits : i8
}

// A scalar is converted on its bits everywhere.
// CHECK-LABEL: func @scalar
// GPU-LABEL: func @scalar
// CHECK-NOT: f8E
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// GPU-NOT: nvvm
func.func @scalar(%x: i8) -> f16 {
  %f = arith.bitcast %x : i8 to f8E5M2
  %y = arith.extf %f : f8E5M2 to f16
  return %y : f16
}

// A vector stays whole without the instructions; with them it goes by pairs, the first element in
// the lower byte.
// CHECK-LABEL: func @vectors
// CHECK-NOT: vector.extract
// CHECK: arith.minui %{{.*}} : vector<3xi32>
// GPU-LABEL: func @vectors
// GPU: %[[A:.*]] = vector.extract %{{.*}}[0] : f32 from vector<3xf32>
// GPU: %[[B:.*]] = vector.extract %{{.*}}[1] : f32 from vector<3xf32>
// GPU: nvvm.convert.f32x2.to.f8x2 %[[B]], %[[A]] {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : vector<2xi8>(f8E4M3FN)
// GPU: %[[C:.*]] = vector.extract %{{.*}}[2] : f32 from vector<3xf32>
// GPU: nvvm.convert.f32x2.to.f8x2 %[[C]], %[[C]]
// GPU: vector.from_elements {{.*}} : vector<3xi8>
// GPU-COUNT-2: nvvm.convert.f8x2.to.f16x2 %{{.*}} : vector<2xi8>(f8E4M3FN) -> vector<2xf16>
// GPU: arith.extf %{{.*}} : vector<3xf16> to vector<3xf64>
func.func @vectors(%x: vector<3xf64>) -> vector<3xf64> {
  %f = arith.truncf %x : vector<3xf64> to vector<3xf8E4M3FN>
  %y = arith.extf %f : vector<3xf8E4M3FN> to vector<3xf64>
  return %y : vector<3xf64>
}

// Integers of any width come through f32: what that does not hold saturates.
// CHECK-LABEL: func @integers
// CHECK: arith.uitofp %{{.*}} : i64 to f32
func.func @integers(%x: i64) -> i8 {
  %f = arith.uitofp %x : i64 to f8E5M2
  %y = arith.bitcast %f : f8E5M2 to i8
  return %y : i8
}
}
