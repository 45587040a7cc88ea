// Programs that differ by more than where their tiles lie stay apart.
// RUN: tile-opt %s --tile-gpu-widen-tiles=programs=2 | FileCheck %s

#M = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 64>
#S = #tile.dim<"S", 1, 65536, opt = 4096, multiple_of = 1>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Each program pads its rows by a number of its own.
// CHECK-LABEL: tile.kernel @padding
// CHECK-NOT: joined_programs
// CHECK: tile.load {{.*}} sizes = array<i64: 64>
tile.kernel @padding params [#tile.param<"s", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#M, #S] constexprs [] grid {
^bb0(%s: !tile.ptr<f32>, %c: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %m = tile.dim #M
  %x = arith.ceildivsi %m, %c64 : index
  tile.yield %x : index
} body {
^bb0(%s: !tile.ptr<f32>, %c: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %m = tile.dim #M
  %n = tile.dim #S
  %vs = tile.view %s[%n] strides[%c1] : <f32> -> <?xf32>
  %vc = tile.view %c[%m] strides[%c1] : <f32> -> <?xf32>
  %p = tile.program_id 0
  %row = arith.muli %p, %c64 : index
  %number = arith.index_cast %p : index to i32
  %pad = arith.sitofp %number : i32 to f32
  %t = tile.load %vs[%row] pad %pad : f32 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 64>, steps = array<i64: 1>} : <?xf32> -> tensor<64xf32>
  tile.store %t, %vc[%row] {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 64>, steps = array<i64: 1>} : tensor<64xf32>, <?xf32>
  tile.return
}

// A branch gives a multiple of 128 for both programs, or 96 more: behind it neighbours need not
// have one quotient.
// CHECK-LABEL: tile.kernel @branch
// CHECK-NOT: joined_programs
// CHECK: tile.load {{.*}} sizes = array<i64: 64>
tile.kernel @branch params [#tile.param<"s", in, align = 16>, #tile.param<"c", out, align = 16>] dims [#M, #S] constexprs [] grid {
^bb0(%s: !tile.ptr<f32>, %c: !tile.ptr<f32>):
  %c64 = arith.constant 64 : index
  %m = tile.dim #M
  %x = arith.ceildivsi %m, %c64 : index
  tile.yield %x : index
} body {
^bb0(%s: !tile.ptr<f32>, %c: !tile.ptr<f32>):
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = tile.dim #M
  %n = tile.dim #S
  %vs = tile.view %s[%n] strides[%c1] : <f32> -> <?xf32>
  %vc = tile.view %c[%m] strides[%c1] : <f32> -> <?xf32>
  %p = tile.program_id 0
  %row = arith.muli %p, %c64 : index
  %few = arith.cmpi slt, %n, %c128 : index
  %at = scf.if %few -> (index) {
    scf.yield %row : index
  } else {
    %behind = arith.addi %row, %c96 : index
    scf.yield %behind : index
  }
  %group = arith.divsi %at, %c128 : index
  %w = tile.load %vs[%group] pad %zero : f32 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: -1>, steps = array<i64: 1>} : <?xf32> -> f32
  %all = tensor.splat %w : tensor<64xf32>
  %t = tile.load %vs[%row] pad %zero : f32 {has_end = array<i1: false>, in_bounds = array<i1: false>, sizes = array<i64: 64>, steps = array<i64: 1>} : <?xf32> -> tensor<64xf32>
  %u = arith.addf %t, %all : tensor<64xf32>
  tile.store %u, %vc[%row] {has_end = array<i1: false>, in_bounds = array<i1: true>, sizes = array<i64: 64>, steps = array<i64: 1>} : tensor<64xf32>, <?xf32>
  tile.return
}
}
