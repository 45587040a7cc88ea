// The bounds of the numbers in which a source makes requests for a kernel or a loop: sources
// (frontend/Sema/Attributes.cpp) and modules (Tile/RequestedState.cpp) are checked against them.
#ifndef TILE_DIALECT_REQUESTLIMITS_H
#define TILE_DIALECT_REQUESTLIMITS_H

#include <cstdint>

namespace tile::limits {

/// Warps of a block: the hardware's 1,024 threads.
constexpr int64_t warps = 32;
/// Stages of pipelined loads: more hide no more latency.
constexpr int64_t stages = 8;
/// Rows of programs in a band.
constexpr int64_t grouped = 1024;
/// Warp groups that compute where others load.
constexpr int64_t consumers = 4;
/// Blocks on a multiprocessor: what the hardware of every target has at most.
constexpr int64_t occupancy = 32;
/// Registers of a thread.
constexpr int64_t leastRegisters = 16, mostRegisters = 255;
/// Programs that share a loop, iterations to write out.
constexpr int64_t split = 1024, unroll = 1024;
/// Trips that a loop is said to make.
constexpr int64_t trips = int64_t(1) << 30;

} // namespace tile::limits

#endif
