// Loads that go by way of shared memory so that they can be copied there ahead of their use.
#include "passes/TileGPU/StagedLoads.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/AccessWidth.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/LayoutInference.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::gpu {

static bool isProduct(Operation *op) { return isa<WgmmaOp, MmaOp, FmaDotOp>(op); }

/// True if a product reads the memory itself, not by way of computed registers.
static bool isOperand(Value memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    if (auto read = dyn_cast<LocalLoadOp>(user))
      return llvm::any_of(read->getUsers(), isProduct);
    auto permute = dyn_cast<MemDescPermuteOp>(user);
    return isProduct(user) || (permute && isOperand(permute.getResult()));
  });
}

/// What stores the tile as it is; null if nothing does.
static LocalAllocOp getPlace(Operation *load) {
  for (Operation *user : load->getUsers())
    if (auto alloc = dyn_cast<LocalAllocOp>(user); alloc && alloc->getBlock() == load->getBlock())
      return alloc;
  return {};
}

/// Adds the loads of the block that `value`, a tile, is computed from.
static void collectLoads(Value value, Block *block, llvm::DenseSet<Operation *> &seen,
                         llvm::DenseSet<Operation *> &loads) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || !seen.insert(op).second)
    return;
  if (isa<LoadOp, GatherOp>(op)) { // where they load from is none of a copy's business
    loads.insert(op);
    return;
  }
  if (isProduct(op))
    return;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType, MemDescType>(operand.getType()))
      collectLoads(operand, block, seen, loads);
}

/// Adds what the places of the block's accesses are computed from.
static void collectPlaces(Operation *op, Block *block, llvm::DenseSet<Operation *> &places) {
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp();
        def && def->getBlock() == block && places.insert(def).second)
      collectPlaces(def, block, places);
}

SmallVector<Operation *> findStageableLoads(scf::ForOp loop) {
  Block *body = loop.getBody();
  llvm::DenseSet<Operation *> seen, loads, places; // looked up only
  for (Operation &op : *body)
    if (isa<LoadOp, GatherOp>(op))
      collectPlaces(&op, body, places);
  for (Operation &op : *body)
    if (isProduct(&op))
      for (Value operand : op.getOperands().take_front(2))
        collectLoads(operand, body, seen, loads);
  SmallVector<Operation *> found;
  for (Operation &op : *body) {
    auto type = op.getNumResults() ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                                   : RankedTensorType();
    if (!loads.contains(&op) || places.contains(&op) || !type ||
        getElementBits(type.getElementType()) < 8)
      continue;
    LocalAllocOp place = getPlace(&op);
    if (place ? isOperand(place.getResult()) && !op.hasOneUse()
              : llvm::none_of(op.getUsers(), [](Operation *user) {
                  auto fold = dyn_cast<ReshapeOp>(user);
                  return fold && llvm::any_of(fold->getUsers(), llvm::IsaPred<LocalAllocOp>);
                }))
      found.push_back(&op);
  }
  return found;
}

/// Adds what the block computes from `op`, up to the next product.
static void collectResults(Operation *op, llvm::DenseSet<Operation *> &results) {
  for (Operation *user : op->getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (here && !isProduct(here) && results.insert(here).second)
      collectResults(here, results);
  }
}

bool joinsProduct(Operation *load) {
  llvm::DenseSet<Operation *> results, ofProducts; // looked up only
  collectResults(load, results);
  for (Operation &op : *load->getBlock())
    if (isProduct(&op))
      collectResults(&op, ofProducts);
  return llvm::any_of(*load->getBlock(), [&](Operation &op) {
    return !op.hasTrait<OpTrait::IsTerminator>() && results.contains(&op) &&
           ofProducts.contains(&op);
  });
}

LocalAllocOp stageLoad(Operation *load) {
  auto type = cast<RankedTensorType>(load->getResult(0).getType());
  OpBuilder builder(load->getContext());
  LocalAllocOp place = getPlace(load);
  builder.setInsertionPointAfter(load);
  if (place) {
    place->moveAfter(load);
  } else {
    // Neighbours in memory lie side by side, as a copy wants it; rows follow each other plainly.
    int64_t rank = type.getRank(), fastest = rank - 1;
    if (auto plain = dyn_cast<LoadOp>(load)) {
      fastest = getAccessOrder(plain)[0];
    } else {
      LinearLayout own = getLayout(type);
      if (ArrayRef<Coord> registers = own.getBases(InDim::Register); !registers.empty())
        for (int64_t d = 0; d < rank; ++d)
          if (registers[0][d] == 1)
            fastest = d;
    }
    SmallVector<int64_t> order{fastest};
    for (int64_t d = rank; d-- > 0;)
      if (d != fastest)
        order.push_back(d);
    auto layout = SharedAttr::get(builder.getContext(), order, /*swizzle=*/0);
    auto memory =
        MemDescType::get(builder.getContext(), type.getShape(), type.getElementType(), layout);
    place = LocalAllocOp::create(builder, load->getLoc(), memory, load->getResult(0));
  }
  builder.setInsertionPointAfter(place);
  auto read = LocalLoadOp::create(builder, load->getLoc(), type, place.getResult());
  load->getResult(0).replaceAllUsesExcept(read.getResult(), place);
  return place;
}

/// Registers of 32 bits that reads ahead of their use may take.
static constexpr int64_t mostRead = 32;

/// Adds what `op` needs to stand before `place`, in order; false if that is not free to move.
static bool collectNeeded(Operation *op, Operation *place, llvm::SetVector<Operation *> &needed) {
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || def->getBlock() != place->getBlock() || def->isBeforeInBlock(place) ||
        needed.contains(def))
      continue;
    bool moves = isa<TmaFetchOp>(def) ? llvm::all_of(def->getUsers(), llvm::IsaPred<LocalLoadOp>)
                                      : isMemoryEffectFree(def) && def->getNumRegions() == 0;
    if (!moves || def == place || !collectNeeded(def, place, needed))
      return false;
    needed.insert(def);
  }
  return true;
}

/// Those of the block's reads of fetched tiles that the product's first operand is computed from.
static SmallVector<LocalLoadOp> findReads(WgmmaOp product) {
  Block *block = product->getBlock();
  llvm::DenseSet<Operation *> seen; // looked up only
  SmallVector<Value> pending{product.getA()};
  SmallVector<LocalLoadOp> found;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != block || !seen.insert(op).second)
      continue;
    auto read = dyn_cast<LocalLoadOp>(op);
    if (read && read.getSource().getDefiningOp<TmaFetchOp>())
      found.push_back(read);
    else if (!isProduct(op))
      llvm::append_range(pending, op->getOperands());
  }
  llvm::sort(found, [](LocalLoadOp a, LocalLoadOp b) { return a->isBeforeInBlock(b); });
  return found;
}

static int64_t countRead(ArrayRef<LocalLoadOp> reads) {
  int64_t words = 0;
  for (LocalLoadOp read : reads)
    words += llvm::divideCeil(int64_t(getLayout(read.getType()).getNumRegisters()) *
                                  getElementBits(read.getType().getElementType()),
                              32);
  return words;
}

void gatherReads(KernelOp kernel) {
  kernel.getBody().walk([](WgmmaOp product) {
    if (!isa<RankedTensorType>(product.getA().getType()) ||
        !isa<scf::ForOp>(product->getParentOp()))
      return;
    SmallVector<LocalLoadOp> reads = findReads(product);
    if (reads.empty() || countRead(reads) > mostRead)
      return;
    Operation *last = reads.front();
    for (LocalLoadOp read : ArrayRef(reads).drop_front()) {
      llvm::SetVector<Operation *> needed;
      if (!collectNeeded(read, reads.front(), needed))
        continue;
      for (Operation *op : needed)
        op->moveBefore(reads.front());
      read->moveAfter(last);
      last = read;
    }
  });
}

std::string whyNoPieces(Operation *load, RankedTensorType tile, RankedTensorType stored,
                        LocalAllocOp alloc, const DivisibilityAnalysis &divisibility) {
  AccessWidth width = getAccessWidth(load, tile, divisibility);
  SharedLayout shared = getSharedLayout(alloc.getType());
  int64_t bytes = shared.getElementBytes();
  SharedAccess places(getLayout(stored), shared);
  ArrayRef<uint32_t> images = places.getImages(InDim::Register);
  for (int64_t bit = 0; (int64_t(1) << bit) < width.possible; ++bit)
    if (bit >= int64_t(images.size()) || images[bit] != bytes << bit)
      return "its rows lie otherwise in shared memory than in the tensor";
  if (width.possible * bytes < 4)
    return "its rows have fewer than 4 bytes that lie together";
  if (getLayout(tile).getNumRegisters() != getLayout(stored).getNumRegisters())
    return "its shape is changed";
  return "";
}

void forwardStaged(LocalAllocOp alloc) {
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
    if (auto read = dyn_cast<LocalLoadOp>(user);
        read && read.getType() == alloc.getSource().getType()) {
      read.getResult().replaceAllUsesWith(alloc.getSource());
      read.erase();
    }
  if (alloc->use_empty())
    alloc.erase();
}

} // namespace tile::gpu
