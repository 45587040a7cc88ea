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

// What `maxnum` and `minnum` of f32 are written out as is one instruction; with other operands, or
// of f64, which PTX has no such promise for, it stays.
// CHECK-LABEL: llvm.func @maxnum
// CHECK: %[[M:.*]] = llvm.intr.maxnum(%[[A:.*]], %[[B:.*]]) : (vector<4xf32>, vector<4xf32>)
// CHECK: llvm.intr.minnum(%[[M]], %[[B]])
func.func @maxnum(%p: !llvm.ptr, %a: vector<4xf32>, %b: vector<4xf32>) {
  %m = arith.maximumf %a, %b : vector<4xf32>
  %an = arith.cmpf uno, %a, %a : vector<4xf32>
  %bn = arith.cmpf uno, %b, %b : vector<4xf32>
  %s = arith.select %bn, %a, %m : vector<4xi1>, vector<4xf32>
  %t = arith.select %an, %b, %s : vector<4xi1>, vector<4xf32>
  %tn = arith.cmpf uno, %t, %t : vector<4xf32>
  %l = arith.minimumf %t, %b : vector<4xf32>
  %u = arith.select %bn, %t, %l : vector<4xi1>, vector<4xf32>
  %v = arith.select %tn, %b, %u : vector<4xi1>, vector<4xf32>
  llvm.store %v, %p : vector<4xf32>, !llvm.ptr
  return
}

// CHECK-LABEL: llvm.func @others
// CHECK-NOT: llvm.intr.maxnum
// CHECK: llvm.return
func.func @others(%p: !llvm.ptr, %a: f32, %b: f32, %c: f64, %d: f64) {
  %m = arith.maximumf %a, %b : f32
  %an = arith.cmpf uno, %a, %a : f32
  %bn = arith.cmpf uno, %b, %b : f32
  %s = arith.select %bn, %b, %m : i1, f32
  %t = arith.select %an, %b, %s : i1, f32
  %n = arith.maximumf %c, %d : f64
  %cn = arith.cmpf uno, %c, %c : f64
  %dn = arith.cmpf uno, %d, %d : f64
  %u = arith.select %dn, %c, %n : i1, f64
  %v = arith.select %cn, %d, %u : i1, f64
  %q = llvm.getelementptr %p[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %t, %p : f32, !llvm.ptr
  llvm.store %v, %q : f64, !llvm.ptr
  return
}
