// Built-ins that order and count elements: sort, topk, histogram.
//
// Elements become integers whose signed order is the one wanted, packed above their positions into
// distinct integers, which any network sorts stably; what is wanted is then read at the positions
// that come out.
//
//   keys       3.0  nan  -1.0          as integers in the order wanted, NaN last
//   packed     key << bits | position  distinct, so the order of equal keys is that of positions
//   sorted     -1.0|2  3.0|0  nan|1
//   positions  2  0  1                 the low bits; values are taken at these
#include "frontend/Lower/Lowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// A tile of one integer.
static mlir::Value filled(OpBuilder &builder, Type type, APInt value, Location location) {
  auto attr = DenseElementsAttr::get(
      cast<RankedTensorType>(type), Attribute(IntegerAttr::get(getElementTypeOrSelf(type), value)));
  return arith::ConstantOp::create(builder, location, attr);
}
static mlir::Value filled(OpBuilder &builder, Type type, uint64_t value, Location location) {
  return filled(builder, type,
                APInt(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), value, /*isSigned=*/false,
                      /*implicitTrunc=*/true),
                location);
}

mlir::Value OrderCalls::emitSortKeys(const SemValue &tile, bool descending, Location location) {
  DType dtype = tile.dtype;
  auto type = cast<RankedTensorType>(ssaOf(tile).getType());
  if (!isFloat(dtype)) {
    mlir::Value keys =
        dtype == DType::Bool    ? emitter.emitCast(ssaOf(tile), dtype, DType::I8, location)
        : dtype == DType::Index ? emitter.emitCast(ssaOf(tile), dtype, DType::I64, location)
                                : ssaOf(tile);
    if (isUnsigned(dtype)) // with the top bit flipped, signed order is unsigned order
      keys = builder.createOrFold<arith::XOrIOp>(location, keys,
                                                 emitter.signBitLike(keys.getType(), location));
    if (descending) // ~x: unlike -x it does not overflow
      keys = builder.createOrFold<arith::XOrIOp>(
          location, keys, filled(builder, keys.getType(), ~uint64_t(0), location));
    return keys;
  }
  // Sign and magnitude of the bits as a number; both zeros are 0. Integers alone, so that no flag
  // of floats matters.
  unsigned bits = bitWidth(dtype);
  Type integers = type.clone(builder.getIntegerType(bits));
  mlir::Value raw = builder.createOrFold<arith::BitcastOp>(location, integers, ssaOf(tile));
  mlir::Value zero = filled(builder, integers, 0, location);
  mlir::Value largest = filled(builder, integers, APInt::getSignedMaxValue(bits), location);
  mlir::Value magnitude = builder.createOrFold<arith::AndIOp>(location, raw, largest);
  mlir::Value negated = builder.createOrFold<arith::SubIOp>(location, zero, magnitude);
  mlir::Value isNegative =
      builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::slt, raw, zero);
  mlir::Value keys =
      descending ? builder.createOrFold<arith::SelectOp>(location, isNegative, magnitude, negated)
                 : builder.createOrFold<arith::SelectOp>(location, isNegative, negated, magnitude);
  APInt infinity = llvm::APFloat::getInf(cast<FloatType>(type.getElementType()).getFloatSemantics())
                       .bitcastToAPInt();
  mlir::Value isNaN =
      builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::sgt, magnitude,
                                          filled(builder, integers, infinity, location));
  return builder.createOrFold<arith::SelectOp>(location, isNaN, largest, keys);
}

/// Positions take log2(extent) bits, at most 20: with keys of 32 bits that fits in 64. Keys of 64
/// bits are sorted twice, as in a radix sort: a stable second pass keeps the order of the first
/// among equals.
mlir::Value OrderCalls::emitSortedPositions(mlir::Value keys, int64_t axis, int64_t count,
                                            Location location) {
  auto type = cast<RankedTensorType>(keys.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t extent = shape[axis];
  unsigned bits = type.getElementTypeBitWidth(), positionBits = llvm::Log2_64_Ceil(extent);
  if (extent == 1)
    return filled(builder, type.clone(builder.getI32Type()), 0, location);
  if (bits == 64) { // by the lower half, then stably by the upper one
    mlir::Value mask = filled(builder, type, 0xffffffff, location),
                half = filled(builder, type, 32, location);
    mlir::Value low = builder.createOrFold<arith::AndIOp>(location, keys, mask);
    mlir::Value first = emitPacked(low, axis, extent, location);
    mlir::Value high = builder.createOrFold<arith::ShRSIOp>(location, keys, half);
    mlir::Value second =
        emitPacked(joinCalls.emitTakeAlong(high, first, axis, location), axis, count, location);
    return joinCalls.emitTakeAlong(first, second, axis, location);
  }
  Type wide = type.clone(builder.getIntegerType(bits + positionBits <= 32 ? 32 : 64));
  if (wide != Type(type))
    keys = builder.createOrFold<arith::ExtSIOp>(location, wide, keys);
  return emitPacked(keys, axis, count, location);
}

mlir::Value OrderCalls::emitPacked(mlir::Value keys, int64_t axis, int64_t count,
                                   Location location) {
  auto type = cast<RankedTensorType>(keys.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t extent = shape[axis];
  unsigned positionBits = llvm::Log2_64_Ceil(extent);
  mlir::Value positions = joinCalls.emitPositions(shape, axis, location);
  if (positions.getType() != type)
    positions = builder.createOrFold<arith::ExtUIOp>(location, type, positions);
  mlir::Value packed = builder.createOrFold<arith::ShLIOp>(
      location, keys, filled(builder, type, positionBits, location));
  packed = builder.createOrFold<arith::OrIOp>(location, packed, positions);
  packed = SortOp::create(builder, location, type, packed, axis,
                          count < extent ? builder.getI64IntegerAttr(count) : IntegerAttr());
  if (count < extent) {
    SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
        steps(shape.size(), builder.getIndexAttr(1)), sizes;
    shape[axis] = count;
    for (int64_t size : shape)
      sizes.push_back(builder.getIndexAttr(size));
    packed = tensor::ExtractSliceOp::create(builder, location, packed, offsets, sizes, steps);
  }
  mlir::Value mask = filled(builder, packed.getType(), (uint64_t(1) << positionBits) - 1, location);
  packed = builder.createOrFold<arith::AndIOp>(location, packed, mask);
  Type narrow = cast<RankedTensorType>(packed.getType()).clone(builder.getI32Type());
  return packed.getType() == narrow
             ? packed
             : builder.createOrFold<arith::TruncIOp>(location, narrow, packed);
}

/// The argument of that name, or null.
static const Arg *named(const std::vector<Arg> &args, StringRef name) {
  for (const Arg &arg : args)
    if (arg.name == name)
      return &arg;
  return nullptr;
}

SemValue OrderCalls::callSort(std::vector<Arg> &args, Range range) {
  const Arg &operand = args[0];
  bool descending = false;
  if (const Arg *given = named(args, "descending")) {
    if (!given->value.isBoolNumber()) {
      here.error(diag::notConstant, given->range, "descending:", describe(given->value));
      return SemValue::error();
    }
    descending = given->value.getBool();
  }
  std::vector<Arg> tiles;
  if (operand.value.isTuple())
    for (const SemValue &element : *operand.value.elements)
      tiles.push_back({element, operand.range, ""});
  else
    tiles.push_back({operand.value, operand.range, ""});
  for (const Arg &tile : tiles)
    if (!tile.value.isData()) {
      here.error(diag::wrongOperand, tile.range, "'sort'", "a tile or a tuple of tiles",
                 describe(tile.value));
      return SemValue::error();
    }
  if (conversions.refuseStorage(tiles[0].value.dtype, operand.range, "'sort'") ||
      !conversions.unifyShapes(tiles, range))
    return SemValue::error();
  const SemValue &first = tiles[0].value;
  if (first.rank() == 0) {
    here.error(diag::wrongOperand, operand.range, "'sort'", "a tile", describe(first));
    return SemValue::error();
  }
  std::optional<int64_t> axis = scanCalls.evalAxis(args, first, operand.range);
  if (!axis)
    return SemValue::error();
  Location location = emitter.loc(range);
  mlir::Value keys = emitSortKeys(first, descending, location);
  mlir::Value positions = emitSortedPositions(keys, *axis, first.shape()[*axis], location);
  std::vector<SemValue> results;
  for (const Arg &tile : tiles)
    results.push_back(ofData(joinCalls.emitTakeAlong(ssaOf(tile.value), positions, *axis, location),
                             tile.value.dtype));
  return results.size() == 1 ? results[0] : SemValue::ofTuple(std::move(results));
}

SemValue OrderCalls::callTopk(std::vector<Arg> &args, Range range) {
  const SemValue &source = args[0].value;
  if (!source.isData() || source.rank() == 0) {
    here.error(diag::wrongOperand, args[0].range, "'topk'", "a tile", describe(source));
    return SemValue::error();
  }
  if (conversions.refuseStorage(source.dtype, args[0].range, "'topk'"))
    return SemValue::error();
  // Rows, unless another axis is named.
  std::optional<int64_t> axis = named(args, "axis")
                                    ? scanCalls.evalAxis(args, source, args[0].range)
                                    : std::optional(source.rank() - 1);
  std::optional<int64_t> count =
      axis ? expressions.constInt(args[1].value, args[1].range, "the count of 'topk'")
           : std::nullopt;
  if (!count)
    return SemValue::error();
  int64_t extent = source.shape()[*axis];
  if (*count < 1 || *count > extent) {
    here.error(diag::wrongOperand, args[1].range, "the count of 'topk'",
               "1 to " + std::to_string(extent) + ", the extent of axis " + std::to_string(*axis),
               std::to_string(*count))
        .secondary(args[0].range, describe(source));
    return SemValue::error();
  }
  Location location = emitter.loc(range);
  mlir::Value positions = emitSortedPositions(emitSortKeys(source, /*descending=*/true, location),
                                              *axis, *count, location);
  mlir::Value values = joinCalls.emitTakeAlong(ssaOf(source), positions, *axis, location);
  return SemValue::ofTuple(
      {ofData(values, source.dtype),
       ofData(emitter.emitCast(positions, DType::I32, DType::Index, location), DType::Index)});
}

/// An element that is no bin is not counted: -1 stands for it.
SemValue OrderCalls::callHistogram(std::vector<Arg> &args, Range range) {
  const SemValue &source = args[0].value;
  if (!source.isData() || !isInteger(source.dtype)) {
    here.error(diag::wrongOperand, args[0].range, "'histogram'", "integers", describe(source));
    return SemValue::error();
  }
  std::optional<int64_t> count =
      expressions.constInt(args[1].value, args[1].range, "the number of bins");
  if (!count || !conversions.checkShape({*count}, args[1].range))
    return SemValue::error();
  Location location = emitter.loc(range);
  // As i32, where what is no bin stays none: of wider integers these become -1.
  DType dtype = source.dtype;
  mlir::Value x = emitter.emitReshape(
      ssaOf(source), source.rank() ? source.shape() : ArrayRef<int64_t>{1}, location);
  if (bitWidth(dtype) > 32) {
    x = emitter.emitCast(x, dtype, DType::I64, location);
    mlir::Value none = filled(builder, x.getType(), APInt::getAllOnes(64), location);
    mlir::Value isBin = builder.createOrFold<arith::CmpIOp>(
        location, arith::CmpIPredicate::ult, x,
        filled(builder, x.getType(), uint64_t(*count), location));
    x = builder.createOrFold<arith::SelectOp>(location, isBin, x, none);
    dtype = DType::I64;
  }
  x = emitter.emitCast(x, dtype, DType::I32, location);
  if (const Arg *given = named(args, "mask")) {
    bool isBool =
        given->value.isBoolNumber() || (given->value.isData() && given->value.dtype == DType::Bool);
    if (!isBool) {
      here.error(diag::wrongOperand, given->range, "mask:", "a bool tile", describe(given->value));
      return SemValue::error();
    }
    mlir::Value mask = conversions.toDtype(given->value, DType::Bool, given->range);
    Arg pair[] = {{ofData(x, DType::I32), args[0].range, ""},
                  {ofData(mask, DType::Bool), given->range, ""}};
    if (!conversions.unifyShapes(pair, given->range))
      return SemValue::error();
    x = ssaOf(pair[0].value);
    mlir::Value none = filled(builder, x.getType(), APInt::getAllOnes(32), location);
    x = builder.createOrFold<arith::SelectOp>(location, ssaOf(pair[1].value), x, none);
  }
  auto type = RankedTensorType::get({*count}, builder.getI32Type());
  return ofData(HistogramOp::create(builder, location, type, x), DType::I32);
}

SemValue OrderCalls::callOrder(const Builtin &builtin, std::vector<Arg> &args, Range range) {
  StringRef name = builtin.name;
  return name == "sort"   ? callSort(args, range)
         : name == "topk" ? callTopk(args, range)
                          : callHistogram(args, range);
}
