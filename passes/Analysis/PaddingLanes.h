// What the padding lint knows of a tile: for each dimension, the contents of the lanes that do not
// exist. Values form a lattice, Exist below each Constant below Unknown, so loops settle.
#ifndef TILE_PASSES_ANALYSIS_PADDINGLANES_H
#define TILE_PASSES_ANALYSIS_PADDINGLANES_H

#include "dialect/Tile/TileDialect.h"

#include <cmath>

namespace tile::padding {

/// The contents of lanes that do not exist along one dimension: those that a clipped load has
/// filled with padding, and all that is computed from them.
struct Lanes {
  enum Kind { Exist, Constant, Unknown } kind = Exist; // Exist: there are none, or they do no harm
  double value = 0;                                    // of Constant
  mlir::Operation *load = nullptr;
  bool direct = false;  // still the load's padding, moved or converted
  int64_t dim = -1;     // of the load's tile that is clipped; -1: not known
  bool inPlace = false; // all dimensions of the value are those of the load's tile

  bool operator==(const Lanes &other) const {
    bool sameValue = value == other.value || (std::isnan(value) && std::isnan(other.value));
    return kind == other.kind && (kind != Constant || sameValue) && direct == other.direct &&
           load == other.load;
  }
};
using State = llvm::SmallVector<Lanes, 4>; // one for each dimension

/// One operand of an element-wise operation in the lanes at hand.
struct Operand {
  enum Kind { Real, Constant, Unknown } kind = Real;
  double value = 0;
  bool is(double v) const { return kind == Constant && value == v; }
};

/// What two ways into a value agree on: lanes that exist on one way take the other's contents.
Lanes join(const Lanes &a, const Lanes &b);

/// The lanes of an element-wise operation's result along one dimension, from its operands' there.
/// `load` and `direct` are left to the caller.
Lanes evaluate(mlir::Operation *op, llvm::ArrayRef<Operand> x);

/// True of an accumulator: a value that a loop carries, scaled perhaps.
bool isCarried(mlir::Value value, unsigned depth = 0);

/// True if the padding in `lanes` of `source` leaves a reduction of it as it is.
bool isHarmless(ReduceKind kind, const Lanes &lanes, mlir::Value source);

} // namespace tile::padding

#endif
