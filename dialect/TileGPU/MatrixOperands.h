// Operands of mma.sync: how much of K a fragment has, and what threads make of elements that a
// target's tensor cores do not multiply.
#ifndef TILE_DIALECT_TILEGPU_MATRIXOPERANDS_H
#define TILE_DIALECT_TILEGPU_MATRIXOPERANDS_H

#include "mlir/IR/BuiltinTypes.h"
#include "target/Target.h"

#include <algorithm>

namespace tile::gpu {

/// Elements of K in a fragment of an operand with `depth` of them, `bits` bits each: 32 bytes; of
/// 64 bits up to 8 elements, of which a lane has two neighbours, that it reads together.
inline int64_t getFragmentDepth(unsigned bits, int64_t depth) {
  return bits == 64 ? std::min<int64_t>(depth, 8) : 256 / bits;
}

/// The type to which threads widen an operand's fragments where the target's tensor cores do not
/// multiply its elements: of 8-bit floats f16, which has all of their values. Null where they do.
inline mlir::Type getWidenedOperand(mlir::Type element, const GPUTarget &target) {
  bool isFloat8 = mlir::isa<mlir::Float8E4M3FNType, mlir::Float8E5M2Type>(element);
  bool widens = isFloat8 &&
                !target.find(MatrixUnit::MmaSync, MatrixElement::F8, MatrixElement::F32) &&
                target.find(MatrixUnit::MmaSync, MatrixElement::F16, MatrixElement::F32);
  return widens ? mlir::Float16Type::get(element.getContext()) : mlir::Type();
}

} // namespace tile::gpu

#endif
