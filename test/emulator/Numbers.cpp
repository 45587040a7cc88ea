// Conversions between the number formats of PTX, one general routine for each direction.
#include "test/emulator/Numbers.h"

namespace emu {

double decodeFloat(uint32_t bits, const Format &f) {
  uint32_t sign = bits >> (f.exponent + f.mantissa) & 1,
           exponent = bits >> f.mantissa & ((1u << f.exponent) - 1),
           fraction = bits & ((1u << f.mantissa) - 1), top = (1u << f.exponent) - 1;
  int bias = (1 << (f.exponent - 1)) - 1;
  double value;
  if (exponent == top && (f.finite ? fraction == (1u << f.mantissa) - 1 : fraction != 0))
    return NAN;
  if (exponent == top && !f.finite)
    value = INFINITY;
  else if (exponent == 0)
    value = std::ldexp(double(fraction), 1 - bias - f.mantissa);
  else
    value = std::ldexp(double(fraction + (1u << f.mantissa)), int(exponent) - bias - f.mantissa);
  return sign ? -value : value;
}

double roundToIntegral(double value, Round round) {
  switch (round) {
  case Round::Nearest:
    return std::nearbyint(value);
  case Round::Zero:
    return std::trunc(value);
  case Round::Down:
    return std::floor(value);
  case Round::Up:
    return std::ceil(value);
  case Round::Away:
    return std::round(value);
  }
  return value;
}

uint32_t encodeFloat(double value, const Format &f, Round round, bool saturate) {
  int bias = (1 << (f.exponent - 1)) - 1;
  uint32_t top = (1u << f.exponent) - 1, sign = uint32_t(std::signbit(value))
                                                << (f.exponent + f.mantissa);
  uint32_t largest =
      f.finite ? (top << f.mantissa) + (1u << f.mantissa) - 2 : (top << f.mantissa) - 1;
  if (value != value)
    return (1u << (f.exponent + f.mantissa)) - 1;
  double magnitude = std::fabs(value);
  if (std::signbit(value) && round == Round::Down)
    round = Round::Up;
  else if (std::signbit(value) && round == Round::Up)
    round = Round::Down;
  uint32_t infinite = f.finite ? (1u << (f.exponent + f.mantissa)) - 1 : top << f.mantissa;
  if (magnitude == 0)
    return sign;
  if (std::isinf(magnitude))
    return sign | (saturate ? largest : infinite);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  double units = roundToIntegral(std::ldexp(magnitude, f.mantissa - exponent), round);
  // The implicit bit is added to the exponent; a carry out of the mantissa goes there by itself.
  uint64_t code = (uint64_t(exponent + bias - 1) << f.mantissa) + uint64_t(units);
  if (code > largest)
    return sign | (saturate || round == Round::Zero || round == Round::Down ? largest : infinite);
  return sign | uint32_t(code);
}

float halfToFloatSlow(uint16_t bits) {
  double value = decodeFloat(bits, half);
  return value == value ? float(value) : bitsOf<float>(canonicalNaN);
}

uint32_t encodeTf32(float value, Round round) {
  uint32_t bits = bitsOf<uint32_t>(value);
  if (value != value)
    return canonicalNaN;
  if (std::isinf(value))
    return bits;
  if (round == Round::Away)
    bits += 0x1000u;
  else if (round == Round::Nearest)
    bits += 0xFFFu + (bits >> 13 & 1);
  return bits & ~0x1FFFu;
}

double addToOdd(double p, double c) {
  double sum = p + c, part = sum - p, error = (p - (sum - part)) + (c - part);
  if (error == 0 || !std::isfinite(sum))
    return sum;
  uint64_t bits = bitsOf<uint64_t>(sum);
  if (bits & 1)
    return sum;
  // The even neighbour was taken: go towards the exact sum, which lies beside it.
  bool outwards = (error > 0) == (sum > 0);
  return bitsOf<double>(outwards ? bits + 1 : bits - 1);
}

} // namespace emu
