// Conversions of operands: to a dtype, to one dtype and shape with others.
//
//   1.5 * x, x of f16     a number has no dtype: it takes that of what it meets, if it fits
//   let y = 1.5           alone it becomes f32, an integer index (toData)
//   i32 + index           widens to index, since nothing is lost
//   f16 * f32             refused, with a note: `as` converts
//
// Each function returns a null value, an error value or false after it has reported the reason.
#include "frontend/Lower/Lowering.h"
#include "frontend/Sema/TypeRules.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace tile;

/// `value` rounded once to the nearest even of `type`; 8-bit floats saturate to finite.
/// Once: a number in the source has the precision of a double, and rounding it to f32 first would
/// round f16 twice.
static llvm::APFloat roundTo(llvm::APFloat value, FloatType type) {
  if (type.getWidth() == 8)
    return roundToFloat8(value, type.getFloatSemantics());
  bool losesInfo;
  value.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

mlir::Value Conversions::toDtype(const SemValue &value, DType dtype, Range range) {
  if (value.isError())
    return {};
  if (value.isData()) {
    if (widensTo(value.dtype, dtype))
      return emitter.emitCast(ssaOf(value), value.dtype, dtype, emitter.loc(range));
    operands.reportUnfit(value, dtype, range);
    return {};
  }
  if (value.kind == SemValue::Kind::List) {
    SemValue tile = tables.listToTile(value, dtype, range);
    return tile.isError() ? mlir::Value() : ssaOf(tile);
  }
  if (!value.isNumber() || !fitsDtype(value.number, dtype)) {
    operands.reportUnfit(value, dtype, range);
    return {};
  }
  Location location = emitter.loc(range);
  Type type = toType(dtype, context);
  if (auto floatType = dyn_cast<FloatType>(type)) {
    llvm::APFloat number(floatType.getFloatSemantics());
    if (value.isInt())
      number.convertFromAPInt(APInt(64, uint64_t(value.getInt()), true), true,
                              llvm::APFloat::rmNearestTiesToEven);
    else
      number = roundTo(llvm::APFloat(std::get<double>(value.number)), floatType);
    return emitter.constant(FloatAttr::get(floatType, number), location);
  }
  int64_t integer = value.isInt() ? value.getInt() : value.getBool();
  return emitter.constant(
      IntegerAttr::get(type, APInt(64, uint64_t(integer), true).trunc(bitWidth(dtype))), location);
}

SemValue Conversions::toData(const SemValue &value, Range range) {
  if (value.isData() || value.isError())
    return value;
  if (value.kind == SemValue::Kind::List)
    return tables.listToTile(value, std::nullopt, range);
  DType dtype = dtypeOfNumber(value);
  mlir::Value data = toDtype(value, dtype, range);
  return data ? ofData(data, dtype) : SemValue::error();
}

mlir::Value Conversions::toIndex(const SemValue &value, Range range, const Twine &what) {
  if (value.isError())
    return {};
  if (operands.isIndex(value, range, what))
    return toDtype(value, DType::Index, range);
  return {};
}

bool Conversions::unifyDtypes(MutableArrayRef<Arg> args, const Twine &what, Range range) {
  CommonDtype common = findCommonDtype(args);
  if (common.problem != CommonDtype::Problem::None) {
    operands.reportDtypes(common, args, what, range);
    return false;
  }
  for (Arg &each : args) {
    mlir::Value converted = toDtype(each.value, common.dtype, each.range);
    if (!converted)
      return false;
    each.value = ofData(converted, common.dtype);
  }
  return true;
}

/// Scalars count as shape []: they are repeated to any other.
bool Conversions::unifyShapes(MutableArrayRef<Arg> args, Range range) {
  CommonShape common = findCommonShape(args);
  if (!common.shape) {
    operands.reportShapes(common, args, range);
    return false;
  }
  if (!checkShape(*common.shape, range))
    return false;
  for (Arg &arg : args)
    arg.value =
        ofData(emitter.emitBroadcast(ssaOf(arg.value), *common.shape, emitter.loc(arg.range)),
               arg.value.dtype);
  return true;
}

SemValue Conversions::castTo(const SemValue &value, DType to, Range range) {
  if (value.kind == SemValue::Kind::List) {
    SemValue tile = tables.listToTile(value, std::nullopt, range);
    return tile.isError() ? tile : castTo(tile, to, range);
  }
  // Folded here, with the rules of the conversion of a value: numbers have no SSA value yet.
  if (value.isNumber()) {
    // A number converts as a value of its own kind: rounded, truncated and saturated like any
    // other.
    Location location = emitter.loc(range);
    if (value.isBoolNumber() || (value.isInt() && isInteger(to))) {
      int64_t integer = value.isInt() ? value.getInt() : value.getBool();
      if (value.isBoolNumber() && to == DType::Bool)
        return ofData(
            emitter.constant(builder.getIntegerAttr(toType(to, context), integer), location), to);
      if (isInteger(to))
        return ofData(emitter.constant(
                          IntegerAttr::get(toType(to, context),
                                           APInt(64, uint64_t(integer), true).trunc(bitWidth(to))),
                          location),
                      to);
    }
    if (auto type = dyn_cast<FloatType>(toType(to, context))) {
      // Every 64-bit integer is exact in 128 bits.
      llvm::APFloat exact(llvm::APFloat::IEEEquad());
      int64_t integer = value.isInt() ? value.getInt() : value.isBoolNumber() ? value.getBool() : 0;
      exact.convertFromAPInt(APInt(64, uint64_t(integer), true), true,
                             llvm::APFloat::rmNearestTiesToEven);
      if (value.isFloatNumber())
        exact = llvm::APFloat(std::get<double>(value.number));
      return ofData(emitter.constant(FloatAttr::get(type, roundTo(exact, type)), location), to);
    }
    if (value.isFloatNumber() && isInteger(to)) {
      unsigned bits = bitWidth(to);
      llvm::APSInt integer(bits, isUnsigned(to));
      bool exact;
      llvm::APFloat number(std::get<double>(value.number));
      if (!number.isNaN())
        number.convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact); // saturates
      return ofData(
          emitter.constant(IntegerAttr::get(toType(to, context), llvm::APInt(integer)), location),
          to);
    }
  }
  if (!isCastable(value, to)) {
    operands.reportCast(value, to, range);
    return SemValue::error();
  }
  return ofData(emitter.emitCast(ssaOf(value), value.dtype, to, emitter.loc(range)), to);
}
