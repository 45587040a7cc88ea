/* Loaded before the C library: memory in lines of the cache, as kernels have for their tiles,
 * cannot be had from eight megabytes on. */
#include <errno.h>
#include <stdlib.h>

void *aligned_alloc(size_t alignment, size_t bytes) {
  void *memory = NULL;
  if (alignment == 64 && bytes >= (size_t)8 << 20) {
    errno = ENOMEM;
    return NULL;
  }
  alignment = alignment < sizeof memory ? sizeof memory : alignment;
  return posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}
