// Registration, attributes and types of the tile_gpu dialect, and what its operations ask of the
// target.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "target/LoadLatency.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
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
