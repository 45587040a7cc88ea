// Parts of a split loop: each thread's registers to scratch memory in pieces of 16 bytes, the count
// with release and acquire, and in the last part all parts in order: as many at once as have few
// words, and in a loop where that leaves several rounds.
// RUN: tile-opt %s --tile-gpu-pipeline | FileCheck %s
// RUN: sed -e 's/64x64/128x128/g' -e 's/64, 64>/128, 128>/g' %s \
// RUN:   | tile-opt - --tile-gpu-pipeline | FileCheck %s --check-prefix=TWO
// RUN: sed -e 's/64x64/256x128/g' -e 's/64, 64>/256, 128>/g' %s \
// RUN:   | tile-opt - --tile-gpu-pipeline | FileCheck %s --check-prefix=MANY

// CHECK: llvm.func @sums(
// CHECK-SAME: tile_gpu.scratch_argument = 3
// 128 bytes, 64x64 words, and one for each thread.
// CHECK-SAME: tile_gpu.scratch_bytes = 17536
// CHECK-COUNT-4: "st.global.v4.b32 [$0], {$1, $2, $3, $4};"
// CHECK: "st.global.b32 [$0], $1;"
// One thread's count releases and acquires for all: no fences.
// CHECK-NOT: fence
// CHECK: nvvm.barrier
// CHECK: "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;"
// CHECK: nvvm.barrier
// CHECK-NOT: fence
// CHECK-COUNT-4: "ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];"
// CHECK: "ld.global.cg.b32 $0, [$1];"
// CHECK-NOT: llvm.fadd
// CHECK-COUNT-12: "ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];"
// CHECK-COUNT-3: llvm.fadd {{.*}} : vector<16xf32>

// Parts 1 and 2 together, then part 3.
// TWO-NOT: nounroll
// TWO-COUNT-8: "ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];"
// TWO-COUNT-16: "ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];"
// TWO-COUNT-2: llvm.fadd {{.*}} : vector<32xf32>
// TWO-COUNT-8: "ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];"
// TWO: llvm.fadd {{.*}} : vector<32xf32>

// MANY-COUNT-16: "ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];"
// MANY: llvm.br
// MANY: nounroll
// MANY-COUNT-16: "ld.global.cg.v4.b32 {$0, $1, $2, $3}, [$4];"
// MANY: llvm.fadd {{.*}} : vector<64xf32>
#N = #tile.dim<"N", 1, 4096, opt = 4096, multiple_of = 1>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_80">} {
tile.kernel @sums
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %xv = tile.view %x[%n, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %yv = tile.view %y[%n, %n] strides [%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
    %r:2 = scf.for %k = %c0 to %n step %c64 iter_args(%s = %zero, %m = %pad) -> (tensor<64x64xf32>, f32) {
      %a = tile.load %xv[%c0, %k] pad %pad : f32 {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf32> -> tensor<64x64xf32>
      %t = arith.addf %s, %a : tensor<64x64xf32>
      %u = arith.addf %m, %pad : f32
      scf.yield %t, %u : tensor<64x64xf32>, f32
    } {tile.split = 4 : i64}
    %w = tensor.splat %r#1 : tensor<64x64xf32>
    %v = arith.addf %r#0, %w : tensor<64x64xf32>
    tile.store %v, %yv[%c0, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<64x64xf32>, !tile.view<?x?xf32>
    tile.return
  }
}
