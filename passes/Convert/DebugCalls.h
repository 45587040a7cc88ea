// The parts of print and assert that both paths share: texts in memory, and calls of functions that
// the platform has.
#ifndef TILE_PASSES_CONVERT_DEBUGCALLS_H
#define TILE_PASSES_CONVERT_DEBUGCALLS_H

#include "mlir/IR/Builders.h"

namespace tile {

/// The address of `text`, closed by a zero, which becomes a global of the module around `op`; equal
/// texts share one.
mlir::Value addressOfText(mlir::OpBuilder &builder, mlir::Operation *op, llvm::StringRef text);

/// Calls the C function `name`, which is declared in the module around `op` by the types of
/// `arguments`; behind the first `fixed` of them it is variadic. `result` is null where it returns
/// nothing.
void callFunction(mlir::OpBuilder &builder, mlir::Operation *op, llvm::StringRef name,
                  mlir::Type result, mlir::ValueRange arguments,
                  std::optional<unsigned> fixed = std::nullopt);

/// A scalar as C passes it behind `...`: index as i64, f32 as f64.
mlir::Value toVariadic(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value scalar);

} // namespace tile

#endif
