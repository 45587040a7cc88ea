/* Part of generated C: contracts, strides, alignment, overlap, the grid; then the whole check.
 * Follows Check.c. */

TK_UNUSED static tile_code tk_check_contracts(const tk_kernel *k, const tk_plan *plan) {
  for (int n = 0; n < k->slot_count; ++n) {
    const tk_slot *s = &k->slots[n];
    int64_t value = plan->values[n];
    if (value >= s->min && value <= s->max)
      continue;
    tk_about(k);
    tk_say(s->is_dim ? "%s = %lld" : "'%s' = %lld", s->name, (long long)value);
    if (s->is_dim)
      tk_origin(k, s);
    tk_say(", expected %s", s->contract);
    return tk_fail(k, TILE_ERROR_CONTRACT, s->line);
  }
  for (int i = 0; i < k->contract_count; ++i) {
    const tk_contract *c = &k->contracts[i];
    int overflow = 0;
    int64_t holds = k->eval(c->expr, plan->values, &overflow);
    if (holds && !overflow)
      continue;
    tk_about(k);
    tk_say("the contract '%s' %s", c->text, overflow ? "overflows 64 bits" : "does not hold");
    tk_values_in(k, c->expr, plan);
    return tk_fail(k, TILE_ERROR_CONTRACT, c->line);
  }
  for (int i = 0; i < k->fact_count; ++i) {
    const tk_fact *f = &k->facts[i];
    int overflow = 0;
    if (f->param >= 0 ||
        (k->eval(f->expr, plan->values, &overflow) && !overflow)) /* alignments are checked later */
      continue;
    tk_about(k);
    tk_say("the variant's condition '%s' does not hold", f->text);
    tk_values_in(k, f->expr, plan);
    return tk_fail(k, TILE_ERROR_CONTRACT, f->line);
  }
  for (int n = 0; n < k->slot_count; ++n) {
    const tk_slot *s = &k->slots[n];
    if (s->is_dim && s->multiple > 1 && plan->values[n] % s->multiple) {
      tk_about(k);
      tk_say("%s = %lld", s->name, (long long)plan->values[n]);
      tk_origin(k, s);
      tk_say(", expected a multiple of %lld", (long long)s->multiple);
      return tk_fail(k, TILE_ERROR_CONTRACT, s->line);
    }
  }
  return TILE_OK;
}

/* ---- Overlap: a search for two elements whose addresses differ by less than an element ---- */

__extension__ typedef __int128 tk_int128;
__extension__ typedef unsigned __int128 tk_uint128;

/* Strided memory; `strides` in elements. */
typedef struct {
  uint64_t address;
  int bits, rank;
  const int64_t *shape, *strides;
} tk_region;

/* Bytes from the first to past the last element; UINT64_MAX for 2^63 or more. */
TK_UNUSED static uint64_t tk_span(const tk_region *r) {
  tk_uint128 last = 0;
  for (int i = 0; i < r->rank; ++i) {
    if (r->shape[i] == 0)
      return 0;
    last += (tk_uint128)(uint64_t)(r->shape[i] - 1) * (uint64_t)r->strides[i];
  }
  last = ((last + 1) * (unsigned)r->bits + 7) / 8;
  return last >> 63 ? UINT64_MAX : (uint64_t)last;
}

/* A multiple of `stride` bytes, with the factor in low..high. */
typedef struct {
  int64_t stride, low, high;
} tk_term;

TK_UNUSED static tk_int128 tk_floor_div(tk_int128 a, tk_int128 b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Whether `target` is a sum of the terms, sorted by falling stride. When the budget runs out the
 * answer is yes. */
TK_UNUSED static int tk_reaches(const tk_term *terms, int count, tk_int128 target, int *budget) {
  tk_int128 rest_low = 0, rest_high = 0, low, high, limit;
  if (count == 0)
    return target == 0;
  if (--*budget < 0)
    return 1;
  for (int i = 1; i < count; ++i) {
    rest_low += (tk_int128)terms[i].low * terms[i].stride;
    rest_high += (tk_int128)terms[i].high * terms[i].stride;
  }
  low = -tk_floor_div(rest_high - target, terms[0].stride);
  limit = terms[0].low;
  low = low > limit ? low : limit;
  high = tk_floor_div(target - rest_low, terms[0].stride);
  limit = terms[0].high;
  high = high < limit ? high : limit;
  for (tk_int128 factor = low; factor <= high; ++factor)
    if (tk_reaches(terms + 1, count - 1, target - factor * terms[0].stride, budget))
      return 1;
  return 0;
}

/* Adds to the terms, which stay sorted; equal strides are one term. */
TK_UNUSED static int tk_add_term(tk_term *terms, int count, int64_t stride, int64_t low,
                                 int64_t high) {
  int at = 0;
  if (stride == 0 || (low == 0 && high == 0)) /* an extent of 1 may have any stride */
    return count;
  while (at < count && terms[at].stride > stride)
    ++at;
  if (at < count && terms[at].stride == stride) {
    terms[at].low += low;
    terms[at].high += high;
    return count;
  }
  for (int i = count; i > at; --i)
    terms[i] = terms[i - 1];
  terms[at].stride = stride;
  terms[at].low = low;
  terms[at].high = high;
  return count + 1;
}

TK_UNUSED static int tk_overlaps(const tk_region *a, const tk_region *b) {
  uint64_t span_a = tk_span(a), span_b = tk_span(b);
  tk_term terms[17];
  int count = 0, budget = 4096, bytes_a = a->bits / 8, bytes_b = b->bits / 8;
  if (span_a == 0 || span_b == 0)
    return 0;
  if (b->address >= a->address ? b->address - a->address >= span_a
                               : a->address - b->address >= span_b)
    return 0;
  if (span_a == UINT64_MAX || span_b == UINT64_MAX || a->bits % 8 || b->bits % 8)
    return 1;
  /* An element of a at i and one of b at j meet if address(b) - address(a) = i*sa - j*sb + r, -|b|
   * < r < |a| bytes. */
  for (int i = 0; i < a->rank; ++i)
    count = tk_add_term(terms, count, (int64_t)((uint64_t)a->strides[i] * (uint64_t)bytes_a), 0,
                        a->shape[i] - 1);
  for (int i = 0; i < b->rank; ++i)
    count = tk_add_term(terms, count, (int64_t)((uint64_t)b->strides[i] * (uint64_t)bytes_b),
                        1 - b->shape[i], 0);
  count = tk_add_term(terms, count, 1, 1 - bytes_b, bytes_a - 1);
  return tk_reaches(terms, count, (tk_int128)b->address - (tk_int128)a->address, &budget);
}

/* ---- Strides, alignment, overlap ---- */

TK_UNUSED static tk_region tk_region_of(const tk_kernel *k, const tile_argument *a,
                                        const tk_plan *plan, int i) {
  tk_region r;
  r.address = (uint64_t)(uintptr_t)a[i].data;
  r.bits = k->params[i].bits;
  r.rank = (int)a[i].rank;
  r.shape = a[i].shape;
  r.strides = plan->strides + k->params[i].first_stride;
  return r;
}

TK_UNUSED TK_FORMAT(5, 6) static tile_code tk_stride_error(const tk_kernel *k, int param, int axis,
                                                           int64_t found, const char *format, ...) {
  char expected[192];
  va_list list;
  va_start(list, format);
  vsnprintf(expected, sizeof expected, format, list);
  va_end(list);
  tk_about(k);
  tk_say("stride %d of '%s' is %lld, expected %s", axis, k->params[param].name, (long long)found,
         expected);
  return tk_fail(k, TILE_ERROR_STRIDE, k->params[param].line);
}

TK_UNUSED static tile_code tk_check_strides(const tk_kernel *k, const tile_argument *a,
                                            size_t count, const tk_plan *plan, int only_filled) {
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    const int64_t *strides = plan->strides + p->first_stride, *shape = a[i].shape;
    tk_uint128 dense = 1;
    if (!tk_is_tensor(k, i) || tk_is_empty(&a[i]) || (only_filled && !p->fills))
      continue;
    for (int axis = p->rank; axis-- > 0;) {
      if (shape[axis] > 1) {
        int overflow = 0, wanted = p->axes[axis].stride;
        if (p->dense && strides[axis] != (int64_t)dense)
          return tk_stride_error(k, i, axis, strides[axis],
                                 "%lld: the tensor is declared dense and row-major; "
                                 "pass a contiguous copy, or declare strides, as in [M, N; s, 1]",
                                 (long long)dense);
        if (wanted >= 0) {
          int64_t value = k->eval(wanted, plan->values, &overflow);
          if (overflow)
            return tk_stride_error(k, i, axis, strides[axis], "a value that fits 64 bits");
          if (value != strides[axis])
            return tk_stride_error(k, i, axis, strides[axis], "%lld", (long long)value);
        }
        if (p->bits < 8 && axis + 1 < p->rank && strides[axis] % 2)
          return tk_stride_error(k, i, axis, strides[axis],
                                 "an even number: two elements share a byte");
        if (strides[axis] < 0)
          return tk_stride_error(k, i, axis, strides[axis], "0 or more");
        if (strides[axis] == 0 && p->access != TILE_IN)
          return tk_stride_error(k, i, axis, strides[axis], "1 or more: the tensor is written");
      }
      dense *= (uint64_t)shape[axis];
      if (dense >> 60) {
        tk_about(k);
        tk_say("'%s' has 2^60 elements or more", p->name);
        return tk_fail(k, TILE_ERROR_DIM, p->line);
      }
    }
    tk_region region = tk_region_of(k, a, plan, i);
    uint64_t span = tk_span(&region);
    if (span == UINT64_MAX || (a[i].bytes > 0 && span > (uint64_t)a[i].bytes)) {
      tk_about(k);
      if (span == UINT64_MAX)
        tk_say("'%s' reaches over 2^63 or more bytes, but its memory has %lld", p->name,
               (long long)a[i].bytes);
      else
        tk_say("'%s' reaches over %llu bytes, but its memory has %lld", p->name,
               (unsigned long long)span, (long long)a[i].bytes);
      return tk_fail(k, TILE_ERROR_DIM, p->line);
    }
  }
  return TILE_OK;
}

TK_UNUSED static tile_code tk_check_memory(const tk_kernel *k, const tile_argument *a, size_t count,
                                           const tk_plan *plan) {
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    uint64_t address = (uint64_t)(uintptr_t)a[i].data;
    if (!tk_is_tensor(k, i) || p->align < 2 || address % p->align == 0 || tk_is_empty(&a[i]))
      continue;
    tk_about(k);
    tk_say("'%s' is aligned to %llu bytes, expected %u; 'align(%s, n)' in the source lowers that",
           p->name, (unsigned long long)(address & (~address + 1)), p->align, p->name);
    return tk_fail(k, TILE_ERROR_ALIGNMENT, p->line);
  }
  for (int i = 0; i < (int)count; ++i)
    for (int j = i + 1; j < (int)count; ++j) {
      tk_region first, second;
      if (!tk_is_tensor(k, i) || !tk_is_tensor(k, j) ||
          (k->params[i].access == TILE_IN && k->params[j].access == TILE_IN) ||
          (k->may_alias && k->may_alias[i * k->param_count + j]))
        continue;
      first = tk_region_of(k, a, plan, i);
      second = tk_region_of(k, a, plan, j);
      if (!tk_overlaps(&first, &second))
        continue;
      int writer = k->params[j].access != TILE_IN ? j : i, other = writer == j ? i : j;
      tk_about(k);
      tk_say("'%s' is written and overlaps '%s' in memory; pass separate memory, or permit it with "
             "'alias(%s, %s)' in the "
             "source",
             k->params[writer].name, k->params[other].name, k->params[i].name, k->params[j].name);
      return tk_fail(k, TILE_ERROR_OVERLAP, k->params[writer].line);
    }
  return TILE_OK;
}

/* ---- The grid, and the whole check ---- */

TK_UNUSED static tile_code tk_check_programs(const tk_kernel *k, tk_plan *plan, int bad_axis) {
  tk_int128 programs = 1;
  for (int i = 0; i < k->grid_count && bad_axis < 0; ++i) {
    programs *= plan->extents[i];
    if (programs >> 63)
      programs = (tk_int128)1 << 63;
  }
  if (bad_axis < 0 && programs <= INT32_MAX) {
    plan->programs = (int64_t)programs;
    return TILE_OK;
  }
  tk_about(k);
  if (bad_axis >= 0) {
    tk_say("grid axis %d, %s, is negative or overflows", bad_axis,
           k->exprs[k->grid[bad_axis]].text);
    tk_values_in(k, k->grid[bad_axis], plan);
    return tk_fail(k, TILE_ERROR_GRID, k->line);
  }
  tk_say("the grid ");
  for (int i = 0; i < k->grid_count; ++i)
    tk_say("%s%s", i ? " x " : "", k->exprs[k->grid[i]].text);
  if (programs >> 63)
    tk_say(" has 2^63 or more programs");
  else
    tk_say(" has %lld programs", (long long)programs);
  tk_say(", at most 2147483647 can run");
  return tk_fail(k, TILE_ERROR_GRID, k->line);
}

TK_UNUSED static void tk_pack(const tk_kernel *k, const tile_argument *a, size_t count,
                              tk_plan *plan) {
  for (int i = 0; i < k->argument_count; ++i) {
    const tk_argument *source = &k->arguments[i];
    plan->cells[i] = source->kind == TK_ARG_DIM       ? (uint64_t)plan->values[source->index]
                     : source->kind != TK_ARG_PARAM   ? 0
                     : tk_is_tensor(k, source->index) ? (uint64_t)(uintptr_t)a[source->index].data
                                                      : tk_scalar(k, a, count, source->index);
  }
}

/* Checks the arguments of a launch and plans it. */
TK_UNUSED static tile_code tk_check(const tk_kernel *k, const tile_argument *a, size_t count,
                                    int unchecked, tk_plan *plan) {
  int bad_axis = -1;
  tile_code code = tk_check_call(k, a, count, unchecked);
  if (!code)
    code = tk_bind(k, a, count, plan);
  if (!code && !unchecked)
    code = tk_check_dims(k, a, count, plan);
  if (code)
    return code;
  plan->empty = 0;
  plan->programs = 0;
  for (int i = 0; i < k->grid_count; ++i) {
    int overflow = 0;
    int64_t extent = k->eval(k->grid[i], plan->values, &overflow);
    plan->extents[i] = overflow ? -1 : extent;
    if (plan->extents[i] < 0 && bad_axis < 0)
      bad_axis = i;
    plan->empty |= plan->extents[i] == 0;
  }
  if (!unchecked && plan->empty)
    code = tk_check_strides(k, a, count, plan, 1);
  if (!plan->empty) {
    if (!unchecked)
      code = tk_check_contracts(k, plan);
    if (!code && !unchecked)
      code = tk_check_strides(k, a, count, plan, 0);
    if (!code && !unchecked)
      code = tk_check_memory(k, a, count, plan);
    if (!code)
      code = tk_check_programs(k, plan, bad_axis);
  }
  if (!code)
    tk_pack(k, a, count, plan);
  return code;
}

/* How well arguments suit an instance: 0 not, 1 by count, kinds and dtypes, 2 by ranks and constant
 * extents too. */
TK_UNUSED static int tk_fits(const tk_kernel *k, const tile_argument *a, size_t count) {
  int fit = 2;
  if (count < (size_t)k->required || count > (size_t)k->param_count)
    return 0;
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    int tensor = p->kind == TILE_TENSOR;
    if (!tensor && a[i].kind == TILE_DEFAULT && p->has_default)
      continue;
    if (a[i].kind != p->kind || a[i].dtype != p->dtype)
      return 0;
    if (!tensor)
      continue;
    if (a[i].rank != p->rank || (a[i].rank > 0 && !a[i].shape)) {
      fit = 1;
      continue;
    }
    for (int axis = 0; axis < p->rank; ++axis)
      if (k->exprs[p->axes[axis].extent].is_integer) {
        int overflow = 0;
        if (k->eval(p->axes[axis].extent, NULL, &overflow) != a[i].shape[axis])
          fit = 1;
      }
  }
  return fit;
}

/* Whether a variant's conditions hold for arguments that fit. */
TK_UNUSED static int tk_holds(const tk_kernel *k, const tile_argument *a, size_t count,
                              tk_plan *plan) {
  if (k->fact_count && tk_bind(k, a, count, plan))
    return 0;
  for (int i = 0; i < k->fact_count; ++i) {
    const tk_fact *f = &k->facts[i];
    int overflow = 0;
    if (f->param < 0
            ? !k->eval(f->expr, plan->values, &overflow) || overflow
            : (size_t)f->param >= count ||
                  ((uint64_t)(uintptr_t)a[f->param].data % f->align && !tk_is_empty(&a[f->param])))
      return 0;
  }
  return 1;
}

/* Adds to a text as long as tk_text, as far as it fits. */
TK_UNUSED static void tk_append(char *text, size_t *length, const char *more) {
  while (*more && *length + 1 < sizeof tk_text)
    text[(*length)++] = *more++;
  text[*length] = '\0';
}

/* Says which instances came nearest, each with what its own checks say. The later a check, the
 * nearer the call. */
TK_UNUSED static tile_code tk_miss(const tk_kernel *kernels, const int *members, int total,
                                   const tile_argument *a, size_t count, tk_plan *plan) {
  enum { SHOWN = 4 };
  int codes[TK_INSTANCES];
  char text[sizeof tk_text];
  size_t length = 0;
  const char *name = kernels[members[0]].name;
  for (int i = 0; i < total; ++i)
    codes[i] = (int)tk_check(&kernels[members[i]], a, count, 0, plan);
  for (int shown = 0; shown < SHOWN && shown < total; ++shown) {
    int best = 0;
    for (int i = 1; i < total; ++i)
      if (codes[i] > codes[best])
        best = i;
    const tk_kernel *k = &kernels[members[best]];
    tk_check(k, a, count, 0, plan);
    codes[best] = -1;
    tk_append(text, &length, shown ? "; " : "");
    tk_append(text, &length, k->signature);
    tk_append(text, &length, k->variant[0] ? " variant " : "");
    tk_append(text, &length, k->variant);
    tk_append(text, &length, ": ");
    tk_append(text, &length,
              strncmp(tk_text, name, strlen(name)) ? tk_text : tk_text + strlen(name) + 2);
  }
  tk_clear();
  tk_say("%s: no variant takes (", name);
  for (size_t i = 0; i < count; ++i) {
    const char *dtype = tk_dtype_name(a[i].dtype);
    tk_say("%s%s", i ? ", " : "", a[i].kind == TILE_DEFAULT ? "default" : dtype ? dtype : "?");
    for (int32_t axis = 0; a[i].kind == TILE_TENSOR && axis < a[i].rank && a[i].shape; ++axis)
      tk_say("%s%lld", axis ? ", " : "[", (long long)a[i].shape[axis]);
    if (a[i].kind == TILE_TENSOR)
      tk_say(a[i].rank > 0 && a[i].shape ? "]" : "[]");
  }
  tk_say("); nearest: %s", text);
  if (total > SHOWN)
    tk_say("; and %d more", total - SHOWN);
  return TILE_ERROR_INSTANCE;
}

/* Of the `total` instances that `members` names, the first that fits and whose conditions hold;
 * where only one comes into question, that one, whose checks then say what is wrong. */
TK_UNUSED static tile_code tk_select(const tk_kernel *kernels, const int *members, int total,
                                     const tile_argument *a, size_t count, const tk_kernel **chosen,
                                     tk_plan *plan) {
  int near_ones = 0, right_count = 0;
  *chosen = &kernels[members[0]];
  if (total == 1 || (count && !a))
    return TILE_OK;
  for (int i = 0; i < total; ++i) {
    const tk_kernel *k = &kernels[members[i]];
    int fit = tk_fits(k, a, count);
    right_count += count >= (size_t)k->required && count <= (size_t)k->param_count;
    if (fit == 2 && tk_holds(k, a, count, plan)) {
      *chosen = k;
      return TILE_OK;
    }
    if (fit && !k->fact_count && ++near_ones == 1)
      *chosen = k;
  }
  if (near_ones > 1)
    *chosen = &kernels[members[0]];
  return near_ones == 1 || right_count == 0 ? TILE_OK
                                            : tk_miss(kernels, members, total, a, count, plan);
}
