// RUN: tile-opt %s --tile-gpu-use-tma --split-input-file | FileCheck %s
// RUN: sed s/sm_90a/sm_80/ %s | tile-opt - --tile-gpu-use-tma --split-input-file \
// RUN:   | FileCheck %s --check-prefix=OLD
// OLD-NOT: tile_gpu.tma

#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
#wide = #tile_gpu.linear<shape = [64, 256], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[1, 0], [2, 0], [4, 0]]>
#out = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [0, 2], [0, 4], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[1, 0], [2, 0], [4, 0]]>
#acc = #tile_gpu.linear<shape = [128, 256], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimM = #tile.dim<"M", 1, 65536, opt = 4096, multiple_of = 1>
#dimN = #tile.dim<"N", 8, 65536, opt = 4096, multiple_of = 8>
#dimK = #tile.dim<"K", 8, 65536, opt = 4096, multiple_of = 8>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A product: operands by panels of 64 columns, what lies outside reads as 0. An end at the tensor's
// own end is no end. The result goes out from the accumulator's layout, 64 rows of each warpgroup,
// 128 columns at once.
// CHECK-LABEL: tile.kernel @matmul
// CHECK: body {
// CHECK-DAG: %[[A:.*]] = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
// CHECK-DAG: %[[B:.*]] = tile_gpu.descriptor <param = 1, order = [1, 0], box = [64, 64], swizzle = 128>
// CHECK-DAG: %[[C:.*]] = tile_gpu.descriptor <param = 2, order = [1, 0], box = [64, 64], swizzle = 128>
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: %[[TA:.*]] = tile_gpu.tma_fetch %[[A]][%[[K]], %[[M:.*]]] : <128x64xf16, #{{.*}}>
// CHECK-NEXT: %[[TB:.*]] = tile_gpu.tma_fetch %[[B]][%[[N:.*]], %[[K]]] : <64x256xf16, #{{.*}}>
// CHECK-NEXT: tile_gpu.wgmma %[[TA]], %[[TB]]
// CHECK: %[[T:.*]] = arith.truncf
// CHECK-NEXT: tile_gpu.tma_store %[[T]], %[[C]][%[[N]], %[[M]]] {columns = 128 : i64}
// CHECK-NOT: tile.store
tile.kernel @matmul params [#tile.param<"a", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"c", out, align = 16>]
    dims [#dimM, #dimN, #dimK] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %m = tile.dim #dimM
  %n = tile.dim #dimN
  %i = arith.ceildivsi %m, %c128 : index
  %j = arith.ceildivsi %n, %c256 : index
  tile.yield %i, %j : index, index
} body {
^bb0(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f16
  %init = arith.constant dense<0.0> : tensor<128x256xf32, #acc>
  %m = tile.dim #dimM
  %n = tile.dim #dimN
  %k = tile.dim #dimK
  %va = tile.view %a[%m, %k] strides[%k, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  %vb = tile.view %b[%k, %n] strides[%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  %vc = tile.view %c[%m, %n] strides[%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  %i = tile.program_id 0
  %j = tile.program_id 1
  %row = arith.muli %i, %c128 : index
  %column = arith.muli %j, %c256 : index
  %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %init) -> (tensor<128x256xf32, #acc>) {
    %ta = tile.load %va[%row, %at] ends[%k] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, true>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<128x64xf16, #rows>
    %ma = tile_gpu.local_alloc %ta : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %tb = tile.load %vb[%at, %column] pad %zero : f16 {sizes = array<i64: 64, 256>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<64x256xf16, #wide>
    %mb = tile_gpu.local_alloc %tb : tensor<64x256xf16, #wide> -> !tile_gpu.memdesc<64x256xf16, #shared>
    %next = tile_gpu.wgmma %ma, %mb, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x256xf16, #shared>, tensor<128x256xf32, #acc>
    scf.yield %next : tensor<128x256xf32, #acc>
  }
  %half = arith.truncf %sum : tensor<128x256xf32, #acc> to tensor<128x256xf16, #acc>
  %moved = tile_gpu.convert_layout %half : tensor<128x256xf16, #acc> -> tensor<128x256xf16, #out>
  tile.store %moved, %vc[%row, %column] {sizes = array<i64: 128, 256>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<128x256xf16, #out>, !tile.view<?x?xf16>
  tile.return
}
}

// -----

#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#swapped = #tile_gpu.shared<order = [0, 1], swizzle = 128>
#dimB = #tile.dim<"B", 1, 65536, opt = 4096, multiple_of = 1>
#dimS = #tile.dim<"S", 1, 65536, opt = 4096, multiple_of = 1>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Views of views: the tensor's own coordinates, all dimensions in the map. An end inside the tensor
// is cleared; numbers from memory are kept within what coordinates hold; in a slice the positions
// before it must be absent.
// CHECK-LABEL: tile.kernel @views
// CHECK: body {
// CHECK-DAG: %[[D:.*]] = tile_gpu.descriptor <param = 0, order = [2, 1, 0], box = [64, 128, 1], swizzle = 128>
// CHECK-DAG: %[[E:.*]] = tile_gpu.descriptor <param = 0, order = [2, 0, 1], box = [64, 128, 1], swizzle = 128>
// CHECK: %[[END:.*]] = arith.index_cast
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[M:.*]] = tile_gpu.tma_fetch %[[D]][%c0, %[[I]], %[[PID:.*]]] : <128x64xf16
// CHECK: arith.minsi %[[END]], %c1073741824
// CHECK: %[[LIMIT:.*]] = arith.subi %{{.*}}, %[[I]] : index
// CHECK-NEXT: tile_gpu.clear_from %[[M]], %[[LIMIT]] {dim = 0 : i64}
// CHECK-NEXT: %[[P:.*]] = tile_gpu.memdesc_permute %[[M]]
// CHECK: tile_gpu.tma_fetch %[[E]][%c0, %[[PID]], %[[I]]] : <128x64xf16
// CHECK-NOT: clear_from
// CHECK: tile_gpu.local_load
// CHECK: %[[SUM:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK: %[[CUT:.*]] = arith.minsi %[[SUM]]
// CHECK: %[[COORD:.*]] = arith.maxsi %[[CUT]]
// CHECK: %[[W:.*]] = tile_gpu.tma_fetch %[[D]][%c0, %[[COORD]], %[[PID]]]
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK-NEXT: tile_gpu.clear_from %[[W]], %[[LAST]] {dim = 0 : i64}
tile.kernel @views params [#tile.param<"x", in, align = 16>, #tile.param<"n", in, align = 4>, #tile.param<"y", out, align = 16>] dims [#dimB, #dimS] constexprs [] grid {
^bb0(%x: !tile.ptr<f16>, %np: !tile.ptr<i64>, %y: !tile.ptr<f16>):
  %b = tile.dim #dimB
  tile.yield %b : index
} body {
^bb0(%x: !tile.ptr<f16>, %np: !tile.ptr<i64>, %y: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f16
  %zero64 = arith.constant 0 : i64
  %b = tile.dim #dimB
  %s = tile.dim #dimS
  %plane = arith.muli %s, %c64 : index
  %v = tile.view %x[%b, %s, %c64] strides[%plane, %c64, %c1] : !tile.ptr<f16> -> !tile.view<?x?x64xf16>
  %vn = tile.view %np[%b] strides[%c1] : !tile.ptr<i64> -> !tile.view<?xi64>
  %vy = tile.view %y[%s, %c64] strides[%c64, %c1] : !tile.ptr<f16> -> !tile.view<?x64xf16>
  %p = tile.program_id 0
  %n64 = tile.load %vn[%p] pad %zero64 : i64 {sizes = array<i64: -1>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: true>} : !tile.view<?xi64> -> i64
  %n = arith.index_cast %n64 : i64 to index
  %sub = tile.subview %v indices [%p] lows [] highs [] {kinds = array<i32: 0, 1, 1>} : !tile.view<?x?x64xf16> -> !tile.view<?x64xf16>
  %turned = tile.permute_view %v {permutation = array<i64: 1, 0, 2>} : !tile.view<?x?x64xf16> -> !tile.view<?x?x64xf16>
  scf.for %i = %c0 to %s step %c128 {
    %t = tile.load %sub[%i, %c0] ends[%n] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<128x64xf16, #rows>
    %m = tile_gpu.local_alloc %t : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %mp = tile_gpu.memdesc_permute %m {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<128x64xf16, #shared> -> !tile_gpu.memdesc<64x128xf16, #swapped>
    %one = tile_gpu.local_load %m : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile.store %one, %vy[%i, %c0] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<128x64xf16, #rows>, !tile.view<?x64xf16>
    %u = tile.load %turned[%i, %p, %c0] pad %zero : f16 {sizes = array<i64: -1, 128, 64>, steps = array<i64: 1, 1, 1>, has_end = array<i1: false, false, false>, in_bounds = array<i1: false, false, true>} : !tile.view<?x?x64xf16> -> tensor<128x64xf16, #rows>
    %mu = tile_gpu.local_alloc %u : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %two = tile_gpu.local_load %mu : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile.store %two, %vy[%i, %c0] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<128x64xf16, #rows>, !tile.view<?x64xf16>
    %window = tile.subview %sub indices [] lows [%n] highs [%s] {kinds = array<i32: 2, 1>} : !tile.view<?x64xf16> -> !tile.view<?x64xf16>
    %w = tile.load %window[%i, %c0] ends[%n] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<128x64xf16, #rows>
    %mw = tile_gpu.local_alloc %w : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %three = tile_gpu.local_load %mw : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile.store %three, %vy[%i, %c0] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<128x64xf16, #rows>, !tile.view<?x64xf16>
  }
  tile.return
}
}

// -----

#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
#acc = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 8>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Rows behind an end that all stores of them have: not cleared, since nothing sees them. Where one
// store has another end, they are.
// CHECK-LABEL: tile.kernel @ragged
// CHECK: tile_gpu.tma_fetch
// CHECK-NOT: clear_from
// CHECK: tile_gpu.wgmma
// CHECK: tile.store
// CHECK: tile_gpu.tma_fetch
// CHECK: tile_gpu.clear_from
// CHECK: tile_gpu.wgmma
tile.kernel @ragged params [#tile.param<"a", in, align = 16>, #tile.param<"c", out, align = 16>, #tile.param<"first", scalar, align = 1>, #tile.param<"last", scalar, align = 1>]
    dims [#dimN] constexprs [] attributes {tile_gpu.num_warps = 8 : i64} grid {
^bb0(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>, %first: i64, %last: i64):
  tile.yield
} body {
^bb0(%a: !tile.ptr<f16>, %c: !tile.ptr<f32>, %first: i64, %last: i64):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f16
  %init = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  %two = arith.constant dense<2.0> : tensor<128x64xf32, #acc>
  %ones = arith.constant dense<1.0> : tensor<64x64xf16, #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>>
  %n = tile.dim #dimN
  %va = tile.view %a[%n, %n] strides[%n, %c1] : !tile.ptr<f16> -> !tile.view<?x?xf16>
  %vc = tile.view %c[%n, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>
  %b = tile_gpu.local_alloc %ones : tensor<64x64xf16, #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %start = arith.index_cast %first : i64 to index
  %end = arith.index_cast %last : i64 to index
  %sum = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %init) -> (tensor<128x64xf32, #acc>) {
    %t = tile.load %va[%start, %k] ends[%end] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<128x64xf16, #rows>
    %m = tile_gpu.local_alloc %t : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %next = tile_gpu.wgmma %m, %b, %acc : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
    scf.yield %next : tensor<128x64xf32, #acc>
  }
  %twice = arith.mulf %sum, %two : tensor<128x64xf32, #acc>
  tile.store %twice, %vc[%start, %c0] ends[%end] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  scf.for %k = %c0 to %n step %c64 {
    %t = tile.load %va[%start, %k] ends[%end] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, false>} : !tile.view<?x?xf16> -> tensor<128x64xf16, #rows>
    %m = tile_gpu.local_alloc %t : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %next = tile_gpu.wgmma %m, %b, %init : !tile_gpu.memdesc<128x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<128x64xf32, #acc>
    tile.store %next, %vc[%start, %k] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, false>} : tensor<128x64xf32, #acc>, !tile.view<?x?xf32>
  }
  tile.return
}
}

// -----

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 8>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// A store with an end of its rows: a map that cuts them, and how many there are, in the tensor too.
// With an end of its columns: by a copy where the tile is whole, else out of the product's
// registers; in a loop its order would be lost, so it stays. Copies in a loop are waited for.
// CHECK-LABEL: tile.kernel @ends
// CHECK-DAG: %[[W:.*]] = tile_gpu.descriptor <param = 0, order = [1, 0, 0], box = [32, 64, 1], swizzle = 128>
// CHECK-DAG: %[[X:.*]] = tile_gpu.descriptor <param = 1, order = [1, 0], box = [32, 64], swizzle = 128>
// CHECK-DAG: %[[Y:.*]] = tile_gpu.descriptor <param = 2, order = [1, 0, 0], box = [32, 64, 1], swizzle = 128>
// CHECK: %[[D:.*]] = tile_gpu.wgmma
// CHECK-NOT: convert_layout
// CHECK: %[[BEFORE:.*]] = arith.subi %{{.*}}, %c0
// CHECK: %[[INSIDE:.*]] = arith.subi %{{.*}}, %c0
// CHECK: %[[BOTH:.*]] = arith.minsi %[[BEFORE]], %[[INSIDE]]
// CHECK: %[[LEAST:.*]] = arith.minsi %[[BOTH]], %c64{{.*}}
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[LEAST]], %c0{{.*}}
// CHECK-NEXT: tile_gpu.tma_store %[[D]], %[[W]][%c0, %[[COUNT]], %c0] {columns = 32 : i64}
// CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %{{.*}}, %c64{{.*}}
// CHECK-NEXT: scf.if %[[WHOLE]] {
// CHECK: tile_gpu.tma_store %[[D]], %[[X]][{{.*}}] {columns = 32 : i64}
// CHECK-NEXT: } else {
// CHECK-NEXT: tile.store %[[D]]
// CHECK: scf.for
// CHECK: tile_gpu.tma_store %[[D]], %[[Y]][%c0, %{{.*}}, %c0] {columns = 32 : i64, ordered}
// CHECK: tile_gpu.tma_store %{{.*}} {columns = 32 : i64, ordered}
// CHECK: tile.store
tile.kernel @ends params [#tile.param<"w", out, align = 16>, #tile.param<"x", out, align = 16>, #tile.param<"y", out, align = 16>, #tile.param<"z", out, align = 16>, #tile.param<"v", out, align = 16>, #tile.param<"last", scalar, align = 1>]
    dims [#dimN] constexprs [] grid { ^bb0(%w: !tile.ptr<f32>, %x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %v: !tile.ptr<f32>, %last: i64): tile.yield } body {
^bb0(%w: !tile.ptr<f32>, %x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %z: !tile.ptr<f32>, %v: !tile.ptr<f32>, %last: i64):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %ones = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  %init = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %n = tile.dim #dimN
  %end = arith.index_cast %last : i64 to index
  %vw = tile.view %w[%n, %c64] strides[%c64, %c1] : !tile.ptr<f32> -> !tile.view<?x64xf32>
  %vy = tile.view %y[%n, %c64] strides[%c64, %c1] : !tile.ptr<f32> -> !tile.view<?x64xf32>
  %vz = tile.view %z[%n, %c64] strides[%c64, %c1] : !tile.ptr<f32> -> !tile.view<?x64xf32>
  %vx = tile.view %x[%c64, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.view<64x?xf32>
  %vv = tile.view %v[%c64, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.view<64x?xf32>
  %m = tile_gpu.local_alloc %ones : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %d = tile_gpu.wgmma %m, %m, %init : !tile_gpu.memdesc<64x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<64x64xf32, #acc>
  %moved = tile_gpu.convert_layout %d : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #rows>
  tile.store %moved, %vw[%c0, %c0] ends[%end] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #rows>, !tile.view<?x64xf32>
  tile.store %d, %vx[%c0, %c0] ends[%end] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, true>, in_bounds = array<i1: true, false>} : tensor<64x64xf32, #acc>, !tile.view<64x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    tile.store %d, %vy[%c0, %c0] ends[%end] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #acc>, !tile.view<?x64xf32>
    tile.store %d, %vz[%i, %c0] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #acc>, !tile.view<?x64xf32>
    tile.store %d, %vv[%c0, %c0] ends[%end] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, true>, in_bounds = array<i1: true, false>} : tensor<64x64xf32, #acc>, !tile.view<64x?xf32>
  }
  tile.return
}
}

// -----

#rows = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimN = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 8>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Rows from nobody knows where: by a copy, whose rows have an end, where they do not begin before
// the tensor.
// CHECK-LABEL: tile.kernel @begins
// CHECK: tile_gpu.descriptor <param = 0, order = [1, 0, 0], box = [32, 64, 1], swizzle = 128>
// CHECK: %[[D:.*]] = tile_gpu.wgmma
// CHECK: %[[BEGINS:.*]] = arith.cmpi sge, %{{.*}}, %c0{{.*}}
// CHECK-NEXT: scf.if %[[BEGINS]] {
// CHECK: tile_gpu.tma_store %[[D]], %{{.*}}[%c0, %{{.*}}, %{{.*}}] {columns = 64 : i64}
// CHECK-NEXT: } else {
// CHECK-NEXT: tile.store %[[D]]
tile.kernel @begins params [#tile.param<"w", out, align = 16>, #tile.param<"first", scalar, align = 1>, #tile.param<"last", scalar, align = 1>]
    dims [#dimN] constexprs [] grid { ^bb0(%w: !tile.ptr<f32>, %first: i64, %last: i64): tile.yield } body {
^bb0(%w: !tile.ptr<f32>, %first: i64, %last: i64):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %ones = arith.constant dense<1.0> : tensor<64x64xf16, #rows>
  %init = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %n = tile.dim #dimN
  %end = arith.index_cast %last : i64 to index
  %middle = arith.index_cast %first : i64 to index
  %vw = tile.view %w[%n, %c64] strides[%c64, %c1] : !tile.ptr<f32> -> !tile.view<?x64xf32>
  %m = tile_gpu.local_alloc %ones : tensor<64x64xf16, #rows> -> !tile_gpu.memdesc<64x64xf16, #shared>
  %d = tile_gpu.wgmma %m, %m, %init : !tile_gpu.memdesc<64x64xf16, #shared>, !tile_gpu.memdesc<64x64xf16, #shared>, tensor<64x64xf32, #acc>
  tile.store %d, %vw[%middle, %c0] ends[%end] {sizes = array<i64: 64, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, true>} : tensor<64x64xf32, #acc>, !tile.view<?x64xf32>
  tile.return
}
}

// -----

#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 1], [0, 2], [0, 4], [32, 0], [64, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0], [16, 0]]>
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#dimL = #tile.dim<"L", 1, 65536, opt = 4096, multiple_of = 1>

module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
// Blocks up to the smaller of the tensor's end and a multiple of the block's size: what is cut off
// lies behind the tensor, and nothing is cleared. A multiple of half a block may cut one in the
// middle.
// CHECK-LABEL: tile.kernel @causal
// CHECK: scf.for
// CHECK: tile_gpu.tma_fetch
// CHECK-NOT: clear_from
// CHECK: scf.for
// CHECK: tile_gpu.tma_fetch
// CHECK: tile_gpu.clear_from
tile.kernel @causal params [#tile.param<"x", in, align = 16>, #tile.param<"y", out, align = 16>] dims [#dimL] constexprs [] grid {
^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>):
  %l = tile.dim #dimL
  tile.yield %l : index
} body {
^bb0(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f16
  %l = tile.dim #dimL
  %v = tile.view %x[%l, %c64] strides[%c64, %c1] : !tile.ptr<f16> -> !tile.view<?x64xf16>
  %vy = tile.view %y[%l, %c64] strides[%c64, %c1] : !tile.ptr<f16> -> !tile.view<?x64xf16>
  %p = tile.program_id 0
  %whole = arith.muli %p, %c128 : index
  %half = arith.muli %p, %c64 : index
  %end = arith.minsi %l, %whole : index
  %middle = arith.minsi %l, %half : index
  scf.for %i = %c0 to %end step %c128 {
    %t = tile.load %v[%i, %c0] ends[%end] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<128x64xf16, #rows>
    %m = tile_gpu.local_alloc %t : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %one = tile_gpu.local_load %m : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile.store %one, %vy[%i, %c0] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<128x64xf16, #rows>, !tile.view<?x64xf16>
  }
  scf.for %i = %c0 to %middle step %c128 {
    %t = tile.load %v[%i, %c0] ends[%middle] pad %zero : f16 {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: true, false>, in_bounds = array<i1: false, true>} : !tile.view<?x64xf16> -> tensor<128x64xf16, #rows>
    %m = tile_gpu.local_alloc %t : tensor<128x64xf16, #rows> -> !tile_gpu.memdesc<128x64xf16, #shared>
    %one = tile_gpu.local_load %m : !tile_gpu.memdesc<128x64xf16, #shared> -> tensor<128x64xf16, #rows>
    tile.store %one, %vy[%i, %c0] {sizes = array<i64: 128, 64>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>, in_bounds = array<i1: false, true>} : tensor<128x64xf16, #rows>, !tile.view<?x64xf16>
  }
  tile.return
}
}
