/* Scratch memory: see Scratch.h. A buffer is `rows` records of `each` bytes, one for each program:
 *
 *   | 128 bytes, zero between launches | the rest, whatever was left | 128 bytes, zero | ...
 *
 * What becomes of a buffer:
 *
 *   eager      take -> users 1 -> done -> its stream takes it again; others once its event is over
 *   captured   take -> owners 2: the list and the graph
 *                   -> the graph is gone: owners 1, and `users` 0: a later capture takes it, or a
 *                      later eager launch frees it (tk_sweep_scratch)
 *
 * The end of a graph comes on a thread of the driver's, which may call no function of the driver
 * and has no lock: it only counts `owners` down, hence the atomics. All else is under the mutex of
 * the caller. */
#include "launch/core/Scratch.h"

#include <stdlib.h>

enum { TK_CLEARED_BYTES = 128 }; /* of each program's part */

/* Allocating and freeing are no part of a capture that this thread or another has begun. */
static int tk_relax(const tk_driver *driver, int mode) {
  if (driver->exchangeCaptureMode)
    driver->exchangeCaptureMode(&mode);
  return mode;
}

static int tk_clear_scratch(const tk_driver *driver, tk_scratch *s, size_t rows, void *stream,
                            const char **what) {
  size_t width = s->each < TK_CLEARED_BYTES ? s->each : (size_t)TK_CLEARED_BYTES;
  int error;
  if (s->cleared >= rows)
    return 0;
  error = driver->memsetD2D8(s->memory, s->each, 0, width, rows, stream);
  if (error)
    *what = "cannot clear scratch memory";
  else
    s->cleared = rows;
  return error;
}

/* A user object's end, on a thread of the driver's that must not call it: no graph is left. */
static void tk_graph_gone(void *record) {
  tk_scratch *s = (tk_scratch *)record;
  if (__atomic_sub_fetch(&s->owners, 1, __ATOMIC_ACQ_REL) == 0)
    free(s);
}

/* Ties the memory to the graph. What cannot be tied stays as long as the list. */
static int tk_give_to_graph(const tk_driver *driver, tk_scratch *s, void *graph) {
  void *object = NULL;
  int error;
  s->is_tied = graph && driver->userObjectCreate && driver->graphRetainUserObject;
  if (!s->is_tied)
    return 0;
  __atomic_store_n(&s->owners, 2, __ATOMIC_RELEASE);
  error = driver->userObjectCreate(&object, s, tk_graph_gone, 1, TK_NO_DESTRUCTOR_SYNC);
  if (error) {
    __atomic_store_n(&s->owners, 1, __ATOMIC_RELEASE);
    return error;
  }
  error = driver->graphRetainUserObject(graph, object, 1, TK_MOVE_REFERENCE);
  if (error && driver->userObjectRelease)
    driver->userObjectRelease(object, 1); /* which ends it */
  return error;
}

static tk_scratch *tk_new_scratch(tk_scratch **list, int instance, size_t each) {
  tk_scratch *s = (tk_scratch *)calloc(1, sizeof *s);
  if (!s)
    return NULL;
  s->instance = instance;
  s->each = each;
  s->owners = 1;
  s->next = *list;
  *list = s;
  return s;
}

static void tk_unlink_scratch(tk_scratch **list, tk_scratch *s) {
  while (*list != s)
    list = &(*list)->next;
  *list = s->next;
  free(s);
}

static int tk_is_released(const tk_scratch *s) {
  return s->is_captured && s->is_tied && s->users == 0 &&
         __atomic_load_n(&s->owners, __ATOMIC_ACQUIRE) == 1;
}

/* Frees what graphs that are gone have left. */
static void tk_sweep_scratch(tk_scratch **list, const tk_driver *driver) {
  for (tk_scratch *s = *list, *next; s; s = next) {
    next = s->next;
    if (!tk_is_released(s))
      continue;
    int mode = tk_relax(driver, TK_RELAXED);
    driver->memFree(s->memory);
    tk_relax(driver, mode);
    tk_unlink_scratch(list, s);
  }
}

static int tk_take_captured(tk_scratch **list, const tk_driver *driver, int instance, size_t each,
                            size_t rows, void *stream, unsigned long long capture, void *graph,
                            tk_scratch **taken, const char **what) {
  tk_scratch *found = NULL;
  int error = 0, mode;
  *what = "cannot allocate scratch memory";
  /* Each thread's own stream has one handle: what two threads capture may run at once. */
  for (tk_scratch *s = *list; s && !found && graph && (uintptr_t)stream != TK_PER_THREAD;
       s = s->next)
    if (s->is_captured && s->instance == instance && s->capture == capture &&
        s->stream == (unsigned long long)(uintptr_t)stream && s->rows >= rows && !tk_is_released(s))
      found = s;
  if (!found) {
    for (tk_scratch *s = *list; s && !found; s = s->next)
      if (tk_is_released(s) && s->instance == instance && s->rows >= rows && s->rows / 2 <= rows)
        found = s;
    if (!found) {
      found = tk_new_scratch(list, instance, each);
      if (!found)
        return -1;
      found->rows = rows;
      mode = tk_relax(driver, TK_RELAXED);
      error = driver->memAlloc(&found->memory, rows * each);
      tk_relax(driver, mode);
      if (error) {
        tk_unlink_scratch(list, found);
        return error;
      }
    }
    found->is_captured = 1;
    found->cleared = 0;
    found->capture = capture;
    found->stream = (unsigned long long)(uintptr_t)stream;
    error = tk_give_to_graph(driver, found, graph);
  }
  if (!error)
    error = tk_clear_scratch(driver, found, rows, stream, what);
  if (!error) {
    ++found->users;
    *taken = found;
  }
  return error;
}

/* Memory for `rows` programs or more in place of what a buffer has, in the stream's order. */
static int tk_grow_scratch(const tk_driver *driver, tk_scratch *s, size_t rows, void *stream) {
  size_t wanted = s->rows + s->rows / 2;
  int error;
  if (s->memory && s->is_pooled)
    driver->memFreeAsync(s->memory, stream);
  else if (s->memory)
    driver->memFree(s->memory); /* waits for what uses it */
  s->memory = 0;
  s->rows = s->cleared = 0;
  if (wanted < rows)
    wanted = rows;
  for (;; wanted = rows) {
    s->is_pooled = driver->memAllocAsync && driver->memFreeAsync;
    error = s->is_pooled ? driver->memAllocAsync(&s->memory, wanted * s->each, stream) : -1;
    if (error) { /* no pool on this device: as before there were any */
      s->is_pooled = 0;
      error = driver->memAlloc(&s->memory, wanted * s->each);
    }
    if (!error || wanted == rows)
      break;
  }
  if (error)
    s->memory = 0;
  else
    s->rows = wanted;
  return error;
}

/* The buffer that a launch on the stream takes: its own, one that no launch uses, or none. */
static tk_scratch *tk_find_scratch(tk_scratch *list, const tk_driver *driver, int instance,
                                   size_t rows, unsigned long long stream, int is_exact) {
  tk_scratch *best = NULL;
  int best_rank = 0;
  for (tk_scratch *s = list; s; s = s->next) {
    int rank, is_own = s->stream == stream && s->is_exact == is_exact;
    if (s->is_captured || s->instance != instance || (s->rows < rows && s->users))
      continue;
    if (!is_own && (!s->event || s->users || driver->eventQuery(s->event)))
      continue;
    rank = (s->rows >= rows ? 3 : 1) + is_own;
    if (rank > best_rank) {
      best = s;
      best_rank = rank;
    }
  }
  return best;
}

static int tk_take_eager(tk_scratch **list, const tk_driver *driver, int instance, size_t each,
                         size_t rows, void *stream, tk_scratch **taken, const char **what) {
  unsigned long long id = (unsigned long long)(uintptr_t)stream;
  int is_exact = driver->streamGetId && driver->streamGetId(stream, &id) == 0, has_any = 0;
  int error = 0, mode;
  tk_scratch *found = NULL;
  *what = "cannot allocate scratch memory";
  for (tk_scratch *s = *list; s; s = s->next) {
    int is_one = s->instance == instance && !s->is_captured;
    has_any |= is_one;
    if (is_one && is_exact && s->is_exact && s->stream == id && s->rows >= rows) {
      ++s->users;
      *taken = s;
      return 0;
    }
  }
  mode = tk_relax(driver, TK_RELAXED);
  tk_sweep_scratch(list, driver);
  found = tk_find_scratch(*list, driver, instance, rows, id, is_exact);
  if (!found) {
    found = tk_new_scratch(list, instance, each);
    /* A handle may stand for another stream than before: only a number tells. */
    if (found && (has_any || !is_exact))
      error = driver->eventCreate(&found->event, TK_EVENT_WITHOUT_TIME);
    error = found ? error : -1;
  } else if (found->event && !is_exact) {
    error = driver->streamWaitEvent(stream, found->event, 0);
  }
  if (!error && found->rows < rows)
    error = tk_grow_scratch(driver, found, rows, stream);
  tk_relax(driver, mode);
  if (!error) /* all of a new buffer, for whoever takes it */
    error = tk_clear_scratch(driver, found, found->rows, stream, what);
  if (error) {
    if (found && !found->users) {
      if (found->memory)
        driver->memFree(found->memory);
      if (found->event)
        driver->eventDestroy(found->event);
      tk_unlink_scratch(list, found);
    }
    return error;
  }
  found->stream = id;
  found->is_exact = is_exact;
  ++found->users;
  *taken = found;
  return 0;
}

TK_CORE int tk_scratch_take(tk_scratch **list, const tk_driver *driver, int instance, size_t each,
                            size_t rows, void *stream, tk_scratch **taken, const char **what) {
  unsigned long long capture = 0;
  void *graph = NULL;
  int capturing = 0;
  if (driver->streamGetCaptureInfo)
    driver->streamGetCaptureInfo(stream, &capturing, &capture, &graph, NULL, NULL);
  else if (driver->streamIsCapturing)
    driver->streamIsCapturing(stream, &capturing);
  if (!capturing)
    return tk_take_eager(list, driver, instance, each, rows, stream, taken, what);
  return tk_take_captured(list, driver, instance, each, rows, stream, capture, graph, taken, what);
}

TK_CORE int tk_scratch_done(const tk_driver *driver, tk_scratch *taken, void *stream) {
  --taken->users;
  return taken->event && !taken->is_captured ? driver->eventRecord(taken->event, stream) : 0;
}

TK_CORE int tk_scratch_free(tk_scratch **list, const tk_driver *driver) {
  int is_used = 0;
  while (*list) {
    tk_scratch *s = *list;
    *list = s->next;
    if (__atomic_sub_fetch(&s->owners, 1, __ATOMIC_ACQ_REL) > 0) {
      is_used = 1; /* the record is the graph's now */
      continue;
    }
    driver->memFree(s->memory);
    if (s->event)
      driver->eventDestroy(s->event);
    free(s);
  }
  return is_used;
}

TK_CORE void tk_scratch_forget(tk_scratch **list) {
  while (*list) {
    tk_scratch *s = *list;
    *list = s->next;
    if (__atomic_sub_fetch(&s->owners, 1, __ATOMIC_ACQ_REL) == 0)
      free(s);
  }
}
