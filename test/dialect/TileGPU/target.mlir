// The target of a module: printed as it is written.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// CHECK: module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">}
module attributes {tile_gpu.target = #tile_gpu.target<"sm_90a">} {}
