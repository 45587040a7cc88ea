// RUN: tile-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @shapes
// CHECK-NEXT: return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @shapes(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = tile.reshape %t : tensor<4xf32> -> tensor<2x2xf32>
  %b = tile.reshape %a : tensor<2x2xf32> -> tensor<4xf32>
  %c = tile.broadcast %t : tensor<4xf32> -> tensor<4xf32>
  return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @splats
// CHECK: arith.constant dense<1.000000e+00> : tensor<8x4xf32>
// CHECK-NOT: tile.
func.func @splats() -> tensor<8x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %b = tile.broadcast %one : tensor<4xf32> -> tensor<4x4xf32>
  %c = tile.reshape %b : tensor<4x4xf32> -> tensor<2x8xf32>
  %d = tile.permute %c {permutation = array<i64: 1, 0>} : tensor<2x8xf32> -> tensor<8x2xf32>
  %e = tile.reshape %d : tensor<8x2xf32> -> tensor<4x4xf32>
  %f = tile.reshape %e : tensor<4x4xf32> -> tensor<16xf32>
  %g = tile.reshape %f : tensor<16xf32> -> tensor<1x16xf32>
  %h = tile.broadcast %g : tensor<1x16xf32> -> tensor<2x16xf32>
  %i = tile.reshape %h : tensor<2x16xf32> -> tensor<8x4xf32>
  return %i : tensor<8x4xf32>
}

// An extent is that of the view's making, whatever was done to it since.
// CHECK-LABEL: func @extents
// CHECK-SAME: %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
// CHECK: return %[[M]]
func.func @extents(%p: !tile.ptr<f32>, %m: index, %n: index) -> index {
  %v = tile.view %p[%m, %n] strides [%n, %m] : !tile.ptr<f32> -> !tile.view<?x?xf32>
  %t = tile.permute_view %v {permutation = array<i64: 1, 0>} : !tile.view<?x?xf32> -> !tile.view<?x?xf32>
  %e = tile.extent %t 1 : !tile.view<?x?xf32>
  return %e : index
}

// A dimension of one value is a constant.
// CHECK-LABEL: tile.kernel @constant
// CHECK: %[[C:.*]] = arith.constant 64 : index
// CHECK: tile.yield %[[C]]
tile.kernel @constant params [] dims [#tile.dim<"M", 64, 64, opt = 64, multiple_of = 1>] constexprs [] grid {
  %m = tile.dim #tile.dim<"M", 64, 64, opt = 64, multiple_of = 1>
  tile.yield %m : index
} body { tile.return }

// To 8 bits numbers saturate, infinity too, whether folded or not; an extension before that is not
// folded away.
// CHECK-LABEL: func @float8
func.func @float8(%x: tensor<2xf8E5M2>) -> (f8E5M2, tensor<4xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf8E5M2>) {
  // CHECK-DAG: arith.constant 5.734400e+04 : f8E5M2
  // CHECK-DAG: arith.constant dense<[-4.480000e+02, 4.480000e+02, 1.000000e+00, 1.125000e+00]> : tensor<4xf8E4M3FN>
  // CHECK-DAG: arith.constant dense<-5.734400e+04> : tensor<2xf8E5M2>
  // CHECK: tile.round_float8 %{{.*}} : tensor<2xf32> -> tensor<2xf8E5M2>
  %inf = arith.constant 0x7F800000 : f32
  %a = tile.round_float8 %inf : f32 -> f8E5M2
  %many = arith.constant dense<[-1.0e30, 1000.0, 1.05, 1.1]> : tensor<4xf32>
  %b = tile.round_float8 %many : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %splat = arith.constant dense<0xFC00> : tensor<2xf16>
  %c = tile.round_float8 %splat : tensor<2xf16> -> tensor<2xf8E5M2>
  %wide = arith.extf %x : tensor<2xf8E5M2> to tensor<2xf32>
  %d = tile.round_float8 %wide : tensor<2xf32> -> tensor<2xf8E5M2>
  return %a, %b, %c, %d : f8E5M2, tensor<4xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf8E5M2>
}
