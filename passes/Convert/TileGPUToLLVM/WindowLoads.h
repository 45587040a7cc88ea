// Pieces of up to 16 bytes that begin anywhere, from the two aligned windows around each.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_WINDOWLOADS_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_WINDOWLOADS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace tile::gpu {

/// Where pieces begin in their windows.
struct WindowShift {
  llvm::SmallVector<mlir::Value> halves; ///< i1: whether words move by half of a piece, a quarter..
  mlir::Value bits; ///< by which the rest moves, an i32 below 32; null for whole words
};

/// What pieces of `words` words, of elements of `bits` bits, that begin `skipped` bytes (an i32)
/// into their first windows have in common.
WindowShift makeWindowShift(mlir::OpBuilder &b, mlir::Location loc, unsigned bits, unsigned words,
                            mlir::Value skipped);

/// One piece, of `type`, from both of its windows, where `exists` (null: always); elsewhere the
/// bits of `fill`, again and again. `pointer` is the first window's address; `shift` is that of all
/// pieces. One statement, of which nothing waits but for the loads.
mlir::Value loadFromWindows(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType type,
                            mlir::Value pointer, const WindowShift &shift, mlir::Value exists,
                            bool readOnly, std::optional<llvm::StringRef> cache, uint32_t fill);

} // namespace tile::gpu

#endif
