// Which types are 8-bit floats that the project converts.
#ifndef TILE_DIALECT_TILE_FLOAT8_H
#define TILE_DIALECT_TILE_FLOAT8_H

#include "mlir/IR/Types.h"

namespace tile {

/// A float of 8 bits with a sign, a negative zero, and NaN at the top of its exponents: tables and
/// conversions know these by their semantics alone.
bool isFloat8Element(mlir::Type type);

} // namespace tile

#endif
