/* Threads that stay from launch to launch: see Pool.h. A launch's caller does what no other thread
 * has begun, and waits for those alone that have, so that it ends whatever becomes of the rest.
 *
 *   programs   | 0 .. p-1 | p .. 2p-1 | 2p .. 3p-1 | 3p .. 4p-1 | ...
 *   taken by     caller     caller      helper       caller          `next` is the first that is
 *                                                                    free; a piece is taken by
 *                                                                    adding p to it
 *   the end      next >= count, and no helper is at a piece */
#include "launch/core/Pool.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Does what no other thread has begun, and returns how many programs that were. */
static int64_t tk_work_on(tk_job *job) {
  int64_t begin, end, done = 0;
  while ((begin = __atomic_fetch_add(&job->next, job->piece, __ATOMIC_RELAXED)) < job->count) {
    end = job->count - begin < job->piece ? job->count : begin + job->piece;
    job->kernel(job->arguments, begin, end);
    done += end - begin;
  }
  return done;
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
  while (job && (job->helpers >= job->limit ||
                 __atomic_load_n(&job->next, __ATOMIC_RELAXED) >= job->count))
    job = job->next_job;
  return job;
}

static void *tk_worker(void *shared) {
  tk_pool *pool = (tk_pool *)shared;
  pthread_mutex_lock(&pool->mutex);
  while (!pool->is_ending) {
    tk_job *job = tk_find_job(pool);
    if (!job) {
      pthread_cond_wait(&pool->work, &pool->mutex);
      continue;
    }
    ++job->helpers;
    pthread_mutex_unlock(&pool->mutex);
    tk_work_on(job);
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

TK_CORE void tk_pool_run(tk_pool *pool, tk_host_function kernel, const void *const *arguments,
                         int64_t count, int threads) {
  tk_job job, **link;
  int64_t begin, done;
  if (threads <= 0 && count > 1)
    threads = tk_count_processors(pool);
  threads = threads > count ? (int)count : threads;
  if (threads <= 1) {
    kernel(arguments, 0, count);
    return;
  }
  begin = tk_nanoseconds();
  if (tk_is_short(pool, kernel, count)) {
    kernel(arguments, 0, count);
    tk_keep_cost(pool, kernel, begin, count);
    return;
  }
  memset(&job, 0, sizeof job);
  job.kernel = kernel;
  job.arguments = arguments;
  job.count = count;
  job.limit = threads - 1;
  /* Small enough that a slow piece delays the end little, large enough that taking one costs
   * nothing. */
  job.piece = count / ((int64_t)threads * 16);
  job.piece = job.piece > 1 ? job.piece : 1;
  tk_check_process(pool);
  pthread_mutex_lock(&pool->mutex);
  tk_grow_pool(pool, job.limit);
  job.next_job = pool->jobs;
  pool->jobs = &job;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  begin = tk_nanoseconds();
  done = tk_work_on(&job);
  tk_keep_cost(pool, kernel, begin, done);
  pthread_mutex_lock(&pool->mutex);
  for (link = &pool->jobs; *link != &job;)
    link = &(*link)->next_job;
  *link = job.next_job;
  while (job.helpers)
    pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
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
