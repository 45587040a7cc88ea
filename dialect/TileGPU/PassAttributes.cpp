// Attributes that passes of the GPU pipeline set: on what each may stand, and the verifier.
#include "dialect/AttributeSpec.h"
#include "dialect/CopyNames.h"
#include "dialect/FetchNames.h"
#include "dialect/JoinedNames.h"
#include "dialect/PaddingNames.h"
#include "dialect/PlanNames.h"
#include "dialect/ProductNames.h"
#include "dialect/RequestLimits.h"
#include "dialect/RowNames.h"
#include "dialect/SelectionNames.h"
#include "dialect/ShiftNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/VersionNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static bool isModule(Operation *op) { return isa<ModuleOp>(op); }
static bool isKernel(Operation *op) { return isa<KernelOp>(op); }
static bool isKernelOrFunction(Operation *op) { return isKernel(op) || isFunction(op); }
static bool isInKernel(Operation *op) { return !isModule(op) && !isKernelOrFunction(op); }
static bool isFetch(Operation *op) { return isa<TmaFetchOp>(op); }
static bool isSplit(Operation *op) { return isa<WarpSpecializeOp>(op); }
static bool isRing(Operation *op) { return isa<RingOp>(op); }
static bool isRelease(Operation *op) { return isa<RingReleaseOp>(op); }
static bool isReduce(Operation *op) { return isa<ReduceOp, WarpReduceOp>(op); }
static bool isConversion(Operation *op) { return isa<ConvertLayoutOp>(op); }
static bool isProductOfLoop(Operation *op) {
  return isa<WgmmaOp>(op) && isa_and_nonnull<LoopLikeOpInterface>(op->getParentOp());
}
static bool isMerge(Operation *op) { return isa<PartArriveOp, PartCombineOp>(op); }
static bool isReduceBy(Operation *op) { return isa<ReduceByOp>(op); }

static bool isTarget(Attribute value) { return isa<TargetAttr>(value); }
static bool isSchedule(Attribute value) { return isa<ScheduleAttr>(value); }
static bool isLoop(Operation *op) {
  return isa<LoopLikeOpInterface>(op) && op->getNumRegions() == 1;
}
static bool isBranch(Operation *op) {
  return isa<RegionBranchOpInterface>(op) && !isa<LoopLikeOpInterface>(op);
}
static bool hasTeams(Operation *op) { return isKernelOrFunction(op) || isBranch(op); }
static bool isNumbers(Attribute value) { return isa<DenseI64ArrayAttr>(value); }
template <int64_t count> static bool isList(Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && numbers.size() == count &&
         llvm::all_of(numbers.asArrayRef(), [](int64_t each) { return each >= 0; });
}
static bool isSlots(Operation *op) { return isa<LocalSlotsOp>(op); }
static bool isString(Attribute value) { return isa<StringAttr>(value); }
static bool isListOfMaps(Attribute value) {
  auto maps = dyn_cast<ArrayAttr>(value);
  return maps && llvm::all_of(maps, [](Attribute map) { return isa<TensorMapAttr>(map); });
}

static constexpr StringLiteral aKernel = "a kernel", aFunction = "a kernel's function",
                               both = "a kernel or its function",
                               inside = "an operation of a kernel", positive = "a positive i64",
                               notNegative = "an i64 that is not negative",
                               unit = "a unit attribute";

// Who sets them, in the order of a compilation (dialect/AttributeNames.h says what each means):
//
//   target, processors                               Compiler::elaborate
//   store_parts                                      Compiler::emitCubin
//   crowded                                          Compiler::joinTiles
//   planned_bytes                                    Compiler::joinTiles, tile-gpu-widen-tiles
//   joined_programs, widened                         tile-gpu-widen-tiles
//   split_parts, split_programs, split_ahead,
//     split_cluster, every                           tile-gpu-split-loops
//   plain_registers                                  tile-gpu-version-row-loops
//   exact_products                                   tile-gpu-fuse-exact-products
//   padded_extents                                   tile-gpu-pad-extents
//   num_warps                                        tile-gpu-assign-layouts
//   cache                                            tile-gpu-use-tma, -set-eviction-policies
//   rare                                             tile-gpu-use-tma
//   row_trips                                        tile-gpu-keep-tiles
//   cluster, paired_axes                             tile-gpu-multicast
//   schedule, fresh                                  tile-gpu-schedule-loops
//   ring                                             tile-gpu-apply-schedule, -specialize-warps
//   persistent                                       tile-gpu-make-persistent
//   producer_threads, producer_registers, fenced,
//     recomputes, idle_warps, wide_producer, filled,
//     loads_itself, teams                            tile-gpu-specialize-warps
//   dynamic_schedule                                 tile-gpu-schedule-tiles-dynamically
//   vector, vector_if, fastest, windows, read_only   tile-gpu-vectorize-accesses
//   offset, shared_bytes, shared_by_row, team_bytes,
//     rounds                                         tile-gpu-allocate-shared
//   num_threads, non_negative, scratch_bytes, fill,
//     scratch_argument, tensor_maps                  convert-tile-gpu-to-vector
static const AttributeSpec specs[] = {
    {TargetAttr::name, isTarget, "#tile_gpu.target<\"NAME\">", isModule, "a module"},
    {processorsName, isNumber<1>, positive, isModule, "a module"},
    {numWarpsName, isNumber<1, limits::warps>, "an i64 from 1 to 32", isKernel, aKernel},
    {idleWarpsName, isNumber<1>, positive, isKernel, aKernel},
    {paddedExtentsName, isNumbers, "an array of i64", isKernelOrFunction, both},
    {plainRegistersName, isNumbers, "an array of i64", isKernel, aKernel},
    {realExtentsName, isNumbers, "an array of i64", isInKernel, inside},
    {numThreadsName, isNumber<1>, positive, isFunction, aFunction},
    {sharedBytesName, isNumber<0>, notNegative, isKernelOrFunction, both},
    {rowTripsName, isList<3>, "an array of three i64 that are not negative", isSlots,
     "a local_slots"},
    {sharedByRowName, isList<7>, "an array of seven i64 that are not negative", isKernelOrFunction,
     both},
    {sharedOffsetName, isNumber<0>, notNegative, isInKernel, inside},
    {roundsName, isNumber<2>, "an i64 of at least 2", isConversion, "a convert_layout"},
    {vectorName, isNumber<1>, positive, isInKernel, inside},
    {vectorIfName, isNumber<1>, positive, isInKernel, inside},
    {fastestName, isNumber<0>, notNegative, isInKernel, inside},
    {windowsName, isUnit, unit, isInKernel, inside},
    {rotationName, isNumber<1>, positive, isKernel, aKernel},
    {rotatedName, isNumber<1>, positive, isInKernel, inside},
    {shiftedName, isUnit, unit, isInKernel, inside},
    {privateName, isUnit, unit, isInKernel, inside},
    {exactProductsName, isUnit, unit, isReduce, "a tile.reduce"},
    {selectsOneName, isUnit, unit, isReduceBy, "a tile.reduce_by"},
    {readOnlyName, isUnit, unit, isInKernel, inside},
    {aheadName, isUnit, unit, isInKernel, inside},
    {nonNegativeName, isUnit, unit, isInKernel, inside},
    {cacheName, isString, "a string", isInKernel, inside},
    {rareName, isUnit, unit, isBranch, "a branch"},
    {fillName, isNumbers, "an array of i64", isBranch, "a branch"},
    {ringName, isNumber<0>, notNegative, isFetch, "a fetch"},
    {crowdedName, isUnit, unit, isKernel, aKernel},
    {widenedName, isUnit, unit, isKernel, aKernel},
    {openOccupancyName, isUnit, unit, isKernel, aKernel},
    {plannedBytesName, isNumber<0>, notNegative, isKernel, aKernel},
    {joinedProgramsName, isNumbers, "an array of i64", isKernelOrFunction, both},
    {splitPartsName, isNumber<2>, "an i64 of at least 2", isKernelOrFunction, both},
    {splitProgramsName, isNumber<1>, positive, isKernelOrFunction, both},
    {splitAheadName, isUnit, unit, isKernelOrFunction, both},
    {splitClusterName, isUnit, unit, isKernelOrFunction, both},
    {everyName, isNumber<2>, "an i64 of at least 2", isMerge, "a part_arrive or part_combine"},
    {scratchBytesName, isNumber<1>, positive, isFunction, aFunction},
    {scratchArgumentName, isNumber<0>, notNegative, isFunction, aFunction},
    {producerThreadsName, isNumber<1>, positive, isKernelOrFunction, both},
    {teamsName, isNumber<2>, "an i64 of at least 2", hasTeams,
     "a kernel, its function or a branch"},
    {teamBytesName, isNumber<0>, notNegative, isKernelOrFunction, both},
    {wideProducerName, isUnit, unit, isKernelOrFunction, both},
    {filledName, isUnit, unit, isRing, "a ring"},
    {producerRegistersName, isNumber<1>, positive, isSplit, "a warp_specialize"},
    {loadsItselfName, isUnit, unit, isKernel, aKernel},
    {wholeCopiesName, isNumber<1>, positive, isKernel, aKernel},
    {storePartsName, isNumber<2>, "an i64 of at least 2", isKernel, aKernel},
    {fencedName, isUnit, unit, isRelease, "a ring_release"},
    {recomputesName, isUnit, unit, isInKernel, inside},
    {alternatesName, isUnit, unit, isInKernel, inside},
    {persistentGridName, isUnit, unit, isKernelOrFunction, both},
    {dynamicScheduleName, isUnit, unit, isKernelOrFunction, both},
    {blocksOfClusterName, isNumber<2>, "an i64 of at least 2", isKernelOrFunction, both},
    {pairedAxesName, isNumbers, "an array of i64", isKernelOrFunction, both},
    {freshName, isUnit, unit, isProductOfLoop, "a wgmma of a loop"},
    {overwritesName, isUnit, unit, isProductOfLoop, "a wgmma of a loop"},
    {ScheduleAttr::name, isSchedule, "a #tile_gpu.schedule", isLoop, "a loop"},
    {tensorMapsName, isListOfMaps, "an array of tensor maps", isFunction, aFunction},
};

/// Of a kernel that need not be verified.
static bool hasNoAxes(KernelOp kernel) {
  Region &grid = kernel.getGrid();
  return !grid.empty() && !grid.front().empty() && grid.front().back().getNumOperands() == 0;
}

LogicalResult TileGPUDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (failed(verifyAttribute(op, attribute, specs)))
    return failure();
  // The last axis of the grid is that of the parts.
  if (auto kernel = dyn_cast<KernelOp>(op);
      kernel && attribute.getName() == splitPartsName && hasNoAxes(kernel))
    return op->emitError() << "expected a grid with an axis for the parts of " << splitPartsName
                           << ", found one without axes";
  auto schedule = dyn_cast<ScheduleAttr>(attribute.getValue());
  if (!schedule || op->getRegion(0).empty())
    return success();
  // None are left once they are instructions.
  auto found = size_t(llvm::range_size(op->getRegion(0).front().getOps<WgmmaOp>()));
  if (found && found != schedule.getProducts().size())
    return op->emitError() << "expected a schedule of the loop's " << found
                           << " products by wgmma, found one of " << schedule.getProducts().size();
  return success();
}
