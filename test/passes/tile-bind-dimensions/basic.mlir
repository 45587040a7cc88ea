// RUN: tile-opt %s --tile-bind-dimensions=values=M=1024,K=64 | FileCheck %s

// Bound dimensions become constants in the grid and the body and leave the ABI; the others stay.
// CHECK: tile.kernel @k
// CHECK-SAME: dims [#tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 1>]
// CHECK: %[[M:.*]] = arith.constant 1024 : index
// CHECK: %[[N:.*]] = tile.dim <"N"
// CHECK: tile.yield %[[M]], %[[N]]
// CHECK: body
// CHECK: %[[K:.*]] = arith.constant 64 : index
// CHECK: tile.view %{{.*}}[%[[K]]]
#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 16>
#N = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 1>
#K = #tile.dim<"K", 64, 64, opt = 64, multiple_of = 1>
tile.kernel @k params [#tile.param<"x", out, align = 16>] dims [#M, #N, #K] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>):
    %m = tile.dim #M
    %n = tile.dim #N
    tile.yield %m, %n : index, index
  } body {
  ^bb0(%x: !tile.ptr<f32>):
    %k = tile.dim #K
    %c1 = arith.constant 1 : index
    %i = tile.program_id 0
    %one = arith.constant 1.0 : f32
    %v = tile.view %x [%k] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    tile.store %one, %v [%i] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : f32, !tile.view<?xf32>
    tile.return
  }
