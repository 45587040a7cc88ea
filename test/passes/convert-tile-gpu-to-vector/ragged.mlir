// RUN: tile-opt %s --tile-gpu-layout-pipeline --convert-tile-gpu-to-vector --canonicalize --cse \
// RUN:   | FileCheck %s

// Extents that nothing is known of: 16 bytes at once where they are aligned, else one element after
// the other, in a loop over the words of the thread's pieces (two here), all in one statement. Both
// pieces count from one address and one number of elements. A thread's only piece goes by windows
// (test/emulator/ragged.test).
// CHECK-LABEL: func.func @ragged
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK: llvm.inline_asm "{ .reg .pred q; .reg .b64 a0; .reg .b32 n0; mov.b64 a0, $9; mov.b32 n0, $10; .reg .b32 i; .reg .b32 e0; .reg .b32 e1; .reg .b32 f, h; mov.b32 f, $8; shl.b32 h, f, 16; or.b32 f, f, h; .reg .pred g0; .reg .pred g1; @!$11 bra NARROW;
// CHECK-SAME: setp.gt.s32 g0, n0, 0; mov.b32 $0, f; mov.b32 $1, f; mov.b32 $2, f; mov.b32 $3, f; @g0 ld.global.nc.v4.b32 {$0, $1, $2, $3}, [a0+0]; setp.gt.s32 g1, n0, 8;
// CHECK-SAME: @g1 ld.global.nc.v4.b32 {$4, $5, $6, $7}, [a0+16]; bra LOADED; NARROW: mov.b32 i, 4; NEXT0: .pragma \22nounroll\22;
// CHECK-SAME: mov.b32 $0, $1; mov.b32 $1, $2; mov.b32 $2, $3; mov.b32 e0, $8; setp.gt.s32 q, n0, 0; @q ld.global.nc.u16 e0, [a0+0]; mov.b32 e1, $8; setp.gt.s32 q, n0, 1; @q ld.global.nc.u16 e1, [a0+2]; prmt.b32 $3, e0, e1, 0x5410;
// CHECK-SAME: setp.gt.s32 q, n0, 8; @q ld.global.nc.u16 e0, [a0+16];
// CHECK-SAME: add.s64 a0, a0, 4; sub.s32 n0, n0, 2; sub.s32 i, i, 1; setp.ne.s32 q, i, 0; @q bra NEXT0; LOADED: }", "=&r,=&r,=&r,=&r,=&r,=&r,=&r,=&r,r,l,r,b" %{{.*}}, %{{.*}}, %{{.*}}, %[[ALIGNED]] :
// Elements of 8 bits come four to a word; what is beyond the end is the padding, known or not.
// CHECK: arith.extui {{.*}} : i8 to i32
// CHECK: ld.global.nc.u8 e3, [a0+3]; prmt.b32 e0, e0, e1, 0x0040; prmt.b32 e1, e2, e3, 0x0040; prmt.b32 ${{[0-9]+}}, e0, e1, 0x5410;
// Lanes whose pieces are not side by side, as each has two of a line, store element by element
// (test/emulator/ragged.test has those that are).
// CHECK: st.global.v4.b32
// CHECK: } else {
// CHECK: setp.gt.s32 q, n0, 0; @q st.global.u16 [a0+0], $2; shr.u32 e, $2, 16; setp.gt.s32 q, n0, 1; @q st.global.u16 [a0+2], e; setp.gt.s32 q, n0, 2; @q st.global.u16 [a0+4], $3;
// Words and stores have no loop.
// CHECK-NOT: NEXT
// CHECK: setp.gt.s32 q, n0, 0; @q st.global.b32 [a0+0], $2; setp.gt.s32 q, n0, 1; @q st.global.b32 [a0+4], $3;
#N = #tile.dim<"N", 1, 65536, opt = 4096, multiple_of = 1>
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {
tile.kernel @ragged
  params [#tile.param<"x", in, align = 16>, #tile.param<"b", in, align = 16>, #tile.param<"p", scalar, align = 1>,
          #tile.param<"y", out, align = 16>, #tile.param<"z", out, align = 16>,
          #tile.param<"c", out, align = 16>, #tile.param<"d", out, align = 16>] dims [#N] constexprs []
  grid {
  ^bb0(%x: !tile.ptr<f16>, %b: !tile.ptr<i8>, %p: i8, %y: !tile.ptr<f16>, %z: !tile.ptr<f32>, %c: !tile.ptr<i8>, %d: !tile.ptr<i8>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f16>, %b: !tile.ptr<i8>, %p: i8, %y: !tile.ptr<f16>, %z: !tile.ptr<f32>, %c: !tile.ptr<i8>, %d: !tile.ptr<i8>):
    %n = tile.dim #N
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f16
    %xv = tile.view %x[%n] strides [%c1] : !tile.ptr<f16> -> !tile.view<?xf16>
    %bv = tile.view %b[%n] strides [%c1] : !tile.ptr<i8> -> !tile.view<?xi8>
    %yv = tile.view %y[%n] strides [%c1] : !tile.ptr<f16> -> !tile.view<?xf16>
    %zv = tile.view %z[%n] strides [%c1] : !tile.ptr<f32> -> !tile.view<?xf32>
    %cv = tile.view %c[%n] strides [%c1] : !tile.ptr<i8> -> !tile.view<?xi8>
    %dv = tile.view %d[%n] strides [%c1] : !tile.ptr<i8> -> !tile.view<?xi8>
    %h = tile.load %xv[%c0] pad %zero : f16 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf16> -> tensor<2048xf16>
    %i = tile.load %bv[%c0] pad %p : i8 {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xi8> -> tensor<2048xi8>
    %f = arith.sitofp %i : tensor<2048xi8> to tensor<2048xf16>
    %s = arith.addf %h, %f : tensor<2048xf16>
    %w = arith.extf %s : tensor<2048xf16> to tensor<2048xf32>
    tile.store %s, %yv[%c0] {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<2048xf16>, !tile.view<?xf16>
    tile.store %w, %zv[%c0] {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<2048xf32>, !tile.view<?xf32>
    // Enough bytes that a thread has 16 of them.
    tile.store %i, %cv[%c0] {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<2048xi8>, !tile.view<?xi8>
    tile.store %i, %dv[%c0] {sizes = array<i64: 2048>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<2048xi8>, !tile.view<?xi8>
    tile.return
  }
}
