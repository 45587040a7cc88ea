// Every pass of the compiler: one definition, one .cpp file, one folder of tests. Those that know
// no target are here, the others in the files that are included.
#ifndef TILE_PASSES
#define TILE_PASSES

include "mlir/Pass/PassBase.td"

include "passes/PassesLayouts.td"
include "passes/PassesSchedule.td"
include "passes/PassesConvert.td"

def BindDimensions : Pass<"tile-bind-dimensions", "::mlir::ModuleOp"> {
  let summary = "make named dimensions constants";
  let description = [{
    Replaces `tile.dim` of each named dimension by its number and takes the dimension out of the
    kernels' `dims`: the launcher no longer passes it. A number outside a kernel's contract is an
    error, as is a name that no kernel has.
    ```
    tile-opt --tile-bind-dimensions=values=M=1024,K=64
    ```
  }];
  let options = [ListOption<"values", "values", "std::string",
      "Dimensions to bind, as NAME=number">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ProveInBounds : Pass<"tile-prove-in-bounds", "::tile::KernelOp"> {
  let summary = "mark accesses that cannot leave their view";
  let description = [{
    Sets `in_bounds` for each dimension of tile.load, tile.store and tile.inside in which every
    position provably exists. Facts are the grid's extents, loops' bounds and steps, contracts
    (ranges and divisibility), minima and maxima, and ranges of integers. Of a dimension that stays
    masked a remark says so, and which contract would have helped.
  }];
  let options = [Option<"remarks", "remarks", "bool", "true", "Report accesses that keep a mask">];
}

def Simplify : Pass<"tile-simplify"> {
  let summary = "remove tile operations that do nothing or whose outcome is known";
  let description = [{
    Merges chains of permute, reshape and broadcast, moves splats through them, and removes masks
    that are constant and tile.inside of what is in bounds. A lookup of a whole table whose elements
    grow by one number is computed, and comparisons with all elements of a table are decided.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def ReduceStrength : Pass<"tile-reduce-strength"> {
  let summary = "cheaper float arithmetic where one operand is the same along a row";
  let description = [{
    By the operations' fastmath flags, which `fp("fast")` sets: a division by a splat or a broadcast
    becomes a product with one reciprocal (`arcp`), and exp of a difference to one becomes exp2 with
    the scale folded into a fused product (`afn`, `reassoc`, `contract`). A finite shift stays
    finite.
    ```mlir
    %r = tile.broadcast %sum : tensor<4x1xf32> -> tensor<4x64xf32>
    %y = arith.divf %x, %r fastmath<arcp> : tensor<4x64xf32>
    // becomes
    %i = arith.divf %one, %sum fastmath<arcp> : tensor<4x1xf32>
    %r = tile.broadcast %i : tensor<4x1xf32> -> tensor<4x64xf32>
    %y = arith.mulf %x, %r fastmath<arcp> : tensor<4x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::tensor::TensorDialect"];
}

def PrintDivisibility : Pass<"test-print-divisibility"> {
  let summary = "report the known divisor of every integer value (for tests)";
  let description = [{
    A remark at each operation and loop gives what DivisibilityAnalysis knows of its results.
  }];
}

#endif
