// tile-gpu-set-eviction-policies: fetches of bytes that at most one neighbour in the launch reads
// again get an eviction policy.
//
// Such bytes, as the weights of a product of few rows, would push other bytes out of the
// second-level cache; with the policy evict-first they are the first to go.
//
//   c[i, j] = sum over k of a[i, k] b[k, j] on a grid (i, j)
//
//   fetch of a   moved by i and k: programs of all j read it      readers = extent of j
//   fetch of b   moved by k and j: programs of all i read it      readers = extent of i
//
// `readers` is the product of the axes that do not move a fetch, and every loop around it must move
// it, or trips would read it again. With at most `together` readers the bytes are on their way out.
// Not so a tensor of which the cache keeps all (getKeptBytes): the next launch may find it there,
// as the cost model expects. Nor one that is many times as large: it takes longest of all, and what
// stays in the cache meanwhile, written before and still to be written out, slows it down
// (docs/notes/Attention.md).
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/ProgramGrid.h"
#include "target/KeptInCache.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSETEVICTIONPOLICIES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True if all programs, in all trips, have the same value.
static bool isInvariant(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<KernelOp>(argument.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  return !isa<ProgramIdOp>(op) && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), isInvariant);
}

namespace {

/// Which axes of the grid and which loops move a position, as far as it is a sum of multiples of
/// them.
struct Movers {
  DenseSet<uint64_t> axes; // looked up only
  DenseSet<Value> loops;   // their counters; looked up only

  /// False if `position` is more than such a sum: different programs might then have the same.
  bool add(Value position) {
    if (isInvariant(position))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(position)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || argument != loop.getInductionVar())
        return false;
      loops.insert(argument);
      // The trips of a split loop are its parts' own.
      auto kernel = loop->getParentOfType<KernelOp>();
      if (kernel->hasAttr(splitPartsName) && !isInvariant(loop.getLowerBound()))
        axes.insert(kernel.getNumAxes() - 1);
      return true;
    }
    Operation *op = position.getDefiningOp();
    if (auto id = dyn_cast<ProgramIdOp>(op)) {
      axes.insert(id.getAxis());
      return true;
    }
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      return add(op->getOperand(0)) && add(op->getOperand(1));
    // Clamped to what a copy takes: beyond that nothing exists.
    if (isa<arith::MulIOp, arith::MinSIOp, arith::MaxSIOp>(op))
      return isInvariant(op->getOperand(0))
                 ? add(op->getOperand(1))
                 : isInvariant(op->getOperand(1)) && add(op->getOperand(0));
    return isa<arith::IndexCastOp>(op) && add(op->getOperand(0));
  }
};

class Marker {
public:
  Marker(KernelOp kernel, int64_t cacheBytes)
      : kernel(kernel), cacheBytes(cacheBytes),
        builder(OpBuilder::atBlockBegin(&kernel.getBody().front())) {}

  void mark(TmaFetchOp fetch) {
    // Tiles that a program fetches once are little beside those of its loops.
    if (fetch->hasAttr(cacheName) || !fetch->getParentOfType<scf::ForOp>())
      return;
    // Different programs may look at the same memory by different views.
    if (fetch.getDescriptor().getDefiningOp<ViewDescriptorOp>())
      return;
    Movers movers;
    if (!llvm::all_of(fetch.getCoordinates(), [&](Value at) { return movers.add(at); }))
      return;
    for (Operation *parent = fetch->getParentOp(); parent != kernel;
         parent = parent->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (loop ? !movers.loops.contains(loop.getInductionVar()) : !isa<scf::IfOp>(parent))
        return;
    }
    Location loc = fetch.getLoc();
    Value readers = arith::ConstantIndexOp::create(builder, loc, 1);
    for (unsigned axis = 0; axis < kernel.getNumAxes(); ++axis)
      if (!movers.axes.contains(axis))
        readers = builder.createOrFold<arith::MulIOp>(loc, readers, getExtent(axis));
    Value most = arith::ConstantIndexOp::create(builder, loc, together);
    Value once = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, readers, most);
    if (Value whole = isLarge(fetch)) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(whole);
      once = builder.createOrFold<arith::AndIOp>(loc, once, whole);
    }
    if (matchPattern(once, m_One()))
      fetch->setAttr(cacheName, builder.getStringAttr("stream"));
    else if (!matchPattern(once, m_Zero()))
      fetch.getOnceMutable().assign(once);
  }

private:
  /// As many programs read the same at about the same time: two rows of tiles are neighbours, in
  /// bands or on a grid that runs at once.
  static constexpr int64_t together = 2;
  /// A tensor of so many caches gains nothing.
  static constexpr int64_t mostCaches = 3;

  /// Whether the fetch's tensor takes more of the cache than that keeps, and no more than some
  /// caches; null where nothing says how large it is.
  Value isLarge(TmaFetchOp fetch) {
    auto descriptor = fetch.getDescriptor().getDefiningOp<DescriptorOp>();
    if (!descriptor)
      return {};
    unsigned param = descriptor.getMap().getParam();
    if (auto known = large.find(param); known != large.end())
      return known->second;
    if (param >= kernel.getBody().getNumArguments())
      return large[param] = {};
    Value base = kernel.getBody().getArgument(param);
    auto view = llvm::find_if(base.getUsers(), [&](Operation *user) {
      return isa<ViewOp>(user) && user->getBlock() == &kernel.getBody().front();
    });
    if (view == base.getUsers().end())
      return large[param] = {};
    auto tensor = cast<ViewOp>(*view);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(tensor);
    Location loc = tensor.getLoc();
    Value elements = arith::ConstantIndexOp::create(builder, loc, 1);
    for (Value extent : tensor.getExtents())
      elements = builder.createOrFold<arith::MulIOp>(loc, elements, extent);
    int64_t bits = getElementBits(tensor.getType().getElementType());
    auto compare = [&](arith::CmpIPredicate predicate, int64_t bytes) {
      return builder.createOrFold<arith::CmpIOp>(
          loc, predicate, elements, arith::ConstantIndexOp::create(builder, loc, bytes * 8 / bits));
    };
    return large[param] = builder.createOrFold<arith::AndIOp>(
               loc, compare(arith::CmpIPredicate::sgt, getKeptBytes(cacheBytes)),
               compare(arith::CmpIPredicate::sle, mostCaches * cacheBytes));
  }

  /// The number of programs along `axis`.
  Value getExtent(unsigned axis) {
    if (extents.empty())
      extents = cloneGridExtents(builder, kernel, kernel.getBody().front().getArguments());
    return extents[axis];
  }

  KernelOp kernel;
  int64_t cacheBytes;
  OpBuilder builder;
  SmallVector<Value> extents;
  DenseMap<unsigned, Value> large; // by parameter; looked up only
};

struct TileGPUSetEvictionPolicies
    : tile::impl::TileGPUSetEvictionPoliciesBase<TileGPUSetEvictionPolicies> {
  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      Marker marker(kernel, target ? getCard(*target).cacheBytes : 0);
      kernel.getBody().walk([&](TmaFetchOp fetch) { marker.mark(fetch); });
    }
  }
};

} // namespace
