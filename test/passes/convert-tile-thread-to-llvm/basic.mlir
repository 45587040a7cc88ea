// A function with a number of threads is a kernel: NVVM gets its attributes. Index is 64 bits wide.
// RUN: tile-opt %s --convert-tile-thread-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @kernel(%{{.*}}: !llvm.ptr{{.*}}, %{{.*}}: i64)
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 128>
// CHECK: llvm.fadd {{.*}} : vector<4xf32>
// CHECK: llvm.mul {{.*}} : i64
// CHECK: llvm.return
// CHECK-NOT: unrealized_conversion_cast
func.func @kernel(%p: !llvm.ptr, %n: i64) attributes {tile_gpu.num_threads = 128 : i64} {
  %v = llvm.load %p : !llvm.ptr -> vector<4xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  %i = arith.index_cast %n : i64 to index
  %j = arith.muli %i, %i : index
  %k = arith.index_cast %j : index to i64
  %q = llvm.getelementptr %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %w, %q : vector<4xf32>, !llvm.ptr
  return
}

// CHECK-LABEL: llvm.func @plain
// CHECK-NOT: nvvm
func.func @plain() {
  return
}
