// Built-ins along an axis of a tile: scans with any associative function, and reading at positions of the run.
#include "frontend/Lower/Elaborator.h"

using namespace mlir;
using namespace tile;

/// The argument of that name, or null.
static const Arg *named(const std::vector<Arg> &args, StringRef name) {
  for (const Arg &arg : args)
    if (arg.name == name)
      return &arg;
  return nullptr;
}

std::optional<int64_t> Elaborator::evalAxis(const std::vector<Arg> &args, const SemValue &tile, Range tileRange) {
  int64_t rank = tile.rank();
  const Arg *given = named(args, "axis");
  if (!given) {
    if (rank == 1)
      return 0;
    error(diag::notConstant, tileRange, "axis:", "none for " + describe(tile)).note("name the axis: axis: 0");
    return std::nullopt;
  }
  std::optional<int64_t> axis = constInt(given->value, given->range, "axis:");
  if (!axis)
    return std::nullopt;
  if (*axis < -rank || *axis >= rank) {
    error(diag::badAxis, given->range, *axis, "the " + std::to_string(rank) + " axes of " + describe(tile))
        .secondary(tileRange, describe(tile));
    return std::nullopt;
  }
  return *axis < 0 ? *axis + rank : *axis;
}

SemValue Elaborator::emitScan(ArrayRef<SemValue> tiles, int64_t axis, bool reverse, Range range,
                              function_ref<SemValue(ArrayRef<SemValue>)> combine) {
  Location location = loc(range);
  SmallVector<mlir::Value> sources;
  SmallVector<Type> types, elements;
  for (const SemValue &tile : tiles) {
    sources.push_back(tile.ssa);
    types.push_back(tile.ssa.getType());
    elements.push_back(getElementTypeOrSelf(types.back()));
  }
  auto op = ScanOp::create(builder, location, types, sources, axis, reverse);
  SmallVector<Type> arguments(elements);
  arguments.append(elements);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&op.getCombiner(), {}, arguments, SmallVector<Location>(arguments.size(), location));
    SmallVector<SemValue> scalars;
    for (auto [i, argument] : llvm::enumerate(block->getArguments()))
      scalars.push_back(SemValue::ofData(argument, tiles[i % tiles.size()].dtype));
    SemValue result = combine(scalars);
    SmallVector<SemValue> results = {result};
    if (result.isTuple())
      results.assign(result.elements->begin(), result.elements->end());
    SmallVector<mlir::Value> yielded;
    bool valid = !result.isError();
    if (valid && results.size() != tiles.size()) {
      error(diag::wrongOperand, range, "the function of 'scan'",
            tiles.size() == 1 ? "one result" : std::to_string(tiles.size()) + " results, as many as tiles", describe(result));
      valid = false;
    }
    for (size_t i = 0; valid && i < results.size(); ++i) {
      const SemValue &each = results[i];
      DType dtype = tiles[i].dtype;
      valid = each.isNumeric() && each.rank() == 0 && (!each.isData() || each.dtype == dtype);
      if (!valid) {
        error(diag::wrongOperand, range, "the function of 'scan'", "the tile's dtype " + dtypeSpelling(dtype).str() + " as its result",
              describe(each));
        break;
      }
      mlir::Value value = toDtype(each, dtype, range);
      valid = bool(value);
      yielded.push_back(value);
    }
    for (Operation &each : *block)
      if (valid && !ScanOp::isCombinable(&each)) {
        error(diag::wrongOperand, range, "the function of 'scan'", "element-wise operations alone",
              each.getNumRegions() ? "a loop or an `if`" : "another operation")
            .note("select with where(c, a, b)");
        valid = false;
      }
    if (!valid) { // leave nothing half made behind
      builder.clearInsertionPoint();
      op.erase();
      return SemValue::error();
    }
    ScanYieldOp::create(builder, location, yielded);
  }
  std::vector<SemValue> results;
  for (auto [result, tile] : llvm::zip(op.getResults(), tiles))
    results.push_back(SemValue::ofData(result, tile.dtype));
  return results.size() == 1 ? results[0] : SemValue::ofTuple(std::move(results));
}

SemValue Elaborator::callScan(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  bool reverse = false;
  if (const Arg *given = named(args, "reverse")) {
    if (!given->value.isBoolNumber()) {
      error(diag::notConstant, given->range, "reverse:", describe(given->value));
      return SemValue::error();
    }
    reverse = given->value.getBool();
  }
  bool isUser = name == "scan";
  const Arg &operand = args[isUser ? 1 : 0];
  std::vector<Arg> tiles;
  if (isUser && operand.value.isTuple())
    for (const SemValue &element : *operand.value.elements)
      tiles.push_back({element, operand.range, ""});
  else
    tiles.push_back({operand.value, operand.range, ""});
  for (Arg &tile : tiles) {
    if (!tile.value.isData()) {
      error(diag::wrongOperand, tile.range, ("'" + name + "'").str(), isUser ? "a tile or a tuple of tiles" : "a tile",
            describe(tile.value));
      return SemValue::error();
    }
    if (refuseStorage(tile.value.dtype, tile.range, "'" + name + "'"))
      return SemValue::error();
  }
  if (!unifyShapes(tiles, range))
    return SemValue::error();
  const SemValue &first = tiles[0].value;
  if (first.rank() == 0) {
    error(diag::wrongOperand, tiles[0].range, ("'" + name + "'").str(), "a tile", describe(first));
    return SemValue::error();
  }
  std::optional<int64_t> axis = evalAxis(args, first, tiles[0].range);
  if (!axis)
    return SemValue::error();

  if (!isUser) {
    DType dtype = first.dtype;
    if (dtype == DType::Bool) {
      error(diag::wrongOperand, operand.range, ("'" + name + "'").str(), "numbers", describe(first));
      return SemValue::error();
    }
    if (isInteger(dtype) && bitWidth(dtype) < 32) {
      error(diag::smallSum, operand.range, describe(first));
      return SemValue::error();
    }
    // 16-bit floats accumulate in f32 and round once, at the end.
    bool widen = isFloat(dtype) && bitWidth(dtype) == 16;
    DType wide = widen ? DType::F32 : dtype;
    SemValue source = SemValue::ofData(emitCast(first.ssa, dtype, wide, loc(range)), wide);
    ast::BinaryOp op = name == "cumsum" ? ast::BinaryOp::add : ast::BinaryOp::mul;
    SemValue result = emitScan(source, *axis, reverse, range, [&](ArrayRef<SemValue> x) {
      return SemValue::ofData(emitBinary(op, x[0].ssa, x[1].ssa, wide, loc(range)), wide);
    });
    return result.isError() ? result : SemValue::ofData(emitCast(result.ssa, wide, dtype, loc(range)), dtype);
  }

  if (!args[0].value.isFunction()) {
    error(diag::wrongOperand, args[0].range, "'scan'", "a function of two operands", describe(args[0].value));
    return SemValue::error();
  }
  const FunctionValue &function = *args[0].value.function;
  SmallVector<SemValue> values;
  for (const Arg &tile : tiles)
    values.push_back(tile.value);
  return emitScan(values, *axis, reverse, range, [&](ArrayRef<SemValue> x) {
    std::vector<Arg> operands;
    for (const SemValue &each : x)
      operands.push_back({each, range, ""});
    return function.decl ? callFunction(function, std::move(operands), range)
                         : callBuiltin(*function.builtin, nullptr, std::move(operands), range);
  });
}

SemValue Elaborator::callTake(std::vector<Arg> &args, Range range) {
  Location location = loc(range);
  if (args[0].value.kind == SemValue::Kind::List)
    args[0].value = listToTile(args[0].value, std::nullopt, args[0].range);
  if (args[0].value.isError())
    return SemValue::error();
  for (size_t i = 0; i < 2; ++i) {
    const SemValue &value = args[i].value;
    bool valid = i == 0 ? value.isData() && value.rank() > 0 : value.isInt() || (value.isData() && widensToIndex(value.dtype));
    if (!valid) {
      error(diag::wrongOperand, args[i].range, i == 0 ? "'take'" : "the position of 'take'",
            i == 0 ? "a tile" : "an integer, or a tile of integers", describe(value));
      return SemValue::error();
    }
  }
  const SemValue &source = args[0].value;
  std::optional<int64_t> axis = evalAxis(args, source, args[0].range);
  if (!axis)
    return SemValue::error();
  // A tile of positions is i32 where that holds its dtype.
  SemValue &at = args[1].value;
  bool isNarrow = at.isData() && at.rank() > 0 && bitWidth(at.dtype) <= (isUnsigned(at.dtype) ? 16 : 32);
  mlir::Value position = at.isInt() ? toIndex(at, args[1].range, "the position of 'take'")
                                    : emitCast(at.ssa, at.dtype, isNarrow ? DType::I32 : DType::Index, location);
  if (!position)
    return SemValue::error();
  if (mlir::Value found = emitTableLookup(source, position, location))
    return SemValue::ofData(found, source.dtype);
  SmallVector<int64_t> shape(source.shape().take_front(*axis)), inner(at.shape()), rest(source.shape().drop_front(*axis + 1));
  shape.append(inner);
  shape.append(rest);
  if (!checkShape(shape, range))
    return SemValue::error();
  if (!inner.empty()) {
    inner.append(rest.size(), 1);
    position = emitBroadcast(emitReshape(position, inner, location), shape, location);
  }
  Type element = getElementTypeOrSelf(source.ssa.getType());
  Type type = shape.empty() ? element : Type(RankedTensorType::get(shape, element));
  return SemValue::ofData(TakeOp::create(builder, location, type, source.ssa, position, *axis), source.dtype);
}
