// What is `in` is read where it is, or from padded scratch where lanes are missing; other loads are
// clipped copies into scratch, stores clipped copies out of it.
// RUN: tile-opt %s --convert-tile-to-linalg --canonicalize | FileCheck %s
// RUN: sed -e 's/"x", in/"x", inout/' %s | tile-opt --convert-tile-to-linalg --canonicalize \
// RUN:   | FileCheck %s --check-prefix=COPY
// RUN: tile-opt %s --tile-cpu-pipeline | FileCheck %s --check-prefix=LLVM

// LLVM: llvm.func @add(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// LLVM-NOT: unrealized_conversion_cast

// CHECK-LABEL: func.func @add(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: scf.for
// CHECK: %[[SCRATCH:.*]] = memref.alloc() : memref<1024xf32>
// CHECK: %[[SOURCE:.*]] = scf.if
// CHECK: linalg.fill {{.*}} outs(%[[SCRATCH]]
// CHECK: %[[PART:.*]] = memref.subview %[[SCRATCH]]
// CHECK: %[[USER:.*]] = memref.reinterpret_cast
// CHECK: linalg.copy ins(%[[USER]]{{.*}} outs(%[[PART]]
// CHECK: } else {
// CHECK: memref.reinterpret_cast {{.*}} sizes: [1024], strides: [1]
// CHECK: bufferization.to_tensor %[[SOURCE]] restrict :
// CHECK: arith.addf {{.*}} : tensor<1024xf32>
// CHECK: tensor.extract_slice
// CHECK: bufferization.materialize_in_destination {{.*}} in restrict writable
// CHECK-NOT: tile.

// COPY: %[[SCRATCH:.*]] = memref.alloc() : memref<1024xf32>
// COPY: scf.if
// COPY: linalg.fill {{.*}} outs(%[[SCRATCH]]
// COPY: %[[PART:.*]] = memref.subview %[[SCRATCH]]
// COPY: %[[USER:.*]] = memref.reinterpret_cast
// COPY: linalg.copy ins(%[[USER]]{{.*}} outs(%[[PART]]
// COPY: bufferization.to_tensor %[[SCRATCH]] restrict writable
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
