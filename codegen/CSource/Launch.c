/* Part of generated C: tensor maps, scratch memory, fills and launches by the CUDA driver. Follows
 * Cuda.c. */

/* ---- Tensor maps ---- */

/* A map as the driver encodes it; the driver wants 64-byte addresses. */
typedef struct {
  uint64_t words[16];
} __attribute__((aligned(64))) tk_encoded;

static int tk_map_dtype(int dtype) {
  switch (dtype) {
  case TILE_I16:
  case TILE_U16:
    return 1;
  case TILE_U32:
    return 2;
  case TILE_I32:
    return 3;
  case TILE_U64:
    return 4;
  case TILE_I64:
    return 5;
  case TILE_F16:
    return 6;
  case TILE_F32:
    return 7;
  case TILE_F64:
    return 8;
  case TILE_BF16:
    return 9;
  default:
    return 0;
  }
}

/* What each thread has encoded last: a driver takes longer to encode than to launch. */
typedef struct {
  const tk_map *map;
  uint64_t address, extents[5], strides[5];
  tk_encoded encoded;
} tk_known_map;
enum { TK_KNOWN_MAPS = TK_MAPS > 0 ? 8 * TK_MAPS : 1 };
static TK_THREAD tk_known_map tk_known_maps[TK_KNOWN_MAPS];
static TK_THREAD unsigned tk_next_map;

static tile_code tk_encode(const tk_kernel *k, const tk_map *m, const tile_argument *a,
                           const tk_plan *plan, tk_device_pointer empty, tk_encoded *result) {
  const tk_param *p = &k->params[m->param];
  const int64_t *steps = plan->strides + p->first_stride;
  uint64_t address = (uint64_t)(uintptr_t)a[m->param].data, extents[5] = {0, 0, 0, 0, 0},
           strides[5] = {0, 0, 0, 0, 0};
  uint32_t box[5], ones[5] = {1, 1, 1, 1, 1};
  unsigned cells = p->bits < 8 ? 8u / (unsigned)p->bits : 1u;
  int is_empty = 0, code;
  if (!tk_cuda.tensorMapEncodeTiled) {
    tk_about(k);
    tk_say("the CUDA driver lacks cuTensorMapEncodeTiled: it is too old, install one for CUDA 12 "
           "or newer");
    return TILE_ERROR_DRIVER;
  }
  for (int i = 0; i < m->rank; ++i) {
    extents[i] = (uint64_t)a[m->param].shape[m->order[i]];
    strides[i] = (uint64_t)steps[m->order[i]] * (unsigned)p->bits / 8;
    box[i] = m->box[i];
    is_empty |= extents[i] == 0;
  }
  extents[0] = (extents[0] + cells - 1) / cells;
  if (is_empty) /* every position of an empty tensor reads as zero, and so does the first of these
                 */
    address = empty + (p->access == TILE_IN ? 0 : 16);
  for (int i = 0; i < m->rank; ++i) {
    if (is_empty)
      extents[i] = 1;
    if (i > 0 &&
        extents[i] ==
            1) { /* nothing steps along it, but the driver wants multiples of 16, below 2^40 */
      tk_uint128 dense =
          (tk_uint128)extents[i - 1] * (i > 1 ? strides[i - 1] : (unsigned)(p->bits + 7) / 8);
      uint64_t rounded = dense >> 39 ? 16 : ((uint64_t)dense + 15) / 16 * 16;
      strides[i] = rounded > 16 ? rounded : 16;
    }
  }
  for (int i = 2; i < m->rank && !is_empty; ++i)
    if (m->order[i] == m->order[i - 1]) { /* copies end anywhere: the first of the two is as long as
                                             a box, the second begins one earlier */
      extents[i - 1] = m->box[i - 1];
      extents[i] += m->box[i - 1];
      address -= m->box[i - 1] * strides[i];
    }
  strides[0] = 0; /* not told to the driver */
  for (unsigned i = 0; i < TK_KNOWN_MAPS; ++i) {
    const tk_known_map *known = &tk_known_maps[i];
    if (known->map == m && known->address == address &&
        !memcmp(known->extents, extents, sizeof extents) &&
        !memcmp(known->strides, strides, sizeof strides)) {
      *result = known->encoded;
      return TILE_OK;
    }
  }
  code = tk_cuda.tensorMapEncodeTiled(result, tk_map_dtype(p->dtype), (uint32_t)m->rank,
                                      (void *)(uintptr_t)address, extents, strides + 1, box, ones,
                                      0, m->swizzle == 128 ? 3 : (int)(m->swizzle / 32), 2, 0);
  if (code == 0) {
    tk_known_map *oldest = &tk_known_maps[tk_next_map++ % TK_KNOWN_MAPS];
    oldest->map = m;
    oldest->address = address;
    memcpy(oldest->extents, extents, sizeof extents);
    memcpy(oldest->strides, strides, sizeof strides);
    oldest->encoded = *result;
    return TILE_OK;
  }
  tk_refused(k, code, "cannot describe a tensor to the hardware");
  tk_say(", '%s' (extents", p->name);
  for (int i = m->rank; i-- > 0;)
    tk_say(" %llu", (unsigned long long)extents[i]);
  tk_say(", strides in bytes");
  for (int i = m->rank; i-- > 1;)
    tk_say(" %llu", (unsigned long long)strides[i]);
  tk_say(")");
  return TILE_ERROR_CUDA;
}

/* ---- Launching ---- */

static tile_code tk_fill_block(const tk_kernel *k, const tk_block *b, void *stream) {
  size_t pitch = (size_t)b->pitch, width = (size_t)b->width, rows = (size_t)b->rows;
  int result;
  if (b->cell_bytes == 1)
    result = rows == 1 ? tk_cuda.memsetD8(b->address, (unsigned char)b->value, width, stream)
                       : tk_cuda.memsetD2D8(b->address, pitch, (unsigned char)b->value, width, rows,
                                            stream);
  else if (b->cell_bytes == 2)
    result = rows == 1 ? tk_cuda.memsetD16(b->address, (unsigned short)b->value, width, stream)
                       : tk_cuda.memsetD2D16(b->address, pitch, (unsigned short)b->value, width,
                                             rows, stream);
  else
    result = rows == 1 ? tk_cuda.memsetD32(b->address, b->value, width, stream)
                       : tk_cuda.memsetD2D32(b->address, pitch, b->value, width, rows, stream);
  return tk_refused(k, result, "cannot fill a tensor before the launch");
}

static tile_code tk_start(const tk_kernel *k, void *function, unsigned blocks, void *stream,
                          void **arguments) {
  tk_launch_attribute cluster;
  tk_launch_config config;
  if (!tk_cuda.launchKernelEx) {
    if (k->cluster > 1) {
      tk_about(k);
      tk_say("the CUDA driver lacks cuLaunchKernelEx, which clusters need: it is too old, install "
             "one for CUDA 12 or newer");
      return TILE_ERROR_DRIVER;
    }
    return tk_refused(k,
                      tk_cuda.launchKernel(function, blocks, 1, 1, k->threads, 1, 1,
                                           k->shared_bytes, stream, arguments, NULL),
                      "cannot launch");
  }
  memset(&config, 0, sizeof config);
  config.grid[0] = blocks;
  config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
  config.block[0] = k->threads;
  config.shared_bytes = k->shared_bytes;
  config.stream = stream;
  if (k->cluster > 1) {
    memset(&cluster, 0, sizeof cluster);
    cluster.id = TK_CLUSTER;
    cluster.value[0] = k->cluster;
    cluster.value[1] = cluster.value[2] = 1;
    config.attributes = &cluster;
    config.attribute_count = 1;
  }
  return tk_refused(k, tk_cuda.launchKernelEx(&config, function, arguments, NULL), "cannot launch");
}

/* Blocks to launch: one for each program, or of a persistent kernel as many as run at once; whole
 * clusters. */
static unsigned tk_count_blocks(const tk_kernel *k, int64_t programs, unsigned resident) {
  unsigned cluster = k->cluster;
  uint64_t blocks = ((uint64_t)programs + cluster - 1) / cluster * cluster,
           most = resident / cluster * cluster;
  most = most > cluster ? most : cluster;
  return (unsigned)(k->persistent && blocks > most ? most : blocks);
}

/* Whether every tensor lies where the current context's device reaches it: in its memory, in
 * managed memory, or in host memory that the driver knows. */
static tile_code tk_check_residency(const tk_kernel *k, const tile_argument *a, size_t count) {
  void *context = NULL;
  unsigned long long id = 0;
  int current = -1;
  tile_code code;
  if (!tk_cuda.pointerGetAttribute) {
    tk_about(k);
    tk_say("the CUDA driver lacks cuPointerGetAttribute: it is too old to tell where memory lies");
    return TILE_ERROR_DRIVER;
  }
  code = tk_current_context(&context, &id);
  code = code ? code
              : tk_refused(NULL, tk_cuda.ctxGetDevice(&current),
                           "cannot ask for the context's device");
  for (int i = 0; i < (int)count && !code; ++i) {
    tk_device_pointer address = (tk_device_pointer)(uintptr_t)a[i].data;
    unsigned type = 0, managed = 0;
    int device = -1;
    if (a[i].kind != TILE_TENSOR || !address || tk_is_empty(&a[i]))
      continue;
    if (tk_cuda.pointerGetAttribute(&type, TK_MEMORY_TYPE, address))
      type = 0;
    if (type && !tk_cuda.pointerGetAttribute(&managed, TK_IS_MANAGED, address) && managed)
      continue;
    if (type == TK_DEVICE_MEMORY && tk_cuda.pointerGetAttribute(&device, TK_ORDINAL, address))
      device = -1;
    if (type && (type != TK_DEVICE_MEMORY || device == current))
      continue;
    tk_about(k);
    tk_say("'%s' lies in ", k->params[i].name);
    if (type)
      tk_say("memory of device %d", device);
    else
      tk_say("host memory that the driver does not know");
    tk_say(", expected memory of device %d, on which the kernel runs; copy the tensor there",
           current);
    return tk_fail(k, TILE_ERROR_RESIDENCY, k->params[i].line);
  }
  return code;
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
    code = tk_check_residency(k, a, count);
  if (code)
    return code;
  pthread_mutex_lock(&tk_mutex);
  code = tk_loaded(builds, build_count, &entry);
  if (!code)
    code = tk_get_function(entry, k, &function);
  pthread_mutex_unlock(&tk_mutex);
  if (!code && has_fills)
    code = tk_fill_all(k, a, count, plan, tk_fill_block, stream);
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
      return tk_refused(k, error, what);
  }
  for (int i = 0; i < k->argument_count; ++i) {
    if (k->arguments[i].kind == TK_ARG_SCRATCH)
      plan->cells[i] = scratch->memory;
    pointers[i] = k->arguments[i].kind == TK_ARG_MAP ? (void *)&maps[k->arguments[i].index]
                                                     : (void *)&plan->cells[i];
  }
  code = tk_start(k, function->handle, tk_count_blocks(k, plan->programs, function->blocks), stream,
                  pointers);
  if (scratch) {
    pthread_mutex_lock(&tk_mutex);
    error = tk_scratch_done(&tk_cuda, scratch, stream);
    pthread_mutex_unlock(&tk_mutex);
    code = code ? code : tk_refused(k, error, "cannot launch");
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
