// Loops are unrolled as asked; attributes that nothing took up are reported, as warnings or, where
// the target lacks the feature, as remarks.
// RUN: tile-opt --allow-unregistered-dialect %s --tile-gpu-apply-loop-attributes \
// RUN:   --verify-diagnostics | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @loops
// expected-warning @+1 {{stages(3) has no effect: no load here is copied by TMA}}
tile.kernel @loops params [] dims [#tile.dim<"N", 1, 1024, opt = 1024, multiple_of = 1>] constexprs [] attributes {tile.requested = ["stages"], tile.num_stages = 3 : i64} grid {
  tile.yield
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = "test.count"() : () -> index
  // A range that ends before it begins must not count as one of many trips.
  // CHECK: %[[HIGH:.*]] = arith.maxsi %[[N:.*]], %[[LOW:.*]] : index
  // CHECK: arith.subi %[[HIGH]], %[[LOW]]
  // CHECK: scf.for %[[I:.*]] = %[[LOW]]
  // CHECK-COUNT-2: "test.step"
  // CHECK: }
  // CHECK: scf.for
  // CHECK: "test.step"
  // CHECK: }
  scf.for %i = %c0 to %n step %c1 {
    "test.step"(%i) : (index) -> ()
  } {tile.unroll = 2 : i64}
  // Nor is there anything to compare where the end is an extent.
  // CHECK-NOT: arith.maxsi
  // CHECK: scf.for
  // CHECK-COUNT-4: "test.extent"
  // CHECK: }
  // CHECK: scf.for
  // CHECK: "test.extent"
  // CHECK: }
  %extent = tile.dim <"N", 1, 1024, opt = 1024, multiple_of = 1>
  scf.for %i = %c0 to %extent step %c1 {
    "test.extent"(%i) : (index) -> ()
  } {tile.unroll = 4 : i64}
  // CHECK-NOT: scf.for
  // CHECK-COUNT-3: "test.whole"
  scf.for %i = %c0 to %c3 step %c1 {
    "test.whole"(%i) : (index) -> ()
  } {tile.unroll = 4 : i64}
  // CHECK: scf.for
  // expected-warning @+1 {{flatten has no effect: no load here is copied by TMA}}
  scf.for %i = %c0 to %n step %c1 {
    "test.step"(%i) : (index) -> ()
  } {tile.flatten}
  tile.return
}
}
