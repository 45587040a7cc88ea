// A reduction by a function joins blocks in the order of the axis: two bits of the register, five
// of the lane, one of the warp. Sorting goes on in registers, with shared memory between; counting
// is atomics on shared memory.
// RUN: tile-opt %s --tile-gpu-layout-pipeline --tile-gpu-allocate-shared \
// RUN:   --convert-tile-gpu-to-vector --canonicalize --cse | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// CHECK-LABEL: func.func @reduce
// CHECK: %[[EVEN:.*]] = vector.shuffle %[[X:.*]], %[[X]] [0, 2]
// CHECK: %[[ODD:.*]] = vector.shuffle %[[X]], %[[X]] [1, 3]
// CHECK: arith.subi %[[EVEN]], %[[ODD]] : vector<2xi32>
// CHECK: arith.subi %{{.*}}, %{{.*}} : vector<1xi32>
// The lower of two lanes has its own on the left. What the upper one computes nobody reads: in the
// end all take what the lowest lane has, without a selection in between.
// CHECK: %[[OTHER:.*]] = vector.broadcast
// CHECK: %[[JOINED:.*]] = arith.subi %[[OWN:.*]], %[[OTHER]] : vector<1xi32>
// CHECK-NOT: arith.select
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK-NOT: arith.select
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %c0_i32
// CHECK-NOT: arith.select
// CHECK: llvm.store
// CHECK: nvvm.barrier
// CHECK: %[[FIRST:.*]] = llvm.load
// CHECK: %[[SECOND:.*]] = llvm.load
// CHECK: arith.subi
tile.kernel @reduce
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.reduce_by %a axis 0 : tensor<256xi32> -> i32 {
    ^bb0(%left: i32, %right: i32):
      %s = arith.subi %left, %right : i32
      tile.scan_yield %s : i32
    }
    tile.store %r, %yv[%c0] {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : i32, !tile.view<?xi32>
    tile.return
  }

// One warp sorts 256 elements, 8 of a thread: no barrier but around the whole. Three rounds are one
// phase, whose first run of two goes upwards and the second one downwards; the fourth round has a
// phase for the steps 8, 4 and 2, and one for 1. The direction is a bit of the lane then, until the
// last round.
// CHECK-LABEL: func.func @sort
// CHECK-SAME: tile_gpu.shared_bytes = 1024
// CHECK-COUNT-4: llvm.store
// CHECK-NEXT: nvvm.barrier
// CHECK: %[[WORKS:.*]] = arith.cmpi ult, %{{.*}}, %c32_i32
// CHECK: scf.if %[[WORKS]]
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: llvm.load
// CHECK: %[[UP:.*]] = arith.cmpi ne, %{{.*}}, %c0_i32
// CHECK: llvm.inline_asm "{ .reg .b32 v<8>, t;{{.*}} mov.b32 v0, $8;{{.*}}mov.b32 v7, $15;
// CHECK-SAME: mov.pred c8, $16;
// CHECK-SAME: {{^}}\0Amin.s32 t, v0, v1; max.s32 v1, v0, v1; mov.b32 v0, t;
// CHECK-SAME: {{^}}\0Amax.s32 t, v2, v3; min.s32 v3, v2, v3; mov.b32 v2, t;
// CHECK-SAME: min.s32 t, v0, v2; max.s32 v2, v0, v2; mov.b32 v0, t;
// CHECK-SAME: {{(setp\.gt\.s32 p, v., v.; xor\.pred p, p, c8;[^x]*){12}m}}ov.b32 $0, v0;
// CHECK-SAME: %[[UP]] :
// CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-8: llvm.load
// CHECK: llvm.inline_asm {{.*}}mov.pred c8, $16;\0A{{(setp\.gt\.s32 p, v., v.; xor\.pred p, p, c8;[^x]*){12}m}}ov.b32 $0, v0;
// CHECK-COUNT-8: llvm.store
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-2: llvm.load
// CHECK: llvm.inline_asm {{.*}}mov.pred c8, $16;\0A{{(setp\.gt\.s32 p, v., v.; xor\.pred p, p, c8;[^x]*){4}m}}ov.b32 $0, v0;
// CHECK-COUNT-2: llvm.store
// CHECK-COUNT-9: nvvm.bar.warp.sync
// CHECK: llvm.inline_asm
// CHECK-SAME: mov.b32 v7, $15;\0A{{(min\.s32 t, v., v.; max\.s32 v., v., v.; mov\.b32 v., t;\\0A){12}m}}ov.b32 $0, v0;
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.inline_asm
// CHECK-NOT: xor.pred
// CHECK: nvvm.barrier
// CHECK-COUNT-4: llvm.load
// CHECK-NOT: min.s32
tile.kernel @sort
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.sort %a axis 0 : tensor<256xi32> -> tensor<256xi32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xi32>, !tile.view<?xi32>
    tile.return
  }

// 1024 elements, 16 of a thread: behind the first four rounds a loop over the others, in which one
// phase does four steps of any distance and another one the last four. The direction is the bit of
// the element's number that is the round, none in round 10.
// CHECK-LABEL: func.func @long
// CHECK: nvvm.barrier
// CHECK-NOT: nvvm.barrier
// CHECK: scf.for %[[ROUND:.*]] = %c5_i32 to %c11_i32 step %c1_i32
// CHECK: %[[BIT:.*]] = arith.shli %c1_i32, %[[ROUND]]
// CHECK: %[[DOWN:.*]] = arith.andi %[[BIT]], %c1023_i32
// CHECK: scf.for
// CHECK-NEXT: nvvm.barrier
// CHECK: arith.andi %{{.*}}, %[[DOWN]]
// CHECK: llvm.inline_asm has_side_effects "{ .reg .b32 v<16>, t;{{.*}}xor.b32 a1, a0, n{{.*}}xor.b32 a15, a7, n
// CHECK-SAME: {{(ld\.shared\.s32 v[0-9]*, \[a[0-9]*\];\\0A){16}s}}elp.b32 t, -1, 0, c6;
// CHECK-SAME: {{(xor\.b32 v[0-9]*, v[0-9]*, t;\\0A){16}m}}in.s32
// CHECK-SAME: {{^}} t, v0, v8; max.s32 v8, v0, v8; mov.b32 v0, t;
// CHECK-SAME: {{(min\.s32 t, v[0-9]*, v[0-9]*; max\.s32 v[0-9]*, v[0-9]*, v[0-9]*; mov\.b32 v[0-9]*, t;\\0A){31}s}}elp.b32 t, -1, 0, c6;
// CHECK-SAME: {{(st\.shared\.b32 \[a[0-9]*\], v[0-9]*;\\0A){16}.}}", "{{.*}},~{memory}"
// CHECK: nvvm.barrier
// CHECK: arith.andi %{{.*}}, %[[DOWN]]
// CHECK-COUNT-4: llvm.load %{{.*}} -> vector<4xi32>
// The first three steps are left out where the other phase has done them.
// CHECK: llvm.inline_asm {{.*}}setp.le.u32 p, n{{.*}}, 3; @p bra E0;
// CHECK-SAME: {{(min\.s32 t, v[0-9]*, v[0-9]*; max\.s32 v[0-9]*, v[0-9]*, v[0-9]*; mov\.b32 v[0-9]*, t;\\0A){8}E}}0:
// CHECK-SAME: , 2; @p bra E1;
// CHECK-SAME: , 1; @p bra E2;
// CHECK-SAME: E2:\0Amin.s32 t, v0, v1;
// CHECK-COUNT-4: llvm.store
// CHECK-NOT: min.s32
// CHECK: nvvm.barrier
tile.kernel @long
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<1024xi32>
    %r = tile.sort %a axis 0 : tensor<1024xi32> -> tensor<1024xi32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<1024xi32>, !tile.view<?xi32>
    tile.return
  }

// Runs of 8, then five times the smaller halves of two neighbours and three steps to sort them. The
// first time each of 32 lanes has 8 elements of two runs, of which 4 are left.
// CHECK-LABEL: func.func @first
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-8: llvm.load
// CHECK: llvm.inline_asm
// CHECK-SAME: {{(min\.s32 v., v., v.;\\0A){4}(setp\.gt[^x]*xor\.pred[^x]*){4}m}}ov.b32 $0,
// CHECK-SAME: mov.b32 $3,
// CHECK-NOT: mov.b32 $4,
// CHECK-COUNT-4: llvm.store
// CHECK: nvvm.bar.warp.sync
tile.kernel @first
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.sort %a axis 0 first 5 : tensor<256xi32> -> tensor<256xi32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<256xi32>, !tile.view<?xi32>
    tile.return
  }

// Bins are cleared, counted in by the threads that own an element, and read.
// CHECK-LABEL: func.func @histogram
// CHECK-SAME: tile_gpu.shared_bytes = 256
// CHECK: scf.for
// CHECK: llvm.store %c0_i32
// CHECK: nvvm.barrier
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[X:.*]], %c64_i32
// CHECK-NEXT: %[[MINE:.*]] = arith.andi %[[IS]], %[[OWNS:.*]] : i1
// CHECK-NEXT: scf.if %[[MINE]]
// CHECK: llvm.atomicrmw add %{{.*}}, %c1_i32 syncscope("block") monotonic
// CHECK-COUNT-3: llvm.atomicrmw
// CHECK-NOT: llvm.atomicrmw
// CHECK: nvvm.barrier
// CHECK: llvm.load
tile.kernel @histogram
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [] constexprs [] attributes {tile.num_warps = 4 : i64}
  grid {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 1024 : index
    %pad = arith.constant 0 : i32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<i32> -> !tile.view<?xi32>
    %a = tile.load %xv[%c0] pad %pad : i32 {sizes = array<i64: 256>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi32> -> tensor<256xi32>
    %r = tile.histogram %a : tensor<256xi32> -> tensor<64xi32>
    tile.store %r, %yv[%c0] {sizes = array<i64: 64>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : tensor<64xi32>, !tile.view<?xi32>
    tile.return
  }
}
