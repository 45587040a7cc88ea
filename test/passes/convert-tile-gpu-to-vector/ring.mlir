// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers \
// RUN:   --convert-tile-gpu-to-vector | FileCheck %s
// RUN: tile-opt %s --tile-nvvm-pipeline | FileCheck %s --check-prefix=LLVM

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Barriers lie behind the slots: full ones at 16384, empty ones at 16400. One arrival fills a slot;
// the two warpgroups of the consumers empty it, or their eight warps where ordinary loads read it.
// CHECK-LABEL: func.func @ring
// CHECK-SAME: tile_gpu.num_threads = 384
// CHECK:      mbarrier.init
// CHECK:      "fence.mbarrier_init.release.cluster;"
// CHECK:      nvvm.barrier
// CHECK:      %[[SPLIT:.*]] = arith.cmpi ult, %{{.*}}, %c256
// CHECK:      scf.if %[[SPLIT]] {
// CHECK-NEXT:   nvvm.setmaxregister increase 232
// CHECK:        mbarrier.try_wait.parity
// CHECK:        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:   arith.constant -1
// CHECK-NEXT:   nvvm.bar.warp.sync
// CHECK:        arith.constant 31 : i32
// CHECK:        mbarrier.arrive.shared::cta.b64
// CHECK:        nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK:        mbarrier.arrive.shared::cta.b64
// CHECK:      } else {
// CHECK-NEXT:   nvvm.setmaxregister decrease 40
// CHECK:        scf.if
// CHECK:          mbarrier.try_wait.parity
// CHECK:          arith.constant 8192 : i32
// CHECK-NEXT:     mbarrier.arrive.expect_tx
// LLVM: llvm.func @ring
// LLVM-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384>
tile.kernel @ring params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %ring = tile_gpu.ring per_warp : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>>
  %scalars = tile_gpu.ring : !tile_gpu.ring<2>
  tile_gpu.warp_specialize producer {
    scf.for %i = %c0 to %c9 step %c1 {
      %m, %full = tile_gpu.ring_acquire %ring : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>> -> !tile_gpu.memdesc<64x64xf16, #s>
      %n = tile_gpu.scalar_receive %scalars : !tile_gpu.ring<2> -> index
    }
  } consumer {
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf16, #rows>) {
      %m = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>> -> !tile_gpu.memdesc<64x64xf16, #s>
      %t = tile_gpu.local_load %m : !tile_gpu.memdesc<64x64xf16, #s> -> tensor<64x64xf16, #rows>
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>>
      tile_gpu.barrier
      tile_gpu.scalar_send %scalars, %i : !tile_gpu.ring<2>, index
      %sum = arith.addf %acc, %t : tensor<64x64xf16, #rows>
      scf.yield %sum : tensor<64x64xf16, #rows>
    }
  }
  tile.return
}

// A peek waits for the slot and leaves it: what is known to be full is only taken.
// CHECK-LABEL: func.func @peek
// CHECK:      nvvm.setmaxregister increase
// CHECK:      scf.for
// CHECK:        mbarrier.try_wait.parity
// CHECK-NOT:    llvm.store
// CHECK-NOT:    mbarrier.try_wait.parity
// CHECK:        llvm.store
// CHECK:        mbarrier.arrive.shared::cta.b64
// CHECK:      } else {
tile.kernel @peek params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>>
  tile_gpu.warp_specialize producer {
    scf.for %i = %c0 to %c9 step %c1 {
      %m, %full = tile_gpu.ring_acquire %ring : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>> -> !tile_gpu.memdesc<64x64xf16, #s>
    }
  } consumer {
    scf.for %i = %c0 to %c9 step %c1 {
      tile_gpu.ring_peek %ring : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>>
      %m = tile_gpu.ring_wait %ring full : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>> -> !tile_gpu.memdesc<64x64xf16, #s>
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !tile_gpu.memdesc<64x64xf16, #s>>
    }
  }
  tile.return
}
}
