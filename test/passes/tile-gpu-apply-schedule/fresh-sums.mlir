// Sums that begin as 0 in a loop over programs: the first trip's product begins them, and no
// register is set to 0.
// RUN: tile-opt %s --tile-gpu-schedule-loops --tile-gpu-apply-schedule | FileCheck %s

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!half = tensor<64x64xf16, #acc>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: tile.kernel @zero
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK: scf.for
// CHECK: arith.cmpi slt, %[[LOW:.*]], %[[HIGH:.*]] : index
// CHECK-NEXT: scf.if
// CHECK: %[[ANY:.*]] = ub.poison
// CHECK: scf.for %{{.*}} = %[[LOW]] to %[[HIGH]] {{.*}} iter_args(%{{.*}} = %[[ANY]])
// CHECK: tile_gpu.wgmma {{.*}}tile_gpu.fresh
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ZERO]]
tile.kernel @zero params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %p = %c0 to %c9 step %c1 {
      %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %zero) -> (!acc) {
        %k, %v = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !m, !m> -> !m, !m
        %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
        tile_gpu.ring_release %ring : !tile_gpu.ring<2, !m, !m>
        scf.yield %a : !acc
      }
      %t = arith.truncf %r : !acc to !half
    }
  }
  tile.return
}

// What is computed with a sum takes registers beside it, where those of the next sums live on.
// CHECK-LABEL: tile.kernel @computed
// CHECK-NOT: poison
// CHECK-NOT: fresh
tile.kernel @computed params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %p = %c0 to %c9 step %c1 {
      %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %zero) -> (!acc) {
        %k, %v = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !m, !m> -> !m, !m
        %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
        tile_gpu.ring_release %ring : !tile_gpu.ring<2, !m, !m>
        scf.yield %a : !acc
      }
      %t = arith.addf %r, %r : !acc
    }
  }
  tile.return
}

// Sums that begin as something else are read, and so are those that more than a product touches.
// CHECK-LABEL: tile.kernel @read
// CHECK-NOT: poison
// CHECK-NOT: fresh
tile.kernel @read params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %one = arith.constant dense<1.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !m, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    scf.for %p = %c0 to %c9 step %c1 {
      %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %one, %y = %zero) -> (!acc, !acc) {
        %k, %v, %w = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !m, !m, !m> -> !m, !m, !m
        %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
        %b = tile_gpu.wgmma %k, %w, %y : !m, !m, !acc
        %twice = arith.addf %b, %y : !acc
        tile_gpu.ring_release %ring : !tile_gpu.ring<2, !m, !m, !m>
        scf.yield %a, %twice : !acc, !acc
      }
      %t = arith.addf %r#0, %r#1 : !acc
    }
  }
  tile.return
}

// A loop that stands alone begins while its first tiles are on their way.
// CHECK-LABEL: tile.kernel @once
// CHECK-NOT: poison
tile.kernel @once params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %zero) -> (!acc) {
      %k, %v = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !m, !m> -> !m, !m
      %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !m, !m>
      scf.yield %a : !acc
    }
    %t = arith.truncf %r : !acc to !half
  }
  tile.return
}
}
