/* Running on this machine's processors: threads that stay from launch to launch, memory for their
 * tiles, and the level of the processor that code needs. Part of the launcher's core. */
#ifndef TILE_CORE_POOL_H
#define TILE_CORE_POOL_H

#include "launch/core/Core.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A launch that takes its caller less than TK_POOL_ALONE nanoseconds wakes no other thread: that
 * takes about as long. */
enum { TK_POOL_THREADS = 256, TK_POOL_ALONE = 10000 };
typedef void (*tk_host_function)(const void *const *arguments, int64_t begin, int64_t end);

/* Memory for tiles, of which each thread that runs programs has its own: so many bytes, to which
 * one of the kernel's machine arguments points. NULL for kernels that want none. */
typedef struct {
  size_t bytes;
  int argument, argument_count;
} tk_tiles;

/* A launch under way, on its caller's stack. */
typedef struct tk_job {
  struct tk_job *next_job;
  tk_host_function kernel;
  const void *const *arguments;
  const tk_tiles *tiles;
  char *memory;               /* for the tiles of all threads, and their tables of arguments */
  int64_t end, piece, next;   /* past the last program; how many are taken at once; not yet taken */
  int joined, helpers, limit; /* threads besides the caller's that have begun, work, and may */
} tk_job;

/* Zero but for what TK_POOL_START sets. Threads start when a launch first wants them. */
typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  tk_job *jobs;
  pthread_t threads[TK_POOL_THREADS];
  int count, is_ending, process; /* process: the one that started the threads; a fork has none */
  int processors;                /* of this machine, once a launch has asked; 0 before */
  /* Of the last launch: its kernel, and the time that a program of it took, in 1/256 ns. */
  tk_host_function timed;
  int64_t cost;
} tk_pool;
#define TK_POOL_START                                                                              \
  {PTHREAD_MUTEX_INITIALIZER,                                                                      \
   PTHREAD_COND_INITIALIZER,                                                                       \
   PTHREAD_COND_INITIALIZER,                                                                       \
   NULL,                                                                                           \
   {0},                                                                                            \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   NULL,                                                                                           \
   0}

/* Runs programs begin to end - 1 and waits for them; several threads may launch at once. `threads`
 * 0: one for each processor; fewer where there is no memory for the tiles of so many. Returns 0, or
 * 1 where there is none for a single thread: nothing has run then. */
TK_CORE int tk_pool_run(tk_pool *pool, tk_host_function kernel, const void *const *arguments,
                        const tk_tiles *tiles, int64_t begin, int64_t end, int threads);
/* The same for a kernel with tables, whose tiles take memory; the pointer to that in `arguments` is
 * not looked at. TILE_ERROR_MEMORY, with a message, where nothing has run. */
TK_CORE tile_code tk_launch_with_tiles(tk_pool *pool, const tk_kernel *k, tk_host_function kernel,
                                       const void *const *arguments, int64_t begin, int64_t end,
                                       int threads);
/* The same for any kernel with tables. */
static inline __attribute__((unused)) tile_code tk_pool_launch(tk_pool *pool, const tk_kernel *k,
                                                               tk_host_function kernel,
                                                               const void *const *arguments,
                                                               int64_t begin, int64_t end,
                                                               int threads) {
  if (k->scratch_bytes)
    return tk_launch_with_tiles(pool, k, kernel, arguments, begin, end, threads);
  if (end - begin == 1) {
    kernel(arguments, begin, end);
    return TILE_OK;
  }
  return (tile_code)tk_pool_run(pool, kernel, arguments, NULL, begin, end, threads);
}
/* Ends the threads and waits for them. No launch may be under way. */
TK_CORE void tk_pool_end(tk_pool *pool);

/* Does this processor have all of a level of x86-64: "x86-64", "x86-64-v2", "-v3", "-v4"? Not for
 * unknown names. */
TK_CORE int tk_has_level(const char *level);

#ifdef __cplusplus
}
#endif

#endif
