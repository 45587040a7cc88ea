// See the header.
#include "passes/TileGPU/LayoutCopies.h"

#include "dialect/TileGPU/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

bool LayoutCopies::isFree(Operation *op) const {
  return op->getNumResults() == 1 && isTile(op->getResult(0)) && isRematerializable(op) &&
         !layouts.count(op->getResult(0));
}

void LayoutCopies::setLayout(Value value) {
  if (!isTile(value))
    return;
  auto layout = inference.getAnchor(value);
  if (!layout)
    return;
  layouts.insert({value, *layout});
  value.setType(withLayout(cast<RankedTensorType>(value.getType()), *layout));
}

Value LayoutCopies::get(Value value, const LinearLayout &layout) {
  auto type = cast<RankedTensorType>(value.getType());
  if (hasLayout(type) && getLayoutOf(value) == layout)
    return value;
  RankedTensorType wanted = withLayout(type, layout);
  Value &cached = copies[{value, wanted}];
  if (cached)
    return cached;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  if (heldLoads.contains(value)) {
    Value memory = stage(value);
    builder.setInsertionPointAfterValue(memory);
    return copies[{value, wanted}] = LocalLoadOp::create(builder, value.getLoc(), wanted, memory);
  }
  if (hasLayout(type) && !isBetterRepeated(value))
    return cached = ConvertLayoutOp::create(builder, value.getLoc(), wanted, value);
  Value copy = repeat(value.getDefiningOp(), wanted, layout);
  return copies[{value, wanted}] = copy;
}

/// True of what has taken a layout for one of its users, but depends on nothing that has one.
bool LayoutCopies::isRepeated(Value value) const {
  return !layouts.count(value) && isRematerializable(value.getDefiningOp());
}

/// True of a value with a layout that takes another one for less than a conversion costs: what
/// has been repeated already, and, if nobody else wants it as it is, elements that are widened,
/// which move between threads before that, or gathered one by one, in whichever thread.
bool LayoutCopies::isBetterRepeated(Value value) const {
  Operation *op = value.getDefiningOp();
  if (isRepeated(value))
    return true;
  if (!op || !value.hasOneUse())
    return false;
  if (isa<CastOpInterface>(op))
    return isTile(op->getOperand(0)) && getElementBits(getElementTypeOrSelf(op->getOperand(0))) <
                                            getElementBits(getElementTypeOrSelf(value));
  auto gather = dyn_cast<GatherOp>(op);
  return gather && llvm::none_of(gather.getSizes(), [](int64_t size) { return size > 1; }) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return !isTile(operand) || isRepeated(operand); });
}

Value LayoutCopies::repeat(Operation *op, RankedTensorType wanted, const LinearLayout &layout) {
  Location loc = op->getLoc();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(wanted, elements.getSplatValue<Attribute>()));
  }
  IRMapping mapping;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    mapping.map(broadcast.getSource(),
                get(broadcast.getSource(),
                    layout.broadcastSource(broadcast.getSource().getType().getShape())));
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    mapping.map(reshape.getSource(),
                get(reshape.getSource(), layout.reshape(reshape.getSource().getType().getShape())));
  } else if (auto permute = dyn_cast<PermuteOp>(op)) {
    SmallVector<int64_t> inverse(permute.getPermutation().size());
    for (auto [i, d] : llvm::enumerate(permute.getPermutation()))
      inverse[d] = i;
    mapping.map(permute.getSource(), get(permute.getSource(), layout.permute(inverse)));
  } else {
    for (Value operand : op->getOperands())
      if (isTile(operand))
        mapping.map(operand, get(operand, layout));
  }
  // Operands were placed after their own definitions, which come before this one.
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(wanted);
  return copy->getResult(0);
}

Value LayoutCopies::stage(Value value, std::optional<unsigned> fastest) {
  if (auto permute = value.getDefiningOp<PermuteOp>()) {
    Value source =
        stage(permute.getSource(),
              fastest ? std::optional<unsigned>(permute.getPermutation()[*fastest]) : std::nullopt);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(source);
    auto type = cast<MemDescType>(source.getType());
    SmallVector<int64_t> shape, order, inverse(permute.getPermutation().size());
    for (auto [i, d] : llvm::enumerate(permute.getPermutation())) {
      shape.push_back(type.getShape()[d]);
      inverse[d] = i;
    }
    for (int64_t d : type.getLayout().getOrder())
      order.push_back(inverse[d]);
    auto layout = SharedAttr::get(builder.getContext(), order, type.getLayout().getSwizzle());
    auto result = MemDescType::get(builder.getContext(), shape, type.getElementType(), layout);
    return MemDescPermuteOp::create(builder, value.getLoc(), result, source,
                                    permute.getPermutation());
  }
  auto original = cast<RankedTensorType>(value.getType());
  Value tile =
      get(value, hasLayout(original) ? getLayoutOf(value) : inference.getDefault(original));
  auto type = cast<RankedTensorType>(tile.getType());
  LinearLayout layout = getLayoutOf(tile);
  SmallVector<int64_t> order;
  for (unsigned d = type.getRank(); d-- > 0;)
    order.push_back(d);
  for (unsigned d = 0; d < order.size(); ++d)
    if (fastest ? order[d] == *fastest
                : layout.getContiguousRegisters(order[d]) > layout.getContiguousRegisters(order[0]))
      std::swap(order[0], order[d]);
  Value &cached = staged[{tile, order.empty() ? 0 : order[0]}];
  if (cached)
    return cached;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(tile);
  int64_t bytes = type.getDimSize(order[0]) * getElementBits(type.getElementType()) / 8;
  int64_t swizzle = bytes >= 128 ? 128 : bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
  auto result = MemDescType::get(builder.getContext(), type.getShape(), type.getElementType(),
                                 SharedAttr::get(builder.getContext(), order, swizzle));
  return cached = LocalAllocOp::create(builder, value.getLoc(), result, tile);
}

Value LayoutCopies::fragment(Value value, const LinearLayout &layout, OpBuilder &at) {
  auto type = cast<RankedTensorType>(value.getType());
  if (hasLayout(type) && getLayoutOf(value).getRegisterSources(layout))
    return get(value, layout);
  Value memory = stage(value);
  return LocalLoadOp::create(at, value.getLoc(), withLayout(type, layout), memory);
}
