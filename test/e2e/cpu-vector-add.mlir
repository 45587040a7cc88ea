// One kernel through the CPU pipeline, run on lengths with and without a tail.
// RUN: %python %source/test/e2e/cpu_vector_add.py %s | FileCheck %s
// CHECK-COUNT-5: sum of {{[0-9]+}}: ok
#N = #tile.dim<"N", 1, 1048576, opt = 4096, multiple_of = 1>
tile.kernel @add
    params [#tile.param<"x", in, align = 16>, #tile.param<"y", in, align = 16>, #tile.param<"z", out, align = 16>]
    dims [#N] constexprs []
    grid {
    ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>):
      %n = tile.dim #N
      %c1024 = arith.constant 1024 : index
      %programs = arith.ceildivsi %n, %c1024 : index
      tile.yield %programs : index
    } body {
    ^bb0(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>):
      %n = tile.dim #N
      %i = tile.program_id 0
      %c1 = arith.constant 1 : index
      %c1024 = arith.constant 1024 : index
      %zero = arith.constant 0.0 : f32
      %start = arith.muli %i, %c1024 : index
      %vx = tile.view %x [%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
      %vy = tile.view %y [%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
      %vz = tile.view %z [%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
      %a = tile.load %vx [%start] pad %zero : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
      %b = tile.load %vy [%start] pad %zero : f32 {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<1024xf32>
      %c = arith.addf %a, %b : tensor<1024xf32>
      tile.store %c, %vz [%start] {sizes = array<i64: 1024>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<1024xf32>, !tile.view<?xf32>
      tile.return
    }
