// The only product of a trip is in flight, so that two warpgroups take turns, where a trip computes
// much beside it; not where the warpgroups meet in each trip anyway, and not where nothing is
// computed.
// RUN: tile-opt %s --tile-gpu-schedule-loops --tile-gpu-apply-schedule | FileCheck %s

#acc = #tile_gpu.linear<shape = [128, 128], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#t = #tile_gpu.shared<order = [0, 1], swizzle = 128>
!a = !tile_gpu.memdesc<128x64xf16, #s>
!b = !tile_gpu.memdesc<64x128xf16, #t>
!m = !tile_gpu.memdesc<128x128xf32, #s>
!acc = tensor<128x128xf32, #acc>

// CHECK-LABEL: tile.kernel @scaled
// CHECK:      scf.for
// CHECK:        tile_gpu.wgmma {{.*}} async
// CHECK-NEXT:   tile_gpu.wgmma_wait {{.*}} {pending = 0 : i64}
// CHECK-NEXT:   arith.mulf
tile.kernel @scaled params [#tile.param<"x", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %half = arith.constant dense<0.5> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %p = tile_gpu.tma_fetch %d [%c0, %i] : !a
      %q = tile_gpu.tma_fetch %d [%n, %i] : !a
      %qt = tile_gpu.memdesc_permute %q {permutation = array<i64: 1, 0>} : !a -> !b
      %w = tile_gpu.wgmma %p, %qt, %zero : !a, !b, !acc
      %h = arith.mulf %w, %half : !acc
      %next = arith.addf %sum, %h : !acc
      scf.yield %next : !acc
    }
    tile.return
  }

// CHECK-LABEL: tile.kernel @plain
// CHECK-NOT:  async
tile.kernel @plain params [#tile.param<"x", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %half = arith.constant dense<0.5> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %p = tile_gpu.tma_fetch %d [%c0, %i] : !a
      %q = tile_gpu.tma_fetch %d [%n, %i] : !a
      %qt = tile_gpu.memdesc_permute %q {permutation = array<i64: 1, 0>} : !a -> !b
      %w = tile_gpu.wgmma %p, %qt, %sum : !a, !b, !acc
      scf.yield %w : !acc
    }
    tile.return
  }

// CHECK-LABEL: tile.kernel @met
// CHECK-NOT:  async
tile.kernel @met params [#tile.param<"x", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
  ^bb0(%x: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %half = arith.constant dense<0.5> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %zero) -> (!acc) {
      %p = tile_gpu.tma_fetch %d [%c0, %i] : !a
      %q = tile_gpu.tma_fetch %d [%n, %i] : !a
      %qt = tile_gpu.memdesc_permute %q {permutation = array<i64: 1, 0>} : !a -> !b
      %w = tile_gpu.wgmma %p, %qt, %zero : !a, !b, !acc
      %m = tile_gpu.local_alloc %w : !acc -> !m
      %h = tile_gpu.local_load %m : !m -> !acc
      %next = arith.addf %sum, %h : !acc
      scf.yield %next : !acc
    }
    tile.return
  }
