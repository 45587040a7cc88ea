// Types of the tile dialect: pointers as kernels receive them, and views of memory.
#ifndef TILE_TYPES
#define TILE_TYPES

include "mlir/IR/AttrTypeBase.td"
include "dialect/Tile/TileDialect.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PointerType : Tile_Type<"Pointer", "ptr"> {
  let summary = "address of a tensor parameter's first element";
  let description = [{
    `!tile.ptr<f16>` points to f16 elements in the device's memory. Its alignment stands in the
    kernel's `params`.
  }];
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "a tensor in memory: address, extents and strides";
  let description = [{
    `!tile.view<?x64xf16>` has rank 2; an extent is a number where it is known at compile time, else
    `?`. Extents and strides (in elements) are run-time values of the operation that makes the view.
    `!tile.view<f32>` has rank 0.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
  }];
}

#endif
