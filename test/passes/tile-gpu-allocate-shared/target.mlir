// Passes for GPUs take no target for granted.
// RUN: not tile-opt %s --tile-gpu-allocate-shared 2>&1 | FileCheck %s
// RUN: not tile-opt %s --tile-gpu-assign-layouts 2>&1 | FileCheck %s
// RUN: not tile-opt %s --tile-gpu-use-tma 2>&1 | FileCheck %s
// RUN: not tile-opt %s --tile-gpu-specialize-warps 2>&1 | FileCheck %s
// RUN: not tile-opt %s --tile-gpu-apply-loop-attributes 2>&1 | FileCheck %s
// RUN: not tile-opt %s --convert-tile-gpu-to-vector 2>&1 | FileCheck %s
// RUN: not tile-opt %s --tile-expand-float8=processor=gpu 2>&1 | FileCheck %s
// CHECK: error: expected the module to name the GPU that it is compiled for, as in module attributes {tile_gpu.target = #tile_gpu.target<"NAME">}
module {}
