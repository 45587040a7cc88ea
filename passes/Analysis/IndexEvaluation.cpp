// Values of the integers that loops and positions hang on: MLIR's range inference over ranges of
// one number.
#include "passes/Analysis/IndexEvaluation.h"
#include "dialect/ProgramNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;

namespace tile::cost {

static ConstantIntRanges makeConstant(Type type, int64_t value) {
  unsigned bits = ConstantIntRanges::getStorageBitwidth(type);
  return ConstantIntRanges::constant(
      APInt(bits, uint64_t(value), /*isSigned=*/true, /*implicitTrunc=*/true));
}

/// For a loop's variable, of which a range is known rather than a number.
void IndexEvaluation::setRange(Value value, int64_t low, int64_t high) {
  unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
  known.insert_or_assign(value,
                         ConstantIntRanges::fromSigned(APInt(bits, uint64_t(low), true, true),
                                                       APInt(bits, uint64_t(high), true, true)));
}

/// The value of an integral scalar at a launch, as far as the source or the shape says.
std::optional<int64_t> IndexEvaluation::getHint(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto kernel =
      argument ? dyn_cast_or_null<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  if (!kernel)
    return std::nullopt;
  auto param = cast<ParamAttr>(kernel.getParams()[argument.getArgNumber()]);
  if (auto given = extents.find(param.getName().str()); given != extents.end())
    return given->second;
  auto hints = kernel->getAttrOfType<DictionaryAttr>(hintsName);
  auto hint = hints ? hints.getAs<IntegerAttr>(param.getName()) : IntegerAttr();
  return hint ? std::optional(hint.getInt()) : std::nullopt;
}

/// The extent that a slice is cut out of, and that an integer from memory bounds; null if none is.
static Value findSlicedExtent(Value bound) {
  for (OpOperand &use : bound.getUses()) {
    if (auto slice = dyn_cast<SubviewOp>(use.getOwner())) {
      auto source = slice.getSource().getDefiningOp<ViewOp>();
      unsigned first = slice.getLows().getBeginOperandIndex(), number = use.getOperandNumber();
      if (!source || number < first)
        continue;
      unsigned place = (number - first) % unsigned(slice.getLows().size());
      for (unsigned d = 0; d < slice.getKinds().size(); ++d)
        if (slice.getKind(d) == SubscriptKind::Slice && place-- == 0)
          return source.getExtents()[d];
    } else if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::ExtUIOp>(use.getOwner())) {
      if (Value extent = findSlicedExtent(use.getOwner()->getResult(0)))
        return extent;
    }
  }
  return {};
}

/// `starts[p]`, where a part of a tensor is cut out from `starts[e]` to `starts[e + 1]`: as many
/// parts as `starts` has places between its elements share the tensor's extent.
std::optional<int64_t> IndexEvaluation::getPartStart(Value value) {
  auto load = partsAreAlike ? value.getDefiningOp<LoadOp>() : LoadOp();
  auto starts = load && load.getStarts().size() == 1 && !load.getMask()
                    ? load.getView().getDefiningOp<ViewOp>()
                    : ViewOp();
  Value whole = starts ? findSlicedExtent(value) : Value();
  if (!whole)
    return std::nullopt;
  std::optional<double> extent = get(whole), ends = get(starts.getExtents().front()),
                        place = get(load.getStarts().front());
  if (!extent || !ends || !place || *ends < 2)
    return std::nullopt;
  return int64_t(*extent * std::clamp(*place / (*ends - 1), 0.0, 1.0));
}

/// Memoised: each value is asked of once for a program's axes and extents. MLIR computes ranges
/// forward through operations; here they are asked for backwards, from the values that matter.
const ConstantIntRanges *IndexEvaluation::find(Value value) {
  if (auto found = known.find(value); found != known.end())
    return &found->second;
  unsigned bits = ConstantIntRanges::getStorageBitwidth(value.getType());
  if (!bits)
    return nullptr;
  Operation *op = value.getDefiningOp();
  ConstantIntRanges range = ConstantIntRanges::maxRange(bits);
  if (auto dim = dyn_cast_or_null<DimOp>(op)) {
    auto given = extents.find(dim.getDim().getName().str());
    // An extent that the caller gives goes before the source's own hint.
    range = makeConstant(value.getType(),
                         given != extents.end() ? given->second : dim.getDim().getOpt());
  } else if (auto id = dyn_cast_or_null<ProgramIdOp>(op)) {
    if (size_t(id.getAxis()) < program.size())
      range = makeConstant(value.getType(), program[id.getAxis()]);
  } else if (auto hint = getHint(value)) {
    range = makeConstant(value.getType(), *hint);
  } else if (auto start = getPartStart(value)) {
    range = makeConstant(value.getType(), *start);
  } else if (auto infer = dyn_cast_or_null<InferIntRangeInterface>(op)) {
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : op->getOperands()) {
      const ConstantIntRanges *each = find(operand);
      // An operand without a range leaves the result at its widest.
      if (!each)
        break;
      operands.push_back(*each);
    }
    if (operands.size() == op->getNumOperands())
      infer.inferResultRanges(operands, [&](Value result, const ConstantIntRanges &found) {
        if (result == value)
          range = found;
      });
  }
  return &known.insert_or_assign(value, range).first->second;
}

/// The middle of a narrow range stands for all of it: a cost is wanted, no proof. One that reaches
/// as far as the numbers of an i32 do, as that of a minimum with what memory holds, says nothing.
std::optional<double> IndexEvaluation::get(Value value) {
  const ConstantIntRanges *range = find(value);
  if (!range)
    return std::nullopt;
  double low = range->smin().signedRoundToDouble(), high = range->smax().signedRoundToDouble();
  constexpr double unbounded = 2147483648.0; // 2^31
  if (high - low >= unbounded)
    return std::nullopt;
  return (low + high) / 2;
}

} // namespace tile::cost
