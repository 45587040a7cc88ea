// Names of the attributes that kernels, loops and accesses carry beyond those their definitions
// declare.
#ifndef TILE_DIALECT_ATTRIBUTENAMES_H
#define TILE_DIALECT_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace tile {

// Requests of the source for a kernel or a loop (frontend/Sema/Attributes.cpp). Some change on the
// way: tile-gpu-fit-launch brings occupancy and maxreg to what the target can do,
// tile-gpu-specialize-warps sets an occupancy that is left open, Compiler::tryOtherLaunch sets
// num_warps or occupancy of a second try. Passes that have done a split or an unroll remove it.

/// Warps of a block (i64).
inline constexpr llvm::StringLiteral requestedWarpsName = "tile.num_warps";
/// Stages of pipelined loads, of a kernel or a loop (i64).
inline constexpr llvm::StringLiteral stagesName = "tile.num_stages";
/// Rows of programs that run as one band, so that they share what caches hold (i64).
inline constexpr llvm::StringLiteral groupedName = "tile.grouped";
/// Warp groups that compute where others load (i64).
inline constexpr llvm::StringLiteral consumersName = "tile.consumers";
/// Blocks on a multiprocessor at once (i64).
inline constexpr llvm::StringLiteral occupancyName = "tile.occupancy";
/// Which of stages and consumers stand in a kernel's `with`, not in a configuration of `tune`
/// (array of strings).
inline constexpr llvm::StringLiteral requestedName = "tile.requested";
/// Registers a thread may use (i64).
inline constexpr llvm::StringLiteral maxRegistersName = "tile.maxreg";
/// Blocks of a cluster along x and y (array of i64).
inline constexpr llvm::StringLiteral clusterName = "tile.cluster";
/// Blocks take several programs each (unit).
inline constexpr llvm::StringLiteral persistentName = "tile.persistent";
/// Freedom of floating-point arithmetic: strict, contract or fast (string).
inline constexpr llvm::StringLiteral floatModeName = "tile.fp";
/// Pairs of parameters whose memory may overlap although one is written (array of pairs of
/// strings).
inline constexpr llvm::StringLiteral mayAliasName = "tile.may_alias";
/// A loop that is to merge with the loop around it (unit).
inline constexpr llvm::StringLiteral flattenName = "tile.flatten";
/// Programs that share a loop's trips (i64).
inline constexpr llvm::StringLiteral splitName = "tile.split";
/// Of a loop with tile.split: that number is the most, and the grid decides at launch (unit).
inline constexpr llvm::StringLiteral splitAutomaticName = "tile.split_automatic";
/// Iterations of a loop to write out (i64).
inline constexpr llvm::StringLiteral unrollName = "tile.unroll";

namespace gpu {

// Decisions of the passes for GPUs. Each line ends in the pass that decides.

/// Of a module: multiprocessors of the card that it is compiled for, where that is not the card
/// that stands for its target (i64). By Compiler::elaborate.
inline constexpr llvm::StringLiteral processorsName = "tile_gpu.processors";
/// Of a kernel: warps of a block (i64). By tile-gpu-assign-layouts.
inline constexpr llvm::StringLiteral numWarpsName = "tile_gpu.num_warps";
/// Of a kernel: the number of its last warps that are not launched, since they hold padding alone
/// (i64, less than num_warps). By tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral idleWarpsName = "tile_gpu.idle_warps";
/// Of a kernel and its function: extents before they were rounded up to a power of two (array of
/// i64). Only those whose power no other extent of the kernel has: any dimension of that size ends
/// in padding. By tile-gpu-pad-extents.
inline constexpr llvm::StringLiteral paddedExtentsName = "tile_gpu.padded_extents";
/// Of a kernel's function: threads of a block (i64). By convert-tile-gpu-to-vector.
inline constexpr llvm::StringLiteral numThreadsName = "tile_gpu.num_threads";
/// Of a kernel and its function: bytes of shared memory that a block needs (i64). By
/// tile-gpu-allocate-shared.
inline constexpr llvm::StringLiteral sharedBytesName = "tile_gpu.shared_bytes";
/// Of an operation: where its shared memory starts, in bytes (i64). By tile-gpu-allocate-shared.
inline constexpr llvm::StringLiteral sharedOffsetName = "tile_gpu.offset";
/// Of a conversion of layouts: the rounds in which it goes through shared memory (i64). By
/// tile-gpu-allocate-shared, where all at once would not fit.
inline constexpr llvm::StringLiteral roundsName = "tile_gpu.rounds";
/// Of an access: neighbours to move at once (i64). By tile-gpu-vectorize-accesses.
inline constexpr llvm::StringLiteral vectorName = "tile_gpu.vector";
/// Of an access: neighbours to move at once where a check at run time allows it (i64). By
/// tile-gpu-vectorize-accesses.
inline constexpr llvm::StringLiteral vectorIfName = "tile_gpu.vector_if";
/// Of a kernel: its tiles, of that many elements, may go round in their registers (i64). By
/// tile-gpu-rotate-rows.
inline constexpr llvm::StringLiteral rotationName = "tile_gpu.rotation";
/// Of an access or iota that begins at a difference, a - r: it means what begins at a, of which
/// element e is where e + r, modulo the extent, would be; r is less than this number (i64). An
/// access begins at a multiple of 16 bytes. By tile-gpu-rotate-rows.
inline constexpr llvm::StringLiteral rotatedName = "tile_gpu.rotated";
/// Of an async_copy: each thread copies what it will read itself, to where private_load looks for
/// it (unit). By tile-gpu-keep-tiles.
inline constexpr llvm::StringLiteral privateName = "tile_gpu.private";
/// Of an access with vectorName or vectorIfName: the dimension along which neighbours lie (i64). By
/// tile-gpu-vectorize-accesses.
inline constexpr llvm::StringLiteral fastestName = "tile_gpu.fastest";
/// Of an access with vectorIfName: the tensor begins at a multiple of 16 bytes, so that the 16
/// aligned bytes around an element do not begin before it (unit). By tile-gpu-vectorize-accesses.
inline constexpr llvm::StringLiteral windowsName = "tile_gpu.windows";
/// Of a sum by tile.reduce: its terms are products that are exact (unit), so that steps of the sum
/// may fuse with them. By tile-gpu-fuse-exact-products.
inline constexpr llvm::StringLiteral exactProductsName = "tile_gpu.exact_products";
/// Of a load: nothing writes this memory while the kernel runs (unit). By
/// tile-gpu-vectorize-accesses.
inline constexpr llvm::StringLiteral readOnlyName = "tile_gpu.read_only";
/// Of a load: its value is for a later trip of the loop, so it must not move to its use (unit). By
/// tile-gpu-prefetch-loads.
inline constexpr llvm::StringLiteral aheadName = "tile_gpu.ahead";
/// Of an operation: its result is known not to be negative (unit). By convert-tile-gpu-to-vector.
inline constexpr llvm::StringLiteral nonNegativeName = "tile_gpu.non_negative";

/// Of tma_fetch, tma_load and tma_store: the word of `cache:` (string). By tile-gpu-use-tma,
/// tile-gpu-set-eviction-policies.
inline constexpr llvm::StringLiteral cacheName = "tile_gpu.cache";
/// Of a tma_fetch: those with the same number fill one ring in turn (i64). By
/// tile-gpu-apply-schedule, tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral ringName = "tile_gpu.ring";
/// Of a kernel and its function: extent of the last axis of its grid, which are parts of a split
/// loop (i64). By tile-gpu-split-loops.
inline constexpr llvm::StringLiteral splitPartsName = "tile_gpu.split_parts";
/// Of a kernel and its function whose parts the launch decides on: as many as make this number of
/// programs, and at most tile_gpu.split_parts (i64). By tile-gpu-split-loops.
inline constexpr llvm::StringLiteral splitProgramsName = "tile_gpu.split_programs";
/// Of such a kernel and its function, where copies run ahead of the loop's products: that number is
/// one for each multiprocessor (unit). By tile-gpu-split-loops.
inline constexpr llvm::StringLiteral splitAheadName = "tile_gpu.split_ahead";
/// Of a kernel and its function whose parts are the blocks of a cluster, as many as
/// tile_gpu.split_parts says: they read each other's shared memory (unit). By
/// tile-gpu-split-loops.
inline constexpr llvm::StringLiteral splitClusterName = "tile_gpu.split_cluster";
/// Of a kernel's function: bytes of scratch memory for each program, or for all where blocks take
/// programs from a count, and the number of the argument that points to it (i64). By
/// convert-tile-gpu-to-vector.
inline constexpr llvm::StringLiteral scratchBytesName = "tile_gpu.scratch_bytes";
inline constexpr llvm::StringLiteral scratchArgumentName = "tile_gpu.scratch_argument";

/// Of a branch that is seldom taken, where registers are short: what it computes from the thread's
/// number is computed in it each time (unit). By tile-gpu-use-tma.
inline constexpr llvm::StringLiteral rareName = "tile_gpu.rare";
/// Of the branch that a ring_fill has become: where its shared memory begins and ends, in bytes
/// (array of i64). Within convert-tile-gpu-to-vector.
inline constexpr llvm::StringLiteral fillName = "tile_gpu.fill";

/// Of a kernel and its function: threads of the producer, behind those that compute (i64). By
/// tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral producerThreadsName = "tile_gpu.producer_threads";
/// Of a kernel, its function and the branch of its consumers: so many teams of all the warps that
/// layouts know compute, each a program of its own (i64). By tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral teamsName = "tile_gpu.teams";
/// Of a function: bytes of shared memory from what is one team's to what is the next one's (i64).
/// By tile-gpu-allocate-shared.
inline constexpr llvm::StringLiteral teamBytesName = "tile_gpu.team_bytes";
/// Of a kernel and its function: all threads of the producer's warpgroup run its side, as they fill
/// slots (unit). By tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral wideProducerName = "tile_gpu.wide_producer";
/// Of a ring: the producer's threads copy tiles of its slots (unit). By tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral filledName = "tile_gpu.filled";
/// Of warp_specialize: registers that a thread of the producer keeps, where they are fewer than
/// usual. By tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral producerRegistersName = "tile_gpu.producer_registers";
/// Of a kernel that is compiled again, for its threads spill: into how many parts stores go that
/// need tiles of memory. By the driver.
inline constexpr llvm::StringLiteral storePartsName = "tile_gpu.store_parts";
/// Of ring_release: a fence stands between the ordinary loads from the slot and it (unit). By
/// tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral fencedName = "tile_gpu.fenced";
/// Of a store to shared memory in a loop that is short of registers, and of a convert_layout around
/// a loop with products: it computes its addresses each time (unit). By tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral recomputesName = "tile_gpu.recomputes";
/// Of a tile that a loop stores for its products: it has two places, which the trips take in turns
/// (unit). By tile-gpu-specialize-warps.
inline constexpr llvm::StringLiteral alternatesName = "tile_gpu.alternates";
/// Of a kernel and its function: blocks take several programs each, as many blocks as the machine
/// holds (unit). By tile-gpu-make-persistent.
inline constexpr llvm::StringLiteral persistentGridName = "tile_gpu.persistent";
/// Of a kernel and its function: blocks take programs from a count in scratch memory (unit). By
/// tile-gpu-schedule-tiles-dynamically.
inline constexpr llvm::StringLiteral dynamicScheduleName = "tile_gpu.dynamic_schedule";
/// Of a kernel and its function: blocks of a cluster, which take neighbouring programs (i64). By
/// tile-gpu-multicast.
inline constexpr llvm::StringLiteral blocksOfClusterName = "tile_gpu.cluster";
/// Of a kernel of clusters that is not persistent, and its function: axes of the grid along which
/// the launch starts an even number of programs (array of i64). By tile-gpu-multicast.
inline constexpr llvm::StringLiteral pairedAxesName = "tile_gpu.paired_axes";
/// Of a kernel's function: tensor maps behind its other parameters (array of #tile_gpu.tensor_map).
/// By convert-tile-gpu-to-vector.
inline constexpr llvm::StringLiteral tensorMapsName = "tile_gpu.tensor_maps";

} // namespace gpu

} // namespace tile

#endif
