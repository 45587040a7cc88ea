// Probes behind operations, beside those that the front end has left behind variables.
// A probe is a PrintOp of the tile dialect, since operations with side effects keep their order
// through all passes. An attribute holds the number of the probe's site: an index into the vector
// that placeProbes returns, and the first argument of the callbacks (Debugger.cpp).
#include "driver/debug/Probes.h"
#include "dialect/ProbeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tile::debug {

/// From the innermost place outwards: the callee's places stand before the caller's. Of fused
/// locations the first is the one that the operation was made for.
static void addPlaces(Location location, std::vector<SourceLine> &places) {
  if (auto place = dyn_cast<FileLineColLoc>(location)) {
    places.push_back({place.getFilename().str(), place.getLine(), place.getColumn()});
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    addPlaces(call.getCallee(), places);
    addPlaces(call.getCaller(), places);
  } else if (auto named = dyn_cast<NameLoc>(location)) {
    addPlaces(named.getChildLoc(), places);
  } else if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty()) {
    addPlaces(fused.getLocations().front(), places);
  }
}

/// A value in between that is worth a look: floats that an operation computes. What only repeats or
/// moves elements shows nothing new.
static bool isComputed(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() ||
      isa<arith::ConstantOp, BroadcastOp, ReshapeOp, PermuteOp, IotaOp>(op) ||
      op->getName().getStringRef().starts_with("tensor."))
    return false;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  std::vector<SourceLine> places;
  addPlaces(op->getLoc(), places);
  return (element.isF16() || element.isBF16() || element.isF32() || element.isF64()) &&
         !places.empty();
}

/// Bodies of scans and reductions are computed for pairs of elements in an order that the source
/// does not say, and may be expanded: a value there is none of the program's.
static bool isInScan(Operation *op, KernelOp kernel) {
  for (Operation *parent = op->getParentOp(); parent && parent != kernel;
       parent = parent->getParentOp())
    if (isa<ScanOp, ReduceByOp>(parent))
      return true;
  return false;
}

/// A probe behind `op`, whose value goes to it as f32 or f64.
/// The site's number is not known yet: all probes are numbered in one walk, those of variables,
/// too.
static void addProbe(Operation *op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Value value = op->getResult(0);
  Type element = getElementTypeOrSelf(value.getType());
  if (element.isF16() || element.isBF16()) {
    Type wide = builder.getF32Type();
    if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
      wide = tile.clone(wide);
    value = arith::ExtFOp::create(builder, op->getLoc(), wide, value);
  }
  SmallVector<int64_t> shape;
  if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
    shape.assign(tile.getShape().begin(), tile.getShape().end());
  auto probe = PrintOp::create(builder, op->getLoc(), "", /*position=*/0, shape, ValueRange(value));
  probe->setAttr(probeSiteName, builder.getI64IntegerAttr(-1));
}

/// The value that `value` repeats or moves, followed back to where it was computed.
static Value skipMoves(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    bool moves = isa<BroadcastOp, ReshapeOp, PermuteOp, arith::ExtFOp>(op) ||
                 op->getName().getStringRef() == "tensor.splat";
    if (!moves)
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Guarantees that a site's operands have smaller numbers: sites are numbered in program order, and
/// a value's definition stands before its uses.
std::vector<Site> placeProbes(ModuleOp module) {
  std::vector<Site> sites;
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    // Collected first: a walk must not meet the probes that it adds.
    std::vector<Operation *> computed;
    kernel.getBody().walk([&](Operation *op) {
      if (isComputed(op) && !isInScan(op, kernel))
        computed.push_back(op);
    });
    for (Operation *op : computed)
      addProbe(op);
    llvm::DenseMap<Value, unsigned> siteOf; // of values, each its first
    Builder builder(module.getContext());
    kernel.getBody().walk<WalkOrder::PreOrder>([&](PrintOp probe) {
      if (!probe->hasAttr(probeSiteName))
        return;
      probe->setAttr(probeSiteName, builder.getI64IntegerAttr(int64_t(sites.size())));
      Site site;
      addPlaces(probe.getLoc(), site.places);
      site.name = probe.getFormat().str();
      if (auto dtype = probe->getAttrOfType<StringAttr>(probeDtypeName))
        site.dtype = dtype.getValue().str();
      Value value = probe.getValues().empty() ? Value() : probe.getValues().front();
      site.isStatement = !value;
      if (value) {
        if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
          site.shape.assign(tile.getShape().begin(), tile.getShape().end());
        site.isFloat = isa<FloatType>(getElementTypeOrSelf(value.getType()));
        Value origin = skipMoves(value);
        if (Operation *op = origin.getDefiningOp()) {
          site.op = op->getName().getStringRef().str();
          for (Value operand : op->getOperands())
            if (auto known = siteOf.find(skipMoves(operand)); known != siteOf.end())
              site.operands.push_back(known->second);
        }
        siteOf.try_emplace(origin, unsigned(sites.size()));
        // A variable's own name tells more than the operation behind it.
        if (!site.name.empty())
          siteOf[origin] = unsigned(sites.size());
      }
      sites.push_back(std::move(site));
    });
  }
  return sites;
}

} // namespace tile::debug
