/* Choice of the instance that a call runs, in the launcher's core: the first that fits and whose
 * facts hold, or why there is none.
 *
 *   instances of `matmul`           M = 8, f16
 *     f16, variant M in 1..=16      fits, facts hold: chosen
 *     f16, generic                  would do as well, but comes later
 *     bf16, ...                     does not fit: another dtype
 *
 * Variants stand before the generic instance of the same dtypes, so the order is the choice. */
#include "launch/core/Core.h"

#include <stdlib.h>
#include <string.h>

TK_CORE int tk_fits(const tk_kernel *k, const tile_argument *a, size_t count) {
  int fit = 2;
  if (!tk_takes_count(k, count))
    return 0;
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    if (a[i].kind == TILE_DEFAULT && p->has_default)
      continue;
    if (a[i].kind != p->kind || a[i].dtype != p->dtype)
      return 0;
    if (p->kind != TILE_TENSOR)
      continue;
    if (a[i].rank != p->rank || (a[i].rank > 0 && !a[i].shape)) {
      fit = 1;
      continue;
    }
    for (int axis = 0; axis < p->rank; ++axis) {
      const tk_expr *extent = &k->exprs[p->axes[axis].extent];
      if (extent->is_integer && extent->constant != a[i].shape[axis])
        fit = 1;
    }
  }
  return fit;
}

static int tk_facts_hold(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan) {
  if (tk_bind(k, a, count, plan))
    return 0;
  for (int i = 0; i < k->fact_count; ++i) {
    const tk_fact *f = &k->facts[i];
    int overflow = 0;
    if (f->param < 0
            ? !tk_eval(k, f->expr, plan->values, &overflow) || overflow
            : (size_t)f->param >= count ||
                  ((uint64_t)(uintptr_t)a[f->param].data % f->align && !tk_is_empty(&a[f->param])))
      return 0;
  }
  return 1;
}

TK_CORE int tk_holds(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan) {
  if (!k->fact_count)
    return 1;
  plan->is_retry = 0;
  if (tk_facts_hold(k, a, count, plan))
    return 1;
  if (!plan->has_free)
    return 0;
  plan->is_retry = 1;
  return tk_facts_hold(k, a, count, plan);
}

/* Says which instances came nearest, each with what its own checks say. The later a check, the
 * nearer the call. */
static tile_code tk_miss(const tk_kernel *(*get)(const void *list, int index), const void *list,
                         int total, const tile_argument *a, size_t count, tk_plan *plan) {
  enum { SHOWN = 4 };
  const char *name = get(list, 0)->name;
  int last_code = 0, last = -1;
  tk_message text;
  memset(&text, 0, sizeof text);
  for (int shown = 0; shown < SHOWN && shown < total; ++shown) {
    int best = -1, best_code = 0;
    for (int i = 0; i < total; ++i) {
      int code = (int)tk_check(get(list, i), a, count, 0, plan);
      if (last >= 0 && (code > last_code || (code == last_code && i <= last)))
        continue; /* shown already */
      if (best < 0 || code > best_code) {
        best = i;
        best_code = code;
      }
    }
    const tk_kernel *k = get(list, best);
    tk_clear();
    tk_check(k, a, count, 0, plan);
    const char *reason = tk_text(tk_said());
    size_t prefix = strlen(k->name);
    if (!strncmp(reason, k->name, prefix) && !strncmp(reason + prefix, ": ", 2))
      reason += prefix + 2;
    tk_add_text(&text, "%s%s%s%s: %s", shown ? "; " : "", k->signature,
                k->variant[0] ? " variant " : "", k->variant, reason);
    last = best;
    last_code = best_code;
  }
  tk_clear();
  tk_say("%s: no variant takes (", name);
  for (size_t i = 0; i < count; ++i) {
    const char *dtype = tk_dtype_name(a[i].dtype);
    tk_say("%s%s", i ? ", " : "", a[i].kind == TILE_DEFAULT ? "default" : dtype ? dtype : "?");
    if (a[i].kind != TILE_TENSOR)
      continue;
    tk_say("[");
    for (int32_t axis = 0; axis < a[i].rank && axis < TK_MAX_RANK && a[i].shape; ++axis)
      tk_say("%s%lld", axis ? ", " : "", (long long)a[i].shape[axis]);
    tk_say(a[i].rank > TK_MAX_RANK ? ", ...]" : "]");
  }
  tk_say("); nearest: %s", tk_text(&text));
  if (total > SHOWN)
    tk_say("; and %d more", total - SHOWN);
  free(text.large);
  return TILE_ERROR_INSTANCE;
}

TK_CORE tile_code tk_select(const tk_kernel *(*get)(const void *list, int index), const void *list,
                            int total, const tile_argument *a, size_t count, tk_plan *plan,
                            int *chosen) {
  int near_ones = 0, right_count = 0, generic = 0;
  *chosen = 0;
  if (total == 1)
    return TILE_OK;
  if (count && !a) {
    tk_about(get(list, 0));
    tk_say("the array of arguments is null");
    return TILE_ERROR_CALL;
  }
  for (int i = 0; i < total; ++i) {
    const tk_kernel *k = get(list, i);
    int fit = tk_fits(k, a, count);
    right_count += tk_takes_count(k, count);
    if (fit == 2 && tk_holds(k, a, count, plan)) {
      *chosen = i;
      return TILE_OK;
    }
    if (fit && !k->fact_count && ++near_ones == 1)
      generic = i;
  }
  /* Where the dtypes leave one instance, or no count is right, an instance's own checks say best
   * what is wrong. */
  if (near_ones == 1)
    *chosen = generic;
  if (near_ones == 1 || right_count == 0)
    return TILE_OK;
  /* Nothing runs of an empty call, whatever the facts say. */
  for (int i = 0; i < total; ++i)
    if (tk_fits(get(list, i), a, count) == 2 && !tk_check(get(list, i), a, count, 0, plan) &&
        plan->empty) {
      *chosen = i;
      return TILE_OK;
    }
  return tk_miss(get, list, total, a, count, plan);
}
