// Buffers get places in the memory that the argument behind all others points to: whole lines of the
// cache, a line between two. Nothing is allocated, so that nothing can fail.
// RUN: tile-opt %s --tile-cpu-lower-to-llvm | FileCheck %s --implicit-check-not=alloc

// CHECK-LABEL: llvm.func @two(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr
// CHECK-SAME: attributes {tile.scratch_argument = 3 : i64, tile.scratch_bytes = 16640 : i64}
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[ARGS]][3]
// CHECK: %[[CELL:.*]] = llvm.load %[[SLOT]]
// CHECK: %[[MEMORY:.*]] = llvm.load %[[CELL]]
// CHECK: %[[FIRST:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.call @tile.place(%[[MEMORY]], %[[FIRST]]) : (!llvm.ptr, i64) -> (!llvm.ptr {llvm.dereferenceable = 16384 : i64})
// CHECK: %[[SECOND:.*]] = llvm.mlir.constant(16448 : i64)
// CHECK: llvm.call @tile.place(%[[MEMORY]], %[[SECOND]]) : (!llvm.ptr, i64) -> (!llvm.ptr {llvm.dereferenceable = 100 : i64})
// CHECK: llvm.store
func.func @two(%args: !llvm.ptr) attributes {tile.scratch_argument = 3 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() {alignment = 64 : i64} : memref<4096xf32>
  %b = memref.alloc() {alignment = 64 : i64} : memref<25xf32>
  memref.store %one, %a[%c0] : memref<4096xf32>
  memref.store %one, %b[%c0] : memref<25xf32>
  return
}

// CHECK-LABEL: llvm.func @none(
// CHECK-NOT: scratch_bytes
// CHECK-NOT: llvm.call
// CHECK: llvm.return
func.func @none(%args: !llvm.ptr) attributes {tile.scratch_argument = 3 : i64} {
  return
}

// To LLVM the pointers that it returns are as far apart as those of malloc.
// CHECK: llvm.func internal @tile.place({{.*}}) -> (!llvm.ptr {llvm.align = 64 : i64, llvm.noalias})
// CHECK-SAME: no_inline
