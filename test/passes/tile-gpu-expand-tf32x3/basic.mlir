// Three products of tf32 for one of tf32x3; others and small ones stay. (N4.4)
// RUN: tile-opt --allow-unregistered-dialect %s --tile-gpu-expand-tf32x3 | FileCheck %s

// CHECK-LABEL: tile.kernel @k
// CHECK: %[[A:.*]] = "test.tile"() : () -> tensor<64x32xf32>
// CHECK: %[[B:.*]] = "test.tile"() : () -> tensor<64x32xf32>
// CHECK: %[[WORD:.*]] = arith.bitcast %[[A]] : tensor<64x32xf32> to tensor<64x32xi32>
// CHECK: %[[KEPT:.*]] = arith.andi %[[WORD]], %{{.*}} : tensor<64x32xi32>
// CHECK: %[[INFINITE:.*]] = arith.cmpi eq
// CHECK: %[[ONE:.*]] = arith.ori
// CHECK: %[[UPPER:.*]] = arith.select %[[INFINITE]], %[[ONE]], %[[KEPT]]
// CHECK: %[[HI:.*]] = arith.bitcast %[[UPPER]] : tensor<64x32xi32> to tensor<64x32xf32>
// CHECK: %[[LO:.*]] = arith.subf %[[A]], %[[HI]]
// CHECK: arith.bitcast %[[B]]
// CHECK: tile.permute
// CHECK: tile.permute
// CHECK: %[[S1:.*]] = tile.dot %[[LO]], %{{.*}}, %{{.*}} precision tf32
// CHECK: %[[S2:.*]] = tile.dot %[[HI]], %{{.*}}, %[[S1]] precision tf32
// CHECK: %[[S3:.*]] = tile.dot %[[HI]], %{{.*}}, %[[S2]] precision tf32
// CHECK: "test.use"(%[[S3]])
// CHECK: tile.dot {{.*}} precision full
// CHECK: tile.dot {{.*}} precision tf32x3
// CHECK-NOT: tile.dot
tile.kernel @k params [] dims [] constexprs [] grid {
  tile.yield
} body {
  %a = "test.tile"() : () -> tensor<64x32xf32>
  %b = "test.tile"() : () -> tensor<64x32xf32>
  %c = "test.tile"() : () -> tensor<64x64xf32>
  %t = tile.permute %b {permutation = array<i64: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
  %d = tile.dot %a, %t, %c precision tf32x3 : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
  "test.use"(%d) : (tensor<64x64xf32>) -> ()
  %e = tile.dot %a, %t, %c precision full : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>
  "test.use"(%e) : (tensor<64x64xf32>) -> ()
  %x = "test.tile"() : () -> tensor<4x8xf32>
  %y = "test.tile"() : () -> tensor<8x4xf32>
  %z = "test.tile"() : () -> tensor<4x4xf32>
  %w = tile.dot %x, %y, %z precision tf32x3 : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  "test.use"(%w) : (tensor<4x4xf32>) -> ()
  tile.return
}
