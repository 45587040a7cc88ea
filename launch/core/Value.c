/* Values of expressions and scalars, in the launcher's core. An expression is code for a stack of
 * TK_STACK values, in postfix; cdiv(N + 1, 4) is
 *
 *   TK_NAME slot of N   TK_INTEGER 1   TK_ADD   TK_INTEGER 4   TK_CDIV
 *
 * A result that does not fit 64 bits sets *overflow and goes on: who asks reports it, and no
 * launch is computed from such a number. */
#include "launch/core/Core.h"

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
