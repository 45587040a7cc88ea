// tile-gpu-use-tma: loads of tiles into shared memory and stores of products by the tensor memory
// accelerator.
//
// The first of three choices for a load whose tile goes to shared memory (tile-gpu-assign-layouts):
//
//   tile.load -- collect(), TensorAccess.cpp: can TMA copy it? ------------> tma_fetch
//       |  no   tile-gpu-pipeline-copies: does it feed a loop's product? --> async_copy (cp.async)
//       |  no   -----------------------------------------------------------> stays: load, store
//
// One decision is about the whole kernel: if no load that TMA can copy stands in a loop, none is
// copied, as there is nothing that a copy could overlap with.
#include "dialect/AttributeNames.h"
#include "dialect/FetchNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/StorePlan.h"
#include "passes/Passes.h"
#include "passes/Report/Declined.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/CopyBoxes.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/ProgramMaps.h"
#include "passes/TileGPU/StagedLoads.h"
#include "passes/TileGPU/TargetSupport.h"
#include "passes/TileGPU/TensorAccess.h"
#include "passes/TileGPU/TmaCopies.h"
#include "passes/TileGPU/TmaStaging.h"
#include "passes/TileGPU/UnusedEnds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUUSETMA
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Smaller stores gain nothing.
constexpr int64_t leastStoreBytes = 4096;

/// True if only loops with counters and branches stand around `op`.
bool isInPlainControlFlow(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<scf::ForOp, scf::IfOp>(parent))
    parent = parent->getParentOp();
  return isa<KernelOp>(parent);
}

class TmaConversion {
public:
  TmaConversion(KernelOp kernel, const DivisibilityAnalysis &divisibility, int64_t limit,
                int64_t warps, bool remarks)
      : kernel(kernel), divisibility(divisibility), bounds(kernel, divisibility), limit(limit),
        warps(warps), remarks(remarks), programMaps(kernel, divisibility), builder(kernel) {}

  void run() {
    bool usesWgmma =
        kernel.getBody().walk([](WgmmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
    hasProduct = kernel.getBody()
                     .walk([](Operation *op) {
                       return isa<WgmmaOp, MmaOp, FmaDotOp>(op) ? WalkResult::interrupt()
                                                                : WalkResult::advance();
                     })
                     .wasInterrupted();
    if (usesWgmma)
      stageConverted(kernel, staged);
    if (hasProduct)
      stageTiles(kernel, staged);
    if (usesWgmma)
      stageVectors(kernel, staged);
    kernel.getBody().walk([&](LoadOp load) { collect(load); });
    // An atomic with release order publishes ordinary stores alone: a copy by TMA, which the
    // asynchronous proxy makes, would not be visible to the program that acquires.
    bool releases = kernel.getBody()
                        .walk([](AtomicOp op) {
                          return op.isRelease() ? WalkResult::interrupt() : WalkResult::advance();
                        })
                        .wasInterrupted();
    if (usesWgmma && !releases) {
      kernel.getBody().walk([&](AtomicOp atomic) { collect(atomic); });
      kernel.getBody().walk([&](StoreOp store) { collect(store); });
    }
    leaveRoom();
    if (kernel->hasAttr(loadsItselfName) && !fetches.empty()) {
      declined(kernel) << "rings of what it copies do not fit into shared memory beside the rest";
      fetches.clear();
    }
    // Copies made once, with nothing to overlap, are no reason for a producer.
    if (llvm::none_of(fetches, [](FetchByTma &fetch) {
          return bool(fetch.load->getParentOfType<scf::ForOp>());
        })) {
      if (!fetches.empty())
        declined(kernel) << "its loads stand in no loop, so that a copy would overlap with nothing";
      fetches.clear();
    }
    for (FetchByTma &fetch : fetches)
      if (!fetch.used.empty())
        setUsedExtents(fetch.alloc.getResult(), fetch.used);
    SmallVector<LocalAllocOp> fetched;
    for (FetchByTma &fetch : fetches)
      fetched.push_back(fetch.alloc);
    forwardUnfetched(kernel, staged, fetched);
    chooseStoreColumns(kernel, fetches, stores, limit);
    for (FetchByTma &fetch : fetches)
      rewrite(fetch);
    programMaps.finish();
    for (StoreByTma &store : stores)
      rewrite(store);
    gatherReads(kernel);
  }

private:
  /// Nobody fetches where the source asks for so many warps that a block has no room for a
  /// producer. Those of wgmma are never so many.
  void leaveRoom() {
    auto computing = kernel->getAttrOfType<IntegerAttr>(numWarpsName);
    if (!computing || computing.getInt() <= warps)
      return;
    for (FetchByTma &fetch : fetches)
      if (remarks)
        remarkOn(fetch.load) << "operand is not copied by TMA: beside " << computing.getInt()
                             << " warps, a block has no room for those that fetch; at most "
                             << warps << " leave some [R0402]";
    fetches.clear();
  }

  void collect(LoadOp load) {
    if (!isa<RankedTensorType>(load.getType()) || !load->hasOneUse())
      return;
    auto fold = dyn_cast<ReshapeOp>(*load->user_begin());
    auto alloc = dyn_cast<LocalAllocOp>(fold && fold->hasOneUse() ? *fold->user_begin()
                                                                  : *load->user_begin());
    if (!alloc || (fold && !foldsRows(fold, alloc)))
      return;
    // Nibbles that no product uses are not used twice: more threads that load into registers hide
    // more latency than a producer.
    if (!hasProduct && !alloc->use_empty() && llvm::all_of(alloc->getUsers(), [](Operation *user) {
          return isa<LocalLoadOp>(user) && !user->use_empty() &&
                 llvm::all_of(user->getUsers(), llvm::IsaPred<UnpackOp>);
        }))
      return;
    MemDescType type = alloc.getType();
    ArrayRef<int64_t> shape = cast<RankedTensorType>(load.getType()).getShape();
    SmallVector<int64_t> order(type.getLayout().getOrder());
    if (fold)
      order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, shape.size())));
    TensorAccess access = analyzeAccess(load, order, bounds, divisibility);
    TensorMapAttr map;
    SmallVector<int64_t> used;
    if (access.problem.empty()) {
      ParamAttr param = kernel.getParam(access.param);
      if (!fold)
        used = getUsedExtents(alloc);
      map = makeMap(kernel.getContext(), access, used.empty() ? shape : ArrayRef(used),
                    type.getLayout().getSwizzle(), getSharedElementBytes(type.getElementType()));
      if (fold && map && !matchTensorMap(map, type.getShape(), type.getLayout().getOrder()))
        map = {};
      if (param.getAccess() != Access::In || kernel->hasAttr(mayAliasName))
        access.problem = "'" + param.getName().str() + "' may be written while the kernel runs";
      else if (!isInPlainControlFlow(load))
        access.problem = "it stands in a loop that ends by a condition";
      else if (!map)
        access.problem = "its rows have fewer than 16 bytes, or its tile has fewer than 8 rows or "
                         "too many dimensions above 256";
    }
    if (access.problem.empty() && !fold)
      dropUnusedEnds(access, alloc.getResult());
    if (access.problem.empty() && access.flatStart)
      access.problem = programMaps.accept(load, alloc, access);
    if (access.problem.empty() && fold && access.hasEnds())
      access.problem = "an end cuts a tile whose dimensions are joined";
    if (access.problem.empty())
      fetches.push_back({load, fold, alloc, std::move(access), map, std::move(used)});
    else if (remarks && type.getShape().size() > 1 && !staged.contains(alloc) &&
             isReadAsOperand(alloc.getResult()))
      remarkOn(load) << "operand is not copied by TMA: " << access.problem << " [R0402]";
    if (!access.problem.empty())
      declined(load) << "a load is not copied by TMA: " + access.problem;
  }

  /// True if what a copy brings may be joined into rows on the way.
  static bool foldsRows(ReshapeOp fold, LocalAllocOp alloc) {
    return joinsRows(fold) && alloc.getType().getLayout().getOrder()[0] == 1;
  }

  /// Ends of the load itself, behind which nothing is used.
  static void dropUnusedEnds(TensorAccess &access, Value memory) {
    for (TensorDim &dim : access.dims)
      llvm::erase_if(dim.ends, [&](const std::pair<Value, unsigned> &end) {
        return end.second == 1 && isEndUnused(memory, dim.tileDim, dim.starts[0].first, end.first);
      });
  }

  void collect(StoreOp store) {
    if (std::optional<StoreByTma> found = match(store, store.getValue());
        found && mayStore(found->access))
      stores.push_back(std::move(*found));
  }

  /// Of flat memory a program may leave a part as it was.
  bool mayStore(const TensorAccess &access) {
    Access kind = kernel.getParam(access.param).getAccess();
    return kind == Access::Out || (kind == Access::InOut && access.flatStart);
  }

  /// Takes atomic additions in f32 whose old values have no use: TMA can reduce into memory.
  void collect(AtomicOp atomic) {
    if (atomic.getKind() != AtomicKind::Add || atomic.getOrder() != MemoryOrder::Relaxed ||
        atomic.getScope() != MemoryScope::GPU || !atomic.getResult().use_empty() ||
        !atomic.getPositions().empty() || !getElementTypeOrSelf(atomic.getType()).isF32())
      return;
    if (std::optional<StoreByTma> found = match(atomic, atomic.getValue());
        found && !found->access.hasEnds())
      stores.push_back(std::move(*found));
  }

  template <typename Op> std::optional<StoreByTma> match(Op store, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    int64_t rank = type ? type.getRank() : 0;
    if (rank < 2 || (rank > 2 && isa<AtomicOp>(store)))
      return std::nullopt;
    // The layout of the product needs no conversion: shared memory does that on the way.
    if (auto convert = value.getDefiningOp<ConvertLayoutOp>())
      value = convert.getSource();
    int64_t elementBytes = getSharedElementBytes(type.getElementType());
    TensorAccess access = analyzeAccess(
        store, llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank))), bounds, divisibility);
    if (!access.problem.empty() || kernel->hasAttr(mayAliasName) || countAccesses(access.view) != 1)
      return std::nullopt;
    if (access.flatStart && (isa<AtomicOp>(store) || !programMaps.accept(store, access)))
      return std::nullopt;
    RankedTensorType tile = joinRows(cast<RankedTensorType>(value.getType()));
    int64_t columns = takeColumns(access, rank - 1, tile.getDimSize(1)),
            rowBytes = columns * elementBytes;
    if (tile.getDimSize(0) * rowBytes < leastStoreBytes)
      return std::nullopt;
    // Boxes as wide as the swizzle make up a row.
    int64_t swizzle = 128;
    while (swizzle >= 32 && rowBytes % swizzle)
      swizzle /= 2;
    if (swizzle < 32)
      return std::nullopt;
    // Each warp stages its own rows of a tile that is added, since additions may stand in a loop
    // and must not wait for other warps; a result is stored once, by few and large copies.
    int64_t left = getBlockRows(getLayout(tile), /*byWarp=*/isa<AtomicOp>(store));
    int64_t rows = rank == 2 && isa<StoreOp>(store) && isCutInRows(access)
                       ? getStagedRows(getLayout(tile), elementBytes, stagingBytes)
                       : 0;
    if (rows) // two chunks of half as many take turns
      left = std::min(left, rows / 2);
    SmallVector<int64_t> box(type.getShape());
    box.back() = columns;
    for (int64_t &extent : llvm::reverse(MutableArrayRef(box).drop_back())) {
      extent = std::min(extent, left);
      left /= extent;
    }
    TensorMapAttr map = makeMap(kernel.getContext(), access, box, swizzle, elementBytes);
    // Of rows that several dimensions make up none is cut.
    if (!map || (rank > 2 && (access.hasEnds() || access.mayStartBefore())))
      return std::nullopt;
    bool cuts =
        access.hasEnds() && isCutInRows(access) && map.getBox()[1] > 1 && map.getOrder().size() < 5;
    // A tile that is cut otherwise, or begins before the tensor, goes out by ordinary stores, which
    // nothing would keep in order with copies.
    if (((access.hasEnds() && !cuts) || access.mayStartBefore()) &&
        (isOrderedStore(store) || isa<AtomicOp>(store)))
      return std::nullopt;
    if (llvm::any_of(access.dims, [](const TensorDim &dim) { return dim.startsBefore; }))
      return std::nullopt;
    if (cuts) {
      SmallVector<int64_t> order(map.getOrder()), box(map.getBox());
      order.insert(order.begin() + 2, order[1]);
      box.insert(box.begin() + 2, 1);
      map = TensorMapAttr::get(kernel.getContext(), map.getParam(), order, box, map.getSwizzle());
    }
    return StoreByTma{store, value, tile, std::move(access), map, 0, columns, cuts, rows};
  }

  /// The tensor's dimension along the tile's rows.
  static unsigned getRowDim(const TensorAccess &access) { return access.order[1]; }

  /// Accesses to the parameter behind `view`, by whichever view.
  unsigned countAccesses(ViewOp view) {
    unsigned count = 0;
    SmallVector<Value> views;
    for (Operation *user : view.getBase().getUsers())
      if (auto other = dyn_cast<ViewOp>(user))
        views.push_back(other.getResult());
    while (!views.empty())
      for (Operation *user : views.pop_back_val().getUsers()) {
        if (isa<PermuteViewOp, SubviewOp>(user))
          views.push_back(user->getResult(0));
        else
          count += !isa<ExtentOp, InsideOp>(user);
      }
    return count;
  }

  Value getDescriptor(TensorMapAttr map, Location loc) {
    Value &descriptor = descriptors[map];
    if (!descriptor) {
      OpBuilder start = OpBuilder::atBlockBegin(&kernel.getBody().front());
      descriptor = DescriptorOp::create(start, loc, DescriptorType::get(start.getContext()), map);
    }
    return descriptor;
  }

  SmallVector<Value> makeCoordinates(const TensorAccess &access, Location loc) {
    SmallVector<Value> coordinates;
    for (unsigned d : access.order)
      coordinates.push_back(access.makeCoordinate(builder, loc, d));
    return coordinates;
  }

  void rewrite(FetchByTma &fetch) {
    Location loc = fetch.load.getLoc();
    builder.setInsertionPoint(fetch.load);
    SmallVector<Value> coordinates = makeCoordinates(fetch.access, loc);
    auto copy =
        fetch.access.flatStart
            ? programMaps.fetch(fetch.load, fetch.alloc, fetch.access, fetch.map, coordinates)
            : TmaFetchOp::create(builder, loc, fetch.alloc.getType(), getDescriptor(fetch.map, loc),
                                 coordinates,
                                 /*once=*/Value());
    if (StringAttr cache = fetch.load.getCacheAttr())
      copy->setAttr(cacheName, cache);
    for (auto [d, dim] : llvm::enumerate(fetch.access.dims)) {
      Value limit = fetch.access.makeLimit(builder, loc, d);
      if (!limit)
        continue;
      if (dim.tileDim < 0) { // its one position decides for the whole tile
        Value one = arith::ConstantIndexOp::create(builder, loc, 1),
              none = arith::ConstantIndexOp::create(builder, loc, 0);
        Value all =
            arith::ConstantIndexOp::create(builder, loc, fetch.alloc.getType().getShape()[0]);
        Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, limit, one);
        limit = arith::SelectOp::create(builder, loc, exists, all, none);
      }
      ClearFromOp::create(builder, loc, copy.getResult(), limit, std::max<int64_t>(dim.tileDim, 0));
    }
    fetch.alloc.getResult().replaceAllUsesWith(copy.getResult());
    fetch.alloc.erase();
    if (fetch.fold)
      fetch.fold.erase();
    fetch.load.erase();
  }

  void rewrite(StoreByTma &store) {
    Location loc = store.store->getLoc();
    builder.setInsertionPoint(store.store);
    bool ordered = isOrderedStore(store.store);
    auto convert = store.getStored().getDefiningOp<ConvertLayoutOp>();
    bool branches = store.needsBranch();
    Value descriptor, possible;
    if (store.access.flatStart)
      std::tie(descriptor, possible) = programMaps.write(store.store, store.access, store.map);
    else
      descriptor = getDescriptor(store.map, loc);
    if (branches)
      branchOnEnds(store, convert, possible);
    SmallVector<Value> coordinates;
    for (unsigned d : store.access.order)
      coordinates.push_back(store.access.makeStoreCoordinate(builder, loc, d));
    if (store.cuts)
      coordinates.insert(coordinates.begin() + 1, makeRowCount(store, coordinates[1]));
    ArrayRef<int64_t> shape = cast<RankedTensorType>(store.value.getType()).getShape();
    DenseI64ArrayAttr folded;
    Value value = store.value;
    if (shape.size() > 2) {
      folded = builder.getDenseI64ArrayAttr(llvm::to_vector(llvm::reverse(shape.drop_back())));
      value = ReshapeOp::create(builder, loc, store.tile, value);
    }
    auto copy =
        TmaStoreOp::create(builder, loc, value, descriptor, coordinates, store.columns, ordered,
                           isa<AtomicOp>(store.store), getStoredColumns(store), folded,
                           store.rows ? builder.getI64IntegerAttr(store.rows) : IntegerAttr());
    if (auto cache = store.store->getAttrOfType<StringAttr>("cache"))
      copy->setAttr(cacheName, cache);
    if (!branches)
      store.store->erase();
    if (convert && convert->use_empty())
      convert.erase();
  }

  /// None where all columns are stored.
  IntegerAttr getStoredColumns(const StoreByTma &store) {
    bool padded = store.storedColumns < store.tile.getDimSize(1);
    return padded ? builder.getI64IntegerAttr(store.storedColumns) : IntegerAttr();
  }

  /// How many rows of a tile whose first is at `start`, from 0 on, lie before its ends and in the
  /// tensor.
  Value makeRowCount(const StoreByTma &store, Value start) {
    Location loc = store.store->getLoc();
    unsigned dim = getRowDim(store.access);
    ViewOp view = store.access.view;
    Value extent = view.getExtents()[dim], zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value all = arith::ConstantIndexOp::create(builder, loc, store.tile.getDimSize(0));
    Value count = arith::MinSIOp::create(builder, loc, store.access.makeLimit(builder, loc, dim),
                                         arith::SubIOp::create(builder, loc, extent, start));
    return arith::MaxSIOp::create(builder, loc, arith::MinSIOp::create(builder, loc, count, all),
                                  zero);
  }

  /// Leaves the store to tiles that copies cannot store, and the builder where it is for the
  /// others: those that begin in the tensor, and, unless copies end at any row, that no end cuts.
  /// `whole` is a further condition, or null.
  void branchOnEnds(StoreByTma &store, ConvertLayoutOp convert, Value whole) {
    Location loc = store.store->getLoc();
    auto require = [&](Value value, Value least) {
      Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, value, least);
      whole = whole ? arith::AndIOp::create(builder, loc, whole, holds).getResult() : holds;
    };
    for (auto [d, dim] : llvm::enumerate(store.access.dims)) {
      if (dim.tileDim >= 0 && !dim.startsInside)
        require(store.access.makeCoordinate(builder, loc, d),
                arith::ConstantIndexOp::create(builder, loc, 0));
      Value limit = store.cuts ? Value() : store.access.makeLimit(builder, loc, d);
      if (!limit)
        continue;
      auto type = cast<RankedTensorType>(store.value.getType());
      Value size = arith::ConstantIndexOp::create(
          builder, loc, dim.tileDim < 0 ? 1 : type.getDimSize(dim.tileDim));
      require(limit, size);
    }
    auto branch = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
    Block *rest = branch.elseBlock();
    if (store.access.flatStart) { // whose addresses must not take registers of the product
      OpBuilder inside = OpBuilder::atBlockBegin(rest);
      Value cannot = arith::XOrIOp::create(inside, loc, whole,
                                           arith::ConstantIntOp::create(inside, loc, 1, 1));
      auto rare = scf::IfOp::create(inside, loc, cannot, /*withElseRegion=*/false);
      rare->setAttr(rareName, builder.getUnitAttr());
      rest = rare.thenBlock();
    }
    store.store->moveBefore(rest, rest->begin());
    // Out of the product's registers as they are: a conversion would want the whole tile's shared
    // memory, a stage or two of the loads, for the few tiles that are cut.
    if (convert)
      cast<StoreOp>(store.store).getValueMutable().assign(convert.getSource());
    builder.setInsertionPointToStart(branch.thenBlock());
  }

  KernelOp kernel;
  const DivisibilityAnalysis &divisibility;
  IndexBounds bounds;
  int64_t limit; // bytes of shared memory
  int64_t warps; // that may compute beside a producer
  bool remarks, hasProduct = false;
  ProgramMaps programMaps;
  OpBuilder builder;
  StagedTiles staged; // for the sake of copies, unless something fetches them
  std::vector<FetchByTma> fetches;
  std::vector<StoreByTma> stores;
  DenseMap<Attribute, Value> descriptors; // looked up only
};

struct TileGPUUseTma : tile::impl::TileGPUUseTmaBase<TileGPUUseTma> {
  using Base::Base;

  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!copiesAhead(*target)) {
      for (KernelOp kernel : getOperation().getOps<KernelOp>())
        declined(kernel) << std::string(target->name) +
                                " lacks TMA, or products by wgmma that would read what it copies";
      return;
    }
    const auto &divisibility = getAnalysis<DivisibilityAnalysis>();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      TmaConversion(kernel, divisibility, target->limits.sharedPerBlock(),
                    getWarpsBesideProducer(target->limits), remarks)
          .run();
  }
};

} // namespace
