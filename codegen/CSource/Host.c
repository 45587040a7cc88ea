/* Part of generated C: running on this machine's processors. Follows the launcher's core. The
 * machine code is the object file beside this one. */

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
  for (int i = 0; i < (int)count; ++i) {
    tk_fill fill;
    if (tk_get_fill(k, a, plan, i, &fill))
      tk_fill_host(&fill);
  }
  if (plan->empty)
    return TILE_OK;
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
