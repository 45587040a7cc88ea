// RUN: tile-opt %s --convert-tile-gpu-to-vector | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// The first warpgroup arrives for itself before the first turn and takes the last one; barriers 6
// and 7 count both.
// CHECK-LABEL: func.func @turns
// CHECK: scf.if %{{.*}} {
// CHECK:   %[[FIRST:.*]] = arith.addi %{{.*}}, %c6
// CHECK:   "bar.arrive $0, $1;", "r,r,~{memory}" %[[FIRST]], %c256
// CHECK: "bar.sync $0, $1;"
// CHECK: arith.xori
// CHECK: "bar.arrive $0, $1;"
// CHECK: scf.if
// CHECK:   "bar.sync $0, $1;"
tile.kernel @turns params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize producer {
  } consumer {
    tile_gpu.turn_start
    tile_gpu.turn_wait
    tile_gpu.turn_pass
    tile_gpu.turn_end
  }
  tile.return
}

// Three go round: the next one's turn follows, behind the last one's the first one's. Each barrier
// counts the two of them that use it.
// CHECK-LABEL: func.func @three
// CHECK: "bar.sync $0, $1;", "r,r,~{memory}" %{{.*}}, %c256
// CHECK: %[[NEXT:.*]] = arith.addi %[[OWN:.*]], %c1_i32
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[OWN]], %c2_i32
// CHECK: %[[TURN:.*]] = arith.select %[[LAST]], %c0_i32{{.*}}, %[[NEXT]]
// CHECK: %[[BARRIER:.*]] = arith.addi %[[TURN]], %c6
// CHECK: "bar.arrive $0, $1;", "r,r,~{memory}" %[[BARRIER]], %c256
tile.kernel @three params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 12 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize producer {
  } consumer {
    tile_gpu.turn_start
    tile_gpu.turn_wait
    tile_gpu.turn_pass
    tile_gpu.turn_end
  }
  tile.return
}
}
