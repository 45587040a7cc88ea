// A target that cannot run ahead says so in a remark.
// RUN: tile-opt --allow-unregistered-dialect %s --tile-gpu-apply-loop-attributes \
// RUN:   --verify-diagnostics

module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
// expected-remark @+1 {{consumers(2) has no effect: sm_80 does not copy tiles ahead in a warp of its own; sm_90a does}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile.requested = ["consumers"], tile.consumers = 2 : i64} grid {
  tile.yield
} body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = "test.count"() : () -> index
  // expected-remark @+1 {{stages(2) has no effect}}
  scf.for %i = %c0 to %n step %c1 {
    "test.step"(%i) : (index) -> ()
  } {tile.num_stages = 2 : i64}
  tile.return
}
}
