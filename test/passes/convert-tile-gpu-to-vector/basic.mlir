// RUN: tile-opt %s --tile-gpu-layout-pipeline --convert-tile-gpu-to-vector --canonicalize --cse \
// RUN:   | FileCheck %s

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A thread's registers are one vector; what may not exist is loaded under a predicate, into
// registers that hold the padding.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME: i64
// CHECK-SAME: tile_gpu.num_threads = 64
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.inline_asm {{.*}}"mov.b32 $0, 1065353216; {{.*}}@$5 ld.global.nc.v4.b32 {$0, $1, $2, $3}, [$4];"
// CHECK-NOT: arith.select
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: llvm.inline_asm has_side_effects "@$5 st.global.v4.b32 [$4], {$0, $1, $2, $3};"
tile.kernel @padded
  params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 4>] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 4>
    %c1024 = arith.constant 1024 : index
    %p = arith.ceildivsi %n, %c1024 : index
    tile.yield %p : index
  } body {
  ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>):
    %n = tile.dim #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 4>
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %pad = arith.constant 1.0 : f32
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %i = tile.program_id 0
    %s = arith.muli %i, %c1024 : index
    %a = tile.load %xv[%s] pad %pad : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
    %e = math.exp %a : tensor<1024xf32>
    tile.store %e, %yv[%s] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf32>, !tile.view<?xf32>
    tile.return
  }
}
