// See the header.
#include "passes/TileGPU/DotRewriter.h"

#include "dialect/TileGPU/MatrixOperands.h"
#include "dialect/TileGPU/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

DotRewriter::DotRewriter(KernelOp kernel, const LayoutInference &inference, LayoutCopies &copies,
                         ArrayRef<DotOp> dots)
    : inference(inference), copies(copies), builder(kernel) {
  for (DotOp dot : dots)
    if (isSwapped(dot))
      swappedDots.insert(dot);
  for (DotOp dot : dots)
    if (std::optional<HeldOperand> operand = getHeldOperand(dot, inference.getShape())) {
      for (LoadOp load : operand->loads)
        copies.hold(load.getResult());
      held.insert({dot, std::move(*operand)});
    }
}

Value DotRewriter::createMma(DotOp dot, Value acc) {
  ArrayRef<int64_t> shape = dot.getType().getShape(), leading = shape.drop_back(2);
  int64_t m = shape[leading.size()], n = shape.back(), k = dot.getA().getType().getShape().back();
  unsigned bits = getElementBits(dot.getA().getType().getElementType());
  auto [warpsM, warpsN] = chooseWarps(dot, inference.getShape());
  Value a = copies.fragment(
      dot.getA(), LinearLayout::mmaOperand(0, m, k, bits, warpsM, warpsN).withBatches(leading),
      builder);
  Value b = copies.fragment(
      dot.getB(), LinearLayout::mmaOperand(1, k, n, bits, warpsM, warpsN).withBatches(leading),
      builder);
  builder.setInsertionPoint(dot);
  // A promoted product adds its sums to an f32 accumulator after every 128 terms of K, inside the
  // operation; addUp does the same with the sum of a whole product.
  IntegerAttr promote = k > 128 && isPromoted(dot) ? builder.getI64IntegerAttr(128) : IntegerAttr();
  auto create = [&](Value to) -> Value {
    return MmaOp::create(builder, dot.getLoc(), acc.getType(), a, b, to, dot.getUnsignedA(),
                         dot.getUnsignedB(), promote, dot.getValidAttr());
  };
  return promote ? create(acc) : addUp(dot, acc, create);
}

/// True of products whose sums are added to the accumulator in f32: tensor cores keep fewer than 24
/// bits of sums of 8-bit floats, not of what these are widened to.
bool DotRewriter::isPromoted(DotOp dot) const {
  Type element = dot.getA().getType().getElementType();
  return getElementBits(element) == 8 && dot.getPrecision() == DotPrecision::Full &&
         isa<FloatType>(element) &&
         (chooseDotKind(dot, inference.getShape()) == DotKind::Wgmma ||
          !getWidenedOperand(element, *inference.getShape().target));
}

/// A product by `create`, which adds to an accumulator.
Value DotRewriter::addUp(DotOp dot, Value acc, function_ref<Value(Value)> create) {
  if (!isPromoted(dot))
    return create(acc);
  auto type = cast<RankedTensorType>(acc.getType());
  Value zero =
      arith::ConstantOp::create(builder, dot.getLoc(), cast<TypedAttr>(builder.getZeroAttr(type)));
  return arith::AddFOp::create(builder, dot.getLoc(), acc, create(zero));
}

/// A tile in shared memory with its two dimensions exchanged.
static Value transposeMemory(OpBuilder &builder, Value memory) {
  auto type = cast<MemDescType>(memory.getType());
  SmallVector<int64_t> shape = {type.getShape()[1], type.getShape()[0]}, order;
  for (int64_t d : type.getLayout().getOrder())
    order.push_back(1 - d);
  auto layout = SharedAttr::get(builder.getContext(), order, type.getLayout().getSwizzle());
  auto result = MemDescType::get(builder.getContext(), shape, type.getElementType(), layout);
  return MemDescPermuteOp::create(builder, memory.getLoc(), result, memory,
                                  ArrayRef<int64_t>{1, 0});
}

/// A tile in registers with its two dimensions exchanged; nothing moves.
static Value transposeTile(OpBuilder &builder, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto result =
      RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
  LinearLayout layout = getLayout(type).permute({1, 0});
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(builder, tile.getLoc(),
                                     constant.resizeSplat(withLayout(result, layout)));
  return PermuteOp::create(builder, tile.getLoc(), withLayout(result, layout), tile,
                           ArrayRef<int64_t>{1, 0});
}

Value DotRewriter::createWgmma(DotOp dot, Value acc) {
  auto typeA = cast<RankedTensorType>(dot.getA().getType());
  unsigned bits = getElementBits(typeA.getElementType());
  bool swapped = swappedDots.contains(dot), inRegisters = false;
  // Only 16-bit elements can be transposed on their way from shared memory.
  auto fastest = [&](unsigned kDim) {
    return bits == 16 ? std::nullopt : std::optional<unsigned>(kDim);
  };
  Value a, b;
  auto holds = held.find(dot);
  bool isHeld = holds != held.end();
  if (isHeld) {
    // By the dot: the tile may have become another.
    a = copies.get(swapped ? dot.getB() : dot.getA(), holds->second.layout);
    b = copies.stage(swapped ? dot.getA() : dot.getB(), fastest(swapped ? 1 : 0));
  } else if (!swapped && hasLayout(typeA)) {
    auto [warpsM, warpsN] = chooseWarps(dot, inference.getShape());
    LinearLayout operand =
        LinearLayout::mmaOperand(0, typeA.getDimSize(0), typeA.getDimSize(1), bits, warpsM, warpsN);
    inRegisters = copies.getLayoutOf(dot.getA()).getRegisterSources(operand).has_value();
    if (inRegisters)
      a = copies.get(dot.getA(), operand);
  }
  if (!isHeld && !inRegisters)
    a = copies.stage(dot.getA(), fastest(1));
  if (!isHeld)
    b = copies.stage(dot.getB(), fastest(0));
  builder.setInsertionPoint(dot);
  if (swapped && isHeld) {
    a = transposeTile(builder, a);
    b = transposeMemory(builder, b);
  } else if (swapped) {
    Value transposedA = transposeMemory(builder, a);
    a = transposeMemory(builder, b);
    b = transposedA;
  }
  DenseI64ArrayAttr valid = dot.getValidAttr();
  if (valid && swapped)
    valid = builder.getDenseI64ArrayAttr({valid[1], valid[0], valid[2]});
  auto create = [&](Value to) -> Value {
    if (swapped)
      to = transposeTile(builder, to);
    Value product =
        WgmmaOp::create(builder, dot.getLoc(), to.getType(), a, b, to,
                        /*async=*/false, swapped ? dot.getUnsignedB() : dot.getUnsignedA(),
                        swapped ? dot.getUnsignedA() : dot.getUnsignedB(), valid,
                        /*from=*/IntegerAttr(), /*column=*/IntegerAttr());
    return swapped ? transposeTile(builder, product) : product;
  };
  return addUp(dot, acc, create);
}

Value DotRewriter::rewrite(DotOp dot) {
  builder.setInsertionPoint(dot);
  Value acc = copies.get(dot.getAcc(), copies.getLayoutOf(dot.getResult()));
  switch (chooseDotKind(dot, inference.getShape())) {
  case DotKind::Wgmma:
    return createWgmma(dot, acc);
  case DotKind::Mma:
    return createMma(dot, acc);
  case DotKind::Fma:
    Value a = copies.stage(dot.getA()), b = copies.stage(dot.getB());
    builder.setInsertionPoint(dot);
    return FmaDotOp::create(builder, dot.getLoc(), acc.getType(), a, b, acc, dot.getUnsignedA(),
                            dot.getUnsignedB(), dot.getValidAttr());
  }
  llvm_unreachable("every kind of product is written");
}
