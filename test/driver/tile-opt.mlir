// tile-opt knows the dialect and the pipelines by name.
// RUN: tile-opt %s --tile-optimize-pipeline="level=1" | FileCheck %s

// CHECK: tile.kernel @scale
tile.kernel @scale params [#tile.param<"x", in, align = 16>]
    dims [#tile.dim<"N", 1, 1048576, opt = 4096, multiple_of = 1>] constexprs [] grid {
^bb0(%x: !tile.ptr<f32>):
  // CHECK: = tile.dim
  // CHECK-NEXT: tile.yield
  %n = tile.dim #tile.dim<"N", 1, 1048576, opt = 4096, multiple_of = 1>
  %m = tile.dim #tile.dim<"N", 1, 1048576, opt = 4096, multiple_of = 1>
  tile.yield %n, %m : index, index
} body {
^bb0(%x: !tile.ptr<f32>):
  tile.return
}
