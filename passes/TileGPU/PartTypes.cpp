// Types of parts of tiles whose elements the same threads hold.
#include "passes/TileGPU/PartTypes.h"

using namespace mlir;
using namespace tile::gpu;

RankedTensorType tile::gpu::getPartType(RankedTensorType type, unsigned dim, int64_t extent) {
  LinearLayout layout = getLayout(type);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  SmallVector<Coord> registers;
  for (const Coord &basis : layout.getBases(InDim::Register))
    if (basis[dim] < extent)
      registers.push_back(basis);
  // A lane that holds positions behind the first part would have nothing to do in it.
  for (InDim in : {InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(in))
      if (basis[dim] >= extent)
        return {};
  return withLayout(
      RankedTensorType::get(shape, type.getElementType()),
      LinearLayout(shape, registers, layout.getBases(InDim::Lane), layout.getBases(InDim::Warp)));
}
