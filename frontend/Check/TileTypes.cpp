// Built-ins on tiles, as LowerTile.cpp, LowerScan.cpp, LowerJoin.cpp and LowerOrder.cpp emit them.
#include "frontend/Check/TileTypes.h"
#include "frontend/Check/BodyChecker.h"
#include "frontend/Sema/AccessRules.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::StringRef;

static bool isBool(const SemValue &value) {
  return value.isBoolNumber() || (value.isData() && value.dtype == DType::Bool);
}
static bool isWhole(const SemValue &value) {
  return value.isInt() || (value.isData() && isInteger(value.dtype));
}

//===--- Arguments --------------------------------------------------------===//

std::optional<Shape> TileTypes::evalShape(const Arg &arg) {
  if (arg.value.kind != SemValue::Kind::List && !arg.value.isTuple()) {
    (void)body.undecided();
    return std::nullopt;
  }
  Shape shape;
  for (const SemValue &element : *arg.value.elements) {
    std::optional<int64_t> extent = body.constInt(element, arg.range, "an extent of a tile");
    if (!extent)
      return std::nullopt;
    shape.push_back(*extent);
  }
  return body.operands.checkShape(shape, arg.range) ? std::optional(shape) : std::nullopt;
}

std::optional<Shape> TileTypes::evalPermutation(const Arg &arg, int64_t rank) {
  Shape order;
  if (arg.value.kind == SemValue::Kind::List && int64_t(arg.value.elements->size()) == rank)
    for (const SemValue &element : *arg.value.elements) {
      int64_t d = element.isInt() ? element.getInt() : -1;
      if (d >= 0 && d < rank && !llvm::is_contained(order, d))
        order.push_back(d);
    }
  if (int64_t(order.size()) == rank && arg.value.kind == SemValue::Kind::List)
    return order;
  (void)body.undecided();
  return std::nullopt;
}

std::optional<int64_t> TileTypes::evalAxis(ArrayRef<Arg> args, const SemValue &tile) {
  const Arg *given = findNamed(args, "axis");
  if (!given && tile.rank() == 1)
    return 0;
  std::optional<int64_t> written =
      given ? body.constInt(given->value, given->range, "axis:") : std::nullopt;
  if (given && !written)
    return std::nullopt;
  std::optional<int64_t> axis = given ? findAxis(*written, tile.rank()) : std::nullopt;
  if (!axis)
    (void)body.undecided();
  return axis;
}

std::optional<std::vector<Arg>> TileTypes::tilesOf(const Arg &operand, bool mayBeTuple,
                                                   Range range) {
  std::vector<Arg> tiles;
  if (mayBeTuple && operand.value.isTuple())
    for (const SemValue &element : *operand.value.elements)
      tiles.push_back({element, operand.range, ""});
  else
    tiles.push_back(operand);
  bool valid = !tiles.empty();
  for (const Arg &tile : tiles)
    valid = valid && tile.value.isData() && !isStorage(tile.value.dtype);
  if (!valid) {
    (void)body.undecided();
    return std::nullopt;
  }
  if (!body.unifyShapes(tiles, range))
    return std::nullopt;
  if (tiles[0].value.rank() == 0)
    (void)body.undecided();
  return tiles;
}

static SemValue joined(std::vector<SemValue> results) {
  return results.size() == 1 ? results[0] : SemValue::ofTuple(std::move(results));
}

//===--- Shapes -----------------------------------------------------------===//

SemValue TileTypes::permuted(const SemValue &value, ArrayRef<int64_t> order) {
  Shape shape;
  for (int64_t d : order)
    shape.push_back(value.extents[d]);
  return value.isView() ? body.view(value.dtype, shape, value.param, /*isPart=*/true)
                        : body.dataLike(value, value.dtype, shape);
}

SemValue TileTypes::callShape(const Builtin &builtin, std::vector<Arg> &args) {
  StringRef name = builtin.name;
  ++body.effects;
  if (name == "zeros" || name == "full") {
    if (!args[0].value.isDtype())
      return body.undecided();
    std::optional<Shape> shape = evalShape(args[1]);
    if (!shape)
      return SemValue::error();
    DType dtype = args[0].value.dtype;
    if (name == "full" && args[2].value.rank() != 0)
      return body.undecided();
    if (name == "full" && !body.becomes(args[2].value, dtype, args[2].range))
      return SemValue::error();
    return body.data(dtype, *shape);
  }
  if (name == "iota") {
    if (args[0].value.isRange())
      return body.data(DType::Index, {args[0].value.range->size});
    std::optional<int64_t> count =
        body.constInt(args[0].value, args[0].range, "the size of 'iota'");
    return count && body.operands.checkShape({*count}, args[0].range)
               ? body.data(DType::Index, {*count})
               : SemValue::error();
  }
  if (name == "permute" && args[0].value.isView()) {
    std::optional<Shape> order = evalPermutation(args[1], int64_t(args[0].value.extents.size()));
    return order ? permuted(args[0].value, *order) : SemValue::error();
  }
  if (!args[0].value.isNumeric())
    return body.undecided();
  SemValue value = body.toData(args[0].value, args[0].range);
  if (value.isError())
    return value;
  if (name == "permute") {
    std::optional<Shape> order = evalPermutation(args[1], value.rank());
    return order ? permuted(value, *order) : SemValue::error();
  }
  if (name == "reshape" && body.foreign.reportOpenExtent(args[1], value.shape()))
    return SemValue::error();
  std::optional<Shape> shape = evalShape(args[1]);
  if (!shape)
    return SemValue::error();
  bool fits = name == "reshape" ? countElements(*shape) == countElements(value.shape())
                                : fitsAccess(value.shape(), *shape);
  return fits ? body.dataLike(value, value.dtype, *shape) : body.undecided();
}

SemValue TileTypes::callRange(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  if (name == "blocks")
    return body.undecided();
  std::optional<int64_t> size =
      body.constInt(args[1].value, args[1].range, "the size of an index range");
  if (!size || !body.operands.checkShape({*size}, args[1].range))
    return SemValue::error();
  RangeValue result;
  result.size = *size;
  auto position = [&](const Arg &arg, StringRef what) {
    return arg.value.isInt()                                   ? arg.value
           : body.operands.isIndex(arg.value, arg.range, what) ? body.data(DType::Index)
                                                               : SemValue::error();
  };
  bool isBlock = name == "block";
  result.start =
      position(args[0], isBlock ? "the number of a block" : "the start of an index range");
  if (isBlock && result.start.isInt())
    result.start = body.binary(ast::BinaryOp::mul, result.start, SemValue::ofInt(*size),
                               args[0].range, range, range);
  if (const Arg *step = findNamed(args, "step")) {
    std::optional<int64_t> value = body.constInt(step->value, step->range, "step:");
    if (!value)
      return SemValue::error();
    if (*value < 1)
      return body.undecided();
    result.step = *value;
  }
  if (const Arg *end = findNamed(args, "end"))
    result.end = position(*end, "the end of an index range");
  if (result.start.isError() || (result.end && result.end->isError()))
    return SemValue::error();
  return SemValue::of(std::move(result));
}

//===--- Reductions and scans ---------------------------------------------===//

SemValue TileTypes::callReduce(const Builtin &builtin, std::vector<Arg> &args) {
  StringRef name = builtin.name;
  ++body.effects;
  if (!args[0].value.isNumeric())
    return body.undecided();
  SemValue source = body.toData(args[0].value, args[0].range);
  if (source.isError())
    return source;
  body.facts.reduces |= name != "sum" || !source.isZeroPadded;
  if (isStorage(source.dtype))
    return body.undecided();
  std::optional<int64_t> axis;
  if (findNamed(args, "axis") && !(axis = evalAxis(args, source)))
    return SemValue::error();
  const Arg *keep = findNamed(args, "keep");
  bool fits = (!keep || keep->value.isBoolNumber()) && !neededByReduction(name, source.dtype) &&
              !overflowsInReduction(name, source.dtype);
  if (!fits)
    return body.undecided();
  ReducedType type =
      reduced(name, source.dtype, source.shape(), axis, keep && keep->value.getBool());
  return body.data(type.dtype, type.shape);
}

/// Walks the function once with scalars. What is not element-wise in it may not stand there.
SemValue TileTypes::callCombined(const Builtin &builtin, const Arg &function, ArrayRef<Arg> tiles,
                                 const Shape &shape, Range range) {
  if (!function.value.isFunction())
    return body.undecided();
  std::vector<Arg> operands;
  for (int side = 0; side < 2; ++side)
    for (const Arg &tile : tiles)
      operands.push_back({body.data(tile.value.dtype), range, ""});
  unsigned effects = body.effects;
  const FunctionValue &called = *function.value.function;
  SemValue result = called.decl
                        ? body.calls.callFunction(called, std::move(operands), range)
                        : body.calls.callBuiltin(*called.builtin, std::move(operands), range);
  if (result.isError())
    return result;
  std::vector<SemValue> results = {result}, types;
  if (result.isTuple())
    results = *result.elements;
  if (results.size() != tiles.size() || body.effects != effects)
    return body.undecided();
  for (size_t i = 0; i < results.size(); ++i) {
    DType dtype = tiles[i].value.dtype;
    bool fits = isStorable(results[i], dtype) && results[i].rank() == 0;
    if (!fits)
      return body.undecided();
    if (!body.becomes(results[i], dtype, range))
      return SemValue::error();
    types.push_back(body.data(dtype, shape));
  }
  return joined(std::move(types));
}

SemValue TileTypes::callScan(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  body.facts.reduces = true;
  ++body.effects;
  for (const char *word : {"reverse", "keep"})
    if (const Arg *given = findNamed(args, word); given && !given->value.isBoolNumber())
      return body.undecided();
  bool isUser = name == "scan" || name == "reduce";
  std::optional<std::vector<Arg>> tiles = tilesOf(args[isUser ? 1 : 0], isUser, range);
  if (!tiles)
    return SemValue::error();
  const SemValue &first = (*tiles)[0].value;
  std::optional<int64_t> axis = first.rank() ? evalAxis(args, first) : std::nullopt;
  if (!axis)
    return SemValue::error();
  if (!isUser) {
    bool fits = !neededByReduction(name, first.dtype) && !overflowsInReduction(name, first.dtype);
    return fits ? body.data(first.dtype, first.shape()) : body.undecided();
  }
  const Arg *keep = findNamed(args, "keep");
  Shape shape(first.shape());
  if (name == "reduce" && keep && keep->value.getBool())
    shape[*axis] = 1;
  else if (name == "reduce")
    shape.erase(shape.begin() + *axis);
  return callCombined(builtin, args[0], *tiles, shape, range);
}

//===--- Joins, orders, random numbers ------------------------------------===//

SemValue TileTypes::callConcat(bool isStack, ArrayRef<Arg> args, Range range) {
  const SemValue &list = args[0].value;
  if (list.kind != SemValue::Kind::List && !list.isTuple())
    return body.undecided();
  std::vector<Arg> tiles;
  for (const SemValue &each : *list.elements) {
    if (!each.isNumeric() || (!isStack && each.rank() == 0))
      return body.undecided();
    tiles.push_back({each, args[0].range, ""});
  }
  if (tiles.empty())
    return body.undecided();
  if (!body.unifyDtypes(tiles, isStack ? "'stack'" : "'concat'", range))
    return SemValue::error();
  int64_t rank = tiles[0].value.rank() + (isStack ? 1 : 0);
  const Arg *given = findNamed(args, "axis");
  std::optional<int64_t> written =
      given ? body.constInt(given->value, given->range, "axis:") : std::optional<int64_t>(0);
  if (!written)
    return SemValue::error();
  std::optional<int64_t> axis =
      given || rank == 1 ? findAxis(*written, rank) : std::optional<int64_t>();
  if (!axis)
    return body.undecided();
  JoinedShape shape = joinedShape(tiles, *axis, /*isNew=*/isStack);
  if (!shape.shape || !body.isShape(*shape.shape))
    return body.undecided();
  return body.data(tiles[0].value.dtype, *shape.shape);
}

SemValue TileTypes::callJoin(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  ++body.effects;
  if (name == "concat" || name == "stack")
    return callConcat(name == "stack", args, range);
  const SemValue &source = args[0].value;
  if (!source.isData() || source.rank() == 0)
    return body.undecided();
  std::optional<int64_t> axis = evalAxis(args, source);
  if (!axis)
    return SemValue::error();
  if (name != "repeat") // elements move, the shape stays
    return source;
  std::optional<int64_t> count =
      body.constInt(args[1].value, args[1].range, "the count of 'repeat'");
  if (!count || !body.isShape({*count}))
    return SemValue::error();
  Shape shape = repeatedShape(source.shape(), *axis, *count);
  return body.isShape(shape) ? body.data(source.dtype, shape) : SemValue::error();
}

SemValue TileTypes::callTopk(ArrayRef<Arg> args) {
  const SemValue &source = args[0].value;
  if (!source.isData() || source.rank() == 0 || isStorage(source.dtype))
    return body.undecided();
  std::optional<int64_t> axis =
      findNamed(args, "axis") ? evalAxis(args, source) : std::optional(source.rank() - 1);
  std::optional<int64_t> count =
      axis ? body.constInt(args[1].value, args[1].range, "the count of 'topk'") : std::nullopt;
  if (!count)
    return SemValue::error();
  Shape shape(source.shape());
  if (*count < 1 || *count > shape[*axis])
    return body.undecided();
  shape[*axis] = *count;
  return SemValue::ofTuple({body.data(source.dtype, shape), body.data(DType::Index, shape)});
}

SemValue TileTypes::callHistogram(ArrayRef<Arg> args) {
  const SemValue &source = args[0].value;
  if (!source.isData() || !isInteger(source.dtype))
    return body.undecided();
  std::optional<int64_t> count = body.constInt(args[1].value, args[1].range, "the number of bins");
  if (!count || !body.operands.checkShape({*count}, args[1].range))
    return SemValue::error();
  if (const Arg *mask = findNamed(args, "mask")) {
    if (!isBool(mask->value))
      return body.undecided();
    Shape shape(source.rank() ? source.shape() : ArrayRef<int64_t>{1});
    Arg pair[] = {{body.data(DType::I32, shape), args[0].range, ""}, *mask};
    if (!body.unifyShapes(pair, mask->range))
      return SemValue::error();
  }
  return body.data(DType::I32, {*count});
}

SemValue TileTypes::callOrder(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  ++body.effects;
  body.facts.reduces = true;
  if (name == "topk")
    return callTopk(args);
  if (name == "histogram")
    return callHistogram(args);
  const Arg *descending = findNamed(args, "descending");
  if (descending && !descending->value.isBoolNumber())
    return body.undecided();
  std::optional<std::vector<Arg>> tiles = tilesOf(args[0], /*mayBeTuple=*/true, range);
  if (!tiles || !evalAxis(args, (*tiles)[0].value))
    return SemValue::error();
  std::vector<SemValue> results;
  for (const Arg &tile : *tiles)
    results.push_back(body.data(tile.value.dtype, tile.value.shape()));
  return joined(std::move(results));
}

SemValue TileTypes::callRandom(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  ++body.effects;
  if (!isWhole(args[0].value) || args[0].value.rank() != 0 || !isWhole(args[1].value))
    return body.undecided();
  ArrayRef<int64_t> shape = args[1].value.shape();
  if (name != "randint")
    return body.data(name == "random_bits" ? DType::U32 : DType::F32, shape);
  llvm::MutableArrayRef<Arg> bounds = llvm::MutableArrayRef(args).drop_front(2);
  if (!body.unifyDtypes(bounds, "'randint'", range))
    return SemValue::error();
  DType dtype = bounds[0].value.dtype;
  if (!isInteger(dtype))
    return body.undecided();
  Arg operands[] = {{body.data(dtype, shape), args[1].range, ""}, bounds[0], bounds[1]};
  return body.unifyShapes(operands, range) ? operands[0].value : SemValue::error();
}
