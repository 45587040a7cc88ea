// How the states that parts of a loop's trips end with become the state of all trips.
#ifndef TILE_PASSES_TILEGPU_LOOPSTATE_H
#define TILE_PASSES_TILEGPU_LOOPSTATE_H

#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile::gpu {

/// A value that a loop carries: a sum or an extremum, or a sum relative to a maximum that the loop
/// carries too, `s' = s * exp(m - m') + sum(exp(x - m'))`.
struct CarriedState {
  ReduceKind kind = ReduceKind::Sum;
  int maximum = -1;                  ///< the number of m among the values; -1 if there is none
  mlir::Operation *change = nullptr; ///< m - m'
  mlir::Operation *factor = nullptr; ///< exp(m - m')
};

/// The state of a loop whose trips may be shared among parts; none where the source fixes the order
/// of a sum, or a value is anything else. A sum may be regrouped where the loop adds `sum(…)`
/// (N4.1), or where its additions permit that.
std::optional<llvm::SmallVector<CarriedState>> findLoopState(mlir::scf::ForOp loop);

/// The state of all trips from those of parts, in the order of the parts. Sums of all parts but one
/// began as 0; extrema of all parts began alike.
llvm::SmallVector<mlir::Value>
mergeLoopStates(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<CarriedState> state,
                llvm::ArrayRef<llvm::SmallVector<mlir::Value>> parts);

} // namespace tile::gpu

#endif
