// RUN: tile-opt %s --convert-tile-gpu-to-vector | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A block never gets more registers than it had on entry: 640 threads start with 96 each, so four
// consumer warpgroups may have 110, rounded down to 104; three start with 128 and may have 157; one
// needs nothing. What eights leave is the producer's, who asks for 40 or fewer.
// CHECK-LABEL: func.func @four
// CHECK: nvvm.setmaxregister increase 104
// CHECK: nvvm.setmaxregister decrease 64
tile.kernel @four params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 16 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize producer {
  } consumer {
  }
  tile.return
}

// CHECK-LABEL: func.func @three
// CHECK: nvvm.setmaxregister increase 152
// CHECK: nvvm.setmaxregister decrease 56
tile.kernel @three params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 12 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize producer {
  } consumer {
  }
  tile.return
}

// CHECK-LABEL: func.func @crowded
// CHECK: nvvm.setmaxregister increase 160
// CHECK: nvvm.setmaxregister decrease 32
tile.kernel @crowded params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 12 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize attributes {tile_gpu.producer_registers = 24 : i64} producer {
  } consumer {
  }
  tile.return
}

// CHECK-LABEL: func.func @one
// CHECK-NOT: setmaxregister
tile.kernel @one params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize producer {
  } consumer {
  }
  tile.return
}

// Two blocks on a multiprocessor start with 128 registers a thread; the one consumer warpgroup of
// each gets 216.
// CHECK-LABEL: func.func @twice
// CHECK: nvvm.setmaxregister increase 216
// CHECK: nvvm.setmaxregister decrease 40
tile.kernel @twice params [] dims [] constexprs [] attributes {tile.occupancy = 2 : i64, tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  tile_gpu.warp_specialize producer {
  } consumer {
  }
  tile.return
}
}
