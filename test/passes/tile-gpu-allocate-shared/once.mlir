// What a store stages is there till the kernel's end, and where no loop repeats the store, only from
// there: it takes the place of a tile that is no longer needed, behind a barrier. So all columns of
// gradients are staged at once where keys and values lay.
// RUN: tile-opt %s --tile-gpu-allocate-shared --tile-gpu-insert-barriers | FileCheck %s
// RUN: tilec %examples/attention_backward/attention_backward.tile --kernel attention_backward \
// RUN:   -D T=f16 -D D=128 -D BM=64 -D BN=128 --config warps=8 --target sm_90a -o %t.ptx \
// RUN:   --print-ir-after=tile-gpu-allocate-shared 2>&1 | FileCheck %s --check-prefix=GRADIENTS
// GRADIENTS: tile_gpu.tma_store {{.*}} {add, columns = 128 : i64, tile_gpu.offset
// GRADIENTS: tile_gpu.tma_store {{.*}} {columns = 128 : i64, tile_gpu.offset = 0 : i64
// GRADIENTS: tile_gpu.tma_store {{.*}} {columns = 128 : i64, tile_gpu.offset
#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#wide = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @once
// CHECK-SAME: tile_gpu.shared_bytes = 16384
// CHECK: tile_gpu.local_alloc {{.*}}tile_gpu.offset = 0
// CHECK: tile_gpu.barrier
// CHECK: tile_gpu.local_load
// CHECK: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.tma_store {{.*}}tile_gpu.offset = 0
tile.kernel @once params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %t = arith.constant dense<0.0> : tensor<128x64xf16, #rows>
    %r = arith.constant dense<1.0> : tensor<128x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %a = tile_gpu.local_alloc %t : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile_gpu.tma_store %r, %d [%c0, %c0] {columns = 64 : i64} : tensor<128x64xf16, #acc>
    tile.return
  }

// In a loop, copies of the trip before may still read.
// CHECK-LABEL: tile.kernel @repeated
// CHECK-SAME: tile_gpu.shared_bytes = 32768
tile.kernel @repeated params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %t = arith.constant dense<0.0> : tensor<128x64xf16, #rows>
    %r = arith.constant dense<1.0> : tensor<128x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    scf.for %i = %c0 to %c8 step %c1 {
      %a = tile_gpu.local_alloc %t : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
      %x = tile_gpu.local_load %a : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
      tile_gpu.tma_store %r, %d [%i, %c0] {columns = 64 : i64} : tensor<128x64xf16, #acc>
    }
    tile.return
  }

// A ring that is filled once gives its bytes back behind the last use of its tiles; the barrier is
// for those who still read them.
// CHECK-LABEL: tile.kernel @ring
// CHECK-SAME: tile_gpu.shared_bytes = 16512
// CHECK: tile_gpu.ring {tile_gpu.offset = 0
// CHECK: tile_gpu.local_load
// CHECK: tile_gpu.ring_release
// CHECK-NEXT: tile_gpu.barrier
// CHECK-NEXT: tile_gpu.tma_store {{.*}}tile_gpu.offset = 0
tile.kernel @ring params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %r = arith.constant dense<1.0> : tensor<128x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %ring = tile_gpu.ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    %a = tile_gpu.ring_wait %ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile_gpu.ring_release %ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    tile_gpu.tma_store %r, %d [%c0, %c0] {columns = 64 : i64} : tensor<128x64xf16, #acc>
    tile.return
  }

// Its mbarriers stay the ring's, whoever has the tile's bytes: the ring's tile shares bytes with the
// end of a store of more, behind which its mbarriers lie.
// CHECK-LABEL: tile.kernel @mbarriers
// CHECK-SAME: tile_gpu.shared_bytes = 32896
// CHECK: tile_gpu.ring {tile_gpu.offset = 16384
// CHECK: tile_gpu.tma_store {{.*}}tile_gpu.offset = 0
tile.kernel @mbarriers params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %r = arith.constant dense<1.0> : tensor<128x128xf16, #wide>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %ring = tile_gpu.ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    %a = tile_gpu.ring_wait %ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile_gpu.ring_release %ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    tile_gpu.tma_store %r, %d [%c0, %c0] {columns = 128 : i64} : tensor<128x128xf16, #wide>
    tile.return
  }

// One that a loop uses keeps its bytes.
// CHECK-LABEL: tile.kernel @rings
// CHECK-SAME: tile_gpu.shared_bytes = 33792
tile.kernel @rings params [#tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%y: !tile.ptr<f16>):
    tile.yield
  } body {
  ^bb0(%y: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %r = arith.constant dense<1.0> : tensor<128x64xf16, #acc>
    %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    %ring = tile_gpu.ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    scf.for %i = %c0 to %c8 step %c1 {
      %a = tile_gpu.ring_wait %ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>> -> !tile_gpu.memdesc<128x64xf16, #shared>
      %x = tile_gpu.local_load %a : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
      tile_gpu.ring_release %ring : !tile_gpu.ring<1, !tile_gpu.memdesc<128x64xf16, #shared>>
    }
    tile_gpu.tma_store %r, %d [%c0, %c0] {columns = 64 : i64} : tensor<128x64xf16, #acc>
    tile.return
  }
}
