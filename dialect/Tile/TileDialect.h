// The tile dialect: include this for its types, attributes and operations.
#ifndef TILE_DIALECT_TILE_TILEDIALECT_H
#define TILE_DIALECT_TILE_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Tile/TileEnums.h.inc"

#include "dialect/Tile/TileDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.h.inc"

#endif
