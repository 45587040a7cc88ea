// RUN: tile-opt %s --tile-gpu-allocate-shared | FileCheck %s
// RUN: tile-opt %s --tile-gpu-allocate-shared --remarks-filter-missed=passes -o %t 2>&1 | \
// RUN:   FileCheck %s --check-prefix=DECLINED

// Slots of rows come last, so that launches of shorter rows leave them out: beside them each
// launch needs the words of the reduction.

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#row = #tile_gpu.linear<shape = [64], register = [[16], [32]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]>
#line = #tile_gpu.shared<order = [0], swizzle = 0>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @one
// CHECK-SAME: tile_gpu.shared_by_row = array<i64: 1, 4096, 4096, 256, 0, 8192, 3>
// CHECK-SAME: tile_gpu.shared_bytes = 24832 : i64
// CHECK: tile_gpu.local_slots {tile_gpu.offset = 256 : i64,
tile.kernel @one params [] dims [] constexprs [] grid { tile.yield } body {
  %s = tile_gpu.local_slots {tile_gpu.row_trips = array<i64: 1, 4096, 4096>} : !tile_gpu.slots<3, !tile_gpu.memdesc<2048xi32, #line>>
  %t = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  %m = tile.reduce max %t axis 1 : tensor<64x64xf32, #rows> -> tensor<64xf32, #row>
  tile.return
}

// Of several tiles the last one's slots are what fewer trips save.
// CHECK-LABEL: tile.kernel @two
// CHECK-SAME: tile_gpu.shared_by_row = array<i64: 0, 2048, 0, 0, 16384, 8192, 2>
// CHECK-SAME: tile_gpu.shared_bytes = 32768 : i64
tile.kernel @two params [] dims [] constexprs [] grid { tile.yield } body {
  %s = tile_gpu.local_slots {tile_gpu.row_trips = array<i64: 0, 2048, 0>} : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %u = tile_gpu.local_slots {tile_gpu.row_trips = array<i64: 0, 2048, 0>} : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %i = arith.constant 1 : index
  %a = tile_gpu.slot %s[%i] : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %b = tile_gpu.slot %u[%i] : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %t = tile_gpu.private_load %a : !tile_gpu.memdesc<2048xi32, #line> -> tensor<64x64xf16, #rows>
  %r = tile_gpu.private_load %b : !tile_gpu.memdesc<2048xi32, #line> -> tensor<64x64xf16, #rows>
  tile_gpu.private_store %t into %b : tensor<64x64xf16, #rows>, !tile_gpu.memdesc<2048xi32, #line>
  tile_gpu.private_store %r into %a : tensor<64x64xf16, #rows>, !tile_gpu.memdesc<2048xi32, #line>
  tile.return
}

// Rows along several dimensions: a launch needs all.
// DECLINED: its launches need as much shared memory for short rows as for long ones: its loops go over rows along several dimensions
// CHECK-LABEL: tile.kernel @apart
// CHECK-NOT: tile_gpu.shared_by_row
// CHECK-SAME: tile_gpu.shared_bytes
tile.kernel @apart params [] dims [] constexprs [] grid { tile.yield } body {
  %s = tile_gpu.local_slots {tile_gpu.row_trips = array<i64: 0, 2048, 0>} : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %u = tile_gpu.local_slots {tile_gpu.row_trips = array<i64: 1, 2048, 0>} : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %i = arith.constant 1 : index
  %a = tile_gpu.slot %s[%i] : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %b = tile_gpu.slot %u[%i] : !tile_gpu.slots<2, !tile_gpu.memdesc<2048xi32, #line>>
  %t = tile_gpu.private_load %a : !tile_gpu.memdesc<2048xi32, #line> -> tensor<64x64xf16, #rows>
  tile_gpu.private_store %t into %b : tensor<64x64xf16, #rows>, !tile_gpu.memdesc<2048xi32, #line>
  tile.return
}
}
