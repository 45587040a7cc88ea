// Tiles in shared memory as the boxes that TMA copies, and how much of a tile has to be copied.
#include "passes/TileGPU/CopyBoxes.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/LayoutInference.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Extents of one copy are at most this.
static constexpr int64_t maxBox = 256;

/// The longest extent of a box, so that boxes make up `extent`. `most` is what one may have.
static int64_t getBoxExtent(int64_t extent, int64_t most) {
  int64_t boxes = llvm::divideCeil(extent, most);
  while (extent % boxes)
    ++boxes;
  return extent / boxes;
}

TensorMapAttr tile::gpu::makeMap(MLIRContext *context, const TensorAccess &access,
                                 ArrayRef<int64_t> shape, int64_t swizzle, int64_t elementBytes) {
  SmallVector<int64_t> order(access.order.begin(), access.order.end()), box, steps;
  bool full = true; // all faster dimensions fit one box, so that it may span this one, too
  // Tiles wider than the swizzle lie in panels side by side, whose pattern repeats every 8 rows:
  // each starts at a multiple.
  if (swizzle && !access.order.empty()) {
    int64_t fastest = access.dims[access.order[0]].tileDim, rows = 1;
    for (auto [d, extent] : llvm::enumerate(shape))
      if (int64_t(d) != fastest)
        rows *= extent;
    if (fastest >= 0 && shape[fastest] * elementBytes > swizzle && rows % 8)
      return {};
  }
  for (unsigned d : access.order) {
    int64_t tileDim = access.dims[d].tileDim, extent = tileDim < 0 ? 1 : shape[tileDim];
    if (box.empty()) {
      box.push_back(swizzle ? swizzle / elementBytes : extent);
      if (extent * elementBytes % std::max<int64_t>(swizzle, 16) || box[0] > maxBox)
        return {};
      continue;
    }
    if (extent > 1 && !full)
      return {};
    int64_t most = maxBox / access.dims[d].step; // it counts the positions between steps, too
    full = extent <= most;
    box.push_back(getBoxExtent(extent, most));
  }
  for (unsigned d : access.order)
    steps.push_back(access.dims[d].step);
  if (llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    steps.clear();
  return TensorMapAttr::get(context, access.param, order, box, swizzle, steps);
}

RankedTensorType tile::gpu::joinRows(RankedTensorType type) {
  int64_t columns = type.getShape().back(), rows = type.getNumElements() / columns;
  return withLayout(RankedTensorType::get({rows, columns}, type.getElementType()),
                    getLayout(type).reshape({rows, columns}));
}

int64_t tile::gpu::takeColumns(TensorAccess &access, int64_t tileDim, int64_t all) {
  for (TensorDim &dim : access.dims) {
    if (dim.tileDim != tileDim || dim.ends.empty() || !dim.length)
      continue;
    dim.ends.clear();
    return std::min(all, *dim.length);
  }
  return all;
}

bool tile::gpu::isCutInRows(const TensorAccess &access) {
  return llvm::all_of(access.dims,
                      [](const TensorDim &dim) { return dim.ends.empty() || dim.tileDim == 0; });
}

/// Which extents of a tile in shared memory products by wgmma read, where nothing else reads it:
/// `used` grows to them. `dims` are the tile's dimensions in the order of `memory`.
static bool addUsedExtents(Value memory, ArrayRef<int64_t> dims, SmallVectorImpl<int64_t> &used) {
  return llvm::all_of(memory.getUses(), [&](OpOperand &use) {
    if (auto permute = dyn_cast<MemDescPermuteOp>(use.getOwner())) {
      SmallVector<int64_t> permuted;
      for (int64_t d : permute.getPermutation())
        permuted.push_back(dims[d]);
      return addUsedExtents(permute.getResult(), permuted, used);
    }
    auto product = dyn_cast<WgmmaOp>(use.getOwner());
    DenseI64ArrayAttr valid = product ? product.getValidAttr() : DenseI64ArrayAttr();
    if (!valid)
      return false;
    int64_t warpsM = 1, warpsN = 1, m = product.getType().getDimSize(0),
            n = product.getType().getDimSize(1);
    LinearLayout layout = getLayout(product.getType());
    for (const Coord &basis : layout.getBases(InDim::Warp))
      (basis[1] ? warpsN : warpsM) *= 2;
    unsigned bits = getElementBits(product.getB().getType().getElementType());
    // Warpgroups multiply as many blocks of 64 rows each, and those that share out the columns as
    // many columns. Of one block each the last ones have padding alone.
    constexpr int64_t blockRows = 64;
    int64_t rowStep = 16 * warpsM < m ? 16 * warpsM : std::min(m, blockRows);
    int64_t rows = std::min(m, int64_t(llvm::alignTo(valid[0], rowStep))),
            columns = warpsN > 1 ? n : std::min(n, int64_t(llvm::alignTo(valid[1], 8))),
            depth = llvm::alignTo(valid[2], 256 / bits);
    bool isFirst = use.getOperandNumber() == 0;
    used[dims[0]] = std::max(used[dims[0]], isFirst ? rows : depth);
    used[dims[1]] = std::max(used[dims[1]], isFirst ? depth : columns);
    return true;
  });
}

SmallVector<int64_t> tile::gpu::getUsedExtents(LocalAllocOp alloc) {
  MemDescType type = alloc.getType();
  SmallVector<int64_t> shape(type.getShape()), used(shape.size(), 1);
  if (shape.size() != 2 || alloc->use_empty() || !addUsedExtents(alloc.getResult(), {0, 1}, used))
    return {};
  // Swizzles repeat every 8 rows, of each half that a block of a pair fetches.
  auto kernel = alloc->getParentOfType<KernelOp>();
  auto cluster =
      kernel ? kernel->getAttrOfType<DenseI64ArrayAttr>(clusterName) : DenseI64ArrayAttr();
  int64_t unitRows = cluster && llvm::product_of(cluster.asArrayRef()) > 1 ? 16 : 8;
  int64_t fastest = type.getLayout().getOrder()[0],
          elements = type.getLayout().getSwizzle() / getSharedElementBytes(type.getElementType());
  for (int64_t d : {0, 1}) {
    int64_t unit = d == fastest ? std::max<int64_t>(elements, 1) : unitRows;
    used[d] = std::min(shape[d], int64_t(llvm::alignTo(used[d], unit)));
  }
  return used == shape ? SmallVector<int64_t>() : used;
}

void tile::gpu::setUsedExtents(Value memory, ArrayRef<int64_t> used) {
  memory.setType(cast<MemDescType>(memory.getType()).withUsed(used));
  for (Operation *user : memory.getUsers())
    if (auto permute = dyn_cast<MemDescPermuteOp>(user)) {
      SmallVector<int64_t> permuted;
      for (int64_t d : permute.getPermutation())
        permuted.push_back(used[d]);
      setUsedExtents(permute.getResult(), permuted);
    }
}
