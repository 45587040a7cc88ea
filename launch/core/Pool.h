/* Running on this machine's processors: threads that stay from launch to launch, and the level of
 * the processor that code needs. Part of the launcher's core. */
#ifndef TILE_CORE_POOL_H
#define TILE_CORE_POOL_H

#include "launch/core/Driver.h"

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A launch that takes its caller less than TK_POOL_ALONE nanoseconds wakes no other thread: that
 * takes about as long. */
enum { TK_POOL_THREADS = 256, TK_POOL_ALONE = 10000 };
typedef void (*tk_host_function)(const void *const *arguments, int64_t begin, int64_t end);

/* A launch under way, on its caller's stack. */
typedef struct tk_job {
  struct tk_job *next_job;
  tk_host_function kernel;
  const void *const *arguments;
  int64_t count, piece, next; /* programs; how many are taken at once; the first not taken */
  int helpers, limit;         /* threads besides the caller's that work on it, and may */
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

/* Runs all programs of a grid and waits for them; several threads may launch at once. `threads` 0:
 * one for each processor. */
TK_CORE void tk_pool_run(tk_pool *pool, tk_host_function kernel, const void *const *arguments,
                         int64_t count, int threads);
/* Ends the threads and waits for them. No launch may be under way. */
TK_CORE void tk_pool_end(tk_pool *pool);

/* Does this processor have all of a level of x86-64: "x86-64", "x86-64-v2", "-v3", "-v4"? Not for
 * unknown names. */
TK_CORE int tk_has_level(const char *level);

#ifdef __cplusplus
}
#endif

#endif
