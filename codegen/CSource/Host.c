/* Part of generated C: running on this machine's processors. Follows Fill.c. The machine code is
 * the object file beside this one. */

static tile_code tk_fill_block(const tk_kernel *k, const tk_block *b, void *stream) {
  char *data = (char *)(uintptr_t)b->address;
  (void)k;
  (void)stream;
  for (int64_t row = 0; row < b->rows; ++row)
    for (int64_t i = 0; i < b->width; ++i)
      memcpy(data + row * b->pitch + i * b->cell_bytes, &b->value,
             (size_t)b->cell_bytes); /* little endian */
  return TILE_OK;
}

/* The programs that are left of one launch. */
typedef struct {
  const tk_kernel *k;
  const void *const *arguments;
  int64_t count, piece, next;
} tk_work;

static void *tk_work_on(void *shared) {
  tk_work *w = (tk_work *)shared;
  for (;;) {
    int64_t begin = __atomic_fetch_add(&w->next, w->piece, __ATOMIC_RELAXED);
    if (begin >= w->count)
      return NULL;
    w->k->host(w->arguments, begin, w->count - begin < w->piece ? w->count : begin + w->piece);
  }
}

static int tk_thread_limit; /* 0: one for each processor */

/* Fills and runs what was planned, and waits for it. */
static tile_code tk_run(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan) {
  const void *pointers[TK_ARGUMENTS];
  pthread_t threads[64];
  int started = 0, wanted = __atomic_load_n(&tk_thread_limit, __ATOMIC_RELAXED);
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  tk_work work;
  tile_code code = tk_fill_all(k, a, count, plan, tk_fill_block, NULL);
  if (code || plan->empty)
    return code;
  for (int i = 0; i < k->argument_count; ++i)
    pointers[i] = &plan->cells[i];
  wanted = wanted > 0 ? wanted : processors > 0 ? (int)processors : 1;
  wanted = wanted > 64 ? 64 : wanted;
  work.k = k;
  work.arguments = pointers;
  work.count = plan->programs;
  /* Small enough that a slow piece delays the end little, large enough that taking one costs
   * nothing. */
  work.piece =
      plan->programs / ((int64_t)wanted * 16) > 1 ? plan->programs / ((int64_t)wanted * 16) : 1;
  work.next = 0;
  while (started < wanted - 1 && started + 1 < plan->programs &&
         pthread_create(&threads[started], NULL, tk_work_on, &work) == 0)
    ++started;
  tk_work_on(&work);
  for (int i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
  return TILE_OK;
}
