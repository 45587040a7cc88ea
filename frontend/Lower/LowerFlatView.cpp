// view(a, start, extents, strides): flat memory as a tensor whose extents and strides the run
// decides.
#include "dialect/ProgramNames.h"
#include "frontend/Lower/Lowering.h"

using namespace mlir;
using namespace tile;

/// True for an integer of at most 32 bits with a sign: a product of two has 64.
static bool isNarrow(mlir::Value value) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.sge(-most) && constant.sle(most);
  if (auto dim = value.getDefiningOp<DimOp>())
    return dim.getDim().getMax() <= most;
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  return cast && cast.getIn().getType().isInteger() &&
         cast.getIn().getType().getIntOrFloatBitWidth() <= 32;
}

/// The list's integers as index scalars; nothing after an error.
std::optional<SmallVector<mlir::Value>> FlatViews::indexList(const Arg &arg, const Twine &what) {
  if (arg.value.kind != SemValue::Kind::List || arg.value.elements->size() > 4) {
    here.error(diag::wrongOperand, arg.range, what.str(),
               "a list of 1 to 4 integers such as [M, K]", describe(arg.value));
    return std::nullopt;
  }
  SmallVector<mlir::Value> out;
  for (const SemValue &each : *arg.value.elements) {
    out.push_back(conversions.toIndex(each, arg.range, what));
    if (!out.back())
      return std::nullopt;
  }
  return out;
}

SemValue FlatViews::callView(std::vector<Arg> &args, Range range) {
  const SemValue &flat = args[0].value;
  auto whole = flat.isView() ? flat.view->ssa.getDefiningOp<ViewOp>() : ViewOp();
  if (!whole || flat.view->shape.size() != 1 || whole->hasAttr(flatName)) {
    here.error(diag::wrongOperand, args[0].range, "'view'", "a tensor parameter of one dimension",
               describe(flat))
        .note("declare the memory as one dimension, as in `a: in f32[N]`, and say by the start "
              "where the view begins");
    return SemValue::error();
  }
  if (isNibble(flat.dtype)) {
    (void)conversions.refuseStorage(flat.dtype, args[0].range, "'view'");
    return SemValue::error();
  }
  Location location = emitter.loc(range);
  mlir::Value start = conversions.toIndex(args[1].value, args[1].range, "the start of 'view'");
  std::optional<SmallVector<mlir::Value>> asked = indexList(args[2], "an extent of 'view'");
  if (!start || !asked)
    return SemValue::error();
  mlir::Value zero = emitter.constantIndex(0, location), one = emitter.constantIndex(1, location);
  SmallVector<mlir::Value> extents;
  for (mlir::Value extent : *asked)
    extents.push_back(builder.createOrFold<arith::MaxSIOp>(location, extent, zero));
  SmallVector<mlir::Value> strides(extents.size());
  if (args.size() > 3) {
    std::optional<SmallVector<mlir::Value>> given = indexList(args[3], "a stride of 'view'");
    if (!given)
      return SemValue::error();
    if (given->size() != extents.size()) {
      here.error(diag::wrongOperand, args[3].range, "'view'",
                 "one stride for each of the " + std::to_string(extents.size()) + " extents",
                 describe(args[3].value));
      return SemValue::error();
    }
    strides = *given;
  } else {
    mlir::Value stride = one;
    for (size_t d = extents.size(); d-- > 0;) {
      strides[d] = stride;
      if (d)
        stride = builder.createOrFold<arith::MulIOp>(location, stride, extents[d]);
    }
  }
  // The farthest element is at start + sum of (extent - 1) * stride, and must be less than the
  // length. `fits` stays false once it is, so a product that wraps behind it does no harm.
  // All elements lie in the memory, or none exists. What is left after the start is used up by one
  // dimension after another; a quotient tells where the product might wrap around.
  using Predicate = arith::CmpIPredicate;
  auto compare = [&](Predicate how, mlir::Value a, mlir::Value b) -> mlir::Value {
    return builder.createOrFold<arith::CmpIOp>(location, how, a, b);
  };
  mlir::Value length = flat.view->limits[0];
  mlir::Value fits = compare(Predicate::ult, start, length);
  mlir::Value rest = builder.createOrFold<arith::SubIOp>(location, length, one);
  rest = builder.createOrFold<arith::SubIOp>(location, rest, start);
  for (auto [extent, written, stride] : llvm::zip(extents, *asked, strides)) {
    mlir::Value last = builder.createOrFold<arith::SubIOp>(location, extent, one);
    last = builder.createOrFold<arith::MaxSIOp>(location, last, zero);
    mlir::Value used = builder.createOrFold<arith::MulIOp>(location, last, stride), reaches;
    if (isNarrow(written) && isNarrow(stride)) {
      // If nothing is left, the start is not in the memory.
      reaches = compare(Predicate::sle, used, rest);
    } else {
      mlir::Value steps = builder.createOrFold<arith::MaxSIOp>(location, stride, one);
      mlir::Value farthest = builder.createOrFold<arith::DivSIOp>(location, rest, steps);
      // A stride of 0 goes nowhere, however large the extent.
      reaches = compare(Predicate::sle, last, farthest);
      reaches = builder.createOrFold<arith::OrIOp>(location, reaches,
                                                   compare(Predicate::eq, stride, zero));
    }
    reaches = builder.createOrFold<arith::AndIOp>(location, reaches,
                                                  compare(Predicate::sge, stride, zero));
    fits = builder.createOrFold<arith::AndIOp>(location, fits, reaches);
    rest = builder.createOrFold<arith::SubIOp>(location, rest, used);
  }
  // The memory's own dimension takes the start, the others are those of the view.
  ViewValue view;
  view.dtype = flat.dtype;
  view.param = flat.view->param;
  view.mayBeEmptied = true;
  SmallVector<mlir::Value> allExtents = {length}, allStrides(whole.getStrides());
  SmallVector<int32_t> kinds = {int32_t(SubscriptKind::Index)};
  for (auto [d, extent] : llvm::enumerate(extents)) {
    const SemValue &written = (*args[2].value.elements)[d];
    bool isStatic = written.isInt() && written.getInt() > 0;
    view.shape.push_back(isStatic ? written.getInt() : ShapedType::kDynamic);
    view.limits.push_back(extent);
    view.windows.push_back(nullptr);
    allExtents.push_back(builder.createOrFold<arith::SelectOp>(location, fits, extent, zero));
    allStrides.push_back(
        builder.createOrFold<arith::MulIOp>(location, strides[d], whole.getStrides()[0]));
    kinds.push_back(int32_t(SubscriptKind::All));
  }
  Type element = toType(view.dtype, context);
  SmallVector<int64_t> unknown(allExtents.size(), ShapedType::kDynamic);
  auto root = ViewOp::create(builder, location, ViewType::get(context, unknown, element),
                             whole.getBase(), allExtents, allStrides);
  root->setAttr(flatName, builder.getUnitAttr());
  unknown.pop_back();
  view.ssa = SubviewOp::create(builder, location, ViewType::get(context, unknown, element), root,
                               start, mlir::ValueRange(), mlir::ValueRange(),
                               builder.getDenseI32ArrayAttr(kinds));
  return ofView(std::move(view));
}
