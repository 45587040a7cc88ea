// RUN: tile-opt %s --tile-gpu-allocate-shared | FileCheck %s

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#columns = #tile_gpu.linear<shape = [64, 64], register = [[1, 0], [2, 0], [4, 0], [0, 16], [0, 32]], lane = [[8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]]>
// Lanes of #rows in another order: elements move within a warp alone.
#lanes = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[1, 0], [0, 8], [0, 16], [0, 32], [2, 0]], warp = [[4, 0], [8, 0]]>
// Registers of #rows in another order.
#registers = #tile_gpu.linear<shape = [64, 64], register = [[16, 0], [0, 2], [0, 4], [0, 1], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
// A tile of 512 KiB, and its lanes in another order.
#large = #tile_gpu.linear<shape = [512, 256], register = [[0, 1], [0, 2], [0, 128], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[128, 0], [256, 0]]>
#turned = #tile_gpu.linear<shape = [512, 256], register = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 128], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[128, 0], [256, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#swapped = #tile_gpu.shared<order = [0, 1], swizzle = 128>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Both operands live until the second is read; the scratch of a conversion in between takes a third
// place, and one after them the first.
// CHECK-LABEL: tile.kernel @lifetimes
// CHECK-SAME: tile_gpu.shared_bytes = 24576 : i64
// CHECK: tile_gpu.local_alloc %{{.*}} {tile_gpu.offset = 0 : i64}
// CHECK: tile_gpu.local_alloc %{{.*}} {tile_gpu.offset = 8192 : i64}
// CHECK: tile_gpu.convert_layout %{{.*}} {tile_gpu.offset = 16384 : i64}
// CHECK: tile_gpu.convert_layout %{{.*}} {tile_gpu.offset = 0 : i64}
tile.kernel @lifetimes params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %b = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %bt = tile_gpu.memdesc_permute %b {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<64x64xf16, #shared> -> !tile_gpu.memdesc<64x64xf16, #swapped>
  %c = tile_gpu.convert_layout %t : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
  %y = tile_gpu.local_load %bt : !tile_gpu.memdesc<64x64xf16, #swapped> -> tensor<64x64xf16, #rows>
  %d = tile_gpu.convert_layout %c : tensor<64x64xf16, #columns> -> tensor<64x64xf16, #rows>
  tile.return
}

// Memory that a loop reads stays until the loop's end, whatever its body does afterwards.
// CHECK-LABEL: tile.kernel @loop
// CHECK-SAME: tile_gpu.shared_bytes = 16384 : i64
// CHECK: tile_gpu.local_alloc %{{.*}} {tile_gpu.offset = 0 : i64}
// CHECK: scf.for
// CHECK: tile_gpu.local_load
// CHECK: tile_gpu.convert_layout %{{.*}} {tile_gpu.offset = 8192 : i64}
tile.kernel @loop params [] dims [] constexprs [] grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = arith.constant dense<0.0> : tensor<64x64xf16, #rows>
  %a = tile_gpu.local_alloc %t : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  scf.for %i = %c0 to %c8 step %c1 {
    %x = tile_gpu.local_load %a : !tile_gpu.memdesc<64x64xf16, #shared> -> tensor<64x64xf16, #rows>
    %c = tile_gpu.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
  }
  tile.return
}

// What is exchanged within warps goes in rounds, too, where there is no room for all of it.
// CHECK-LABEL: tile.kernel @rounds
// CHECK-SAME: tile_gpu.shared_bytes = 131072 : i64
// CHECK: tile_gpu.convert_layout %{{.*}} {tile_gpu.offset = 0 : i64, tile_gpu.rounds = 4 : i64}
tile.kernel @rounds params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<512x256xf32, #large>
  %c = tile_gpu.convert_layout %t : tensor<512x256xf32, #large> -> tensor<512x256xf32, #turned>
  tile.return
}

// What stays within a thread needs no memory; an exchange within warps does. A reduction needs it
// only across warps: 4 warps of 4 bytes, since the lanes of a warp have come to the same. So little
// is not shared: two reductions in a row need no barrier between them.
// CHECK-LABEL: tile.kernel @scratch
// CHECK-SAME: tile_gpu.shared_bytes = 16640 : i64
// CHECK: tile_gpu.convert_layout %{{[0-9a-z_]+}} : {{.*}}
// CHECK: tile_gpu.convert_layout %{{[0-9a-z_]+}} {tile_gpu.offset = 0 : i64}
// CHECK: tile.reduce max %{{[0-9a-z_]+}} axis 1 :
// CHECK: tile.reduce max %{{[0-9a-z_]+}} {tile_gpu.offset = 16384 : i64}
// CHECK: tile.reduce sum %{{[0-9a-z_]+}} {tile_gpu.offset = 16400 : i64}
tile.kernel @scratch params [] dims [] constexprs [] grid { tile.yield } body {
  %t = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
  %r = tile_gpu.convert_layout %t : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #registers>
  %l = tile_gpu.convert_layout %t : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #lanes>
  %m = tile.reduce max %t axis 1 : tensor<64x64xf32, #rows> -> tensor<64xf32, #tile_gpu.linear<shape = [64], register = [[16], [32]], lane = [[0], [0], [0], [1], [2]], warp = [[4], [8]]>>
  %s = tile.reduce max %t : tensor<64x64xf32, #rows> -> f32
  %u = tile.reduce sum %t : tensor<64x64xf32, #rows> -> f32
  tile.return
}
}
