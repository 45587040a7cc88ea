/* Scratch memory: who owns it. Part of the launcher's core.
 *
 * Programs of a launch exchange sums and counts in it. The first 128 bytes of each program's part
 * are zero before a launch, and kernels leave them so; two launches that may run at once must not
 * share a buffer.
 * - A launch that is captured takes memory of its own for its capture and stream, where launches
 *   are ordered whoever replays the graph. It is allocated beside the capture; only its clearing is
 *   a node of the graph, and a user object tells when neither the graph nor what was instantiated
 *   from it is left. From then on the next capture of that kernel takes it over, or the next launch
 *   outside of captures that finds no buffer frees it. If the module is unloaded before, it stays
 *   until the context ends.
 * - Other launches take their stream's buffer. The first stream's needs nothing else, as work on a
 *   stream is ordered; of further streams an event after each launch tells when the buffer may
 *   serve another, so that there are no more than launches at once. A buffer that is too small is
 *   given back and replaced in the stream's order, by one half as large again. */
#ifndef TILE_CORE_SCRATCH_H
#define TILE_CORE_SCRATCH_H

#include "launch/core/Driver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tk_scratch {
  struct tk_scratch *next;
  int instance;
  int is_captured, is_tied; /* tied to a graph by a user object */
  int owners; /* of captured memory, atomic: this list, and the graph as long as it lives */
  int users;  /* launches between take and done */
  int is_pooled, is_exact; /* from the stream-ordered pool; `stream` is a number, not a handle */
  unsigned long long stream, capture;
  void *event; /* after the last launch; NULL of the first stream's */
  tk_device_pointer memory;
  size_t each, rows, cleared; /* bytes of a program, programs that it suffices for, cleared ones */
} tk_scratch;

/* Memory for `rows` programs of `each` bytes on the stream, out of `list` or new: the launches of
 * one context, guarded by one mutex. 0, or the driver's code with what failed. */
TK_CORE int tk_scratch_take(tk_scratch **list, const tk_driver *driver, int instance, size_t each,
                            size_t rows, void *stream, tk_scratch **taken, const char **what);
/* To be called under the same mutex once the launch is in the stream, or has failed. */
TK_CORE int tk_scratch_done(const tk_driver *driver, tk_scratch *taken, void *stream);
/* Gives all back, in the context that is current. What living graphs use stays, and so must their
 * code: returns whether there is such. */
TK_CORE int tk_scratch_free(tk_scratch **list, const tk_driver *driver);
/* Forgets the records of a context that is gone. */
TK_CORE void tk_scratch_forget(tk_scratch **list);

#ifdef __cplusplus
}
#endif

#endif
