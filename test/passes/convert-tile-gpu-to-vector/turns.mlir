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
}
