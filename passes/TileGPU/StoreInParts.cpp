// tile-gpu-store-in-parts: a tile that is computed from a product's result and from tiles of memory
// is computed and stored some rows at a time.
//
//   r = x[m, n]; y[m, n] = f(acc) + r   ->   r0 = x[m0, n]; y[m0, n] = f(acc0) + r0
//                                            r1 = x[m1, n]; y[m1, n] = f(acc1) + r1
//
// Threads then hold a part of r beside the product's result, where they held all of it. Each part
// waits for memory and for the others of its block, so this is for kernels that spill: the driver
// asks for it in a second try.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/ConstantMemory.h"
#include "passes/TileGPU/PartTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSTOREINPARTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Makes parts of what a store writes, along a dimension of its tile.
class PartMaker {
public:
  PartMaker(StoreOp store, unsigned dim, int64_t count) : store(store), dim(dim), count(count) {}

  /// True if threads hold parts of the tile and of all that it is computed from, and some of that
  /// comes from memory.
  bool isPossible() {
    auto type = cast<RankedTensorType>(store.getValue().getType());
    return !store.getMask() && getPart(type, dim) && collect(store.getValue(), dim) && hasLoads;
  }

  void run() {
    OpBuilder builder(store);
    for (int64_t number = 0; number < count; ++number) {
      made.clear();
      Value part = make(builder, store.getValue(), number);
      auto clone = cast<StoreOp>(builder.clone(*store));
      builder.setInsertionPoint(clone);
      narrow(builder, clone, dim, number);
      clone.getValueMutable().assign(part);
      builder.setInsertionPointAfter(clone);
    }
    Value value = store.getValue();
    store.erase();
    erase(value);
  }

private:
  RankedTensorType getPart(RankedTensorType type, unsigned along) const {
    return type.getDimSize(along) % count
               ? RankedTensorType()
               : getPartType(type, along, type.getDimSize(along) / count);
  }

  /// What parts of `value` are computed from, and the dimension along which: none where the tile is
  /// there, and parts are taken of it.
  SmallVector<std::pair<Value, unsigned>> getSources(Value value, unsigned along) const {
    SmallVector<std::pair<Value, unsigned>> sources;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != store->getBlock() || op->getNumResults() != 1 ||
        op->getNumRegions() || !isPure(op))
      return sources;
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      auto from = cast<RankedTensorType>(broadcast.getSource().getType());
      int64_t place =
          int64_t(along) - (cast<RankedTensorType>(value.getType()).getRank() - from.getRank());
      if (place >= 0 && from.getDimSize(unsigned(place)) > 1)
        sources.push_back({broadcast.getSource(), unsigned(place)});
    } else if (isa<ConvertLayoutOp>(op) || OpTrait::hasElementwiseMappableTraits(op)) {
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          sources.push_back({operand, along});
    }
    return sources;
  }

  /// True of a load that may be made in parts, later: nothing else reads its tile.
  bool isLate(Value value) const {
    auto load = value.getDefiningOp<LoadOp>();
    return load && load->getBlock() == store->getBlock() && load->hasOneUse() && !load.getMask() &&
           readsConstantMemory(load) && !load->hasAttr(windowsName);
  }

  bool collect(Value value, unsigned along) {
    auto type = cast<RankedTensorType>(value.getType());
    RankedTensorType part = getPart(type, along);
    if (!part)
      return false;
    if (!places.insert({value, {along, part}}).second)
      return places.lookup(value).first == along;
    hasLoads |= isLate(value) && type.getRank() > 1;
    return llvm::all_of(getSources(value, along), [&](std::pair<Value, unsigned> source) {
      return collect(source.first, source.second);
    });
  }

  /// Moves the access to its positions of part `number` along a dimension of its tile.
  template <typename Op>
  void narrow(OpBuilder &builder, Op access, unsigned along, int64_t number) const {
    SmallVector<int64_t> sizes(access.getSizes());
    SmallVector<Value> starts(access.getStarts());
    for (auto [d, place] : llvm::enumerate(access.getTileDims()))
      if (place == int64_t(along)) {
        sizes[d] /= count;
        Value by = arith::ConstantIndexOp::create(builder, access.getLoc(),
                                                  number * sizes[d] * access.getSteps()[d]);
        starts[d] = arith::AddIOp::create(builder, access.getLoc(), starts[d], by);
      }
    access.getStartsMutable().assign(starts);
    access.setSizes(sizes);
  }

  Value make(OpBuilder &builder, Value value, int64_t number) {
    if (Value part = made.lookup(value))
      return part;
    auto [along, part] = places.lookup(value);
    return made[value] = create(builder, value, along, part, number);
  }

  Value create(OpBuilder &builder, Value value, unsigned along, RankedTensorType part,
               int64_t number) {
    Location loc = value.getLoc();
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
      return arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(part, constant.getSplatValue<Attribute>()));
    if (isLate(value)) {
      auto load = cast<LoadOp>(builder.clone(*value.getDefiningOp()));
      builder.setInsertionPoint(load);
      narrow(builder, load, along, number);
      load.getResult().setType(part);
      builder.setInsertionPointAfter(load);
      return load.getResult();
    }
    auto sources = getSources(value, along);
    Operation *op = value.getDefiningOp();
    bool repeats = op && isa<BroadcastOp>(op) && op->getBlock() == store->getBlock();
    if (sources.empty() && !repeats) {
      SmallVector<int64_t> offsets(size_t(part.getRank()), 0);
      offsets[along] = number * part.getDimSize(along);
      return ExtractPartOp::create(builder, loc, part, value, offsets);
    }
    IRMapping mapping;
    for (auto [source, dim] : sources)
      mapping.map(source, make(builder, source, number));
    Operation *clone = builder.clone(*op, mapping);
    clone->getResult(0).setType(part);
    return clone->getResult(0);
  }

  /// Drops what nobody needs any more.
  static void erase(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->use_empty() || !(isPure(op) || isa<LoadOp>(op)) || op->getNumRegions())
      return;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      erase(operand);
  }

  StoreOp store;
  unsigned dim;
  int64_t count;
  bool hasLoads = false;
  llvm::MapVector<Value, std::pair<unsigned, RankedTensorType>> places;
  DenseMap<Value, Value> made; ///< of the part that is being made; looked up only
};

struct TileGPUStoreInParts : tile::impl::TileGPUStoreInPartsBase<TileGPUStoreInParts> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      auto asked = dyn_cast_if_present<IntegerAttr>(kernel->removeAttr(storePartsName));
      if (!asked)
        continue;
      SmallVector<StoreOp> stores;
      kernel.getBody().walk([&](StoreOp store) { stores.push_back(store); });
      for (StoreOp store : stores)
        if (auto type = dyn_cast<RankedTensorType>(store.getValue().getType()))
          for (unsigned dim = 0; dim < type.getRank(); ++dim)
            if (PartMaker parts(store, dim, asked.getInt()); parts.isPossible()) {
              parts.run();
              break;
            }
    }
  }
};

} // namespace
