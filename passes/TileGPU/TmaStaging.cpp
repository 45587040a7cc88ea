// Gives tiles a place in shared memory so that TMA may fetch them there, and takes it from those
// that TMA does not fetch.
#include "passes/TileGPU/TmaStaging.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/StagedLoads.h"
#include "passes/TileGPU/TensorAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

bool tile::gpu::isReadAsOperand(Value memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    if (isa<WgmmaOp, MmaOp, FmaDotOp, LocalLoadOp>(user))
      return true;
    auto permute = dyn_cast<MemDescPermuteOp>(user);
    return permute && isReadAsOperand(permute.getResult());
  });
}

/// True if a loop's body loads operands of products too.
static bool isBesideOperands(LoadOp load) {
  return isa<scf::ForOp>(load->getParentOp()) &&
         llvm::any_of(load->getBlock()->getOps<LocalAllocOp>(), [](LocalAllocOp alloc) {
           return alloc.getSource().getDefiningOp<LoadOp>() && isReadAsOperand(alloc.getResult());
         });
}

void tile::gpu::stageTiles(KernelOp kernel, StagedTiles &staged) {
  kernel.getBody().walk([&](scf::ForOp loop) {
    for (Operation *load : findStageableLoads(loop))
      if (isa<LoadOp>(load) && cast<RankedTensorType>(load->getResult(0).getType()).getRank() > 1)
        staged.insert(stageLoad(load));
  });
}

void tile::gpu::stageVectors(KernelOp kernel, StagedTiles &staged) {
  SmallVector<LoadOp> vectors;
  kernel.getBody().walk([&](LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (type && type.getRank() == 1 && isBesideOperands(load) &&
        llvm::none_of(load->getUsers(), llvm::IsaPred<LocalAllocOp>))
      vectors.push_back(load);
  });
  for (LoadOp load : vectors)
    staged.insert(stageLoad(load));
}

static int64_t getBytes(LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  return type.getNumElements() * getSharedElementBytes(type.getElementType());
}

/// Of the tiles that a loop's body loads for products.
static int64_t countOperandBytes(Block *body) {
  int64_t bytes = 0;
  for (auto alloc : body->getOps<LocalAllocOp>())
    if (alloc.getSource().getDefiningOp<LoadOp>() && isReadAsOperand(alloc.getResult()))
      bytes += getSharedNeed(alloc).bytes;
  return bytes;
}

void tile::gpu::stageConverted(KernelOp kernel, StagedTiles &staged) {
  OpBuilder builder(kernel);
  SmallVector<std::pair<LoadOp, ConvertLayoutOp>> found;
  kernel.getBody().walk([&](ConvertLayoutOp convert) {
    auto load = convert.getSource().getDefiningOp<LoadOp>();
    if (load && load->hasOneUse() && load->getBlock() == convert->getBlock() &&
        convert.getType().getRank() == 2 && isBesideOperands(load) &&
        getBytes(load) <= countOperandBytes(load->getBlock()))
      found.push_back({load, convert});
  });
  for (auto [load, convert] : found) {
    auto type = cast<RankedTensorType>(load.getType());
    int64_t fastest = getAccessOrder(load)[0];
    int64_t rowBytes = type.getDimSize(fastest) * getSharedElementBytes(type.getElementType());
    // Threads read columns of short pieces of rows: a swizzle of whole rows, up to the widest,
    // spreads them over the banks.
    constexpr int64_t widest = 128, narrowest = 32;
    int64_t swizzle = std::min(widest, int64_t(llvm::bit_floor(uint64_t(rowBytes))));
    if (swizzle < narrowest)
      swizzle = 0;
    auto memory =
        MemDescType::get(kernel.getContext(), type.getShape(), type.getElementType(),
                         SharedAttr::get(kernel.getContext(), {fastest, 1 - fastest}, swizzle));
    builder.setInsertionPointAfter(load);
    auto alloc = LocalAllocOp::create(builder, load.getLoc(), memory, load.getResult());
    builder.setInsertionPoint(convert);
    auto read = LocalLoadOp::create(builder, load.getLoc(), convert.getType(), alloc.getResult());
    convert.replaceAllUsesWith(read.getResult());
    convert.erase();
    staged.insert(alloc);
  }
}

void tile::gpu::forwardUnfetched(KernelOp kernel, const StagedTiles &staged,
                                 ArrayRef<LocalAllocOp> fetched) {
  OpBuilder builder(kernel);
  StagedTiles unfetched = staged;
  kernel.getBody().walk([&](LocalLoadOp read) {
    auto alloc = read.getSource().getDefiningOp<LocalAllocOp>();
    if (alloc && alloc->hasOneUse())
      unfetched.insert(alloc);
  });
  for (LocalAllocOp alloc : fetched)
    unfetched.remove(alloc);
  for (LocalAllocOp alloc : unfetched) {
    // What was to be read in another layout is converted to it, as it was.
    if (staged.contains(alloc))
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        if (auto read = dyn_cast<LocalLoadOp>(user);
            read && read.getType() != alloc.getSource().getType()) {
          builder.setInsertionPoint(read);
          auto convert =
              ConvertLayoutOp::create(builder, read.getLoc(), read.getType(), alloc.getSource());
          read.replaceAllUsesWith(convert.getResult());
          read.erase();
        }
    forwardStaged(alloc);
  }
}
