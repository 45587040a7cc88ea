// The tile dialect itself.
#ifndef TILE_DIALECT
#define TILE_DIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile";
  let summary = "What one program of a kernel does to tiles of tensors, independent of any target";
  let description = [{
    Tile values are builtin ranked tensors of static shape, scalars are builtin scalars.
    Element-wise work is `arith` and `math` on them, control flow is `scf`. This dialect adds only
    what upstream lacks: kernels with contracts, views of memory with bounds-checked accesses, and
    the tile operations that have no tensor form without a destination.

    No operation here can read or write out of bounds: what is outside a view reads as padding and
    is never written.
  }];
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif
