/* Values of expressions and scalars, in the launcher's core. An expression is code for a stack of
 * TK_STACK values, in postfix; cdiv(N + 1, 4) is
 *
 *   TK_NAME slot of N   TK_INTEGER 1   TK_ADD   TK_INTEGER 4   TK_CDIV
 *
 * A result that does not fit 64 bits sets *overflow and goes on: who asks reports it, and no
 * launch is computed from such a number. */
#include "launch/core/Core.h"

#include <string.h>

static int64_t tk_next_pow2(int64_t a, int *overflow) {
  if (a <= 1)
    return 1;
  if (a > INT64_C(1) << 62) {
    *overflow = 1;
    return 0;
  }
  return INT64_C(1) << (64 - __builtin_clzll((unsigned long long)(a - 1)));
}

TK_CORE int64_t tk_apply(int op, int64_t a, int64_t b, int *overflow) {
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

TK_CORE double tk_float(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
TK_CORE int64_t tk_float_bits(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

TK_CORE int64_t tk_apply_floats(int op, int64_t a_bits, int64_t b_bits, int *overflow) {
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

TK_CORE int64_t tk_run_code(const tk_kernel *k, const tk_expr *e, const int64_t *values,
                            int *overflow) {
  int64_t stack[TK_STACK];
  int top = 0, wrong = 0;
  /* Most are two operands and an operator: cdiv(N, 128), N % 8. */
  const tk_instruction *first_three = &k->code[e->begin];
  if (e->end - e->begin == 3 && !first_three[2].operand && first_three[1].op <= TK_NAME)
    return tk_apply(
        first_three[2].op,
        first_three[0].op == TK_NAME ? values[first_three[0].operand] : first_three[0].operand,
        first_three[1].op == TK_NAME ? values[first_three[1].operand] : first_three[1].operand,
        overflow);
  for (int i = e->begin; i < e->end; ++i) {
    const tk_instruction *n = &k->code[i];
    if (n->op == TK_INTEGER) {
      stack[top++] = n->operand;
    } else if (n->op == TK_NAME) {
      stack[top++] = values[n->operand];
    } else if (n->op == TK_FLOAT) {
      int64_t *integer = &stack[top - 1 - n->operand];
      *integer = tk_float_bits((double)*integer);
    } else {
      int64_t second = n->operand & TK_UNARY ? 0 : stack[--top], *first = &stack[top - 1];
      *first = n->operand & TK_ON_FLOATS ? tk_apply_floats(n->op, *first, second, &wrong)
                                         : tk_apply(n->op, *first, second, &wrong);
      if (wrong)
        break;
    }
  }
  *overflow |= wrong;
  return stack[0];
}

/* The value of a float: a sign, bits of an exponent whose bias is half of its range, a mantissa.
 * Without infinity the top exponent holds numbers, and all ones are NaN. */
static double tk_decode_float(uint64_t bits, int dtype) {
  static const struct {
    int dtype, exponent, mantissa, infinity;
  } formats[] = {
      /* Written from manifest/Dtypes.def. */
      {TILE_F16, 5, 10, 1},  {TILE_BF16, 8, 7, 1},   {TILE_F32, 8, 23, 1},
      {TILE_F64, 11, 52, 1}, {TILE_F8E4M3, 4, 3, 0}, {TILE_F8E5M2, 5, 2, 1},
  };
  uint64_t magnitude, top, digits;
  int64_t exponent;
  int i = (int)(sizeof formats / sizeof *formats) - 1, bias;
  double value;
  if (dtype == TILE_F64)
    return tk_float((int64_t)bits);
  while (i && formats[i].dtype != dtype)
    --i;
  magnitude = bits & ((UINT64_C(1) << (formats[i].exponent + formats[i].mantissa)) - 1);
  top = (UINT64_C(1) << formats[i].exponent) - 1;
  bias = (int)(top >> 1);
  exponent = (int64_t)(magnitude >> formats[i].mantissa);
  digits = magnitude & ((UINT64_C(1) << formats[i].mantissa) - 1);
  if (formats[i].infinity ? exponent == (int64_t)top && digits
                          : magnitude == (top + 1) * (UINT64_C(1) << formats[i].mantissa) - 1)
    return tk_float(INT64_C(0x7ff8000000000000));
  if (formats[i].infinity && exponent == (int64_t)top)
    value = tk_float(INT64_C(0x7ff0000000000000));
  else {
    digits |= (uint64_t)(exponent != 0) << formats[i].mantissa;
    exponent += (exponent == 0) - bias - formats[i].mantissa;
    value = (double)digits * tk_float((exponent + 1023) * (INT64_C(1) << 52));
  }
  return bits >> (formats[i].exponent + formats[i].mantissa) & 1 ? -value : value;
}

TK_CORE int64_t tk_decode(uint64_t bits, int dtype) {
  switch (dtype) {
  case TILE_BOOL:
    return (bits & 255) != 0;
  case TILE_I8:
    return (int8_t)bits;
  case TILE_I16:
    return (int16_t)bits;
  case TILE_I32:
    return (int32_t)bits;
  case TILE_U8:
    return (uint8_t)bits;
  case TILE_U16:
    return (uint16_t)bits;
  case TILE_U32:
    return (uint32_t)bits;
  case TILE_I64:
  case TILE_U64:
    return (int64_t)bits;
  default:
    return tk_float_bits(tk_decode_float(bits, dtype));
  }
}
