// Conversion between numbers and the bits of a dtype.
//
//   sign | exponent | mantissa          value = (-1)^sign * 1.mantissa * 2^(exponent - bias)
//   exponent 0: subnormal               value = 0.mantissa * 2^(1 - bias)
//   top exponent: infinity and NaN, or numbers and one NaN (f8e4m3)
//
// The same results as the compiler's conversions: what a host encodes and a kernel computes can be
// compared to the bit. Formats come from the table of dtypes.
#include "manifest/Encode.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tile::runtime {

namespace {
/// A binary float: exponent and mantissa bits behind a sign.
struct Format {
  int exponent, mantissa;
  bool hasInfinity; // or the top exponent holds numbers, and one NaN
};
} // namespace

static std::optional<Format> formatOf(Dtype dtype) {
  switch (dtype) {
#define FLOAT(name, exponent, mantissa, infinity, ...)                                             \
  case Dtype::name:                                                                                \
    return Format{exponent, mantissa, bool(infinity)};
#include "manifest/Dtypes.def"
  default:
    return std::nullopt;
  }
}

/// Rounds once, to nearest even. Formats of 8 bits saturate at their largest number, others become
/// infinite.
uint64_t encodeFloat(double value, Dtype dtype) {
  if (dtype == Dtype::F64) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  if (dtype == Dtype::F32) {
    float narrow = float(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    return bits;
  }
  std::optional<Format> format = formatOf(dtype);
  if (!format)
    return 0;
  uint64_t sign = uint64_t(std::signbit(value)) << (format->exponent + format->mantissa);
  uint64_t top = (uint64_t(1) << format->exponent) - 1;
  uint64_t infinity = top << format->mantissa;
  uint64_t largest =
      format->hasInfinity ? infinity - 1 : (infinity | ((uint64_t(1) << format->mantissa) - 2));
  bool saturates = dtypeBits(dtype) == 8;
  if (std::isnan(value))
    return sign |
           (format->hasInfinity ? infinity | (uint64_t(1) << (format->mantissa - 1)) : largest + 1);
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | (saturates ? largest : infinity);
  if (magnitude == 0)
    return sign;
  int bias = (1 << (format->exponent - 1)) - 1;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place this is exact, so that nearbyint rounds once, to even.
  double units = std::nearbyint(std::ldexp(magnitude, format->mantissa - exponent));
  // A carry into the exponent, and the step from subnormal to normal, are plain additions on the
  // bits.
  uint64_t bits = (uint64_t(exponent + bias - 1) << format->mantissa) + uint64_t(units);
  if (bits > largest)
    bits = saturates ? largest : infinity;
  return sign | bits;
}

double decodeFloat(uint64_t bits, Dtype dtype) {
  if (dtype == Dtype::F64) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (dtype == Dtype::F32) {
    uint32_t low = uint32_t(bits);
    float value;
    std::memcpy(&value, &low, sizeof value);
    return value;
  }
  std::optional<Format> format = formatOf(dtype);
  if (!format)
    return 0;
  int bias = (1 << (format->exponent - 1)) - 1;
  uint64_t mantissa = bits & ((uint64_t(1) << format->mantissa) - 1);
  uint64_t exponent = (bits >> format->mantissa) & ((uint64_t(1) << format->exponent) - 1);
  uint64_t top = (uint64_t(1) << format->exponent) - 1;
  double value;
  if (exponent == top && format->hasInfinity)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (exponent == top && mantissa == (uint64_t(1) << format->mantissa) - 1)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(double(mantissa), 1 - bias - format->mantissa);
  else
    value = std::ldexp(double(mantissa | (uint64_t(1) << format->mantissa)),
                       int(exponent) - bias - format->mantissa);
  return (bits >> (format->exponent + format->mantissa)) & 1 ? -value : value;
}

/// None with a reason for a value that the dtype does not have: only floats round.
std::optional<uint64_t> encode(const Constant &value, Dtype dtype, std::string &error) {
  double number = 0;
  if (auto *flag = std::get_if<bool>(&value))
    number = *flag;
  else if (auto *integer = std::get_if<int64_t>(&value))
    number = double(*integer);
  else if (auto *large = std::get_if<uint64_t>(&value)) {
    if (dtype == Dtype::U64)
      return *large;
    number = double(*large);
  } else if (auto *real = std::get_if<double>(&value))
    number = *real;
  else {
    error = "expected a number, found '" + toString(value) + "'";
    return std::nullopt;
  }
  bool nibble = dtype == Dtype::I4 || dtype == Dtype::U4;
  if (!isIntegral(dtype) && !nibble)
    return encodeFloat(number, dtype);

  bool isSigned = dtype == Dtype::I4 || (dtype >= Dtype::I8 && dtype <= Dtype::I64);
  unsigned width = dtype == Dtype::Bool ? 1 : dtypeBits(dtype);
  double low = isSigned ? -std::ldexp(1.0, int(width) - 1) : 0,
         end = std::ldexp(1.0, int(width) - isSigned);
  if (!(number >= low && number < end) || number != std::floor(number)) {
    // The end of the 64-bit range rounds up as a double; an exact integer still fits there.
    bool exact = std::holds_alternative<int64_t>(value) && width == 64 && number >= low;
    if (!exact) {
      error = toString(value) + " is no value of " + std::string(dtypeName(dtype));
      return std::nullopt;
    }
  }
  uint64_t bits = std::holds_alternative<int64_t>(value) ? uint64_t(std::get<int64_t>(value))
                  : number < 0                           ? uint64_t(int64_t(number))
                                                         : uint64_t(number);
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

/// None for what 64 bits with a sign do not hold, and for dtypes that are no integers. Higher bits
/// of `bits` do not count.
std::optional<int64_t> decodeInteger(uint64_t bits, Dtype dtype) {
  switch (dtype) {
  case Dtype::Bool:
    return (bits & 0xff) != 0;
  case Dtype::I8:
    return int8_t(bits);
  case Dtype::I16:
    return int16_t(bits);
  case Dtype::I32:
    return int32_t(bits);
  case Dtype::I64:
    return int64_t(bits);
  case Dtype::U8:
    return uint8_t(bits);
  case Dtype::U16:
    return uint16_t(bits);
  case Dtype::U32:
    return uint32_t(bits);
  case Dtype::U64:
    return bits >> 63 ? std::nullopt : std::optional(int64_t(bits));
  default:
    return std::nullopt;
  }
}

} // namespace tile::runtime
