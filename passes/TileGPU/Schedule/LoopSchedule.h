// The schedule of one loop: what #tile_gpu.schedule says, to be read and changed.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_LOOPSCHEDULE_H
#define TILE_PASSES_TILEGPU_SCHEDULE_LOOPSCHEDULE_H

#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::gpu {

struct LoopSchedule {
  llvm::SmallVector<WgmmaOp> products;    ///< of the loop's body, as they stand
  llvm::SmallVector<ProductPlace> places; ///< theirs
  ScheduleWords words;

  /// The schedule on `loop`, which the dialect has verified; without one each product in its turn,
  /// and those that are in flight already with their flight.
  static LoopSchedule of(mlir::scf::ForOp loop);
  /// Writes the attribute for the products as they stand in `loop` now.
  void setOn(mlir::scf::ForOp loop) const;

  bool isEmpty() const { return products.empty(); }
  bool isStaged() const;
  /// True if a product that nobody has left in flight yet is to be, for `flight` trips.
  bool leaves(int64_t flight) const;
  /// The products in the order in which a trip issues them.
  llvm::SmallVector<WgmmaOp> getIssueOrder() const;
  ProductPlace &placeOf(WgmmaOp product);
};

/// The warpgroups that compute what one loop computes.
struct Consumers {
  int64_t warpgroups = 1;

  /// Nobody multiplies while this one waits or does arithmetic.
  bool isAlone() const { return warpgroups <= 1; }
  /// Between two turns of one there is one of the other. With more, tensor cores have enough to do
  /// whatever one waits for, and what prolongs a turn holds up the others.
  bool arePair() const { return warpgroups == 2; }
  /// A turn goes from one to the next and from the last to the first: there are four named barriers
  /// for it.
  bool canTakeTurns() const { return warpgroups >= 2 && warpgroups <= mostTurns; }
  static constexpr int64_t mostTurns = 4;
};

/// True for a loop of the consumers of a kernel with a producer: its tiles lie in rings.
bool isOfConsumers(mlir::scf::ForOp loop);
/// True for a loop that only copies for one of those.
bool isOfProducer(mlir::scf::ForOp loop);

} // namespace tile::gpu

#endif
