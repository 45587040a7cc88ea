/* Part of generated C: what is known of each kernel, and the checks of a launch in the order that
 * the language defines. The compiler writes limits (TK_*) above this text and tables below it. */

typedef enum { TK_EXTENT, TK_PLUS, TK_TIMES, TK_STRIDE, TK_VALUE } tk_form;

/* A named dimension, named stride or scalar, and where it gets its value: of a float the bits as a
 * double. */
typedef struct {
  const char *name;
  int is_dim, is_float, form, param, axis;
  int64_t constant; /* TK_PLUS: extent = value + constant; TK_TIMES: extent = constant * value */
  int64_t min, max, multiple;
  const char *contract;
  int line;
} tk_slot;

/* A dimension of a tensor. Numbers of expressions; -1 for none. */
typedef struct {
  int extent, binds, stride;
} tk_axis;

typedef struct {
  const char *name;
  int kind, dtype, bits, access, rank;
  unsigned align;
  int line, dense, first_stride;
  int has_default;
  uint64_t default_bits;
  int fills;
  uint64_t fill_bits;
  const tk_axis *axes;
} tk_param;

/* An expression over slots: its text, and which slots it names. */
typedef struct {
  const char *text;
  int is_integer, slot; /* slot: where the whole expression is one name; else -1 */
  const int *names;
  int name_count;
} tk_expr;

typedef struct {
  int expr;
  const char *text;
  int line;
} tk_contract;

/* Part of the condition under which a variant is chosen: an expression, or (param >= 0) the
 * alignment of a tensor. */
typedef struct {
  int expr, param;
  unsigned align;
  const char *text;
  int line;
} tk_fact;

typedef enum { TK_ARG_PARAM, TK_ARG_DIM, TK_ARG_MAP, TK_ARG_SCRATCH } tk_argument_kind;
typedef struct {
  int kind, index;
} tk_argument;

/* How a kernel's copies by TMA see a tensor. */
typedef struct {
  int param, rank;
  unsigned order[5], box[5], swizzle;
} tk_map;

typedef struct {
  const char *name, *symbol, *signature, *file, *variant;
  int line, number, unit; /* which instance of its build, in which binary */
  int param_count, required;
  const tk_param *params;
  int slot_count;
  const tk_slot *slots;
  const tk_expr *exprs;
  int64_t (*eval)(int expr, const int64_t *values, int *overflow);
  int contract_count;
  const tk_contract *contracts;
  int fact_count;
  const tk_fact *facts;
  int grid_count;
  const int *grid;
  int argument_count;
  const tk_argument *arguments;
  int map_count;
  const tk_map *maps;
  const unsigned char *may_alias; /* params x params; NULL: none */
  unsigned threads, shared_bytes, scratch_bytes, cluster;
  int persistent, scratch_shared; /* shared: by all programs */
  void (*host)(const void *const *arguments, int64_t begin, int64_t end); /* on the CPU */
} tk_kernel;

/* What a launch does. */
typedef struct {
  int empty;
  int64_t programs, extents[TK_AXES], values[TK_SLOTS], strides[TK_STRIDES];
  uint64_t cells[TK_ARGUMENTS];
} tk_plan;

/* ---- Messages ---- */

static TK_THREAD char tk_text[4096];
static TK_THREAD size_t tk_length;

TK_UNUSED TK_FORMAT(1, 2) static void tk_say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  if (tk_length < sizeof tk_text) {
    int more = vsnprintf(tk_text + tk_length, sizeof tk_text - tk_length, format, list);
    tk_length += more > 0 ? (size_t)more : 0;
  }
  va_end(list);
}
TK_UNUSED static void tk_clear(void) {
  tk_length = 0;
  tk_text[0] = '\0';
}
/* Starts a message: "softmax: ". */
TK_UNUSED static void tk_about(const tk_kernel *k) {
  tk_clear();
  tk_say("%s: ", k->name);
}
/* Ends it with the source line. */
TK_UNUSED static tile_code tk_fail(const tk_kernel *k, tile_code code, int line) {
  if (line && k->file[0])
    tk_say(" (%s:%d)", k->file, line);
  return code;
}
TK_UNUSED static const char *tk_dtype_name(int dtype) {
  static const char *const names[] = {"bool", "i8",     "i16",    "i32", "i64",  "u8",
                                      "u16",  "u32",    "u64",    "f16", "bf16", "f32",
                                      "f64",  "f8e4m3", "f8e5m2", "i4",  "u4"};
  return dtype >= 0 && dtype < 17 ? names[dtype] : NULL;
}

/* ---- Arithmetic of contracts: 64-bit, x / 0 is 0, x % 0 is x; *overflow is set where the result
 * does not fit ---- */

TK_UNUSED static int64_t tk_add(int64_t a, int64_t b, int *overflow) {
  int64_t r = 0;
  *overflow |= __builtin_add_overflow(a, b, &r);
  return r;
}
TK_UNUSED static int64_t tk_sub(int64_t a, int64_t b, int *overflow) {
  int64_t r = 0;
  *overflow |= __builtin_sub_overflow(a, b, &r);
  return r;
}
TK_UNUSED static int64_t tk_mul(int64_t a, int64_t b, int *overflow) {
  int64_t r = 0;
  *overflow |= __builtin_mul_overflow(a, b, &r);
  return r;
}
TK_UNUSED static int64_t tk_div(int64_t a, int64_t b, int *overflow) {
  if (b == -1)
    return tk_sub(0, a, overflow);
  return b == 0 ? 0 : a / b;
}
TK_UNUSED static int64_t tk_rem(int64_t a, int64_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
TK_UNUSED static int64_t tk_cdiv(int64_t a, int64_t b, int *overflow) {
  int64_t quotient = tk_div(a, b, overflow);
  return b == 0 || b == -1 ? quotient : quotient + (a % b != 0 && (a < 0) == (b < 0));
}
TK_UNUSED static int64_t tk_min(int64_t a, int64_t b) { return a < b ? a : b; }
TK_UNUSED static int64_t tk_max(int64_t a, int64_t b) { return a > b ? a : b; }
TK_UNUSED static int64_t tk_and(int64_t a, int64_t b) { return a && b; }
TK_UNUSED static int64_t tk_or(int64_t a, int64_t b) { return a || b; }
/* Floats are computed as doubles; NaN wins in min and max, as in a kernel. */
TK_UNUSED static double tk_float(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
TK_UNUSED static int64_t tk_float_bits(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
TK_UNUSED static double tk_fmin(double a, double b) {
  return a != a || b != b ? a + b : a < b ? a : b;
}
TK_UNUSED static double tk_fmax(double a, double b) {
  return a != a || b != b ? a + b : a > b ? a : b;
}
TK_UNUSED static int64_t tk_next_pow2(int64_t a, int *overflow) {
  if (a <= 1)
    return 1;
  if (a > INT64_C(1) << 62) {
    *overflow = 1;
    return 0;
  }
  return INT64_C(1) << (64 - __builtin_clzll((unsigned long long)(a - 1)));
}

/* ---- Parts of messages ---- */

/* " ('a', dimension 1)": where a value came from. */
TK_UNUSED static void tk_origin(const tk_kernel *k, const tk_slot *s) {
  if (s->form != TK_VALUE)
    tk_say(" ('%s', %s %d)", k->params[s->param].name,
           s->form == TK_STRIDE ? "stride" : "dimension", s->axis);
}
/* A float by the shortest text that reads back as the same, always with a point or an exponent. */
TK_UNUSED static void tk_say_float(double value) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      break;
  }
  tk_say("%s%s", text, strpbrk(text, ".en") ? "" : ".0");
}
/* ": K = 12 ('a', dimension 1), N = 8 ('b', dimension 1)". */
TK_UNUSED static void tk_values_in(const tk_kernel *k, int expr, const tk_plan *plan) {
  const tk_expr *e = &k->exprs[expr];
  for (int i = 0; i < e->name_count; ++i) {
    const tk_slot *s = &k->slots[e->names[i]];
    tk_say("%s%s = ", i ? ", " : ": ", s->name);
    if (s->is_float)
      tk_say_float(tk_float(plan->values[e->names[i]]));
    else
      tk_say("%lld", (long long)plan->values[e->names[i]]);
    tk_origin(k, s);
  }
}
TK_UNUSED static int tk_is_tensor(const tk_kernel *k, int i) {
  return k->params[i].kind == TILE_TENSOR;
}
TK_UNUSED static int tk_is_empty(const tile_argument *a) {
  for (int32_t i = 0; i < a->rank; ++i)
    if (a->shape[i] == 0)
      return 1;
  return 0;
}

TK_UNUSED static tile_code tk_dim_error(const tk_kernel *k, const tile_argument *a,
                                        const tk_plan *plan, int param, int axis) {
  const tk_param *p = &k->params[param];
  const tk_axis *x = &p->axes[axis];
  const tk_expr *e = &k->exprs[x->extent];
  long long found = (long long)a[param].shape[axis];
  int overflow = 0;
  tk_about(k);
  if (found < 0) {
    tk_say("dimension %d of '%s' is %lld, expected 0 or more", axis, p->name, found);
  } else if (x->binds) {
    tk_say("dimension %d of '%s' is %lld, expected the form %s of a whole number of 0 or more",
           axis, p->name, found, e->text);
  } else if (e->is_integer) {
    tk_say("dimension %d of '%s' is %lld, expected %s", axis, p->name, found, e->text);
  } else {
    long long expected = (long long)k->eval(x->extent, plan->values, &overflow);
    if (overflow) {
      tk_say("dimension %d of '%s': %s overflows 64 bits", axis, p->name, e->text);
      tk_values_in(k, x->extent, plan);
    } else if (e->slot >= 0) {
      const tk_slot *s = &k->slots[e->slot];
      tk_say("'%s' has %s = %lld in dimension %d, but ", p->name, s->name, found, axis);
      if (s->form == TK_VALUE)
        tk_say("the argument %s is %lld", s->name, expected);
      else
        tk_say("'%s' has %s = %lld %s %d", k->params[s->param].name, s->name, expected,
               s->form == TK_STRIDE ? "as stride" : "in dimension", s->axis);
    } else {
      tk_say("dimension %d of '%s' is %lld, expected %s = %lld", axis, p->name, found, e->text,
             expected);
      tk_values_in(k, x->extent, plan);
    }
  }
  return tk_fail(k, TILE_ERROR_DIM, p->line);
}

/* ---- The shape of the call ---- */

TK_UNUSED static tile_code tk_check_call(const tk_kernel *k, const tile_argument *a, size_t count,
                                         int unchecked) {
  if (count && !a) {
    tk_about(k);
    tk_say("the array of arguments is null");
    return TILE_ERROR_CALL;
  }
  for (int i = 0; i < k->param_count && (size_t)i < count; ++i)
    if (a[i].kind == TILE_TENSOR && a[i].rank > 0 && !a[i].shape) {
      tk_about(k);
      tk_say("'%s' has rank %d but no shape", k->params[i].name, (int)a[i].rank);
      return TILE_ERROR_CALL;
    }
  if (count < (size_t)k->required || count > (size_t)k->param_count) {
    tk_about(k);
    tk_say("expected ");
    if (k->required < k->param_count)
      tk_say("%d to ", k->required);
    tk_say("%d arguments (", k->param_count);
    for (int i = 0; i < k->param_count; ++i)
      tk_say("%s%s", i ? ", " : "", k->params[i].name);
    tk_say("), found %llu", (unsigned long long)count);
    return tk_fail(k, TILE_ERROR_COUNT, k->line);
  }
  for (int i = 0; i < (int)count && !unchecked; ++i)
    if (tk_is_tensor(k, i) && a[i].kind == TILE_TENSOR && !a[i].data && !tk_is_empty(&a[i])) {
      tk_about(k);
      tk_say("'%s' is null, expected a tensor's address", k->params[i].name);
      return tk_fail(k, TILE_ERROR_NULL, k->params[i].line);
    }
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    int tensor = p->kind == TILE_TENSOR;
    if (a[i].kind == p->kind && a[i].dtype == p->dtype)
      continue;
    if (a[i].kind == TILE_DEFAULT && !tensor && p->has_default)
      continue;
    tk_about(k);
    tk_say("'%s' expects a %s of %s, found ", p->name, tensor ? "tensor" : "scalar",
           tk_dtype_name(p->dtype));
    if (a[i].kind != p->kind)
      tk_say("%s", a[i].kind == TILE_TENSOR   ? "a tensor"
                   : a[i].kind == TILE_SCALAR ? "a scalar"
                                              : "no value, and there is no default");
    else if (tk_dtype_name(a[i].dtype))
      tk_say("%s", tk_dtype_name(a[i].dtype));
    else
      tk_say("the unknown dtype %d", (int)a[i].dtype);
    return tk_fail(k, TILE_ERROR_DTYPE, p->line);
  }
  for (int i = 0; i < (int)count; ++i)
    if (tk_is_tensor(k, i) && a[i].rank != k->params[i].rank) {
      tk_about(k);
      tk_say("'%s' expects rank %d, found rank %d", k->params[i].name, k->params[i].rank,
             (int)a[i].rank);
      return tk_fail(k, TILE_ERROR_RANK, k->params[i].line);
    }
  return TILE_OK;
}

/* ---- Dimensions ---- */

/* The bits of a scalar argument, given or default. */
TK_UNUSED static uint64_t tk_scalar(const tk_kernel *k, const tile_argument *a, size_t count,
                                    int i) {
  return (size_t)i < count && a[i].kind != TILE_DEFAULT ? a[i].bits : k->params[i].default_bits;
}
TK_UNUSED static int64_t tk_decode(uint64_t bits, int dtype) {
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
  default:
    return (int64_t)bits;
  }
}

/* The value of a float of 16, 32 or 64 bits. */
TK_UNUSED static double tk_decode_float(uint64_t bits, int dtype) {
  uint64_t exponent, wide;
  uint32_t word = dtype == TILE_BF16 ? (uint32_t)bits << 16 : (uint32_t)bits;
  float single;
  if (dtype == TILE_F64)
    return tk_float((int64_t)bits);
  if (dtype != TILE_F16) {
    memcpy(&single, &word, sizeof single);
    return (double)single;
  }
  exponent = bits >> 10 & 31;
  if (exponent == 0)
    return (double)(bits & 1023) * (bits >> 15 & 1 ? -1.0 : 1.0) / 16777216.0;
  wide = (bits >> 15 & 1) << 63 | (exponent == 31 ? UINT64_C(2047) : exponent + 1008) << 52 |
         (bits & 1023) << 42;
  return tk_float((int64_t)wide);
}

TK_UNUSED static tile_code tk_bind(const tk_kernel *k, const tile_argument *a, size_t count,
                                   tk_plan *plan) {
  for (int i = 0; i < (int)count; ++i) {
    if (!tk_is_tensor(k, i))
      continue;
    uint64_t dense = 1; /* unsigned: a product too large for memory is refused later */
    for (int axis = a[i].rank - 1; axis >= 0; --axis) {
      plan->strides[k->params[i].first_stride + axis] =
          a[i].strides ? a[i].strides[axis] : (int64_t)dense;
      dense *= (uint64_t)a[i].shape[axis];
    }
    for (int axis = 0; axis < a[i].rank; ++axis)
      if (a[i].shape[axis] < 0)
        return tk_dim_error(k, a, plan, i, axis);
  }
  for (int n = 0; n < k->slot_count; ++n) {
    const tk_slot *s = &k->slots[n];
    const tile_argument *p = &a[s->param];
    int64_t *value = &plan->values[n];
    int64_t extent = s->form == TK_VALUE ? 0 : p->shape[s->axis];
    switch (s->form) {
    case TK_EXTENT:
      *value = extent;
      break;
    case TK_PLUS:
      if (__builtin_sub_overflow(extent, s->constant, value) || *value < 0)
        return tk_dim_error(k, a, plan, s->param, s->axis);
      break;
    case TK_TIMES:
      if (extent % s->constant)
        return tk_dim_error(k, a, plan, s->param, s->axis);
      *value = extent / s->constant;
      break;
    case TK_STRIDE: {
      uint64_t dense = 1;
      *value = plan->strides[k->params[s->param].first_stride + s->axis];
      if (extent > 1 && !tk_is_empty(p))
        break;
      /* Nothing steps along this dimension: use a stride that the contracts allow. */
      for (int axis = p->rank - 1; axis > s->axis; --axis)
        dense *= (uint64_t)tk_max(p->shape[axis], 1);
      *value = tk_max(dense >> 60 ? 1 : (int64_t)dense, s->min);
      *value += (s->multiple - *value % s->multiple) % s->multiple;
      break;
    }
    default: {
      uint64_t bits = tk_scalar(k, a, count, s->param);
      if (s->is_float) {
        *value = tk_float_bits(tk_decode_float(bits, k->params[s->param].dtype));
        break;
      }
      *value = tk_decode(bits, k->params[s->param].dtype);
      if (k->params[s->param].dtype == TILE_U64 && bits >> 63) {
        tk_about(k);
        tk_say("'%s' is above 2^63 - 1", k->params[s->param].name);
        return tk_fail(k, TILE_ERROR_CONTRACT, k->params[s->param].line);
      }
    }
    }
  }
  return TILE_OK;
}

TK_UNUSED static tile_code tk_check_dims(const tk_kernel *k, const tile_argument *a, size_t count,
                                         const tk_plan *plan) {
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    if (!tk_is_tensor(k, i))
      continue;
    /* Two elements of 4 bits share a byte, and no two rows do. */
    if (p->bits < 8 && p->rank > 0 && a[i].shape[p->rank - 1] % 2) {
      tk_about(k);
      tk_say("'%s' has %lld elements of %s along its last dimension, expected an even number",
             p->name, (long long)a[i].shape[p->rank - 1], tk_dtype_name(p->dtype));
      return tk_fail(k, TILE_ERROR_DIM, p->line);
    }
    for (int axis = 0; axis < p->rank; ++axis) {
      int overflow = 0;
      if (p->axes[axis].binds)
        continue;
      int64_t expected = k->eval(p->axes[axis].extent, plan->values, &overflow);
      if (overflow || expected != a[i].shape[axis])
        return tk_dim_error(k, a, plan, i, axis);
    }
  }
  return TILE_OK;
}
