// RUN: tile-opt %s --allow-unregistered-dialect --tile-gpu-load-nibbles-as-bytes | FileCheck %s

#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 1>
#dimK = #tile.dim<"K", 32, 65536, opt = 4096, multiple_of = 32>

// The tensor is viewed as bytes, of half the extent and half the stride; what begins at a byte is
// loaded so.
// CHECK-LABEL: tile.kernel @rows
// CHECK: body {
// CHECK: %[[N:.*]] = tile.dim <"N"
// CHECK: %[[K:.*]] = tile.dim <"K"
// CHECK: %[[BYTES:.*]] = arith.divsi %[[K]], %c2
// CHECK: %[[STRIDE:.*]] = arith.divsi %[[K]], %c2
// CHECK: %[[V:.*]] = tile.view %{{.*}}[%[[N]], %[[BYTES]]] strides[%[[STRIDE]], %c1] : <i4> -> <?x?xi8>
// CHECK: scf.for %[[AT:[a-z0-9]+]] =
// CHECK: %[[START:.*]] = arith.divsi %[[AT]], %c2
// CHECK: %[[B:.*]] = tile.load %[[V]][%c0, %[[START]]] {{.*}}in_bounds = array<i1: false, true>, sizes = array<i64: 64, 32>{{.*}} -> tensor<64x32xi8>
// CHECK-NEXT: tile_gpu.unpack %[[B]] : tensor<64x32xi8> -> tensor<64x64xi4>
// An odd start reads half of a byte, and so may one that is not known.
// CHECK: tile.load %{{.*}} -> tensor<64x8xi4>
// CHECK: tile.load %{{.*}} -> tensor<64x16xi4>
// A step leaves out half of each byte, and a single position has no neighbour.
// CHECK: tile.load %{{.*}} -> tensor<64x4xi4>
// CHECK: tile.load %{{.*}} -> tensor<64xi4>
tile.kernel @rows params [#tile.param<"w", in, align = 16>] dims [#dimN, #dimK] constexprs [] grid {
^bb0(%w: !tile.ptr<i4>):
  tile.yield
} body {
^bb0(%w: !tile.ptr<i4>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i4
  %n = tile.dim #dimN
  %k = tile.dim #dimK
  %v = tile.view %w[%n, %k] strides[%k, %c1] : !tile.ptr<i4> -> !tile.view<?x?xi4>
  scf.for %at = %c0 to %k step %c64 {
    %t = tile.load %v[%c0, %at] pad %zero : i4 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : !tile.view<?x?xi4> -> tensor<64x64xi4>
    "test.use"(%t) : (tensor<64x64xi4>) -> ()
    %a = tile.load %v[%c0, %c3] pad %zero : i4 {sizes = array<i64: 64, 8>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xi4> -> tensor<64x8xi4>
    %b = tile.load %v[%c0, %n] pad %zero : i4 {sizes = array<i64: 64, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xi4> -> tensor<64x16xi4>
    %c = tile.load %v[%c0, %at] pad %zero : i4 {sizes = array<i64: 64, 4>, steps = array<i64: 1, 2>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xi4> -> tensor<64x4xi4>
    %d = tile.load %v[%c0, %at] pad %zero : i4 {sizes = array<i64: 64, -1>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xi4> -> tensor<64xi4>
    "test.use"(%a, %b, %c, %d) : (tensor<64x8xi4>, tensor<64x16xi4>, tensor<64x4xi4>, tensor<64xi4>) -> ()
  }
  tile.return
}
