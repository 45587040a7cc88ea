/* Part of generated C: launches by the CUDA driver. Follows Cuda.c. */

/* What each thread has encoded last: a driver takes longer to encode than to launch. */
typedef struct {
  const tk_map *map;
  tk_description description;
  tk_encoded encoded;
} tk_known_map;
enum { TK_KNOWN_MAPS = TK_MAPS > 0 ? 8 * TK_MAPS : 1 };
static TK_THREAD tk_known_map tk_known_maps[TK_KNOWN_MAPS];
static TK_THREAD unsigned tk_next_map;

static tile_code tk_encode(const tk_kernel *k, const tk_map *m, const tile_argument *a,
                           const tk_plan *plan, tk_device_pointer empty, tk_encoded *result) {
  tk_description d;
  tile_code code;
  tk_describe(k, m, &a[m->param], plan->strides + k->params[m->param].first_stride, empty, &d);
  for (unsigned i = 0; i < TK_KNOWN_MAPS; ++i)
    if (tk_known_maps[i].map == m && !memcmp(&tk_known_maps[i].description, &d, sizeof d)) {
      *result = tk_known_maps[i].encoded;
      return TILE_OK;
    }
  code = tk_encode_map(&tk_cuda, k, m, &d, result);
  if (!code) {
    tk_known_map *oldest = &tk_known_maps[tk_next_map++ % TK_KNOWN_MAPS];
    oldest->map = m;
    oldest->description = d;
    oldest->encoded = *result;
  }
  return code;
}

static tile_code tk_check_places(const tk_kernel *k, const tile_argument *a, size_t count) {
  void *context = NULL;
  unsigned long long id = 0;
  int current = -1;
  tile_code code = tk_current_context(&context, &id);
  code = code ? code
              : tk_refused(&tk_cuda, NULL, tk_cuda.ctxGetDevice(&current),
                           "cannot ask for the context's device");
  return code ? code : tk_check_residency(&tk_cuda, k, a, count, 0, current);
}

/* Fills and launches what was planned. */
static tile_code tk_run(const tk_build *builds, int build_count, const tk_kernel *k,
                        const tile_argument *a, size_t count, tk_plan *plan, void *stream,
                        int check_memory) {
  tk_context *entry = NULL;
  tk_function *function = NULL;
  tk_encoded maps[TK_MAPS + 1];
  void *pointers[TK_ARGUMENTS];
  tk_scratch *scratch = NULL;
  const char *what = "";
  int has_fills = 0, error = 0;
  tile_code code;
  for (int i = 0; i < (int)count; ++i)
    has_fills |= k->params[i].fills && !tk_is_empty(&a[i]);
  if (plan->empty && !has_fills)
    return TILE_OK;
  code = tk_need_driver();
  if (!code && check_memory)
    code = tk_check_places(k, a, count);
  if (code)
    return code;
  pthread_mutex_lock(&tk_mutex);
  code = tk_loaded(builds, build_count, &entry);
  if (!code)
    code = tk_get_function(entry, k, &function);
  pthread_mutex_unlock(&tk_mutex);
  for (int i = 0; i < (int)count && has_fills && !code; ++i) {
    tk_fill fill;
    if (tk_get_fill(k, a, plan, i, &fill))
      code = tk_fill_device(&tk_cuda, k, &fill, stream);
  }
  if (code || plan->empty)
    return code;
  for (int i = 0; i < k->map_count && !code; ++i)
    code = tk_encode(k, &k->maps[i], a, plan, entry->empty, &maps[i]);
  if (code)
    return code;
  if (k->scratch_bytes) {
    pthread_mutex_lock(&tk_mutex);
    error =
        tk_scratch_take(&entry->scratch, &tk_cuda, k->number, k->scratch_bytes,
                        k->scratch_shared ? 1 : (size_t)plan->programs, stream, &scratch, &what);
    pthread_mutex_unlock(&tk_mutex);
    if (error < 0) {
      tk_about(k);
      tk_say("out of memory");
      return TILE_ERROR_MEMORY;
    }
    if (error)
      return tk_refused(&tk_cuda, k, error, what);
  }
  for (int i = 0; i < k->argument_count; ++i) {
    if (k->arguments[i].kind == TK_ARG_SCRATCH)
      plan->cells[i] = scratch->memory;
    pointers[i] = k->arguments[i].kind == TK_ARG_MAP ? (void *)&maps[k->arguments[i].index]
                                                     : (void *)&plan->cells[i];
  }
  code =
      tk_start(&tk_cuda, k, function->handle, tk_count_blocks(k, plan->programs, function->blocks),
               plan->shared_bytes, stream, pointers);
  if (scratch) {
    pthread_mutex_lock(&tk_mutex);
    error = tk_scratch_done(&tk_cuda, scratch, stream);
    pthread_mutex_unlock(&tk_mutex);
    code = code ? code : tk_refused(&tk_cuda, k, error, "cannot launch");
  }
  return code;
}

/* Loads into the current context, and makes all instances ready. */
static tile_code tk_load(const tk_build *builds, int build_count) {
  tk_context *entry = NULL;
  tk_function *function = NULL;
  tile_code code = tk_need_driver();
  if (code)
    return code;
  pthread_mutex_lock(&tk_mutex);
  code = tk_loaded(builds, build_count, &entry);
  for (int i = 0; i < TK_INSTANCES && !code; ++i)
    code = tk_get_function(entry, &entry->build->kernels[i], &function);
  pthread_mutex_unlock(&tk_mutex);
  return code;
}

/* Unloads from every context. One that is gone has taken its modules with it. */
static void tk_unload(void) {
  pthread_mutex_lock(&tk_mutex);
  while (tk_contexts) {
    tk_context *entry = tk_contexts;
    unsigned long long id = entry->id;
    void *popped = NULL;
    tk_contexts = entry->next;
    if (tk_cuda.ctxPush(entry->context) == 0) {
      if (!tk_cuda.ctxGetId || (tk_cuda.ctxGetId(entry->context, &id) == 0 && id == entry->id)) {
        /* A graph that is left may be replayed still: what it runs stays. */
        int is_used = tk_scratch_free(&entry->scratch, &tk_cuda);
        for (int unit = 0; unit < TK_UNITS && !is_used; ++unit)
          if (entry->modules[unit])
            tk_cuda.moduleUnload(entry->modules[unit]);
        if (entry->empty && !is_used)
          tk_cuda.memFree(entry->empty);
      }
      tk_cuda.ctxPop(&popped);
    }
    tk_free_context(entry);
  }
  pthread_mutex_unlock(&tk_mutex);
}
