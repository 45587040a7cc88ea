// The parts of a schedule that concern rings: slots that go back a trip late, turns, peeks, sums
// that the first trip begins. They are realised in the loops of consumers, where rings are.
#ifndef TILE_PASSES_TILEGPU_SCHEDULE_RINGSCHEDULE_H
#define TILE_PASSES_TILEGPU_SCHEDULE_RINGSCHEDULE_H

#include "passes/TileGPU/Schedule/LoopSchedule.h"

namespace tile::gpu {

/// A loop whose products may stay in flight till the next trip.
struct LateReleases {
  mlir::scf::ForOp loop;
  llvm::SmallVector<WgmmaOp> products;
  llvm::SmallVector<unsigned> carried;       ///< the variable that each is added to
  llvm::SmallVector<RingReleaseOp> releases; ///< of the slots that the products read
  bool hasSlots = false;                     ///< some of these are filled by cp.async
};
/// Without a result `reason` says why the products must be waited for in their own trip.
std::optional<LateReleases> findLateReleases(mlir::scf::ForOp loop, std::string &reason);
/// The same for a product in parts, of which the last one is to stay in flight: `products` are the
/// first and the last part, `carried` is their sum's.
std::optional<LateReleases> findLateParts(mlir::scf::ForOp loop, std::string &reason);
/// Leaves the products in flight until the next trip has issued its own, the last part until the
/// next trip has issued its first.
void releaseLate(const LateReleases &found);

/// Why warpgroups cannot issue the loop's products in turn; empty: they can. With `apart` each
/// product is waited for ahead of the next one.
std::string whyNoTurns(mlir::scf::ForOp loop, bool apart);
/// Encloses the loop's products in a turn, or with `apart` each in one of its own.
void takeTurns(mlir::scf::ForOp loop, bool apart);

/// Moves the loop into a branch that is taken where it makes a trip; elsewhere the branch's results
/// are what the loop begins with.
mlir::scf::IfOp enterOnTrips(mlir::scf::ForOp loop);

/// Marks products, in loops of loops, whose sums begin as 0: the first trip begins them.
void markFreshSums(mlir::scf::ForOp loop);
/// Drops the zeros that no marked product reads.
void beginSums(mlir::scf::ForOp loop);
/// Of products that begin sums one after the other, each takes the registers of the one before.
void shareRegisters(mlir::scf::ForOp loop);
/// Pins tiles that are computed before `end` and used after it to their place before it: optimisers
/// would sink the arithmetic to its users.
void hold(mlir::Operation *end);

/// A loop that can wait for its next trip's tile ahead.
struct Peek {
  RingWaitOp tile;  ///< what a trip waits for before its first product
  WgmmaWaitOp last; ///< the wait for its last product
  /// Where that wait goes, if it moves up: behind what reduces the first product's result.
  mlir::Operation *place = nullptr;
};
/// With `others`, several warpgroups multiply meanwhile; with `apart` each product is waited for
/// ahead of the next one.
std::optional<Peek> findPeek(mlir::scf::ForOp loop, bool others, bool apart, std::string &reason);
/// Waits for the next trip's tile before the last product of a trip.
void peekAhead(mlir::scf::ForOp loop, Peek found);

} // namespace tile::gpu

#endif
