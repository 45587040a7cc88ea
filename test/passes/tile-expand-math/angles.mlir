// RUN: tile-opt %s --tile-expand-math=processor=gpu | FileCheck %s
// RUN: tile-opt %s --tile-expand-math | FileCheck %s --check-prefix=CPU

// A GPU's thread branches around the reduction of large angles, once for all of its elements, and
// inside once for each; a sine and a cosine of one angle share all of it. On the CPU, where a loop
// over elements is vectorised later, nothing branches.
// CHECK-LABEL: func @pair
// CHECK: %[[ANY:.*]] = arith.ori
// CHECK: scf.if %[[ANY]] -> (vector<2xf32>, vector<2xi32>)
// CHECK: scf.if %{{.*}} -> (f32, i32)
// CHECK: scf.if %{{.*}} -> (f32, i32)
// CHECK: else
// CHECK: scf.yield %{{.*}}, %{{.*}} : vector<2xf32>, vector<2xi32>
// CHECK-NOT: scf.if
// CHECK: return
// CPU-LABEL: func @pair
// CPU-NOT: scf.if
// CPU: return
func.func @pair(%x: vector<2xf32>) -> (vector<2xf32>, vector<2xf32>) {
  %0 = math.sin %x : vector<2xf32>
  %1 = math.cos %x : vector<2xf32>
  return %0, %1 : vector<2xf32>, vector<2xf32>
}

// 16-bit angles, widened for each function, are one angle, too; a scalar has one branch.
// CHECK-LABEL: func @narrow
// CHECK: scf.if %{{.*}} -> (f32, i32)
// CHECK-NOT: scf.if
// CHECK: return
func.func @narrow(%x: f16) -> (f16, f16) {
  %0 = math.sin %x : f16
  %1 = math.tan %x : f16
  return %0, %1 : f16, f16
}

// Neither are angles of two blocks one, nor two angles.
// CHECK-LABEL: func @apart
// CHECK-COUNT-3: scf.if %{{.*}} -> (f32, i32)
// CHECK: return
func.func @apart(%x: f32, %y: f32, %c: i1) -> (f32, f32, f32) {
  %0 = math.sin %y : f32
  %1 = scf.if %c -> (f32) {
    %3 = math.sin %x : f32
    scf.yield %3 : f32
  } else {
    scf.yield %x : f32
  }
  %2 = math.cos %x : f32
  return %0, %1, %2 : f32, f32, f32
}
