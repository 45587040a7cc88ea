// Values of the integers that loops and positions hang on: MLIR's range inference over ranges of
// one number.
#include "passes/Analysis/IndexEvaluation.h"
#include "dialect/ProgramNames.h"

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

/// The middle of a narrow range stands for all of it: a cost is wanted, no proof.
std::optional<double> IndexEvaluation::get(Value value) {
  const ConstantIntRanges *range = find(value);
  if (!range)
    return std::nullopt;
  double low = range->smin().signedRoundToDouble(), high = range->smax().signedRoundToDouble();
  constexpr double unbounded = 1099511627776.0; // 2^40: beyond every extent
  if (high - low > unbounded)
    return std::nullopt;
  return (low + high) / 2;
}

} // namespace tile::cost
