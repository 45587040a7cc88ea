// RUN: not tile-opt %s --tile-gpu-allocate-shared=target=sm_20 2>&1 | FileCheck %s
// CHECK: error: expected a GPU from sm_75 to sm_121 as the target, found 'sm_20'
module {}
