/* Threads that stay from launch to launch: see Pool.h. A launch's caller does what no other thread
 * has begun, and waits for those alone that have, so that it ends whatever becomes of the rest.
 *
 *   programs   | 0 .. p-1 | p .. 2p-1 | 2p .. 3p-1 | 3p .. 4p-1 | ...
 *   taken by     caller     caller      helper       caller          `next` is the first that is
 *                                                                    free; a piece is taken by
 *                                                                    adding p to it
 *   the end      next >= end, and no helper is at a piece */
#include "launch/core/Pool.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A thread's part of a launch's memory: its tables of arguments, then whole lines of the cache for
 * its tiles. */
static size_t tk_part_head(const tk_tiles *tiles) {
  return ((size_t)(tiles->argument_count + 1) * sizeof(void *) + 63) / 64 * 64;
}
static size_t tk_part_bytes(const tk_tiles *tiles) {
  return tk_part_head(tiles) + (tiles->bytes + 63) / 64 * 64;
}

/* Gets memory for the tiles of `threads` threads, or of half as many, and so on. Returns how many
 * may work. */
static int tk_take_memory(tk_job *job, int threads) {
  if (!job->tiles)
    return threads;
  for (; threads > 0; threads /= 2) {
    job->memory = (char *)aligned_alloc(64, tk_part_bytes(job->tiles) * (size_t)threads);
    if (job->memory)
      break;
  }
  return threads;
}

/* The machine arguments for the thread that is the `part`th to begin. */
static const void *const *tk_arguments_of(const tk_job *job, int part) {
  const tk_tiles *tiles = job->tiles;
  char *memory = job->memory;
  const void **arguments;
  void **cell;
  if (!memory)
    return job->arguments;
  memory += tk_part_bytes(tiles) * (size_t)part;
  arguments = (const void **)(void *)memory;
  memcpy(arguments, job->arguments, (size_t)tiles->argument_count * sizeof *arguments);
  cell = (void **)(void *)memory + tiles->argument_count;
  *cell = memory + tk_part_head(tiles);
  arguments[tiles->argument] = cell;
  return arguments;
}

/* Does what no other thread has begun, and returns how many programs that were. */
static int64_t tk_work_on(tk_job *job, int part) {
  const void *const *arguments = tk_arguments_of(job, part);
  int64_t begin, end, done = 0;
  while ((begin = __atomic_fetch_add(&job->next, job->piece, __ATOMIC_RELAXED)) < job->end) {
    end = job->end - begin < job->piece ? job->end : begin + job->piece;
    job->kernel(arguments, begin, end);
    done += end - begin;
  }
  return done;
}

static void tk_begin_job(tk_job *job, tk_host_function kernel, const void *const *arguments,
                         const tk_tiles *tiles, int64_t begin, int64_t end) {
  memset(job, 0, sizeof *job);
  job->kernel = kernel;
  job->arguments = arguments;
  job->tiles = tiles;
  job->next = begin;
  job->end = end;
}

/* Does all of it in the calling thread. Its parts stand apart, so that a launch without tiles does
 * not pay for them. */
__attribute__((noinline)) static int tk_run_with_tiles(tk_host_function kernel,
                                                       const void *const *arguments,
                                                       const tk_tiles *tiles, int64_t begin,
                                                       int64_t end) {
  tk_job job;
  tk_begin_job(&job, kernel, arguments, tiles, begin, end);
  if (!tk_take_memory(&job, 1))
    return 1;
  kernel(tk_arguments_of(&job, 0), begin, end);
  free(job.memory);
  return 0;
}
static inline int tk_run_alone(tk_host_function kernel, const void *const *arguments,
                               const tk_tiles *tiles, int64_t begin, int64_t end) {
  if (tiles)
    return tk_run_with_tiles(kernel, arguments, tiles, begin, end);
  kernel(arguments, begin, end);
  return 0;
}

static int64_t tk_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Keeps what a launch has shown of its kernel's cost. Launches of several threads may overwrite
 * each other's: it only decides who works. */
static void tk_keep_cost(tk_pool *pool, tk_host_function kernel, int64_t begin, int64_t done) {
  if (done > 0) {
    __atomic_store_n(&pool->cost, (tk_nanoseconds() - begin) * 256 / done, __ATOMIC_RELAXED);
    __atomic_store_n(&pool->timed, kernel, __ATOMIC_RELAXED);
  }
}

/* Is a launch like the last one, and that one so short that its caller alone is quicker? */
static int tk_is_short(const tk_pool *pool, tk_host_function kernel, int64_t count) {
  int64_t cost = __atomic_load_n(&pool->cost, __ATOMIC_RELAXED);
  return __atomic_load_n(&pool->timed, __ATOMIC_RELAXED) == kernel &&
         count < (int64_t)TK_POOL_ALONE && cost < (int64_t)TK_POOL_ALONE * 256 / count;
}

static int tk_count_processors(tk_pool *pool) {
  int count = __atomic_load_n(&pool->processors, __ATOMIC_RELAXED);
  if (!count) { /* the system reads a file to tell */
    count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    count = count > 0 ? count : 1;
    __atomic_store_n(&pool->processors, count, __ATOMIC_RELAXED);
  }
  return count;
}

static tk_job *tk_find_job(const tk_pool *pool) {
  tk_job *job = pool->jobs;
  while (job &&
         (job->joined >= job->limit || __atomic_load_n(&job->next, __ATOMIC_RELAXED) >= job->end))
    job = job->next_job;
  return job;
}

static void *tk_worker(void *shared) {
  tk_pool *pool = (tk_pool *)shared;
  pthread_mutex_lock(&pool->mutex);
  while (!pool->is_ending) {
    tk_job *job = tk_find_job(pool);
    int part;
    if (!job) {
      pthread_cond_wait(&pool->work, &pool->mutex);
      continue;
    }
    ++job->helpers;
    part = ++job->joined; /* the caller's is part 0 */
    pthread_mutex_unlock(&pool->mutex);
    tk_work_on(job, part);
    pthread_mutex_lock(&pool->mutex);
    if (--job->helpers == 0)
      pthread_cond_broadcast(&pool->done);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

/* Threads for a launch that wants so many besides its own. Fewer if there are no more to be had.
 * Called with the mutex held. */
static void tk_grow_pool(tk_pool *pool, int wanted) {
  sigset_t all, before;
  wanted = wanted > TK_POOL_THREADS ? (int)TK_POOL_THREADS : wanted;
  if (pool->count >= wanted)
    return;
  sigfillset(&all); /* the program's signals are for its own threads */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool->count < wanted &&
         pthread_create(&pool->threads[pool->count], NULL, tk_worker, pool) == 0)
    ++pool->count;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* After a fork the threads are the parent's, and one of them may have held the mutex. */
static void tk_check_process(tk_pool *pool) {
  static const tk_pool fresh = TK_POOL_START;
  int process = (int)getpid();
  int known = __atomic_load_n(&pool->process, __ATOMIC_ACQUIRE);
  if (known == process)
    return;
  if (known != 0)
    *pool = fresh;
  __atomic_store_n(&pool->process, process, __ATOMIC_RELEASE);
}

/* Does all of it together with the pool's threads. */
__attribute__((noinline)) static int tk_run_together(tk_pool *pool, tk_host_function kernel,
                                                     const void *const *arguments,
                                                     const tk_tiles *tiles, int64_t begin,
                                                     int64_t end, int threads) {
  tk_job job, **link;
  int64_t start, done;
  tk_begin_job(&job, kernel, arguments, tiles, begin, end);
  threads = threads > TK_POOL_THREADS + 1 ? (int)TK_POOL_THREADS + 1 : threads;
  threads = tk_take_memory(&job, threads);
  if (!threads)
    return 1;
  job.limit = threads - 1;
  /* Small enough that a slow piece delays the end little, large enough that taking one costs
   * nothing. */
  job.piece = (end - begin) / ((int64_t)threads * 16);
  job.piece = job.piece > 1 ? job.piece : 1;
  tk_check_process(pool);
  pthread_mutex_lock(&pool->mutex);
  tk_grow_pool(pool, job.limit);
  job.next_job = pool->jobs;
  pool->jobs = &job;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  start = tk_nanoseconds();
  done = tk_work_on(&job, 0);
  tk_keep_cost(pool, kernel, start, done);
  pthread_mutex_lock(&pool->mutex);
  for (link = &pool->jobs; *link != &job;)
    link = &(*link)->next_job;
  *link = job.next_job;
  while (job.helpers)
    pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
  free(job.memory);
  return 0;
}

TK_CORE int tk_pool_run(tk_pool *pool, tk_host_function kernel, const void *const *arguments,
                        const tk_tiles *tiles, int64_t begin, int64_t end, int threads) {
  int64_t start, count = end - begin;
  if (threads <= 0 && count > 1)
    threads = tk_count_processors(pool);
  threads = threads > count ? (int)count : threads;
  if (threads <= 1)
    return tk_run_alone(kernel, arguments, tiles, begin, end);
  start = tk_nanoseconds();
  if (!tk_is_short(pool, kernel, count))
    return tk_run_together(pool, kernel, arguments, tiles, begin, end, threads);
  if (tk_run_alone(kernel, arguments, tiles, begin, end))
    return 1;
  tk_keep_cost(pool, kernel, start, count);
  return 0;
}

TK_CORE tile_code tk_launch_with_tiles(tk_pool *pool, const tk_kernel *k, tk_host_function kernel,
                                       const void *const *arguments, int64_t begin, int64_t end,
                                       int threads) {
  tk_tiles tiles = {k->scratch_bytes, 0, k->argument_count};
  while (tiles.argument < tiles.argument_count &&
         k->arguments[tiles.argument].kind != TK_ARG_SCRATCH)
    ++tiles.argument;
  if (tiles.argument == tiles.argument_count) /* nobody asks for the memory */
    return (tile_code)tk_pool_run(pool, kernel, arguments, NULL, begin, end, threads);
  if (!tk_pool_run(pool, kernel, arguments, &tiles, begin, end, threads))
    return TILE_OK;
  tk_about(k);
  tk_say("out of memory: the tiles of a program take %u bytes, which the system does not give; no "
         "program has run; raise the limit of this process (ulimit -v), end others, or make the "
         "kernel's tiles smaller",
         k->scratch_bytes);
  return TILE_ERROR_MEMORY;
}

TK_CORE void tk_pool_end(tk_pool *pool) {
  int count;
  if (__atomic_load_n(&pool->process, __ATOMIC_ACQUIRE) != (int)getpid())
    return;
  pthread_mutex_lock(&pool->mutex);
  count = pool->count;
  pool->is_ending = 1;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int i = 0; i < count; ++i)
    pthread_join(pool->threads[i], NULL);
  pool->count = pool->is_ending = 0;
}

TK_CORE int tk_has_level(const char *level) {
#if defined(__x86_64__)
  int is2, is3, is4;
  __builtin_cpu_init();
  is2 = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
        __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  is3 = is2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  is4 = is3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl");
  return !strcmp(level, "x86-64") || (is2 && !strcmp(level, "x86-64-v2")) ||
         (is3 && !strcmp(level, "x86-64-v3")) || (is4 && !strcmp(level, "x86-64-v4"));
#elif defined(__aarch64__)
  return !strcmp(level, "armv8-a");
#else
  (void)level;
  return 0;
#endif
}
