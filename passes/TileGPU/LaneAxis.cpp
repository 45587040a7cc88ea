// Takes apart the axis of a reduction into what registers, lanes and registers again hold of it.
#include "passes/TileGPU/LaneAxis.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

static RankedTensorType getTypeOf(const LinearLayout &layout, Type element) {
  return withLayout(RankedTensorType::get(layout.getShape(), element), layout);
}

std::optional<LaneAxis> LaneAxis::of(ReduceOp reduce, Sharing sharing) {
  auto result = dyn_cast<RankedTensorType>(reduce.getType());
  RankedTensorType type = reduce.getSource().getType();
  if (!hasLayout(type) || (result ? !reduce.getAxis() || !hasLayout(result) : type.getRank() != 1))
    return std::nullopt;
  LaneAxis found;
  found.axis = result ? *reduce.getAxis() : 0;
  LinearLayout layout = gpu::getLayout(type);
  uint64_t lanes = 0;
  for (InDim dim : {InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(dim)) {
      uint64_t bit = basis[found.axis];
      if (!bit)
        continue;
      // What warps share would need shared memory.
      if (dim == InDim::Warp && sharing == Sharing::Warp)
        return std::nullopt;
      // A lane's bit moves along the axis alone, by one bit of the position that nothing else
      // moves.
      if (!llvm::isPowerOf2_64(bit) || (lanes & bit) ||
          llvm::count_if(basis, [](int64_t c) { return c != 0; }) != 1)
        return std::nullopt;
      lanes |= bit;
    }
  // Registers may have the bits above and below.
  for (const Coord &basis : layout.getBases(InDim::Register))
    if (basis[found.axis] & lanes)
      return std::nullopt;
  // Lanes' bits along the axis must follow each other, 2^a to 2^b: the axis splits in three by a
  // reshape.
  int64_t inner = lanes & -lanes;
  if (!lanes || !llvm::isPowerOf2_64(lanes / inner + 1))
    return std::nullopt;
  int64_t shared = lanes / inner + 1;
  llvm::append_range(found.split, type.getShape().take_front(found.axis));
  found.split.append({type.getDimSize(found.axis) / (shared * inner), shared, inner});
  llvm::append_range(found.split, type.getShape().drop_front(found.axis + 1));
  found.layout = layout.reshape(found.split);
  if (!result)
    return found;
  // Both ways between a number a row and one for each lane of a row move nothing between threads.
  LinearLayout partial = found.getPartial(), row = gpu::getLayout(result);
  SmallVector<int64_t> column(result.getShape());
  column.insert(column.begin() + found.axis, 1);
  if (partial.dropDim(found.axis) != row ||
      partial.broadcastSource(column) != row.insertUnitDim(found.axis))
    return std::nullopt;
  return found;
}

static Value reduceAlong(OpBuilder &builder, Location loc, ReduceKind kind, Value tile,
                         const LinearLayout &layout, unsigned axis) {
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  return ReduceOp::create(builder, loc, getTypeOf(layout.dropDim(axis), element), kind, tile,
                          builder.getI64IntegerAttr(axis));
}

Value LaneAxis::reduceInLanes(OpBuilder &builder, ReduceOp reduce) const {
  Location loc = reduce.getLoc();
  Type element = reduce.getSource().getType().getElementType();
  Value tile = ReshapeOp::create(builder, loc, getTypeOf(layout, element), reduce.getSource());
  tile = reduceAlong(builder, loc, reduce.getKind(), tile, layout, axis + 2);
  return reduceAlong(builder, loc, reduce.getKind(), tile, layout.dropDim(axis + 2), axis);
}

Value LaneAxis::spreadOverLanes(OpBuilder &builder, Location loc, Value row) const {
  LinearLayout partial = getPartial();
  auto type = dyn_cast<RankedTensorType>(row.getType());
  if (!type)
    return tensor::SplatOp::create(builder, loc, getTypeOf(partial, row.getType()), row);
  Type element = type.getElementType();
  SmallVector<int64_t> column(partial.getShape());
  column[axis] = 1;
  Value unit =
      ReshapeOp::create(builder, loc, getTypeOf(partial.broadcastSource(column), element), row);
  return BroadcastOp::create(builder, loc, getTypeOf(partial, element), unit);
}

Value LaneAxis::reduceAcrossLanes(OpBuilder &builder, Location loc, ReduceKind kind,
                                  Value partial) const {
  if (getPartial().getShape().size() == 1)
    return ReduceOp::create(builder, loc,
                            cast<RankedTensorType>(partial.getType()).getElementType(), kind,
                            partial, IntegerAttr());
  return reduceAlong(builder, loc, kind, partial, getPartial(), axis);
}
