/* Checks of a launch, in the launcher's core: strides, alignment, overlap, the grid; then the whole
 * check. Follows Check.c. */
#include "launch/core/Core.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- Overlap: a search for two elements whose addresses differ by less than an element ---- */

__extension__ typedef __int128 tk_int128;
__extension__ typedef unsigned __int128 tk_uint128;

TK_CORE uint64_t tk_span(const tk_region *r) {
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

static tk_int128 tk_floor_div(tk_int128 a, tk_int128 b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Whether `target` is a sum of the terms, sorted by falling stride. When the budget runs out the
 * answer is yes. */
static int tk_reaches(const tk_term *terms, int count, tk_int128 target, int *budget) {
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
static int tk_add_term(tk_term *terms, int count, int64_t stride, int64_t low, int64_t high) {
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

TK_CORE int tk_overlaps(const tk_region *a, const tk_region *b) {
  uint64_t span_a = tk_span(a), span_b = tk_span(b);
  tk_term terms[17];
  int count = 0, budget = 4096, bytes_a = a->bits / 8, bytes_b = b->bits / 8;
  if (span_a == 0 || span_b == 0)
    return 0;
  if (b->address >= a->address ? b->address - a->address >= span_a
                               : a->address - b->address >= span_b)
    return 0;
  if (span_a == UINT64_MAX || span_b == UINT64_MAX || a->bits % 8 || b->bits % 8 ||
      a->rank > TK_MAX_RANK || b->rank > TK_MAX_RANK)
    return 1;
  /* An element of a at i and one of b at j meet if address(b) - address(a) = i*sa - j*sb + r, -|b|
   * < r < |a| bytes.
   *
   * Two slices of one buffer of floats, rows of 8:     a a a a b b b b | a a a a b b b b
   * Shapes [2, 4], strides of 32 and 4 bytes, b begins at byte 16. Their spans meet, and yet
   * 16 = 32 d + 4 e + r has no answer with d in -1..1, e in -3..3, r in -3..3: of d = 0 the sums
   * end at 15, of d = 1 they begin at 17. */
  for (int i = 0; i < a->rank; ++i)
    count = tk_add_term(terms, count, (int64_t)((uint64_t)a->strides[i] * (uint64_t)bytes_a), 0,
                        a->shape[i] - 1);
  for (int i = 0; i < b->rank; ++i)
    count = tk_add_term(terms, count, (int64_t)((uint64_t)b->strides[i] * (uint64_t)bytes_b),
                        1 - b->shape[i], 0);
  count = tk_add_term(terms, count, 1, 1 - bytes_b, bytes_a - 1);
  return tk_reaches(terms, count, (tk_int128)b->address - (tk_int128)a->address, &budget);
}

TK_CORE int tk_overlaps_itself(const tk_region *r) {
  tk_term terms[TK_MAX_RANK];
  tk_uint128 reach = 0;
  int count = 0, before, budget = 4096, is_nested = 1;
  if (r->rank > TK_MAX_RANK)
    return 1;
  for (int i = 0; i < r->rank; ++i) {
    if (r->shape[i] <= 1)
      continue;
    before = count;
    count = tk_add_term(terms, count, r->strides[i], 1 - r->shape[i], r->shape[i] - 1);
    if (count == before) /* a stride of 0, or two that are equal */
      return 1;
  }
  /* Rows that end before the next one begins, and so on outward, as nearly all tensors have. */
  for (int i = count; i-- > 0; reach += (tk_uint128)(uint64_t)terms[i].high * terms[i].stride)
    is_nested &= reach < (tk_uint128)terms[i].stride;
  /* Two elements at one address differ by terms that add up to 0; the first that is not 0 may be
   * taken as positive, since the same two in the other order have it negative. */
  for (int i = 0; i < count && !is_nested; ++i) {
    terms[i].low = 1;
    if (tk_reaches(terms + i, count - i, 0, &budget))
      return 1;
  }
  return 0;
}

/* ---- Strides, alignment, overlap ---- */

static tk_region tk_region_of(const tk_kernel *k, const tile_argument *a, const tk_plan *plan,
                              int i) {
  tk_region r;
  r.address = (uint64_t)(uintptr_t)a[i].data;
  r.bits = k->params[i].bits;
  r.rank = (int)a[i].rank;
  r.shape = a[i].shape;
  r.strides = plan->strides + k->params[i].first_stride;
  return r;
}

TK_FORMAT(5, 6)
static tile_code tk_stride_error(const tk_kernel *k, int param, int axis, int64_t found,
                                 const char *format, ...) {
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

static tile_code tk_self_overlap_error(const tk_kernel *k, int param, const tk_region *r) {
  const tk_param *p = &k->params[param];
  tk_about(k);
  tk_say("'%s' is written, but with strides [", p->name);
  for (int i = 0; i < r->rank; ++i)
    tk_say("%s%lld", i ? ", " : "", (long long)r->strides[i]);
  tk_say("] and extents [");
  for (int i = 0; i < r->rank; ++i)
    tk_say("%s%lld", i ? ", " : "", (long long)r->shape[i]);
  tk_say("] elements share memory, expected each apart; pass a contiguous tensor");
  return tk_fail(k, TILE_ERROR_STRIDE, p->line);
}

static tile_code tk_check_strides(const tk_kernel *k, const tile_argument *a, size_t count,
                                  tk_plan *plan) {
  for (int i = 0; i < k->param_count; ++i)
    plan->spans[i] = 0;
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    const int64_t *strides = plan->strides + p->first_stride, *shape = a[i].shape;
    /* Below 2^60 before each step, so that a product of extents is seen to pass it. */
    uint64_t dense = 1, span;
    if (p->kind != TILE_TENSOR || (plan->empty && !p->fills) || tk_is_empty(&a[i]))
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
          int64_t value = tk_eval(k, wanted, plan->values, &overflow);
          if (overflow)
            return tk_stride_error(k, i, axis, strides[axis], "a value that fits 64 bits");
          if (value != strides[axis])
            return tk_stride_error(k, i, axis, strides[axis], "%lld%s", (long long)value,
                                   value == 1 ? "; pass a contiguous copy" : "");
        }
        if (p->bits < 8 && axis + 1 < p->rank && strides[axis] % 2)
          return tk_stride_error(k, i, axis, strides[axis],
                                 "an even number: two elements share a byte");
        if (strides[axis] < 0)
          return tk_stride_error(k, i, axis, strides[axis], "0 or more");
        if (strides[axis] == 0 && p->access != TILE_IN)
          return tk_stride_error(k, i, axis, strides[axis],
                                 "1 or more: the tensor is written; pass a contiguous one");
      }
      if (__builtin_mul_overflow(dense, (uint64_t)shape[axis], &dense) || dense >> 60) {
        tk_about(k);
        tk_say("'%s' has 2^60 elements or more", p->name);
        return tk_fail(k, TILE_ERROR_DIM, p->line);
      }
    }
    if (p->dense) {
      span = p->bits < 8 ? (dense * (unsigned)p->bits + 7) / 8 : dense * ((unsigned)p->bits / 8);
    } else {
      tk_region region = tk_region_of(k, a, plan, i);
      span = tk_span(&region);
      if (p->access != TILE_IN && tk_overlaps_itself(&region))
        return tk_self_overlap_error(k, i, &region);
    }
    plan->spans[i] = span;
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

static tile_code tk_check_alignment(const tk_kernel *k, const tile_argument *a, size_t count) {
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    uint64_t address = (uint64_t)(uintptr_t)a[i].data;
    if (!(address & (p->align - 1)) || p->kind != TILE_TENSOR || tk_is_empty(&a[i]))
      continue;
    tk_about(k);
    tk_say("'%s' is aligned to %llu bytes, expected %u; pass a copy, or lower that by 'align(%s, "
           "n)' in the source",
           p->name, (unsigned long long)(address & (~address + 1)), p->align, p->name);
    return tk_fail(k, TILE_ERROR_ALIGNMENT, p->line);
  }
  return TILE_OK;
}

static tile_code tk_check_overlap(const tk_kernel *k, const tile_argument *a, size_t count,
                                  const tk_plan *plan) {
  for (int i = 0; i < (int)count && k->has_outputs; ++i)
    for (int j = i + 1; j < (int)count && plan->spans[i]; ++j) {
      /* Most tensors are apart: neither begins within the other. Scalars and empty tensors have no
       * span. */
      uint64_t x = (uint64_t)(uintptr_t)a[i].data, y = (uint64_t)(uintptr_t)a[j].data;
      tk_region first, second;
      if (y >= x ? y - x >= plan->spans[i] || !plan->spans[j] : x - y >= plan->spans[j])
        continue;
      if (!tk_must_differ(k, i, j))
        continue;
      first = tk_region_of(k, a, plan, i);
      second = tk_region_of(k, a, plan, j);
      if (!tk_overlaps(&first, &second))
        continue;
      int writer = k->params[j].access != TILE_IN ? j : i, other = writer == j ? i : j;
      tk_about(k);
      tk_say("'%s' is written and overlaps '%s' in memory; pass separate memory, or permit it with "
             "'alias(%s, %s)' in the source",
             k->params[writer].name, k->params[other].name, k->params[i].name, k->params[j].name);
      return tk_fail(k, TILE_ERROR_OVERLAP, k->params[writer].line);
    }
  return TILE_OK;
}

/* ---- The grid, and the whole check ---- */

/* The index of the first axis whose extent overflows, or -1. A negative extent counts as 0. */
static int tk_compute_grid(const tk_kernel *k, tk_plan *plan) {
  int bad = -1;
  plan->empty = 0;
  for (int i = 0; i < k->grid_count; ++i) {
    int overflow = 0;
    int64_t extent = tk_eval(k, k->grid[i], plan->values, &overflow);
    if (overflow && bad < 0)
      bad = i;
    plan->extents[i] = overflow ? 1 : extent < 0 ? 0 : extent;
    plan->empty |= plan->extents[i] == 0;
  }
  return bad;
}

/* Bytes of shared memory of a block. A manifest may say anything: no more than was asked for when
 * the kernel was loaded. */
static unsigned tk_count_shared(const tk_kernel *k, const tk_plan *plan) {
  int overflow = 0;
  int64_t taken;
  if (k->shared_taken < 0)
    return k->shared_bytes;
  taken = tk_eval(k, k->shared_taken, plan->values, &overflow);
  return overflow || taken < 0 || taken > (int64_t)k->shared_bytes ? k->shared_bytes
                                                                   : (unsigned)taken;
}

static tile_code tk_check_programs(const tk_kernel *k, tk_plan *plan, int bad) {
  int64_t programs = 1;
  int is_huge = 0;
  for (int i = 0; i < k->grid_count; ++i)
    is_huge |= __builtin_mul_overflow(programs, plan->extents[i], &programs);
  if (bad < 0 && !is_huge && programs <= INT32_MAX) {
    plan->programs = programs;
    return TILE_OK;
  }
  tk_about(k);
  if (bad >= 0) {
    tk_say("grid axis %d, %s, overflows", bad, k->exprs[k->grid[bad]].text);
    tk_say_values(k, k->grid[bad], plan->values);
    return tk_fail(k, TILE_ERROR_GRID, k->line);
  }
  tk_say("the grid ");
  for (int i = 0; i < k->grid_count; ++i)
    tk_say("%s%s", i ? " x " : "", k->exprs[k->grid[i]].text);
  if (is_huge)
    tk_say(" has 2^63 or more programs");
  else
    tk_say(" has %lld programs", (long long)programs);
  tk_say(", at most 2147483647 can run");
  return tk_fail(k, TILE_ERROR_GRID, k->line);
}

static void tk_pack(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan) {
  for (int i = 0; i < k->argument_count; ++i) {
    int index = k->arguments[i].index;
    uint64_t cell = 0;
    if (k->arguments[i].kind == TK_ARG_DIM)
      cell = (uint64_t)plan->values[index];
    else if (k->arguments[i].kind == TK_ARG_PARAM)
      cell = k->params[index].kind == TILE_TENSOR ? (uint64_t)(uintptr_t)a[index].data
             : (size_t)index < count && a[index].kind != TILE_DEFAULT
                 ? a[index].bits
                 : k->params[index].default_bits;
    plan->cells[i] = cell;
  }
}

/* All checks of one reading of the call, in their order; the residency of memory, where it is asked
 * for, comes after them (Start.c). One more check goes here, with three duties: its code keeps the
 * order in tile_types.h, since tk_miss (Select.c) takes the greater code for the later check;
 * docs/language/Launch.md names it; if it depends on addresses or scalars, Validator::mayReplace
 * (runtime/src/Prepared.cpp) repeats it, since prepared calls do not come here again. */
static tile_code tk_check_once(const tk_kernel *k, const tile_argument *a, size_t count,
                               int unchecked, tk_plan *plan) {
  int bad;
  tile_code code = tk_bind(k, a, count, plan);
  if (!code && !unchecked)
    code = tk_check_dims(k, a, count, plan);
  if (code)
    return code;
  bad = tk_compute_grid(k, plan);
  plan->programs = 0;
  plan->shared_bytes = tk_count_shared(k, plan);
  if (!unchecked) {
    code = tk_check_contracts(k, plan);
    if (!code)
      code = tk_check_strides(k, a, count, plan);
    if (!code && !plan->empty)
      code = tk_check_alignment(k, a, count);
    if (!code && !plan->empty)
      code = tk_check_overlap(k, a, count, plan);
  }
  if (!code && !plan->empty)
    code = tk_check_programs(k, plan, bad);
  return code;
}

TK_CORE tile_code tk_check(const tk_kernel *k, const tile_argument *a, size_t count, int unchecked,
                           tk_plan *plan) {
  tile_code code = tk_check_call(k, a, count, unchecked);
  if (code)
    return code;
  plan->is_retry = 0;
  code = tk_check_once(k, a, count, unchecked, plan);
  if (code && plan->has_free) {
    plan->is_retry = 1;
    code = tk_check_once(k, a, count, unchecked, plan);
  }
  if (!code)
    tk_pack(k, a, count, plan);
  return code;
}
