// Pieces of 1 to 16 bytes of global memory, each one instruction.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_PIECES_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_PIECES_H

#include "mlir/IR/Builders.h"

#include <optional>
#include <string>

namespace tile::gpu {

/// The first-level cache's part of `cache:`, as a modifier of the instruction.
std::string cachePriority(std::optional<llvm::StringRef> cache);

/// Loads `type` (a vector of stored elements) from `pointer` where `predicate` (null: always);
/// elsewhere the bits of `fill`, again and again.
mlir::Value loadPiece(mlir::OpBuilder &builder, mlir::Location loc, mlir::VectorType type,
                      mlir::Value pointer, mlir::Value predicate, bool readOnly,
                      std::optional<llvm::StringRef> cache, uint32_t fill = 0);

/// Stores `value` (a vector of stored elements) to `pointer` where `predicate` (null: always).
void storePiece(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                mlir::Value pointer, mlir::Value predicate, std::optional<llvm::StringRef> cache);

/// Converts between a vector of elements and one of stored elements: bool is a byte, index 64 bits.
mlir::Value toStored(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value);
mlir::Value fromStored(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                       mlir::VectorType type);

} // namespace tile::gpu

#endif
