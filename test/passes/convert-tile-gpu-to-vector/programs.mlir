// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --convert-tile-gpu-to-vector | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Numbers of programs: taken by an increment that wraps to 0 with the last of %n, one for each warp
// of the consumers to read, whose eight arrivals empty the slot; one lane of each warp reads and
// arrives, without a branch. The count is the argument behind the kernel's own.
// CHECK-LABEL: func.func @taken
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: !llvm.ptr<1>)
// CHECK-SAME: tile_gpu.scratch_argument = 1 : i64, tile_gpu.scratch_bytes = 8 : i64
// All barriers of a ring are made by one statement.
// CHECK: "mbarrier.init.shared::cta.b64 [$0+{{[0-9]+}}], 1; mbarrier.init.shared::cta.b64 [$0+{{[0-9]+}}], 8;{{[^"]*}}", "r,~{memory}" %{{[0-9]+}} :
// CHECK-NOT: mbarrier.init
// CHECK: scf.if
// CHECK:   mbarrier.try_wait.parity
// CHECK:   nvvm.bar.warp.sync
// CHECK-NOT: scf.if
// CHECK:   %[[FIRST:.*]] = llvm.inline_asm has_side_effects "{{.*}}@p ld.volatile.shared.u32 $0, [$2]; @p mbarrier.arrive.shared::cta.b64 _, [$3]; }"
// CHECK:   %[[SAME:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[FIRST]]
// CHECK:   %[[POSITIVE:.*]] = arith.andi %[[SAME]], %c2147483647
// CHECK:   arith.index_castui %[[POSITIVE]]
// CHECK: } else {
// CHECK:   %[[TOTAL:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK:   %[[LAST:.*]] = arith.subi %[[TOTAL]]
// CHECK:   %[[TAKEN:.*]] = llvm.inline_asm has_side_effects "atom.relaxed.gpu.global.inc.u32 $0, [$1], $2;", {{.*}} %[[COUNT]], %[[LAST]]
// CHECK:   %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x
// CHECK:   %[[NEXT:.*]] = arith.addi %[[TAKEN]], %[[BLOCKS]] : i32
// CHECK:   %[[PROGRAM:.*]] = arith.minui %[[NEXT]], %c2147483647
// CHECK:   %[[NUMBER:.*]] = arith.index_castui %[[PROGRAM]]
// CHECK:   %[[SENT:.*]] = arith.index_cast %[[NUMBER]]
// CHECK:   mbarrier.try_wait.parity
// CHECK:   llvm.store volatile %[[SENT]]
// CHECK:   "mbarrier.arrive.shared::cta.b64 _, [$0];"
// What follows from the number is computed where it is used: a thread waits for it there.
// CHECK:   arith.addi %[[TAKEN]]
// CHECK:   %[[AGAIN:.*]] = arith.index_castui
// CHECK:   scf.yield %[[AGAIN]]
tile.kernel @taken params [#tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64, tile_gpu.persistent, tile_gpu.dynamic_schedule} grid {
^bb0(%n: index):
  tile.yield %n : index
} body {
^bb0(%n: index):
  %ring = tile_gpu.ring per_warp : !tile_gpu.ring<1>
  %block, %blocks = tile_gpu.block_id
  tile_gpu.warp_specialize producer {
    scf.while (%p = %block) : (index) -> index {
      %exists = arith.cmpi slt, %p, %n : index
      scf.condition(%exists) %p : index
    } do {
    ^bb0(%p: index):
      %next = tile_gpu.program_take %n
      tile_gpu.program_send %next, %ring : !tile_gpu.ring<1>
      scf.yield %next : index
    }
  } consumer {
    scf.while (%p = %block) : (index) -> index {
      %exists = arith.cmpi slt, %p, %n : index
      scf.condition(%exists) %p : index
    } do {
    ^bb0(%p: index):
      %next = tile_gpu.program_receive %ring : !tile_gpu.ring<1>
      scf.yield %next : index
    }
  }
  tile.return
}
}
