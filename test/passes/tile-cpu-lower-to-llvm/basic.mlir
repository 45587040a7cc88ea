// Everything that is left becomes the LLVM dialect,.
// RUN: tile-opt %s --tile-cpu-lower-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @run(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.alloca
// CHECK: llvm.store
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.fmul {{.*}} : vector<4xf32>
// CHECK: llvm.intr.sqrt({{.*}}) : (vector<4xf32>) -> vector<4xf32>
// CHECK: llvm.cond_br
// CHECK-NOT: unrealized_conversion_cast
// CHECK-NOT: {{ (arith|math|memref|vector|func|cf)\.}}
func.func @run(%args: !llvm.ptr, %begin: i64, %end: i64) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = memref.alloca() : memref<4xf32>
  memref.store %one, %m[%c0] : memref<4xf32>
  %v = vector.load %m[%c0] : memref<4xf32>, vector<4xf32>
  %w = arith.mulf %v, %v : vector<4xf32>
  %r = math.sqrt %w : vector<4xf32>
  vector.store %r, %m[%c0] : memref<4xf32>, vector<4xf32>
  %less = arith.cmpi slt, %begin, %end : i64
  cf.cond_br %less, ^run, ^done
^run:
  cf.br ^done
^done:
  return
}
