/* Part of generated C: running on this machine's processors. Follows the launcher's core. The
 * machine code is the object file beside this one, for processors of the level TK_LEVEL. */

static int tk_thread_limit; /* 0: one for each processor */
static tk_pool tk_threads = TK_POOL_START;

/* When the program or the library that this is part of ends. */
__attribute__((destructor)) static void tk_end_threads(void) { tk_pool_end(&tk_threads); }

/* Fills and runs what was planned, and waits for it. */
static tile_code tk_run(const tk_kernel *k, const tile_argument *a, size_t count, tk_plan *plan) {
  const void *pointers[TK_ARGUMENTS];
  if (TK_LEVEL[0] && !tk_has_level(TK_LEVEL)) {
    tk_about(k);
    tk_say("it is compiled for processors of the level %s, which this one does not have; compile "
           "it with --cpu for a lower one",
           TK_LEVEL);
    return TILE_ERROR_TARGET;
  }
  for (int i = 0; i < (int)count; ++i) {
    tk_fill fill;
    if (tk_get_fill(k, a, plan, i, &fill))
      tk_fill_host(&fill);
  }
  if (plan->empty)
    return TILE_OK;
  for (int i = 0; i < k->argument_count; ++i)
    pointers[i] = &plan->cells[i];
  return tk_pool_launch(&tk_threads, k, k->host, pointers, 0, plan->programs,
                        __atomic_load_n(&tk_thread_limit, __ATOMIC_RELAXED));
}
