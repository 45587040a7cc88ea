// The columns of a result that are staged in shared memory at once before TMA stores them.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/StorePlan.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/TmaCopies.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

Value StoreByTma::getStored() const {
  if (auto atomic = dyn_cast<AtomicOp>(store))
    return atomic.getValue();
  return cast<StoreOp>(store).getValue();
}

bool tile::gpu::isOrderedStore(Operation *store) {
  return isa<StoreOp>(store) && store->getParentOfType<LoopLikeOpInterface>();
}

bool StoreByTma::needsBranch() const {
  return (access.hasEnds() && !cuts) || access.mayStartBefore() || access.flatStart;
}

namespace {

class StoreColumns {
public:
  StoreColumns(KernelOp kernel, ArrayRef<FetchByTma> fetches, std::vector<StoreByTma> &stores,
               int64_t limit)
      : kernel(kernel), fetches(fetches), stores(stores), limit(limit) {}

  /// As many columns at once for each store as shared memory allows; drops stores for which there
  /// is none.
  void choose() {
    bool both =
        llvm::any_of(stores, [](StoreByTma &store) { return isa<AtomicOp>(store.store); }) &&
        llvm::any_of(stores, [](StoreByTma &store) { return isa<StoreOp>(store.store); });
    int64_t room = stores.empty() ? 0 : std::min((both ? 2 : 1) * stagingBytes, getRoom());
    giveUpPersistence(room);
    llvm::SmallPtrSet<Operation *, 4> placed = stageInDeadTiles(); // looked up only
    // Every store first gets the fewest columns that it can copy at once; the room that is left is
    // then handed out by doubling the columns of one store after the other.
    llvm::erase_if(stores, [&](StoreByTma &store) {
      if (placed.contains(store.store))
        return false;
      if (std::optional<int64_t> bytes = takeFewest(store); bytes && *bytes <= room) {
        room -= *bytes;
        return false;
      }
      return true;
    });
    for (bool grown = true; grown;) {
      grown = false;
      for (StoreByTma &store : stores) {
        if (placed.contains(store.store))
          continue;
        std::optional<int64_t> now = getStagingBytes(store, store.columns),
                               more = getStagingBytes(store, store.columns * 2);
        if (!more || *more - *now > room)
          continue;
        room -= *more - *now;
        store.columns *= 2;
        grown = true;
      }
    }
  }

private:
  /// True for a fetch that needs no ring of its own: a loop before this one, in the same block, has
  /// a fetch of such a tile for each one of this loop's (SpecializeWarps.cpp).
  bool sharesRing(const FetchByTma &fetch) {
    auto loop = fetch.load->getParentOfType<scf::ForOp>();
    if (!loop || kernel->hasAttr(blocksOfClusterName))
      return false;
    auto isSuch = [&](const FetchByTma &other) {
      return other.alloc->getResultTypes() == fetch.alloc->getResultTypes();
    };
    int64_t number = 0, most = 0;
    for (const FetchByTma &other : fetches) {
      if (&other == &fetch)
        break;
      number += isSuch(other) && other.load->getParentOfType<scf::ForOp>() == loop;
    }
    for (const FetchByTma &other : fetches) {
      auto before = other.load->getParentOfType<scf::ForOp>();
      if (!before || before == loop || before->getBlock() != loop->getBlock() ||
          !before->isBeforeInBlock(loop) ||
          before->getAttr(stagesName) != loop->getAttr(stagesName))
        continue;
      int64_t there = llvm::count_if(fetches, [&](const FetchByTma &beside) {
        return isSuch(beside) && beside.load->getParentOfType<scf::ForOp>() == before;
      });
      most = std::max(most, there);
    }
    return number < most;
  }

  /// Bytes of shared memory that the stores may take: what two stages of the loads and everything
  /// else leave.
  int64_t getRoom() {
    int64_t taken = 0, scratch = 0, stages = 2;
    llvm::SmallPtrSet<Operation *, 4> dropped;
    for (StoreByTma &store : stores)
      if (!store.needsBranch())
        dropped.insert(store.getStored().getDefiningOp());
    kernel.getBody().walk([&](Operation *op) {
      SharedNeed need = getSharedNeed(op);
      int64_t bytes = llvm::alignTo(need.bytes, 1024);
      if (need.use == SharedUse::Allocates)
        taken += bytes;
      else if (!dropped.contains(op))
        scratch = std::max(scratch, bytes);
    });
    for (const FetchByTma &fetch : fetches) {
      int64_t bytes = llvm::alignTo(getSharedNeed(fetch.alloc).bytes, 1024);
      if (sharesRing(fetch))
        taken -= bytes;
      else
        taken += bytes * ((fetch.load->getParentOfType<scf::ForOp>() ? stages : 1) - 1) +
                 1024; // mbarriers
    }
    return limit - taken - scratch;
  }

  /// Bytes to stage `columns` columns of a store; none if they cannot be staged at once.
  static std::optional<int64_t> getStagingBytes(const StoreByTma &store, int64_t columns) {
    RankedTensorType type = store.tile;
    LinearLayout layout = getLayout(type);
    // Chunks of padding are not staged, nor one that is mostly padding, unless warps share columns.
    int64_t most =
        std::max<int64_t>(llvm::bit_floor(uint64_t(store.storedColumns)), store.map.getBox()[0]);
    if ((columns > most && !store.rows) ||
        !StorePlan::get(layout, columns, getBlockRows(layout, isa<AtomicOp>(store.store)),
                        store.map.getBox()[0], isOrderedStore(store.store), /*byWarp=*/false,
                        store.rows))
      return std::nullopt;
    return (store.rows ? store.rows : type.getDimSize(0)) * columns *
           getSharedElementBytes(type.getElementType());
  }

  /// Stages all columns of the stores that no loop repeats where these fit into the memory of tiles
  /// that are fetched once: it is free by then. Returns these stores.
  llvm::SmallPtrSet<Operation *, 4> stageInDeadTiles() {
    llvm::SmallPtrSet<Operation *, 4> placed;
    if (kernel->hasAttr(persistentName))
      return placed;
    int64_t dead = 0;
    for (const FetchByTma &fetch : fetches)
      if (!fetch.load->getParentOfType<LoopLikeOpInterface>())
        dead += getSharedNeed(fetch.alloc).bytes;
    for (StoreByTma &store : stores) {
      int64_t all = store.tile.getDimSize(1);
      std::optional<int64_t> bytes = getStagingBytes(store, all);
      if (store.store->getParentOfType<LoopLikeOpInterface>() || store.rows || !bytes ||
          *bytes > dead)
        continue;
      dead -= *bytes;
      store.columns = all;
      placed.insert(store.store);
    }
    return placed;
  }

  /// Gives a store the fewest columns that it can copy at once; their bytes, none if it can not.
  std::optional<int64_t> takeFewest(StoreByTma &store) {
    for (store.columns = store.map.getBox()[0]; store.columns <= store.tile.getDimSize(1);
         store.columns *= 2)
      if (std::optional<int64_t> bytes = getStagingBytes(store, store.columns))
        return bytes;
    return std::nullopt;
  }

  /// Has programs start one by one where a persistent kernel's loads leave no memory to stage a
  /// result in, which then lies where a tile was that is fetched once.
  void giveUpPersistence(int64_t room) {
    Attribute persistent = kernel->getAttr(persistentName);
    SmallVector<Operation *> lacking;
    for (StoreByTma &store : stores) {
      int64_t bytes = takeFewest(store).value_or(0);
      if (bytes > room)
        lacking.push_back(store.store);
      else
        room -= bytes;
    }
    if (!persistent || lacking.empty())
      return;
    kernel->removeAttr(persistentName);
    llvm::SmallPtrSet<Operation *, 4> placed = stageInDeadTiles(); // looked up only
    if (!llvm::all_of(lacking, [&](Operation *store) { return placed.contains(store); }))
      kernel->setAttr(persistentName, persistent);
  }

  KernelOp kernel;
  ArrayRef<FetchByTma> fetches;
  std::vector<StoreByTma> &stores;
  int64_t limit;
};

} // namespace

void tile::gpu::chooseStoreColumns(KernelOp kernel, ArrayRef<FetchByTma> fetches,
                                   std::vector<StoreByTma> &stores, int64_t limit) {
  StoreColumns(kernel, fetches, stores, limit).choose();
}
