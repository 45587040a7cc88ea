// Divisions by which a producer finds its place, counted along instead.
#ifndef TILE_PASSES_TILEGPU_PRODUCERDIGITS_H
#define TILE_PASSES_TILEGPU_PRODUCERDIGITS_H

#include "dialect/Tile/TileDialect.h"
#include "passes/Analysis/Divisibility.h"

namespace tile::gpu {

/// Replaces, in the producer's loops, quotients and remainders of the counter by numbers that the
/// loop carries: `t / n` and `t % n`, and of these again, where neither is negative and the counter
/// grows by 1. `divisibility` is of the kernel as it stands.
void countProducerDigits(KernelOp kernel, const DivisibilityAnalysis &divisibility);

} // namespace tile::gpu

#endif
