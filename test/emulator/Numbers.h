// The number formats of PTX on the host: 16-bit and 8-bit floats, tf32, NaNs and rounding as the
// ISA defines them.
#ifndef TILE_TEST_EMULATOR_NUMBERS_H
#define TILE_TEST_EMULATOR_NUMBERS_H

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace emu {

template <class To, class From> To bitsOf(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits of equal number");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// A binary format below 32 bits. `finite`: it has no infinities, as e4m3.
struct Format {
  int exponent, mantissa;
  bool finite;
};
constexpr Format half{5, 10, false}, brain{8, 7, false}, e4m3{4, 3, true}, e5m2{5, 2, false};

double decodeFloat(uint32_t bits, const Format &format);
enum class Round { Nearest, Zero, Down, Up, Away };
/// Rounds to the format. Beyond its largest number: that number where `saturate` is set or the
/// rounding says so, else infinity (NaN where there is none). NaNs become the canonical one.
uint32_t encodeFloat(double value, const Format &format, Round round, bool saturate);
/// tf32 in the bits of an f32, rounded to nearest, ties away from zero or to even.
uint32_t encodeTf32(float value, Round round);
/// a * b + c, rounded so that one more rounding to at most 25 bits gives the exact sum's rounding:
/// to odd. The product must be exact in double.
double addToOdd(double product, double c);
/// Rounds to an integer.
double roundToIntegral(double value, Round round);

float halfToFloatSlow(uint16_t bits);
inline float halfToFloat(uint16_t h) {
  uint32_t magnitude = h & 0x7FFFu;
  if (magnitude - 0x400u >= 0x7800u) // subnormal, infinite or NaN
    return halfToFloatSlow(h);
  return bitsOf<float>((uint32_t(h & 0x8000u) << 16) | ((magnitude << 13) + 0x38000000u));
}
inline float brainToFloat(uint16_t b) { return bitsOf<float>(uint32_t(b) << 16); }
inline uint16_t floatToBrain(float value) {
  uint32_t bits = bitsOf<uint32_t>(value);
  if (value != value)
    return 0x7FFF;
  return uint16_t((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}
inline uint16_t floatToHalf(float value) {
  uint32_t bits = bitsOf<uint32_t>(value), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude - 0x38800000u >= 0x47000000u - 0x38800000u) // no normal f16
    return uint16_t(encodeFloat(value, half, Round::Nearest, false));
  uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1);
  return uint16_t((bits >> 16 & 0x8000u) | ((rounded - 0x38000000u) >> 13));
}

constexpr uint32_t canonicalNaN = 0x7FFFFFFFu;
inline float canonical(float value) { return value == value ? value : bitsOf<float>(canonicalNaN); }
/// Subnormal numbers as zeros of their sign.
inline float flush(float value) {
  return std::fabs(value) < FLT_MIN ? std::copysign(0.0f, value) : value;
}

/// What 16 bits hold, as types for templates.
struct F16 {
  static float load(uint16_t bits) { return halfToFloat(bits); }
  static uint16_t store(double value) {
    return uint16_t(encodeFloat(value, half, Round::Nearest, false));
  }
  static uint16_t store(float value) { return floatToHalf(value); }
};
struct BF16 {
  static float load(uint16_t bits) { return brainToFloat(bits); }
  static uint16_t store(double value) {
    return uint16_t(encodeFloat(value, brain, Round::Nearest, false));
  }
  static uint16_t store(float value) { return floatToBrain(value); }
};

} // namespace emu

#endif
