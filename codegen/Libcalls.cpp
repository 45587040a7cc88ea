// The conversions by integer arithmetic: exact, rounding to nearest even, keeping NaN. A 16-bit
// float travels in the low bits of a float register, as the calling conventions of x86-64 and
// AArch64 have it, so that any C++ compiler can build this.
#include "codegen/Libcalls.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tile {

static uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// `value` as the nearest number with `fractionBits` of fraction and `exponentBits` of exponent,
/// ties to even.
/// Doubles hold each float and each 16-bit float exactly, so one rounding is all there is.
static uint32_t roundTo(double value, int fractionBits, int exponentBits) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  uint32_t sign = uint32_t(bits >> 63) << (fractionBits + exponentBits);
  // A NaN keeps the upper bits of its payload and becomes quiet.
  uint32_t infinity = ((1u << exponentBits) - 1) << fractionBits;
  int bias = (1 << (exponentBits - 1)) - 1;
  if (std::isnan(value))
    return sign | infinity | (1u << (fractionBits - 1)) |
           (uint32_t(bits >> (52 - fractionBits)) & ((1u << (fractionBits - 1)) - 1));
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | infinity;
  int exponent = magnitude == 0 ? -bias : std::max(std::ilogb(magnitude), 1 - bias);
  // In units of the last place the magnitude is exact as a double, and nearbyint rounds it to even.
  if (magnitude == 0)
    return sign;
  double units = std::nearbyint(std::ldexp(magnitude, fractionBits - exponent));
  auto significand = uint64_t(units);
  uint64_t result = significand < (uint64_t(1) << fractionBits)
                        ? significand // subnormal
                        : significand + (uint64_t(exponent + bias - 1) << fractionBits);
  return sign | (result >= infinity ? infinity : uint32_t(result));
}

static float extendHalf(float carrier) {
  uint32_t half = bitsOf(carrier) & 0xffff, sign = (half & 0x8000) << 16,
           exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 31)
    return floatOf(sign | 0x7f800000 | (fraction << 13) | (fraction ? 0x400000 : 0));
  if (exponent == 0) {
    float value = std::ldexp(float(fraction), -24);
    return floatOf(sign | bitsOf(value));
  }
  return floatOf(sign | ((exponent + 112) << 23) | (fraction << 13));
}

static float truncateToHalf(float value) { return floatOf(roundTo(value, 10, 5)); }
static float truncateDoubleToHalf(double value) { return floatOf(roundTo(value, 10, 5)); }
static float truncateDoubleToBfloat(double value) { return floatOf(roundTo(value, 7, 8)); }

static float truncateToBfloat(float value) {
  uint32_t bits = bitsOf(value);
  if (std::isnan(value))
    return floatOf((bits >> 16) | 0x40);
  // Adds just under half of the last place, and the last bit itself: ties go to even, and a carry
  // into the exponent is right.
  return floatOf((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

llvm::ArrayRef<Libcall> getLibcalls() {
  static const Libcall calls[] = {
      {"__extendhfsf2", reinterpret_cast<void *>(extendHalf)},
      {"__truncsfhf2", reinterpret_cast<void *>(truncateToHalf)},
      {"__truncdfhf2", reinterpret_cast<void *>(truncateDoubleToHalf)},
      {"__truncsfbf2", reinterpret_cast<void *>(truncateToBfloat)},
      {"__truncdfbf2", reinterpret_cast<void *>(truncateDoubleToBfloat)},
  };
  return calls;
}

} // namespace tile
