// Built-ins along an axis of a tile: scans and reductions with any associative function, and
// reading at positions of the run.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/TypeRules.h"

using namespace mlir;
using namespace tile;

/// The argument of that name, or null.
static const Arg *named(const std::vector<Arg> &args, StringRef name) {
  for (const Arg &arg : args)
    if (arg.name == name)
      return &arg;
  return nullptr;
}

std::optional<int64_t> ScanCalls::evalAxis(const std::vector<Arg> &args, const SemValue &tile,
                                           Range tileRange) {
  int64_t rank = tile.rank();
  const Arg *given = named(args, "axis");
  if (!given) {
    if (rank == 1)
      return 0;
    here.error(diag::notConstant, tileRange, "axis:", "none for " + describe(tile))
        .note("name the axis: axis: 0");
    return std::nullopt;
  }
  std::optional<int64_t> written = expressions.constInt(given->value, given->range, "axis:");
  if (!written)
    return std::nullopt;
  std::optional<int64_t> axis = findAxis(*written, rank);
  if (!axis)
    here.error(diag::badAxis, given->range, *written,
               "the " + std::to_string(rank) + " axes of " + describe(tile))
        .secondary(tileRange, describe(tile));
  return axis;
}

/// Fills the region with one block that combines two partial results of `n` tiles:
///   ^bb0(a_0, ..., a_n-1, b_0, ..., b_n-1):     all scalars, of the tiles' element types
///     ...                                       element-wise operations alone
///     yield r_0, ..., r_n-1
///
/// False after a report; the operation around the region is then unfit for the verifier, and the
/// caller erases it. Control and memory are refused here, with a report at the source: the verifier
/// of ScanOp would refuse them, too, but as a mistake of the compiler.
bool ScanCalls::emitCombiner(Region &region, StringRef what, ArrayRef<SemValue> tiles, Range range,
                             function_ref<SemValue(ArrayRef<SemValue>)> combine) {
  Location location = emitter.loc(range);
  SmallVector<Type> arguments;
  for (size_t i = 0; i < 2 * tiles.size(); ++i)
    arguments.push_back(getElementTypeOrSelf(ssaOf(tiles[i % tiles.size()]).getType()));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region, {}, arguments,
                                     SmallVector<Location>(arguments.size(), location));
  SmallVector<SemValue> scalars;
  for (auto [i, argument] : llvm::enumerate(block->getArguments()))
    scalars.push_back(ofData(argument, tiles[i % tiles.size()].dtype));
  SemValue result = combine(scalars);
  if (result.isError())
    return false;
  std::string function = ("the function of '" + what + "'").str();
  SmallVector<SemValue> results = {result};
  if (result.isTuple())
    results.assign(result.elements->begin(), result.elements->end());
  if (results.size() != tiles.size()) {
    here.error(diag::wrongOperand, range, function,
               tiles.size() == 1 ? "one result"
                                 : std::to_string(tiles.size()) + " results, as many as tiles",
               describe(result));
    return false;
  }
  SmallVector<mlir::Value> yielded;
  for (auto [each, tile] : llvm::zip(results, tiles)) {
    if (!each.isNumeric() || each.rank() != 0 || (each.isData() && each.dtype != tile.dtype)) {
      here.error(diag::wrongOperand, range, function,
                 "the tile's dtype " + dtypeSpelling(tile.dtype).str() + " as its result",
                 describe(each));
      return false;
    }
    yielded.push_back(conversions.toDtype(each, tile.dtype, range));
    if (!yielded.back())
      return false;
  }
  for (Operation &each : *block)
    if (!ScanOp::isCombinable(&each)) {
      here.error(diag::wrongOperand, range, function, "element-wise operations alone",
                 each.getNumRegions() ? "a loop or an `if`" : "another operation")
          .note("select with where(c, a, b)");
      return false;
    }
  ScanYieldOp::create(builder, location, yielded);
  return true;
}

/// The results of an operation, of the dtypes of `tiles`: one value or a tuple.
static SemValue resultsOf(Operation *op, ArrayRef<SemValue> tiles) {
  std::vector<SemValue> results;
  for (auto [result, tile] : llvm::zip(op->getResults(), tiles))
    results.push_back(ofData(result, tile.dtype));
  return results.size() == 1 ? results[0] : SemValue::ofTuple(std::move(results));
}

SemValue ScanCalls::emitScan(ArrayRef<SemValue> tiles, int64_t axis, bool reverse, StringRef what,
                             Range range, function_ref<SemValue(ArrayRef<SemValue>)> combine) {
  SmallVector<mlir::Value> sources;
  SmallVector<Type> types;
  for (const SemValue &tile : tiles) {
    sources.push_back(ssaOf(tile));
    types.push_back(ssaOf(tile).getType());
  }
  auto op = ScanOp::create(builder, emitter.loc(range), types, sources, axis, reverse);
  if (emitCombiner(op.getCombiner(), what, tiles, range, combine))
    return resultsOf(op, tiles);
  op.erase(); // leave nothing half made behind
  return SemValue::error();
}

SemValue ScanCalls::emitReduceBy(ArrayRef<SemValue> tiles, int64_t axis, bool keep, Range range,
                                 function_ref<SemValue(ArrayRef<SemValue>)> combine) {
  SmallVector<int64_t> shape(tiles[0].shape()), kept(shape);
  shape.erase(shape.begin() + axis);
  kept[axis] = 1;
  SmallVector<mlir::Value> sources;
  SmallVector<Type> types;
  for (const SemValue &tile : tiles) {
    Type element = getElementTypeOrSelf(ssaOf(tile).getType());
    sources.push_back(ssaOf(tile));
    types.push_back(shape.empty() ? element : Type(RankedTensorType::get(shape, element)));
  }
  auto op = ReduceByOp::create(builder, emitter.loc(range), types, sources, axis);
  if (!emitCombiner(op.getCombiner(), "reduce", tiles, range, combine)) {
    op.erase();
    return SemValue::error();
  }
  if (!keep)
    return resultsOf(op, tiles);
  std::vector<SemValue> results;
  for (auto [result, tile] : llvm::zip(op.getResults(), tiles))
    results.push_back(ofData(emitter.emitReshape(result, kept, emitter.loc(range)), tile.dtype));
  return results.size() == 1 ? results[0] : SemValue::ofTuple(std::move(results));
}

SemValue ScanCalls::callScan(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  bool reverse = false, keep = false;
  // Only scans know `reverse:`, and only `reduce` knows `keep:`; callBuiltin has refused the other
  // word.
  for (auto [word, flag] : {std::pair("reverse", &reverse), std::pair("keep", &keep)})
    if (const Arg *given = named(args, word)) {
      if (!given->value.isBoolNumber()) {
        here.error(diag::notConstant, given->range, std::string(word) + ":",
                   describe(given->value));
        return SemValue::error();
      }
      *flag = given->value.getBool();
    }
  bool isUser = name == "scan" || name == "reduce";
  const Arg &operand = args[isUser ? 1 : 0];
  std::vector<Arg> tiles;
  if (isUser && operand.value.isTuple())
    for (const SemValue &element : *operand.value.elements)
      tiles.push_back({element, operand.range, ""});
  else
    tiles.push_back({operand.value, operand.range, ""});
  for (Arg &tile : tiles) {
    if (!tile.value.isData()) {
      here.error(diag::wrongOperand, tile.range, ("'" + name + "'").str(),
                 isUser ? "a tile or a tuple of tiles" : "a tile", describe(tile.value));
      return SemValue::error();
    }
    if (conversions.refuseStorage(tile.value.dtype, tile.range, "'" + name + "'"))
      return SemValue::error();
  }
  if (!conversions.unifyShapes(tiles, range))
    return SemValue::error();
  const SemValue &first = tiles[0].value;
  if (first.rank() == 0) {
    here.error(diag::wrongOperand, tiles[0].range, ("'" + name + "'").str(), "a tile",
               describe(first));
    return SemValue::error();
  }
  std::optional<int64_t> axis = evalAxis(args, first, tiles[0].range);
  if (!axis)
    return SemValue::error();

  if (!isUser) {
    DType dtype = first.dtype;
    if (const char *needs = neededByReduction(name, dtype)) {
      here.error(diag::wrongOperand, operand.range, ("'" + name + "'").str(), needs,
                 describe(first));
      return SemValue::error();
    }
    if (overflowsInReduction(name, dtype)) {
      here.error(diag::smallSum, operand.range, describe(first));
      return SemValue::error();
    }
    // Running sums of 16-bit floats are made in f32, and each is rounded once, as with `sum`.
    DType wide = accumulatorOf(name, dtype);
    SemValue source = ofData(emitter.emitCast(ssaOf(first), dtype, wide, emitter.loc(range)), wide);
    ast::BinaryOp op = name == "cumsum" ? ast::BinaryOp::add : ast::BinaryOp::mul;
    SemValue result = emitScan(source, *axis, reverse, name, range, [&](ArrayRef<SemValue> x) {
      return ofData(emitter.emitBinary(op, ssaOf(x[0]), ssaOf(x[1]), wide, emitter.loc(range)),
                    wide);
    });
    return result.isError()
               ? result
               : ofData(emitter.emitCast(ssaOf(result), wide, dtype, emitter.loc(range)), dtype);
  }

  if (!args[0].value.isFunction()) {
    here.error(diag::wrongOperand, args[0].range, ("'" + name + "'").str(),
               "a function of two operands", describe(args[0].value));
    return SemValue::error();
  }
  const FunctionValue &function = *args[0].value.function;
  SmallVector<SemValue> values;
  for (const Arg &tile : tiles)
    values.push_back(tile.value);
  auto combine = [&](ArrayRef<SemValue> x) {
    std::vector<Arg> operands;
    for (const SemValue &each : x)
      operands.push_back({each, range, ""});
    return function.decl
               ? functions.callFunction(function, std::move(operands), range)
               : functions.callBuiltin(*function.builtin, nullptr, std::move(operands), range);
  };
  return name == "reduce" ? emitReduceBy(values, *axis, keep, range, combine)
                          : emitScan(values, *axis, reverse, name, range, combine);
}

SemValue ScanCalls::callTake(std::vector<Arg> &args, Range range) {
  Location location = emitter.loc(range);
  // A list of numbers becomes a constant tile here; emitTableLookup then reads it without a tile.
  if (args[0].value.kind == SemValue::Kind::List)
    args[0].value = tables.listToTile(args[0].value, std::nullopt, args[0].range);
  if (args[0].value.isError())
    return SemValue::error();
  for (size_t i = 0; i < 2; ++i) {
    const SemValue &value = args[i].value;
    bool valid = i == 0 ? value.isData() && value.rank() > 0
                        : value.isInt() || (value.isData() && widensToIndex(value.dtype));
    if (!valid) {
      here.error(diag::wrongOperand, args[i].range, i == 0 ? "'take'" : "the position of 'take'",
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
  bool isNarrow =
      at.isData() && at.rank() > 0 && bitWidth(at.dtype) <= (isUnsigned(at.dtype) ? 16 : 32);
  mlir::Value position =
      at.isInt()
          ? conversions.toIndex(at, args[1].range, "the position of 'take'")
          : emitter.emitCast(ssaOf(at), at.dtype, isNarrow ? DType::I32 : DType::Index, location);
  if (!position)
    return SemValue::error();
  if (mlir::Value found = tables.emitTableLookup(source, position, location))
    return ofData(found, source.dtype);
  Shape shape = takenShape(source.shape(), *axis, at.shape()), inner(at.shape());
  if (!conversions.checkShape(shape, range))
    return SemValue::error();
  // TakeOp wants a position for each element of the result: those that were given are repeated
  // along the axes behind `axis`.
  if (!inner.empty()) {
    inner.append(source.rank() - *axis - 1, 1);
    position =
        emitter.emitBroadcast(emitter.emitReshape(position, inner, location), shape, location);
  }
  Type element = getElementTypeOrSelf(ssaOf(source).getType());
  Type type = shape.empty() ? element : Type(RankedTensorType::get(shape, element));
  return ofData(TakeOp::create(builder, location, type, ssaOf(source), position, *axis),
                source.dtype);
}
