// Built-ins that make, reshape, reduce and multiply tiles, and index ranges.
//
// callBuiltin has checked the arguments against the table of Builtins.cpp: `args[0]` and the other
// positions that the built-in needs exist, and a named argument (`axis:`, `keep:`, `step:`) is one
// that it knows. A mistake is reported once, here, at the argument; the result is then
// SemValue::error(), about which nobody complains again.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/AccessRules.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile;

/// The argument of that name, or null.
static const Arg *named(const std::vector<Arg> &args, StringRef name) {
  for (const Arg &arg : args)
    if (arg.name == name)
      return &arg;
  return nullptr;
}

std::optional<SmallVector<int64_t>> TileCalls::evalShape(const Arg &arg) {
  SmallVector<int64_t> shape;
  bool isList = arg.value.kind == SemValue::Kind::List || arg.value.isTuple();
  if (!isList) {
    here.error(diag::wrongOperand, arg.range, "a shape", "a list such as [BM, BN]",
               describe(arg.value));
    return std::nullopt;
  }
  for (const SemValue &element : *arg.value.elements) {
    std::optional<int64_t> extent = expressions.constInt(element, arg.range, "an extent of a tile");
    if (!extent)
      return std::nullopt;
    shape.push_back(*extent);
  }
  if (!conversions.checkShape(shape, arg.range))
    return std::nullopt;
  return shape;
}

std::optional<SmallVector<int64_t>> TileCalls::evalPermutation(const Arg &arg, int64_t rank) {
  SmallVector<int64_t> order;
  SmallVector<bool> seen(rank, false);
  bool valid =
      arg.value.kind == SemValue::Kind::List && int64_t(arg.value.elements->size()) == rank;
  for (size_t i = 0; valid && i < arg.value.elements->size(); ++i) {
    const SemValue &element = (*arg.value.elements)[i];
    int64_t d = element.isInt() ? element.getInt() : -1;
    valid = d >= 0 && d < rank && !seen[d];
    if (valid) {
      seen[d] = true;
      order.push_back(d);
    }
  }
  if (valid)
    return order;
  here.error(diag::wrongOperand, arg.range, "'permute'",
             "a list of the axes 0.." + std::to_string(rank) + ", each once", describe(arg.value));
  return std::nullopt;
}

SemValue TileCalls::permuted(const SemValue &value, ArrayRef<int64_t> order, Range range) {
  Location location = emitter.loc(range);
  SmallVector<int64_t> shape;
  // A view is permuted without a copy: shape, limits and windows change their order together, and
  // PermuteViewOp keeps the IR's type in step with them.
  if (value.isView()) {
    ViewValue part = *value.view;
    auto source = cast<ViewType>(value.view->ssa.getType());
    for (auto [i, d] : llvm::enumerate(order)) {
      part.shape[i] = value.view->shape[d];
      part.limits[i] = value.view->limits[d];
      part.windows[i] = value.view->windows[d];
      shape.push_back(source.getShape()[d]);
    }
    part.ssa = PermuteViewOp::create(builder, location,
                                     ViewType::get(context, shape, source.getElementType()),
                                     value.view->ssa, builder.getDenseI64ArrayAttr(order));
    return ofView(std::move(part));
  }
  for (int64_t d : order)
    shape.push_back(value.shape()[d]);
  auto type = RankedTensorType::get(shape, toType(value.dtype, context));
  return ofData(builder.createOrFold<PermuteOp>(location, type, ssaOf(value),
                                                builder.getDenseI64ArrayAttr(order)),
                value.dtype);
}

SemValue TileCalls::callShape(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  Location location = emitter.loc(range);
  if (name == "zeros" || name == "full") {
    if (!args[0].value.isDtype()) {
      DiagnosticBuilder report = here.error(diag::wrongOperand, args[0].range,
                                            ("the first argument of '" + name + "'").str(),
                                            "a dtype", describe(args[0].value));
      if (args[1].value.isDtype())
        report.fixIt(args[0].range.join(args[1].range),
                     sources.text(args[1].range) + ", " + sources.text(args[0].range),
                     "the dtype comes first");
      else
        report.note("write it as in `" + usageOf(name) + "`");
      return SemValue::error();
    }
    std::optional<SmallVector<int64_t>> shape = evalShape(args[1]);
    if (!shape)
      return SemValue::error();
    DType dtype = args[0].value.dtype;
    if (name == "zeros")
      return ofData(
          emitter.constantLike(RankedTensorType::get(*shape, toType(dtype, context)), 0, location),
          dtype);
    if (args[2].value.rank() != 0) {
      here.error(diag::wrongOperand, args[2].range, "the value of 'full'", "a scalar",
                 describe(args[2].value));
      return SemValue::error();
    }
    mlir::Value value = conversions.toDtype(args[2].value, dtype, args[2].range);
    return value ? ofData(emitter.emitBroadcast(value, *shape, location), dtype)
                 : SemValue::error();
  }
  if (name == "iota") {
    mlir::Value start = emitter.constantIndex(0, location);
    int64_t size = 0, step = 1;
    if (args[0].value.isRange()) {
      const RangeValue &over = *args[0].value.range;
      start = accesses.toPosition(over.start, location);
      size = over.size;
      step = over.step;
    } else {
      std::optional<int64_t> count =
          expressions.constInt(args[0].value, args[0].range, "the size of 'iota'");
      if (!count || !conversions.checkShape({*count}, args[0].range))
        return SemValue::error();
      size = *count;
    }
    auto type = RankedTensorType::get({size}, builder.getIndexType());
    return ofData(IotaOp::create(builder, location, type, start, builder.getI64IntegerAttr(step)),
                  DType::Index);
  }
  if (name == "permute" && args[0].value.isView()) {
    auto order = evalPermutation(args[1], args[0].value.view->shape.size());
    return order ? permuted(args[0].value, *order, range) : SemValue::error();
  }
  if (!args[0].value.isNumeric()) {
    here.error(diag::wrongOperand, args[0].range, ("'" + name + "'").str(), "a tile",
               describe(args[0].value));
    return SemValue::error();
  }
  SemValue value = conversions.toData(args[0].value, args[0].range);
  if (value.isError())
    return value;
  mlir::Value x = ssaOf(value);
  if (name == "permute") {
    auto order = evalPermutation(args[1], value.rank());
    return order ? permuted(value, *order, range) : SemValue::error();
  }
  // `-1` as an extent is a habit from NumPy: the fix-it there names the number.
  if (name == "reshape" && foreign.reportOpenExtent(args[1], value.shape()))
    return SemValue::error();
  std::optional<SmallVector<int64_t>> shape = evalShape(args[1]);
  if (!shape)
    return SemValue::error();
  if (name == "reshape") {
    if (countElements(*shape) != countElements(value.shape())) {
      here.error(diag::shapeMismatch, range, describeShape(value.shape()), describeShape(*shape))
          .note("reshape keeps the number of elements: " + Twine(countElements(value.shape())) +
                " against " + Twine(countElements(*shape)));
      return SemValue::error();
    }
    return ofData(emitter.emitReshape(x, *shape, location), value.dtype);
  }
  // `broadcast` asks the rules of arithmetic operands: a tile of zeros has the wanted shape, both
  // are unified, and the value must have come out with exactly that shape. So no second set of
  // broadcast rules exists.
  Arg pair[] = {
      {ofData(emitter.constantLike(RankedTensorType::get(*shape, getElementTypeOrSelf(x.getType())),
                                   0, location),
              value.dtype),
       args[1].range, ""},
      {value, args[0].range, ""}};
  if (!conversions.unifyShapes(pair, range))
    return SemValue::error();
  if (pair[1].value.shape() == ArrayRef<int64_t>(*shape))
    return pair[1].value;
  here.error(diag::shapeMismatch, range, describeShape(value.shape()), describeShape(*shape));
  return SemValue::error();
}

SemValue TileCalls::callReduce(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  Arg &arg = args[0];
  if (!arg.value.isNumeric()) {
    here.error(diag::wrongOperand, arg.range, ("'" + name + "'").str(), "a tile",
               describe(arg.value));
    return SemValue::error();
  }
  SemValue source = conversions.toData(arg.value, arg.range);
  if (source.isError() || conversions.refuseStorage(source.dtype, arg.range, "'" + name + "'"))
    return SemValue::error();
  mlir::Value x = ssaOf(source);
  DType dtype = source.dtype;
  int64_t rank = source.rank();
  std::optional<int64_t> axis;
  bool keep = false;
  if (named(args, "axis")) {
    axis = scanCalls.evalAxis(args, source, arg.range);
    if (!axis)
      return SemValue::error();
  }
  if (const Arg *given = named(args, "keep")) {
    if (!given->value.isBoolNumber()) {
      here.error(diag::notConstant, given->range, "keep:", describe(given->value));
      return SemValue::error();
    }
    keep = given->value.getBool();
  }
  Location location = emitter.loc(range);
  if (const char *needs = neededByReduction(name, dtype)) {
    DiagnosticBuilder report = here.error(diag::wrongOperand, arg.range, ("'" + name + "'").str(),
                                          needs, describe(source));
    if (dtype == DType::Bool)
      report.note("count(x) counts what is true");
    return SemValue::error();
  }
  if (overflowsInReduction(name, dtype)) {
    here.error(diag::smallSum, arg.range, describe(source));
    return SemValue::error();
  }
  bool isArg = name == "argmax" || name == "argmin";
  ReducedType wanted = reduced(name, dtype, source.shape(), axis, keep);
  x = emitter.emitCast(x, dtype, wanted.accumulator, location);
  mlir::Value result;
  // A scalar is its own sum, and its greatest element stands at 0.
  if (rank == 0) {
    result = isArg ? emitter.constantIndex(0, location) : x;
  } else {
    ArrayRef<int64_t> rest = wanted.rest;
    Type element = isArg ? Type(builder.getIndexType()) : getElementTypeOrSelf(x.getType());
    Type type = rest.empty() ? element : Type(RankedTensorType::get(rest, element));
    IntegerAttr axisAttr = axis ? builder.getI64IntegerAttr(*axis) : IntegerAttr();
    if (isArg && isUnsigned(dtype)) // with the top bit flipped, signed order is unsigned order
      x = builder.createOrFold<arith::XOrIOp>(location, x,
                                              emitter.signBitLike(x.getType(), location));
    bool noSign = isUnsigned(dtype);
    if (isArg) {
      result = ArgReduceOp::create(builder, location, type,
                                   name == "argmax" ? ArgReduceKind::ArgMax : ArgReduceKind::ArgMin,
                                   x, axisAttr);
    } else {
      ReduceKind kind = llvm::StringSwitch<ReduceKind>(name)
                            .Cases({"sum", "count"}, ReduceKind::Sum)
                            .Case("prod", ReduceKind::Prod)
                            .Case("max", noSign ? ReduceKind::MaxUnsigned : ReduceKind::Max)
                            .Case("min", noSign ? ReduceKind::MinUnsigned : ReduceKind::Min)
                            .Case("all", ReduceKind::And)
                            .Default(ReduceKind::Or);
      result = ReduceOp::create(builder, location, type, kind, x, axisAttr);
    }
  }
  // Sums are made in the accumulator's dtype and rounded once at the end.
  if (!isArg)
    result = emitter.emitCast(result, wanted.accumulator, wanted.dtype, location);
  if (keep && rank > 0)
    result = emitter.emitReshape(result, wanted.shape, location);
  return ofData(result, wanted.dtype);
}

SemValue TileCalls::callRange(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  if (name == "blocks") {
    here.error(diag::wrongOperand, range, "'blocks'", "to stand behind `in` of a `for`",
               "another use");
    return SemValue::error();
  }
  std::optional<int64_t> size =
      expressions.constInt(args[1].value, args[1].range, "the size of an index range");
  if (!size || !conversions.checkShape({*size}, args[1].range))
    return SemValue::error();
  RangeValue result;
  result.size = *size;
  if (name == "block") {
    result.start = positions.startOfBlock(args[0], *size, range);
    return result.start.isError() ? SemValue::error() : SemValue::of(std::move(result));
  }
  // A start that is known at compile time stays a number, which later code can compute with.
  auto position = [&](const Arg &arg, StringRef what) {
    if (arg.value.isInt())
      return arg.value;
    mlir::Value index = conversions.toIndex(arg.value, arg.range, what);
    return index ? ofData(index, DType::Index) : SemValue::error();
  };
  result.start = position(args[0], "the start of an index range");
  if (const Arg *step = named(args, "step")) {
    std::optional<int64_t> value = expressions.constInt(step->value, step->range, "step:");
    if (!value)
      return SemValue::error();
    if (*value < 1) {
      DiagnosticBuilder report = here.error(diag::wrongOperand, step->range,
                                            "step:", "a positive integer", describe(step->value));
      if (*value < 0)
        report.note("flip(x, axis: 0) reverses a tile");
      return SemValue::error();
    }
    result.step = *value;
  }
  if (const Arg *end = named(args, "end"))
    result.end = position(*end, "the end of an index range");
  if (result.start.isError() || (result.end && result.end->isError()))
    return SemValue::error();
  return SemValue::of(std::move(result));
}

SemValue TileCalls::callDot(std::vector<Arg> &args, Range range) {
  DotPrecision precision = DotPrecision::Full;
  if (const Arg *given = named(args, "precision")) {
    std::optional<DotPrecision> found = symbolizeDotPrecision(given->value.text);
    if (given->value.kind != SemValue::Kind::String || !found) {
      here.error(diag::wrongOperand, given->range,
                 "precision:", "\"full\", \"fast\", \"tf32\" or \"tf32x3\"",
                 describe(given->value));
      return SemValue::error();
    }
    precision = *found;
  }
  for (size_t i = 0; i < 2; ++i)
    if (!args[i].value.isData() || args[i].value.rank() < 2) {
      DiagnosticBuilder report =
          here.error(diag::wrongOperand, args[i].range, "'dot'", "tiles of two or more dimensions",
                     describe(args[i].value));
      bool areVectors = args.size() == 2 && args[0].value.isData() && args[1].value.isData() &&
                        args[0].value.rank() == 1 && args[1].value.rank() == 1;
      if (areVectors && sources.text(range).starts_with("dot("))
        report.fixIt(range,
                     "sum(" + foreign.operandText(args[0].range) + " * " +
                         foreign.operandText(args[1].range) + ")",
                     "the product of two vectors is a sum");
      else if (args[i].value.isData() && args[i].value.rank() == 1)
        report.note("make a row of it by x[None, :], or a column by x[:, None]");
      return SemValue::error();
    }
  const SemValue &a = args[0].value, &b = args[1].value;
  // A mismatch is shown at the name, so that the operands' own underlines stay visible.
  Range name = range;
  if (sources.text(range).starts_with("dot"))
    name.end = name.begin + 3;
  if (!multiply(a.dtype, b.dtype)) {
    here.error(diag::dtypeMismatch, name, "'dot'", dtypeSpelling(a.dtype), dtypeSpelling(b.dtype))
        .secondary(args[0].range, describe(a))
        .secondary(args[1].range, describe(b));
    return SemValue::error();
  }
  std::optional<DType> sum = productDtype(a.dtype);
  if (!sum) {
    here.error(diag::wrongOperand, range, "'dot'", productDtypes(), dtypeSpelling(a.dtype));
    return SemValue::error();
  }
  DType widest = *sum;
  int64_t rank = a.rank();
  ArrayRef<int64_t> x = a.shape(), y = b.shape();
  std::optional<Shape> product = productShape(x, y);
  if (!product) {
    DiagnosticBuilder report = here.error(diag::dotShape, name, describeShape(x), describeShape(y));
    report.secondary(args[0].range, describe(a)).secondary(args[1].range, describe(b));
    if (b.rank() == rank && x.drop_back(2) == y.drop_back(2)) {
      if (x[rank - 1] == y[rank - 1])
        report.note("the second operand lies the other way: turn it with .T");
      else if (x[rank - 2] == y[rank - 2])
        report.note("the first operand lies the other way: turn it with .T");
    }
    return SemValue::error();
  }
  const Shape &shape = *product;
  if (!conversions.checkShape(shape, range))
    return SemValue::error();
  Location location = emitter.loc(range);
  mlir::Value acc;
  if (args.size() > 2 && args[2].name.empty()) {
    const SemValue &given = args[2].value;
    if (!given.isData() || !accumulatesIn(a.dtype, given.dtype)) {
      here.error(diag::wrongOperand, args[2].range, "the accumulator of 'dot'",
                 "a tile of " + dtypeSpelling(widest).str(), describe(given));
      return SemValue::error();
    }
    if (given.shape() != ArrayRef<int64_t>(shape)) {
      here.error(diag::shapeMismatch, args[2].range, describeShape(shape),
                 describeShape(given.shape()))
          .secondary(args[0].range, describe(a))
          .secondary(args[1].range, describe(b))
          .note("the product has the shape " + describeShape(shape));
      return SemValue::error();
    }
    acc = ssaOf(given);
  } else {
    acc = emitter.constantLike(RankedTensorType::get(shape, toType(widest, context)), 0, location);
  }
  bool isHalf = getElementTypeOrSelf(acc.getType()).isF16();
  mlir::Value left = ssaOf(a), right = ssaOf(b);
  // A batch of one product is that product.
  bool isOne = rank > 2 && llvm::all_of(x.drop_back(2), [](int64_t extent) { return extent == 1; });
  if (isOne) {
    left = emitter.emitReshape(left, x.take_back(2), location);
    right = emitter.emitReshape(right, y.take_back(2), location);
    acc = emitter.emitReshape(acc, ArrayRef(shape).take_back(2), location);
  }
  mlir::Value sums = DotOp::create(builder, location, acc.getType(), left, right, acc, precision,
                                   isUnsigned(a.dtype), isUnsigned(b.dtype), /*valid=*/nullptr);
  return ofData(isOne ? emitter.emitReshape(sums, shape, location) : sums,
                isHalf ? DType::F16 : widest);
}

SemValue TileCalls::callOther(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  if (name == "dot")
    return callDot(args, range);
  if (name == "take")
    return scanCalls.callTake(args, range);
  Location location = emitter.loc(range);
  if (name == "view")
    return flatViews.callView(args, range);
  if (name == "present") {
    const SemValue &value = args[0].value;
    if (value.isView() || value.isNone())
      return SemValue::ofBool(value.isView());
    here.error(diag::wrongOperand, args[0].range, "'present'", "a tensor, view or None",
               describe(value));
    return SemValue::error();
  }
  if (name == "static_assert") {
    if (!args[0].value.isBoolNumber()) {
      here.error(diag::notConstant, args[0].range, "the condition of 'static_assert'",
                 describe(args[0].value));
      return SemValue::error();
    }
    if (args[0].value.getBool())
      return SemValue::ofVoid();
    std::string message = args.size() > 1 ? args[1].value.text : "the condition is false";
    here.error(diag::constantArithmetic, range, "static assertion failed: " + message);
    return SemValue::error();
  }
  if (name == "lowest" || name == "highest") {
    if (!args[0].value.isDtype()) {
      here.error(diag::wrongOperand, args[0].range, ("'" + name + "'").str(), "a dtype",
                 describe(args[0].value));
      return SemValue::error();
    }
    DType dtype = args[0].value.dtype;
    Type type = toType(dtype, context);
    bool low = name == "lowest";
    if (isNibble(dtype)) {
      (void)conversions.refuseStorage(dtype, args[0].range, "'" + name + "'");
      return SemValue::error();
    }
    TypedAttr value;
    unsigned bits = bitWidth(dtype);
    if (auto floatType = dyn_cast<FloatType>(type))
      value =
          FloatAttr::get(floatType, llvm::APFloat::getLargest(floatType.getFloatSemantics(), low));
    else if (dtype == DType::Bool || isUnsigned(dtype))
      value = IntegerAttr::get(type, low ? APInt::getMinValue(bits) : APInt::getMaxValue(bits));
    else
      value = IntegerAttr::get(type, low ? APInt::getSignedMinValue(bits)
                                         : APInt::getSignedMaxValue(bits));
    return ofData(emitter.constant(value, location), dtype);
  }
  // bitcast(x, T)
  if (!args[1].value.isDtype()) {
    here.error(diag::wrongOperand, args[1].range, "the second argument of 'bitcast'", "a dtype",
               describe(args[1].value));
    return SemValue::error();
  }
  DType to = args[1].value.dtype;
  const SemValue &x = args[0].value;
  bool valid = x.isData() && bitWidth(x.dtype) == bitWidth(to) && x.dtype != DType::Bool &&
               x.dtype != DType::Index && to != DType::Index;
  if (!valid) {
    here.error(diag::badCast, range, describe(x), dtypeSpelling(to))
        .note("bitcast keeps the bits: both dtypes must have as many");
    return SemValue::error();
  }
  Type element = toType(to, context);
  Type type = x.rank() ? Type(RankedTensorType::get(x.shape(), element)) : element;
  // u8 and i8 are one type.
  mlir::Value bits = type == ssaOf(x).getType()
                         ? ssaOf(x)
                         : builder.createOrFold<arith::BitcastOp>(location, type, ssaOf(x));
  return ofData(bits, to);
}
