// Built-ins that put tiles together or turn them round: concat, stack, repeat, flip.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/TypeRules.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tile;

/// The argument of that name, or null.
static const Arg *named(const std::vector<Arg> &args, StringRef name) {
  for (const Arg &arg : args)
    if (arg.name == name)
      return &arg;
  return nullptr;
}

/// i32 is enough: a tile has at most 2^20 elements (T2.2).
mlir::Value JoinCalls::emitPositions(ArrayRef<int64_t> shape, int64_t axis, Location location) {
  mlir::Value zero = emitter.constantIndex(0, location);
  auto line = RankedTensorType::get({shape[axis]}, builder.getIndexType());
  mlir::Value positions =
      IotaOp::create(builder, location, line, zero, builder.getI64IntegerAttr(1));
  positions = emitter.emitCast(positions, DType::Index, DType::I32, location);
  SmallVector<int64_t> lined(shape.size(), 1);
  lined[axis] = shape[axis];
  return emitter.emitBroadcast(emitter.emitReshape(positions, lined, location), shape, location);
}

mlir::Value JoinCalls::emitTakeAlong(mlir::Value tile, mlir::Value positions, int64_t axis,
                                     Location location) {
  auto type =
      cast<RankedTensorType>(positions.getType()).clone(getElementTypeOrSelf(tile.getType()));
  return TakeOp::create(builder, location, type, tile, positions, axis);
}

/// `stack` is concat of tiles with a new extent of 1 each.
SemValue JoinCalls::callConcat(bool isStack, std::vector<Arg> &args, Range range) {
  std::string what = isStack ? "'stack'" : "'concat'";
  const SemValue &list = args[0].value;
  if (list.kind != SemValue::Kind::List && !list.isTuple()) {
    here.error(diag::wrongOperand, args[0].range, what, "a list of tiles such as [a, b]",
               describe(list));
    return SemValue::error();
  }
  std::vector<Arg> tiles;
  for (const SemValue &each : *list.elements) {
    bool valid = each.isNumeric() && (isStack || each.rank() > 0);
    if (!valid) {
      here.error(diag::wrongOperand, args[0].range, what,
                 isStack ? "a list of scalars or tiles" : "a list of tiles", describe(each));
      return SemValue::error();
    }
    tiles.push_back({each, args[0].range, ""});
  }
  if (!conversions.unifyDtypes(tiles, what, range))
    return SemValue::error();
  // All extents are equal, but for those along the axis of a concat.
  const SemValue &first = tiles[0].value;
  int64_t rank = first.rank() + (isStack ? 1 : 0), axis = 0;
  if (const Arg *given = named(args, "axis")) {
    std::optional<int64_t> written = expressions.constInt(given->value, given->range, "axis:");
    if (!written)
      return SemValue::error();
    std::optional<int64_t> found = findAxis(*written, rank);
    if (!found) {
      here.error(diag::badAxis, given->range, *written,
                 "the " + std::to_string(rank) + " axes of the result")
          .secondary(args[0].range, describe(first));
      return SemValue::error();
    }
    axis = *found;
  } else if (rank != 1) {
    here.error(diag::notConstant, args[0].range, "axis:", "none for " + describe(first))
        .note("name the axis: axis: 0");
    return SemValue::error();
  }
  JoinedShape joined = joinedShape(tiles, axis, /*isNew=*/isStack);
  if (!joined.shape) {
    here.error(diag::shapeMismatch, args[0].range, describeShape(first.shape()),
               describeShape(tiles[joined.wrong].value.shape()))
        .note(isStack ? "stack takes tiles of one shape"
                      : "concat takes tiles whose extents are equal but for those along axis " +
                            std::to_string(axis));
    return SemValue::error();
  }
  if (!conversions.checkShape(*joined.shape, range))
    return SemValue::error();
  Location location = emitter.loc(range);
  SmallVector<mlir::Value> parts;
  for (const Arg &tile : tiles) {
    Shape part(tile.value.shape());
    if (isStack)
      part.insert(part.begin() + axis, 1);
    parts.push_back(emitter.emitReshape(ssaOf(tile.value), part, location));
  }
  if (parts.size() == 1)
    return ofData(parts[0], first.dtype);
  return ofData(tensor::ConcatOp::create(builder, location, axis, parts), first.dtype);
}

SemValue JoinCalls::callJoin(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  if (name == "concat" || name == "stack")
    return callConcat(name == "stack", args, range);
  const SemValue &source = args[0].value;
  if (!source.isData() || source.rank() == 0) {
    here.error(diag::wrongOperand, args[0].range, ("'" + name + "'").str(), "a tile",
               describe(source));
    return SemValue::error();
  }
  std::optional<int64_t> axis = scanCalls.evalAxis(args, source, args[0].range);
  if (!axis)
    return SemValue::error();
  Location location = emitter.loc(range);
  SmallVector<int64_t> shape(source.shape());
  int64_t extent = shape[*axis];
  if (name == "flip") {
    mlir::Value positions = emitPositions(shape, *axis, location);
    mlir::Value last = emitter.constantLike(positions.getType(), double(extent - 1), location);
    positions = builder.createOrFold<arith::SubIOp>(location, last, positions);
    return ofData(emitTakeAlong(ssaOf(source), positions, *axis, location), source.dtype);
  }
  // [a, b] -> [[a], [b]] -> [[a, a], [b, b]] -> [a, a, b, b].
  // repeat: each element so many times in a row.
  std::optional<int64_t> count =
      expressions.constInt(args[1].value, args[1].range, "the count of 'repeat'");
  if (!count)
    return SemValue::error();
  SmallVector<int64_t> one(shape), many(shape);
  one.insert(one.begin() + *axis + 1, 1);
  many.insert(many.begin() + *axis + 1, *count);
  if (!conversions.checkShape(many, args[1].range))
    return SemValue::error();
  mlir::Value repeated =
      emitter.emitBroadcast(emitter.emitReshape(ssaOf(source), one, location), many, location);
  return ofData(
      emitter.emitReshape(repeated, repeatedShape(source.shape(), *axis, *count), location),
      source.dtype);
}
