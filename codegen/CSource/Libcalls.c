/* Part of generated C for the CPU: conversions that LLVM calls by name where the processor and
 * libgcc lack them. By integer arithmetic: exact, rounding to nearest even, keeping NaN. A 16-bit
 * float travels in the low bits of a float register. */

static uint32_t tk_single_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static float tk_single(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
/* `bits` of a double as a float of that many bits of fraction and exponent. */
static uint32_t tk_round(uint64_t bits, int fraction_bits, int exponent_bits) {
  uint32_t sign = (uint32_t)(bits >> 63) << (fraction_bits + exponent_bits);
  uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(bits >> 52 & 2047) - 1023, drop;
  uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52, kept, rest, half;
  if (exponent == 1024) /* infinity or NaN */
    return (bits << 12)
               ? sign | infinity | 1u << (fraction_bits - 1) |
                     ((uint32_t)(bits >> (52 - fraction_bits)) & ((1u << (fraction_bits - 1)) - 1))
               : sign | infinity;
  if (exponent == -1023) /* zero, or too small for any of these formats */
    return sign;
  drop = 52 - fraction_bits + (exponent < 1 - bias ? 1 - bias - exponent : 0);
  if (drop > 53)
    return sign;
  kept = significand >> drop;
  rest = significand & ((UINT64_C(1) << drop) - 1);
  half = UINT64_C(1) << (drop - 1);
  kept += rest > half || (rest == half && (kept & 1));
  if (exponent >= 1 - bias)
    kept += (uint64_t)(exponent + bias - 1) << fraction_bits;
  return sign | (kept >= infinity ? infinity : (uint32_t)kept);
}
static uint64_t tk_double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#ifdef __cplusplus
extern "C" {
#endif
#define TK_WEAK __attribute__((weak, visibility("hidden")))
TK_WEAK float __extendhfsf2(float);
TK_WEAK float __truncsfhf2(float);
TK_WEAK float __truncdfhf2(double);
TK_WEAK float __truncsfbf2(float);
TK_WEAK float __truncdfbf2(double);
float __extendhfsf2(float carrier) {
  uint32_t half = tk_single_bits(carrier) & 0xffff, sign = (half & 0x8000) << 16,
           exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31)
    return tk_single(sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0));
  if (exponent == 0)
    return tk_single(sign | tk_single_bits((float)fraction * (1.0f / 16777216.0f)));
  return tk_single(sign | (exponent + 112) << 23 | fraction << 13);
}
float __truncsfhf2(float value) {
  return tk_single(tk_round(tk_double_bits((double)value), 10, 5));
}
float __truncdfhf2(double value) { return tk_single(tk_round(tk_double_bits(value), 10, 5)); }
float __truncsfbf2(float value) { return tk_single(tk_round(tk_double_bits((double)value), 7, 8)); }
float __truncdfbf2(double value) { return tk_single(tk_round(tk_double_bits(value), 7, 8)); }
#ifdef __cplusplus
}
#endif
