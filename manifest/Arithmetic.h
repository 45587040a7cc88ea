/* The arithmetic of contracts, grids and extents: operators, and what they give on integers of 64
 * bits and on floats. One text, in C11 that is C++ too: the compiler evaluates by it what is known
 * at compile time, the launcher's core what a call brings, and generated C carries it.
 *
 *   x / 0 is 0, x % 0 is x      quotients round toward zero
 *   NaN wins in min and max     -0 is less than +0, as in a kernel */
#ifndef TILE_MANIFEST_ARITHMETIC_H
#define TILE_MANIFEST_ARITHMETIC_H

#include <stdint.h>
#include <string.h>

/* Of an expression in postfix: operands, then what is done with them. */
typedef enum {
  TK_INTEGER,
  TK_NAME,
  TK_ADD,
  TK_SUB,
  TK_MUL,
  TK_DIV,
  TK_REM,
  TK_CDIV,
  TK_MIN,
  TK_MAX,
  TK_NEXT_POW2,
  TK_NEG,
  TK_EQ,
  TK_NE,
  TK_LT,
  TK_LE,
  TK_GT,
  TK_GE,
  TK_AND,
  TK_OR,
  TK_NOT,
  TK_FLOAT /* makes the operand so far below the top a float */
} tk_op;

static inline __attribute__((unused)) double tk_float(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline __attribute__((unused)) int64_t tk_float_bits(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline __attribute__((unused)) int64_t tk_next_pow2(int64_t a, int *overflow) {
  if (a <= 1)
    return 1;
  if (a > INT64_C(1) << 62) {
    *overflow = 1;
    return 0;
  }
  return INT64_C(1) << (64 - __builtin_clzll((unsigned long long)(a - 1)));
}

/* On integers. *overflow is set where a result does not fit. */
static inline __attribute__((unused)) int64_t tk_apply(int op, int64_t a, int64_t b,
                                                       int *overflow) {
  int64_t r = 0;
  switch (op) {
  case TK_ADD:
    *overflow |= __builtin_add_overflow(a, b, &r);
    return r;
  case TK_SUB:
    *overflow |= __builtin_sub_overflow(a, b, &r);
    return r;
  case TK_MUL:
    *overflow |= __builtin_mul_overflow(a, b, &r);
    return r;
  case TK_NEG:
    *overflow |= __builtin_sub_overflow((int64_t)0, a, &r);
    return r;
  case TK_DIV:
  case TK_CDIV:
    if (b == 0)
      return 0;
    if (b == -1)
      return tk_apply(TK_NEG, a, 0, overflow);
    return a / b + (op == TK_CDIV && a % b != 0 && (a < 0) == (b < 0));
  case TK_REM:
    return b == 0 ? a : b == -1 ? 0 : a % b;
  case TK_MIN:
    return a < b ? a : b;
  case TK_MAX:
    return a > b ? a : b;
  case TK_NEXT_POW2:
    return tk_next_pow2(a, overflow);
  case TK_EQ:
    return a == b;
  case TK_NE:
    return a != b;
  case TK_LT:
    return a < b;
  case TK_LE:
    return a <= b;
  case TK_GT:
    return a > b;
  case TK_GE:
    return a >= b;
  case TK_AND:
    return a && b;
  case TK_OR:
    return a || b;
  case TK_NOT:
    return !a;
  default:
    *overflow = 1;
    return 0;
  }
}

/* On the bits of doubles, as tk_float_bits gives them; conditions give 0 or 1. *overflow is set for
 * operators that floats do not have. */
static inline __attribute__((unused)) int64_t tk_apply_floats(int op, int64_t a_bits,
                                                              int64_t b_bits, int *overflow) {
  double a = tk_float(a_bits), b = tk_float(b_bits);
  int unordered = a != a || b != b;
  switch (op) {
  case TK_ADD:
    return tk_float_bits(a + b);
  case TK_SUB:
    return tk_float_bits(a - b);
  case TK_MUL:
    return tk_float_bits(a * b);
  case TK_DIV:
    return tk_float_bits(a / b);
  case TK_NEG:
    return tk_float_bits(-a);
  case TK_MIN: /* -0 is less than +0, as in a kernel */
    return tk_float_bits(unordered ? a + b : a < b || (a == b && a_bits < 0) ? a : b);
  case TK_MAX:
    return tk_float_bits(unordered ? a + b : a > b || (a == b && a_bits >= 0) ? a : b);
  case TK_EQ:
    return a == b;
  case TK_NE:
    return a != b;
  case TK_LT:
    return a < b;
  case TK_LE:
    return a <= b;
  case TK_GT:
    return a > b;
  case TK_GE:
    return a >= b;
  default:
    *overflow = 1;
    return 0;
  }
}

#endif
