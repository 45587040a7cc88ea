// RUN: tile-opt %s --tile-gpu-make-persistent --tile-gpu-specialize-warps | FileCheck %s

#acc = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 8>
#K = #tile.dim<"K", 1, 65536, opt = 4096, multiple_of = 8>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Both operands share a ring of as many stages as fit; the producer has the loops and coordinates
// alone.
// CHECK-LABEL: tile.kernel @matmul
// CHECK-SAME: tile_gpu.persistent, tile_gpu.producer_threads = 128
// CHECK: %[[RING:.*]] = tile_gpu.ring : <4, <128x64xf16, {{.*}}>, <64x256xf16, {{.*}}>>
// CHECK: tile_gpu.warp_specialize
// CHECK-SAME: producer {
// CHECK:   scf.for %{{[^ ]*}} = %{{.*}} {
// CHECK:     scf.for %[[K:[^ ]*]] = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}} {
// CHECK-NEXT:       %[[TILES:.*]]:2, %[[FULL:.*]] = tile_gpu.ring_acquire %[[RING]]
// CHECK-NEXT:       tile_gpu.tma_load %{{.*}}[%[[K]], %{{.*}}] into %[[TILES]]#0, %[[FULL]]
// CHECK-NEXT:       tile_gpu.tma_load %{{.*}}[%{{.*}}, %[[K]]] into %[[TILES]]#1, %[[FULL]]
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: } consumer {
// CHECK:      %[[WAITED:.*]]:2 = tile_gpu.ring_wait %[[RING]]
// CHECK-NEXT: tile_gpu.wgmma %[[WAITED]]#0, %[[WAITED]]#1, %{{.*}}
// CHECK-NEXT: tile_gpu.ring_release %[[RING]]
// CHECK:      tile_gpu.tma_store
// CHECK-NOT:  tma_fetch
tile.kernel @matmul params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#M, #K] constexprs []
  attributes {tile.persistent, tile_gpu.num_warps = 8 : i64}
  grid {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
    %m = tile.dim #M
    %c128 = arith.constant 128 : index
    %programs = arith.ceildivsi %m, %c128 : index
    tile.yield %programs, %programs : index, index
  } body {
  ^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant dense<0.0> : tensor<128x256xf32, #acc>
    %k = tile.dim #K
    %da = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    %db = tile_gpu.descriptor #tile_gpu.tensor_map<param = 1, order = [1, 0], box = [64, 64], swizzle = 128>
    %dc = tile_gpu.descriptor #tile_gpu.tensor_map<param = 2, order = [1, 0], box = [64, 64], swizzle = 128>
    %i = tile.program_id 0
    %j = tile.program_id 1
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c256 : index
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %zero) -> (tensor<128x256xf32, #acc>) {
      %x = tile_gpu.tma_fetch %da[%at, %row] : !tile_gpu.memdesc<128x64xf16, #shared>
      %y = tile_gpu.tma_fetch %db[%column, %at] : !tile_gpu.memdesc<64x256xf16, #shared>
      %next = tile_gpu.wgmma %x, %y, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x256xf16, #shared>, tensor<128x256xf32, #acc>
      scf.yield %next : tensor<128x256xf32, #acc>
    }
    %half = arith.truncf %sum : tensor<128x256xf32, #acc> to tensor<128x256xf16, #acc>
    tile_gpu.tma_store %half, %dc[%column, %row] {columns = 128 : i64} : tensor<128x256xf16, #acc>
    tile.return
  }
}
