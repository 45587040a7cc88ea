// Registration, attributes, types and verifiers of the tile_gpu dialect.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/AttributeSpec.h"
#include "dialect/PaddingNames.h"
#include "dialect/RequestLimits.h"
#include "dialect/SelectionNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/ShiftPlan.h"
#include "target/LoadLatency.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

#include "dialect/TileGPU/SharedMemoryInterface.cpp.inc"
#include "dialect/TileGPU/TileGPUDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/TileGPU/TileGPUAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/TileGPU/TileGPUTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/TileGPU/TileGPUOps.cpp.inc"

void TileGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/TileGPU/TileGPUAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/TileGPU/TileGPUTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/TileGPU/TileGPUOps.cpp.inc"
      >();
  attachSharedMemoryModels(*getContext());
}

//===--- Attributes and types ---------------------------------------------===//

const GPUTarget *TileGPUDialect::findTarget(StringRef name) const {
  for (const GPUTarget &row : extraTargets)
    if (row.name == std::string_view(name))
      return &row;
  return findGPUTarget(name);
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&name) || parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  if (const GPUTarget *row = context->getLoadedDialect<TileGPUDialect>()->findTarget(name))
    return get(context, row);
  InFlightDiagnostic error = parser.emitError(location)
                             << "unknown target '" << name << "'; there are ";
  llvm::interleaveComma(getGPUTargets(), error,
                        [&](const GPUTarget &row) { error << StringRef(row.name); });
  return {};
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << StringRef(getRow()->name) << "\">";
}

const GPUTarget *tile::gpu::getTarget(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto target = at->getAttrOfType<TargetAttr>(TargetAttr::name))
      return target.getRow();
  op->emitError() << "expected the module to name the GPU that it is compiled for, as in module "
                     "attributes {"
                  << TargetAttr::name << " = #" << TargetAttr::name << "<\"NAME\">}";
  return nullptr;
}

int64_t tile::gpu::getProgramsPerProcessor(Operation *loop, const GPUCard &card) {
  constexpr int64_t least = 2, most = 8;
  int64_t bytes = 0;
  WalkResult products = loop->walk([&](Operation *op) {
    if (isa<LoadOp, GatherOp>(op))
      if (auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType()))
        bytes += tile.getNumElements() * std::max(tile.getElementTypeBitWidth(), 8u) / 8;
    return isa<DotOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  // Copies run ahead, so that one program keeps its share of memory busy; more would only have more
  // states to merge.
  if (products.wasInterrupted())
    return 1;
  if (bytes == 0)
    return least;
  // Twice, as a program asks for nothing while it computes.
  return std::clamp(int64_t(std::ceil(2 * getBytesInFlight(card) / double(bytes))), least, most);
}

int64_t tile::gpu::getLaunchPrograms(Operation *loop) {
  const GPUTarget *target = getTarget(loop);
  if (!target)
    return 0;
  const GPUCard &card = getCard(*target);
  int64_t processors = card.processors;
  for (Operation *at = loop; at; at = at->getParentOp())
    if (auto named = at->getAttrOfType<IntegerAttr>(processorsName)) {
      processors = named.getInt();
      break;
    }
  return getProgramsPerProcessor(loop, card) * processors;
}

//===--- Attributes that passes set ---------------------------------------===//

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
static bool isReduceBy(Operation *op) { return isa<ReduceByOp>(op); }

static bool isTarget(Attribute value) { return isa<TargetAttr>(value); }
static bool isSchedule(Attribute value) { return isa<ScheduleAttr>(value); }
static bool isLoop(Operation *op) {
  return isa<LoopLikeOpInterface>(op) && op->getNumRegions() == 1;
}
static bool isBranch(Operation *op) {
  return isa<RegionBranchOpInterface>(op) && !isa<LoopLikeOpInterface>(op);
}
static bool isNumbers(Attribute value) { return isa<DenseI64ArrayAttr>(value); }
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
//   split_parts, split_programs, split_ahead,
//     split_cluster                                  tile-gpu-split-loops
//   exact_products                                   tile-gpu-fuse-exact-products
//   padded_extents                                   tile-gpu-pad-extents
//   num_warps                                        tile-gpu-assign-layouts
//   cache                                            tile-gpu-use-tma, -set-eviction-policies
//   rare                                             tile-gpu-use-tma
//   cluster, paired_axes                             tile-gpu-multicast
//   schedule                                         tile-gpu-schedule-loops
//   ring                                             tile-gpu-apply-schedule, -specialize-warps
//   persistent                                       tile-gpu-make-persistent
//   producer_threads, producer_registers, fenced,
//     recomputes, idle_warps, wide_producer, filled  tile-gpu-specialize-warps
//   dynamic_schedule                                 tile-gpu-schedule-tiles-dynamically
//   vector, vector_if, fastest, windows, read_only   tile-gpu-vectorize-accesses
//   offset, shared_bytes, rounds                     tile-gpu-allocate-shared
//   num_threads, non_negative, scratch_bytes, fill,
//     scratch_argument, tensor_maps                  convert-tile-gpu-to-vector
static const AttributeSpec specs[] = {
    {TargetAttr::name, isTarget, "#tile_gpu.target<\"NAME\">", isModule, "a module"},
    {processorsName, isNumber<1>, positive, isModule, "a module"},
    {numWarpsName, isNumber<1, limits::warps>, "an i64 from 1 to 32", isKernel, aKernel},
    {idleWarpsName, isNumber<1>, positive, isKernel, aKernel},
    {paddedExtentsName, isNumbers, "an array of i64", isKernelOrFunction, both},
    {realExtentsName, isNumbers, "an array of i64", isInKernel, inside},
    {numThreadsName, isNumber<1>, positive, isFunction, aFunction},
    {sharedBytesName, isNumber<0>, notNegative, isKernelOrFunction, both},
    {sharedOffsetName, isNumber<0>, notNegative, isInKernel, inside},
    {roundsName, isNumber<2>, "an i64 of at least 2", isConversion, "a convert_layout"},
    {vectorName, isNumber<1>, positive, isInKernel, inside},
    {vectorIfName, isNumber<1>, positive, isInKernel, inside},
    {fastestName, isNumber<0>, notNegative, isInKernel, inside},
    {windowsName, isUnit, unit, isInKernel, inside},
    {rotationName, isNumber<1>, positive, isKernel, aKernel},
    {rotatedName, isNumber<1>, positive, isInKernel, inside},
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
    {splitPartsName, isNumber<2>, "an i64 of at least 2", isKernelOrFunction, both},
    {splitProgramsName, isNumber<1>, positive, isKernelOrFunction, both},
    {splitAheadName, isUnit, unit, isKernelOrFunction, both},
    {splitClusterName, isUnit, unit, isKernelOrFunction, both},
    {scratchBytesName, isNumber<1>, positive, isFunction, aFunction},
    {scratchArgumentName, isNumber<0>, notNegative, isFunction, aFunction},
    {producerThreadsName, isNumber<1>, positive, isKernelOrFunction, both},
    {wideProducerName, isUnit, unit, isKernelOrFunction, both},
    {filledName, isUnit, unit, isRing, "a ring"},
    {producerRegistersName, isNumber<1>, positive, isSplit, "a warp_specialize"},
    {storePartsName, isNumber<2>, "an i64 of at least 2", isKernel, aKernel},
    {fencedName, isUnit, unit, isRelease, "a ring_release"},
    {recomputesName, isUnit, unit, isInKernel, inside},
    {alternatesName, isUnit, unit, isInKernel, inside},
    {persistentGridName, isUnit, unit, isKernelOrFunction, both},
    {dynamicScheduleName, isUnit, unit, isKernelOrFunction, both},
    {blocksOfClusterName, isNumber<2>, "an i64 of at least 2", isKernelOrFunction, both},
    {pairedAxesName, isNumbers, "an array of i64", isKernelOrFunction, both},
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

static SmallVector<Coord> unflatten(ArrayRef<int64_t> flat, size_t rank) {
  SmallVector<Coord> bases;
  for (size_t i = 0; rank && i < flat.size(); i += rank)
    bases.push_back(Coord(flat.slice(i, rank).begin(), flat.slice(i, rank).end()));
  return bases;
}

LinearLayout LinearAttr::getLayout() const {
  size_t rank = getShape().size();
  return LinearLayout(getShape(), unflatten(getRegisters(), rank), unflatten(getLanes(), rank),
                      unflatten(getWarps(), rank));
}

LinearAttr LinearAttr::get(MLIRContext *context, const LinearLayout &layout) {
  SmallVector<int64_t> flat[numInDims];
  for (unsigned d = 0; d < numInDims; ++d)
    for (const Coord &basis : layout.getBases(InDim(d)))
      flat[d].append(basis.begin(), basis.end());
  return get(context, layout.getShape(), flat[0], flat[1], flat[2]);
}

static void printBases(AsmPrinter &printer, ArrayRef<int64_t> flat, size_t rank) {
  printer << "[";
  for (size_t i = 0; rank && i < flat.size(); i += rank) {
    printer << (i ? ", [" : "[");
    llvm::interleaveComma(flat.slice(i, rank), printer);
    printer << "]";
  }
  printer << "]";
}

void LinearAttr::print(AsmPrinter &printer) const {
  size_t rank = getShape().size();
  printer << "<shape = [";
  llvm::interleaveComma(getShape(), printer);
  printer << "], register = ";
  printBases(printer, getRegisters(), rank);
  printer << ", lane = ";
  printBases(printer, getLanes(), rank);
  printer << ", warp = ";
  printBases(printer, getWarps(), rank);
  printer << ">";
}

static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parser.parseInteger(numbers.emplace_back()); });
}

/// Of a tile, as the language has them.
static constexpr int64_t mostElements = int64_t(1) << 20;

/// Invariants of every layout: extents are powers of two, bases lie within them, a warp has up to
/// 32 lanes, and every element has a place. Layouts that the compiler makes are so by construction.
static ParseResult checkLayout(AsmParser &parser, SMLoc location, ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> (&flat)[numInDims]) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || extent > mostElements || !llvm::isPowerOf2_64(uint64_t(extent)) ||
        (elements *= extent) > mostElements)
      return parser.emitError(location)
             << "a layout's extents are powers of two, of at most 2^20 elements together, found ["
             << shape << "]";
  }
  size_t rank = shape.size();
  static constexpr struct {
    const char *name;
    size_t least, most;
  } limits[] = {{"registers", 0, 20}, {"lanes", 0, 5}, {"warps", 0, 5}};
  for (unsigned d = 0; d < numInDims; ++d) {
    size_t bases = rank ? flat[d].size() / rank : 0;
    if (rank && (bases < limits[d].least || bases > limits[d].most))
      return parser.emitError(location)
             << "a layout has " << limits[d].least << " to " << limits[d].most << " bases of "
             << limits[d].name << ", found " << bases;
    for (auto [i, coordinate] : llvm::enumerate(flat[d]))
      if (coordinate < 0 || coordinate >= shape[i % rank])
        return parser.emitError(location) << "a basis lies within the extents, found coordinate "
                                          << coordinate << " of " << shape[i % rank];
  }
  LinearLayout layout(shape, unflatten(flat[0], rank), unflatten(flat[1], rank),
                      unflatten(flat[2], rank));
  if (!layout.isSurjective())
    return parser.emitError(location) << "a layout gives every element of the tile a place";
  return success();
}

Attribute LinearAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape, flat[numInDims];
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword("shape") || parser.parseEqual() ||
      parseNumbers(parser, shape))
    return {};
  const char *names[] = {"register", "lane", "warp"};
  for (unsigned d = 0; d < numInDims; ++d) {
    if (parser.parseComma() || parser.parseKeyword(names[d]) || parser.parseEqual())
      return {};
    auto parseBasis = [&]() -> ParseResult {
      size_t before = flat[d].size();
      if (parseNumbers(parser, flat[d]))
        return failure();
      if (flat[d].size() - before != shape.size())
        return parser.emitError(location) << "a basis needs " << shape.size() << " coordinates";
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseBasis))
      return {};
  }
  ArrayRef<int64_t> all[] = {flat[0], flat[1], flat[2]};
  if (parser.parseGreater() || checkLayout(parser, location, shape, all))
    return {};
  return get(parser.getContext(), shape, flat[0], flat[1], flat[2]);
}

static LogicalResult verifySwizzle(function_ref<InFlightDiagnostic()> emitError, int64_t swizzle) {
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "swizzle must be 0, 32, 64 or 128 bytes, found " << swizzle;
  return success();
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> order, int64_t swizzle, ArrayRef<int64_t> used) {
  if (failed(verifySwizzle(emitError, swizzle)))
    return failure();
  if (!used.empty() && used.size() != order.size())
    return emitError() << "expected a used extent for each dimension of order [" << order
                       << "], found [" << used << "]";
  SmallVector<bool> named(order.size(), false);
  for (int64_t dim : order) {
    if (dim < 0 || dim >= int64_t(order.size()) || named[dim])
      return emitError() << "an order names every dimension once, found [" << order << "]";
    named[dim] = true;
  }
  return success();
}

LogicalResult TensorMapAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t param,
                                    ArrayRef<int64_t> order, ArrayRef<int64_t> box, int64_t swizzle,
                                    ArrayRef<int64_t> steps) {
  // The hardware's limits of a tensor map (cuTensorMapEncodeTiled).
  constexpr int64_t mostDimensions = 5, mostExtent = 256, mostStep = 8;
  if (param < 0)
    return emitError() << "expected the number of a parameter, found " << param;
  if (order.empty() || order.size() > size_t(mostDimensions) || order.size() != box.size())
    return emitError() << "expected one to " << mostDimensions
                       << " dimensions, each with the extent of its box, found order [" << order
                       << "] and box [" << box << "]";
  for (int64_t dim : order)
    if (dim < 0)
      return emitError() << "expected dimensions of a tensor, found [" << order << "]";
  for (int64_t extent : box)
    if (extent < 1 || extent > mostExtent)
      return emitError() << "expected extents of a box from 1 to " << mostExtent << ", found ["
                         << box << "]";
  if (steps.empty())
    return verifySwizzle(emitError, swizzle);
  if (steps.size() != box.size() || steps[0] != 1)
    return emitError() << "expected a step for each dimension, 1 for the fastest, found [" << steps
                       << "]";
  for (auto [step, extent] : llvm::zip(steps, box))
    if (step < 1 || step > mostStep || extent * step > mostExtent)
      return emitError() << "expected steps from 1 to " << mostStep
                         << ", and boxes that reach over "
                         << "at most " << mostExtent << " positions, found [" << steps << "]";
  return verifySwizzle(emitError, swizzle);
}

Type MemDescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SharedAttr layout;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() || parser.parseAttribute(layout) ||
      parser.parseGreater())
    return {};
  bool fits = layout.getOrder().size() == shape.size();
  for (int64_t extent : shape)
    fits &= extent > 0 && llvm::isPowerOf2_64(uint64_t(extent)) && extent <= mostElements;
  for (auto [used, extent] : llvm::zip(layout.getUsed(), shape))
    if (used < 1 || used > extent) {
      parser.emitError(parser.getNameLoc())
          << "expected used extents from 1 to those of the tile, found [" << layout.getUsed()
          << "] of [" << shape << "]";
      return {};
    }
  if (!fits) {
    parser.emitError(parser.getNameLoc())
        << "a tile in shared memory has extents that are powers of two, each named by its order, "
           "found ["
        << shape << "] and " << layout;
    return {};
  }
  return get(parser.getContext(), shape, elementType, layout);
}

MemDescType MemDescType::withUsed(ArrayRef<int64_t> used) const {
  SharedAttr layout = getLayout();
  return get(getContext(), getShape(), getElementType(),
             SharedAttr::get(getContext(), layout.getOrder(), layout.getSwizzle(), used));
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t extent : getShape())
    printer << extent << "x";
  printer << getElementType() << ", " << getLayout() << ">";
}

bool tile::gpu::hasLayout(RankedTensorType type) {
  auto layout = dyn_cast_if_present<LinearAttr>(type.getEncoding());
  return layout && layout.getShape() == type.getShape();
}

LinearLayout tile::gpu::getLayout(RankedTensorType type) {
  return cast<LinearAttr>(type.getEncoding()).getLayout();
}

RankedTensorType tile::gpu::withLayout(RankedTensorType type, const LinearLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               LinearAttr::get(type.getContext(), layout));
}

LinearLayout tile::gpu::getWarpReduceLayout(const LinearLayout &source,
                                            std::optional<int64_t> axis) {
  if (axis)
    return source.reduceWithinWarps(unsigned(*axis));
  int64_t elements = 1;
  for (int64_t extent : source.getShape())
    elements *= extent;
  return source.reshape({elements}).reduceWithinWarps(0);
}

//===--- Operations -------------------------------------------------------===//

LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType())
    return emitOpError() << "changes the layout only, found " << source << " to " << result;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    setOperand(inner.getSource());
    return getResult();
  }
  return {};
}

LogicalResult WarpReduceOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  std::optional<int64_t> axis = getAxis();
  if (axis && (*axis < 0 || *axis >= source.getRank()))
    return emitOpError() << "has no axis " << *axis << " of " << source;
  if (source.getElementType() != result.getElementType() || !source.getEncoding() ||
      !result.getEncoding() || getLayout(result) != getWarpReduceLayout(getLayout(source), axis))
    return emitOpError() << "does not leave " << result << " of " << source;
  return success();
}

LogicalResult JoinWarpsOp::verify() {
  bool valid = !getParts().empty() && getNumResults() == getParts().size() &&
               getKinds().size() == getParts().size() && getAxes().size() == getParts().size();
  for (size_t i = 0; valid && i < getParts().size(); ++i) {
    auto part = cast<RankedTensorType>(getParts()[i].getType());
    auto result = dyn_cast<RankedTensorType>(getResult(i).getType());
    valid =
        getAxes()[i] >= 0 && getAxes()[i] < part.getRank() && part.getEncoding() &&
        getElementTypeOrSelf(getResult(i).getType()) == part.getElementType() &&
        symbolizeReduceKind(getKinds()[i]) &&
        (result ? result.getEncoding() && getLayout(result) == getLayout(part).dropDim(getAxes()[i])
                : part.getRank() == 1);
  }
  if (!valid)
    return emitOpError()
           << "makes a result without the axis, and takes a kind and an axis, for each "
              "of one or more parts";
  return success();
}

static LogicalResult verifySameTile(Operation *op, RankedTensorType tile, MemDescType memory) {
  if (tile.getShape() != memory.getShape() || tile.getElementType() != memory.getElementType())
    return op->emitOpError() << "needs the same shape and element type on both sides, found "
                             << tile << " and " << memory;
  return success();
}

LogicalResult LocalAllocOp::verify() {
  return verifySameTile(*this, getSource().getType(), getType());
}

LogicalResult UnpackOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  SmallVector<int64_t> shape(source.getShape());
  if (!shape.empty())
    shape.back() *= 2;
  if (shape.empty() || !source.getElementType().isInteger(8) ||
      !result.getElementType().isInteger(4) || result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "makes two elements of i4 of each i8 along the last dimension, found "
                         << source << " to " << result;
  return success();
}

LogicalResult LocalLoadOp::verify() {
  RankedTensorType tile = getType();
  MemDescType memory = getSource().getType();
  if (getOffsets().empty())
    return verifySameTile(*this, tile, memory);
  bool valid = getOffsets().size() == memory.getShape().size() &&
               tile.getShape().size() == memory.getShape().size() &&
               tile.getElementType() == memory.getElementType();
  for (size_t d = 0; valid && d < getOffsets().size(); ++d)
    valid = getOffsets()[d] >= 0 && getOffsets()[d] % tile.getDimSize(d) == 0 &&
            getOffsets()[d] + tile.getDimSize(d) <= memory.getShape()[d];
  if (!valid)
    return emitOpError() << "reads a part of " << memory << " at multiples of its extents, found "
                         << tile << " at [" << getOffsets() << "]";
  return success();
}

LogicalResult ExtractPartOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  bool valid = getOffsets().size() == size_t(source.getRank()) &&
               source.getRank() == result.getRank() &&
               source.getElementType() == result.getElementType();
  for (int64_t d = 0; valid && d < source.getRank(); ++d)
    valid = getOffsets()[d] >= 0 && getOffsets()[d] % result.getDimSize(d) == 0 &&
            getOffsets()[d] + result.getDimSize(d) <= source.getDimSize(d);
  if (!valid)
    return emitOpError() << "takes a part of " << source << " at multiples of its extents, found "
                         << result << " at [" << getOffsets() << "]";
  return success();
}

LogicalResult ShiftOp::verify() {
  RankedTensorType source = getSource().getType(), edge = getEdge().getType();
  int64_t dim = getDim(), offset = getOffset();
  if (std::abs(offset) != 1 || dim < 0 || dim >= source.getRank() ||
      source.getRank() != edge.getRank() || source.getElementType() != edge.getElementType() ||
      source.getDimSize(dim) % edge.getDimSize(dim))
    return emitOpError() << "moves " << source << " by 1 or -1 along a dimension, found dimension "
                         << dim << ", offset " << offset << " and edge " << edge;
  std::optional<ShiftPlan> plan;
  if (hasLayout(source) && hasLayout(edge))
    plan = ShiftPlan::get(getLayout(source), dim, source.getDimSize(dim) / edge.getDimSize(dim));
  if (!plan || plan->edge != getLayout(edge))
    return emitOpError() << "needs an edge in the layout of blocks that threads or warps hold, "
                            "found "
                         << edge << " for " << source;
  return success();
}

LogicalResult AsyncCopyOp::verify() {
  size_t rank = getView().getType().getRank();
  auto tile = dyn_cast<RankedTensorType>(getTile()),
       stored = dyn_cast<RankedTensorType>(getStored());
  if (!tile || !stored || !tile.getEncoding() || !stored.getEncoding())
    return emitOpError() << "needs tiles with layouts, found " << getTile() << " and "
                         << getStored();
  if (getStarts().size() != rank || getSizes().size() != rank || getSteps().size() != rank ||
      getHasEnd().size() != rank || getInBounds().size() != rank ||
      getEnds().size() != size_t(llvm::count(getHasEnd(), true)) ||
      getPositions().size() != size_t(llvm::count(getSizes(), -2)))
    return emitOpError()
           << "needs one start, size, step, has_end and in_bounds for each of the view's " << rank
           << " dimensions, and the ends and positions that they ask for";
  if (tile.getElementType() != getView().getType().getElementType() ||
      tile.getElementType() != stored.getElementType() ||
      tile.getNumElements() != stored.getNumElements() ||
      getLayout(tile).getNumRegisters() != getLayout(stored).getNumRegisters())
    return emitOpError() << "copies the elements of " << tile << ", found " << stored;
  return verifySameTile(*this, stored, getMemory().getType());
}

LogicalResult MemDescPermuteOp::verify() {
  MemDescType source = getSource().getType(), result = getType();
  size_t rank = source.getShape().size();
  bool valid = getPermutation().size() == rank && result.getShape().size() == rank &&
               source.getElementType() == result.getElementType();
  for (size_t d = 0; valid && d < rank; ++d)
    valid = getPermutation()[d] >= 0 && getPermutation()[d] < int64_t(rank) &&
            result.getShape()[d] == source.getShape()[getPermutation()[d]];
  if (!valid)
    return emitOpError() << "permutes " << source << " to another type than " << result;
  return success();
}

LogicalResult PartArriveOp::verify() {
  APInt parts;
  if (getSums().empty() || (matchPattern(getParts(), m_ConstantInt(&parts)) && parts.slt(2)))
    return emitOpError() << "needs one or more sums of two or more parts, found "
                         << getSums().size();
  return success();
}

LogicalResult PartLoadOp::verify() {
  if (getStates().empty() || !llvm::equal(getStates().getTypes(), getResultTypes()))
    return emitOpError() << "makes a result of the same type for each of one or more states, found "
                         << getStates().size() << " and " << getNumResults();
  return success();
}

LogicalResult PartCombineOp::verify() {
  if (!llvm::equal(getSums().getTypes(), getTotals().getTypes()) ||
      getKinds().size() != getSums().size())
    return emitOpError() << "makes a total of the same type, and takes a kind, for each of its "
                         << getSums().size() << " sums";
  return success();
}

LogicalResult PartShareOp::verify() {
  if (getStates().empty())
    return emitOpError() << "needs one or more states, found none";
  return success();
}

LogicalResult PartReadOp::verify() {
  bool fits = !getSlices().empty() && getDims().size() == getSlices().size();
  for (size_t i = 0; fits && i < getSlices().size(); ++i)
    fits = getDims()[i] >= -1 &&
           getDims()[i] < cast<RankedTensorType>(getSlices()[i].getType()).getRank();
  if (!fits)
    return emitOpError() << "names a dimension, or -1, for each of one or more slices, found "
                         << getDims().size() << " for " << getNumResults();
  if (getParts() < 2 || !llvm::isPowerOf2_64(getParts()) || getPart() >= getParts())
    return emitOpError() << "reads one part of a power of two, found part " << getPart() << " of "
                         << getParts();
  return success();
}

/// The state of which the result is a slice.
RankedTensorType PartReadOp::getWhole(unsigned i) {
  auto slice = cast<RankedTensorType>(getSlices()[i].getType());
  SmallVector<int64_t> shape(slice.getShape());
  if (getDims()[i] >= 0)
    shape[size_t(getDims()[i])] *= int64_t(getParts());
  return RankedTensorType::get(shape, slice.getElementType());
}

/// [.., M, K] x [.., K, N] + [.., M, N] with equal leading dimensions.
static LogicalResult verifyProduct(Operation *op, ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                   ArrayRef<int64_t> c, DenseI64ArrayAttr valid) {
  size_t rank = c.size();
  if (rank >= 2 && a.size() == rank && b.size() == rank && a.drop_back() == c.drop_back() &&
      b.back() == c.back() && a.back() == b[rank - 2] && b.drop_back(2) == c.drop_back(2))
    return verifyValidExtents(op, valid, c[rank - 2], c.back(), a.back());
  return op->emitOpError() << "cannot multiply [" << a << "] by [" << b << "] into [" << c << "]";
}

LogicalResult MmaOp::verify() {
  return verifyProduct(*this, getA().getType().getShape(), getB().getType().getShape(),
                       getAcc().getType().getShape(), getValidAttr());
}

LogicalResult FmaDotOp::verify() {
  return verifyProduct(*this, getA().getType().getShape(), getB().getType().getShape(),
                       getAcc().getType().getShape(), getValidAttr());
}

LogicalResult WgmmaOp::verify() {
  auto tile = dyn_cast<RankedTensorType>(getA().getType());
  ArrayRef<int64_t> a = tile ? tile.getShape() : cast<MemDescType>(getA().getType()).getShape();
  SmallVector<int64_t> b(getB().getType().getShape());
  if (std::optional<int64_t> from = getFrom()) {
    if (!tile || a.size() != 2 || b.size() != 2 || *from < 0 || *from % a[1] || *from + a[1] > b[0])
      return emitOpError() << "multiplies a part in registers by rows of b from a multiple of the "
                              "part's extent along K, found "
                           << getA().getType() << " by " << getB().getType() << " from " << *from;
    b[0] = a[1];
  }
  return verifyProduct(*this, a, b, getAcc().getType().getShape(), getValidAttr());
}

/// True if the operation need not run: constants may have made its place impossible.
static bool isInBranch(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<RegionBranchOpInterface>(parent) && !isa<LoopLikeOpInterface>(parent))
      return true;
  return false;
}

/// One coordinate for each dimension of the map behind `descriptor`, where that is known. A row is
/// copied from a multiple of 16 bytes on, and a copy to a tensor begins in it: else the hardware
/// ends the launch with "illegal instruction", and nothing before it says so.
static LogicalResult verifyCoordinates(Operation *op, Value descriptor, OperandRange coordinates,
                                       Type elementType, bool stores) {
  TensorMapAttr map = getTensorMap(descriptor);
  if (map && map.getOrder().size() != coordinates.size())
    return op->emitOpError() << "needs " << map.getOrder().size() << " coordinates, found "
                             << coordinates.size();
  int64_t bits = elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 64,
          wanted = std::max<int64_t>(128 / std::max<int64_t>(bits, 8), 1);
  for (auto [i, coordinate] : llvm::enumerate(coordinates)) {
    APInt constant;
    if (!matchPattern(coordinate, m_ConstantInt(&constant)))
      continue;
    int64_t place = constant.getSExtValue();
    if (i == 0 && place % wanted)
      return op->emitOpError() << "needs a first coordinate that is a multiple of " << wanted
                               << " elements (16 bytes), found " << place;
    if (stores && place < 0 && !isInBranch(op))
      return op->emitOpError() << "needs coordinates that are not negative, found " << place;
  }
  return success();
}

LogicalResult ViewDescriptorOp::verify() {
  size_t rank = getMap().getOrder().size();
  if (getExtents().size() != rank || getStrides().size() != rank)
    return emitOpError() << "needs an extent and a stride for each of the map's " << rank
                         << " dimensions, found " << getExtents().size() << " and "
                         << getStrides().size();
  return success();
}

LogicalResult TmaFetchOp::verify() {
  return verifyCoordinates(*this, getDescriptor(), getCoordinates(), getType().getElementType(),
                           /*stores=*/false);
}

LogicalResult TmaLoadOp::verify() {
  return verifyCoordinates(*this, getDescriptor(), getCoordinates(),
                           getMemory().getType().getElementType(), /*stores=*/false);
}

LogicalResult ClearFromOp::verify() {
  if (getDim() >= getMemory().getType().getShape().size())
    return emitOpError() << "has no dimension " << getDim() << " in " << getMemory().getType();
  return success();
}

LogicalResult TmaStoreOp::verify() {
  if (std::optional<ArrayRef<int64_t>> folded = getFolded()) {
    auto isPower = [](int64_t extent) { return extent > 0 && llvm::isPowerOf2_64(extent); };
    if (!llvm::all_of(*folded, isPower))
      return emitOpError() << "folds dimensions whose extents are powers of two, found [" << *folded
                           << "]";
    int64_t rows = ShapedType::getNumElements(*folded);
    if (folded->size() >= getCoordinates().size() || rows != getValue().getType().getDimSize(0))
      return emitOpError() << "folds dimensions of the map that make up the tile's rows, found ["
                           << *folded << "] for " << getValue().getType();
  }
  return verifyCoordinates(*this, getDescriptor(), getCoordinates(),
                           getValue().getType().getElementType(), /*stores=*/true);
}
