/* Checks of a launch, in the launcher's core: the shape of the call, dimensions, contracts.
 * Memory.c follows with the rest. The order is part of the language (docs/language/Launch.md):
 *
 *   call        how many arguments, kinds, dtypes, null          tk_check_call
 *   names       bound by the first tensor that has them          tk_bind
 *   dimensions  each is what its expression says                 tk_check_dims
 *   contracts   ranges, divisibility, conditions, facts          tk_check_contracts
 *   memory      strides, alignment, overlap, the grid            tk_check, in Memory.c
 *
 * The first that fails is what the caller hears of, so each may rely on those before it. */
#include "launch/core/Core.h"

static tile_code tk_dim_error(const tk_kernel *k, const tile_argument *a, const tk_plan *plan,
                              int param, int axis) {
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
    long long expected = (long long)tk_eval(k, x->extent, plan->values, &overflow);
    if (overflow) {
      tk_say("dimension %d of '%s': %s overflows 64 bits", axis, p->name, e->text);
      tk_say_values(k, x->extent, plan->values);
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
      tk_say_values(k, x->extent, plan->values);
    }
  }
  return tk_fail(k, TILE_ERROR_DIM, p->line);
}

/* ---- The shape of the call ---- */

/* Whether each argument is there as declared; then there is nothing to say. */
static int tk_is_plain(const tk_kernel *k, const tile_argument *a, size_t count, int unchecked) {
  if (!tk_takes_count(k, count) || (count && !a))
    return 0;
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    if (a[i].kind != p->kind || a[i].dtype != p->dtype)
      return 0;
    if (p->kind == TILE_TENSOR &&
        (a[i].rank != p->rank || (p->rank && !a[i].shape) || (!unchecked && !a[i].data)))
      return 0;
  }
  return 1;
}

TK_CORE tile_code tk_check_call(const tk_kernel *k, const tile_argument *a, size_t count,
                                int unchecked) {
  if (tk_is_plain(k, a, count, unchecked))
    return TILE_OK;
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
  if (!tk_takes_count(k, count)) {
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
    if (k->params[i].kind == TILE_TENSOR && a[i].kind == TILE_TENSOR && !a[i].data &&
        a[i].rank == k->params[i].rank &&
        !tk_is_empty(&a[i])) { /* of another rank: refused below */
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
    if (k->params[i].kind == TILE_TENSOR && a[i].rank != k->params[i].rank) {
      tk_about(k);
      tk_say("'%s' expects rank %d, found rank %d", k->params[i].name, k->params[i].rank,
             (int)a[i].rank);
      return tk_fail(k, TILE_ERROR_RANK, k->params[i].line);
    }
  return TILE_OK;
}

/* ---- Dimensions ---- */

/* A stride of a dimension along which nothing steps: whatever the caller has there says nothing.
 * The caller's where the stride may have that value; when something then contradicts it, the dense
 * one or the nearest that may be. */
static int64_t tk_free_stride(const tk_slot *s, const tile_argument *a, int64_t given,
                              int is_retry) {
  uint64_t dense = 1;
  int64_t value, rest;
  if (!is_retry && given >= s->min && given <= s->max && given % s->multiple == 0)
    return given;
  for (int axis = a->rank - 1; axis > s->axis && !(dense >> 60); --axis)
    if (__builtin_mul_overflow(dense, (uint64_t)(a->shape[axis] > 1 ? a->shape[axis] : 1), &dense))
      dense = UINT64_MAX;
  value = dense >> 60 ? 1 : (int64_t)dense;
  value = value < s->min ? s->min : value > s->max ? s->max : value;
  rest = value % s->multiple;
  if (rest < 0)
    return value - rest;
  if (rest && (__builtin_add_overflow(value, s->multiple - rest, &given) || given > s->max))
    return value - rest;
  return rest ? given : value;
}

TK_CORE tile_code tk_bind(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan) {
  int64_t signs = 0;
  plan->has_free = 0;
  for (int i = 0; i < (int)count; ++i) {
    if (k->params[i].kind != TILE_TENSOR)
      continue;
    int64_t *strides = plan->strides + k->params[i].first_stride;
    uint64_t dense = 1; /* unsigned: a product too large for memory is refused later */
    for (int axis = a[i].rank - 1; axis >= 0; --axis) {
      strides[axis] = a[i].strides ? a[i].strides[axis] : (int64_t)dense;
      dense *= (uint64_t)a[i].shape[axis];
      signs |= a[i].shape[axis];
    }
  }
  for (int i = 0; i < (int)count && signs < 0; ++i)
    for (int axis = 0; k->params[i].kind == TILE_TENSOR && axis < a[i].rank; ++axis)
      if (a[i].shape[axis] < 0)
        return tk_dim_error(k, a, plan, i, axis);
  for (int n = 0; n < k->slot_count; ++n) {
    const tk_slot *s = &k->slots[n];
    const tk_param *p = &k->params[s->param];
    const tile_argument *given = &a[s->param];
    int64_t *value = &plan->values[n];
    int64_t extent = s->form == TK_VALUE ? 0 : given->shape[s->axis];
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
    case TK_STRIDE:
      *value = plan->strides[p->first_stride + s->axis];
      if (extent > 1 && !tk_is_empty(given))
        break;
      plan->has_free = 1;
      *value = tk_free_stride(s, given, *value, plan->is_retry);
      break;
    default: {
      int is_given = (size_t)s->param < count && given->kind != TILE_DEFAULT;
      uint64_t bits = is_given ? given->bits : p->default_bits;
      *value = tk_decode(bits, p->dtype);
      if (p->dtype == TILE_U64 && bits >> 63) {
        tk_about(k);
        tk_say("'%s' is above 2^63 - 1", p->name);
        return tk_fail(k, TILE_ERROR_CONTRACT, p->line);
      }
    }
    }
  }
  return TILE_OK;
}

TK_CORE tile_code tk_check_dims(const tk_kernel *k, const tile_argument *a, size_t count,
                                const tk_plan *plan) {
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    if (p->kind != TILE_TENSOR)
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
      int64_t expected = tk_eval(k, p->axes[axis].extent, plan->values, &overflow);
      if (overflow || expected != a[i].shape[axis])
        return tk_dim_error(k, a, plan, i, axis);
    }
  }
  return TILE_OK;
}

/* ---- Contracts ---- */

TK_CORE tile_code tk_check_contracts(const tk_kernel *k, const tk_plan *plan) {
  /* First: a variant's ranges are narrower than the contracts that messages quote. */
  for (int i = 0; i < k->fact_count && !plan->empty; ++i) {
    const tk_fact *f = &k->facts[i];
    int overflow = 0;
    if (f->param >= 0 || (tk_eval(k, f->expr, plan->values, &overflow) &&
                          !overflow)) /* alignments are checked later */
      continue;
    tk_about(k);
    tk_say("the variant's condition '%s' does not hold", f->text);
    tk_say_values(k, f->expr, plan->values);
    return tk_fail(k, TILE_ERROR_CONTRACT, f->line);
  }
  for (int n = 0; n < k->slot_count; ++n) {
    const tk_slot *s = &k->slots[n];
    int64_t value = plan->values[n];
    if ((value >= s->min && value <= s->max) || (plan->empty && s->form != TK_VALUE))
      continue;
    tk_about(k);
    tk_say(s->is_dim ? "%s = %lld" : "'%s' = %lld", s->name, (long long)value);
    if (s->is_dim)
      tk_say_origin(k, s);
    tk_say(", expected %s%s", s->contract,
           s->form == TK_STRIDE && value < 0 ? "; pass a contiguous copy" : "");
    return tk_fail(k, TILE_ERROR_CONTRACT, s->line);
  }
  for (int i = 0; i < k->contract_count; ++i) {
    const tk_contract *c = &k->contracts[i];
    int overflow = 0;
    if (plan->empty && !c->of_scalars)
      continue;
    int64_t holds = tk_eval(k, c->expr, plan->values, &overflow);
    if (holds && !overflow)
      continue;
    tk_about(k);
    tk_say("the contract '%s' %s", c->text, overflow ? "overflows 64 bits" : "does not hold");
    tk_say_values(k, c->expr, plan->values);
    return tk_fail(k, TILE_ERROR_CONTRACT, c->line);
  }
  for (int n = 0; n < k->slot_count && !plan->empty; ++n) {
    const tk_slot *s = &k->slots[n];
    if (s->is_dim && s->multiple > 1 && plan->values[n] % s->multiple) {
      tk_about(k);
      tk_say("%s = %lld", s->name, (long long)plan->values[n]);
      tk_say_origin(k, s);
      tk_say(", expected a multiple of %lld", (long long)s->multiple);
      return tk_fail(k, TILE_ERROR_CONTRACT, s->line);
    }
  }
  return TILE_OK;
}
