// Which loads may take the value of another one.
#ifndef TILE_PASSES_ANALYSIS_EQUALLOADS_H
#define TILE_PASSES_ANALYSIS_EQUALLOADS_H

#include "dialect/Tile/TileDialect.h"

namespace tile {

/// True if both loads name the same positions, views apart, where `isSame` says which numbers are
/// equal.
bool areAtSamePlace(
    LoadOp a, LoadOp b,
    llvm::function_ref<bool(mlir::Value, mlir::Value)> isSame = [](mlir::Value a, mlir::Value b) {
      return a == b;
    });

/// Of how a load's view and places are computed, a loop's counter being any loop's: equal where two
/// loads of a block find the same, or two loops in the same trip, before equal values are one.
size_t hashPlace(LoadOp load);

/// True if what is computed from `load` is not seen where it finds no element.
bool hidesPadding(LoadOp load);

/// True if nobody can tell whether `load` has the padding of `earlier`, a load of the same
/// positions: it is the same, or what is computed from `load` is not seen where it finds no
/// element.
bool hasPaddingOf(LoadOp earlier, LoadOp load);

} // namespace tile

#endif
