// RUN: tile-opt %s --tile-reduce-strength --split-input-file | FileCheck %s

// One reciprocal for each row; `arcp` permits it.
// CHECK-LABEL: func @divide
// CHECK-SAME: (%[[X:.*]]: tensor<4x64xf32>, %[[D:.*]]: tensor<4x1xf32>, %[[S:.*]]: f32)
// CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<4x1xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[R:.*]] = arith.divf %[[ONES]], %[[D]] fastmath<arcp> : tensor<4x1xf32>
// CHECK: %[[B:.*]] = tile.broadcast %[[R]] : tensor<4x1xf32> -> tensor<4x64xf32>
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[B]] fastmath<arcp>
// CHECK: %[[T:.*]] = arith.divf %[[ONE]], %[[S]] fastmath<arcp> : f32
// CHECK: %[[U:.*]] = tensor.splat %[[T]]
// CHECK: arith.mulf %[[Y]], %[[U]] fastmath<arcp>
func.func @divide(%x: tensor<4x64xf32>, %d: tensor<4x1xf32>, %s: f32) -> tensor<4x64xf32> {
  %b = tile.broadcast %d : tensor<4x1xf32> -> tensor<4x64xf32>
  %y = arith.divf %x, %b fastmath<arcp> : tensor<4x64xf32>
  %u = tensor.splat %s : tensor<4x64xf32>
  %z = arith.divf %y, %u fastmath<arcp> : tensor<4x64xf32>
  return %z : tensor<4x64xf32>
}

// -----

// Not without the flag, not in f16 (whose reciprocals overflow), not by a whole tile.
// CHECK-LABEL: func @keep
// CHECK-COUNT-3: arith.divf
// CHECK-NOT: arith.mulf
func.func @keep(%x: tensor<64xf32>, %h: tensor<64xf16>, %s: f32, %t: f16) -> (tensor<64xf32>, tensor<64xf16>, tensor<64xf32>) {
  %b = tensor.splat %s : tensor<64xf32>
  %c = tensor.splat %t : tensor<64xf16>
  %0 = arith.divf %x, %b : tensor<64xf32>
  %1 = arith.divf %h, %c fastmath<arcp> : tensor<64xf16>
  %2 = arith.divf %x, %x fastmath<arcp> : tensor<64xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<64xf16>, tensor<64xf32>
}

// -----

// The scale of exp goes into the difference, where product and difference may fuse; a finite shift
// stays finite, -inf stays.
// CHECK-LABEL: func @exponential
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>, %[[T:.*]]: f32)
// CHECK-DAG: %[[MINUS:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK-DAG: %[[SCALES:.*]] = arith.constant dense<1.44269502> : tensor<64xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[T]], %[[LOG2E]]
// CHECK: %[[F:.*]] = arith.maximumf %[[P]], %[[LOWEST]]
// CHECK: %[[I:.*]] = arith.cmpf oeq, %[[T]], %[[MINUS]]
// CHECK: %[[S:.*]] = arith.select %[[I]], %[[T]], %[[F]]
// CHECK: %[[B:.*]] = tensor.splat %[[S]]
// CHECK: %[[V:.*]] = arith.mulf %[[X]], %[[SCALES]] fastmath<contract>
// CHECK: %[[E:.*]] = arith.subf %[[V]], %[[B]] fastmath<contract>
// CHECK: math.exp2 %[[E]] fastmath<reassoc,contract,afn>
func.func @exponential(%x: tensor<64xf32>, %t: f32) -> tensor<64xf32> {
  %b = tensor.splat %t : tensor<64xf32>
  %d = arith.subf %x, %b fastmath<reassoc,contract> : tensor<64xf32>
  %e = math.exp %d fastmath<reassoc,contract,afn> : tensor<64xf32>
  return %e : tensor<64xf32>
}

// -----

// CHECK-LABEL: func @exact
// CHECK: math.exp %
func.func @exact(%x: tensor<64xf32>, %t: f32) -> tensor<64xf32> {
  %b = tensor.splat %t : tensor<64xf32>
  %d = arith.subf %x, %b fastmath<contract> : tensor<64xf32>
  %e = math.exp %d fastmath<contract> : tensor<64xf32>
  return %e : tensor<64xf32>
}
