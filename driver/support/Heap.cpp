// Large pages for the heap of the C library, as far as it is the GNU one on Linux.
#include "driver/support/Heap.h"
#ifdef __GLIBC__
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tile {

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)

/// Addresses that are set aside, of which only those that are written take memory: what nearly all
/// compiles fit into.
static constexpr int heapRoom = 64 << 20;
/// The most that glibc takes for the size from which a block is a mapping of its own, whose pages
/// would be small and new each time.
static constexpr int largestBlock = 32 << 20;

void prepareHeap() {
  mallopt(M_MMAP_THRESHOLD, largestBlock);
  mallopt(M_TRIM_THRESHOLD, 4 * heapRoom);
  mallopt(M_TOP_PAD, heapRoom);
  // More than there is so far, so that the heap grows; below the end is then all of the room.
  void *first = malloc(1 << 20);
  auto begin = reinterpret_cast<uintptr_t>(first);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  uintptr_t page = sysconf(_SC_PAGESIZE);
  begin = (begin + page - 1) & ~(page - 1);
  // A block elsewhere means that the heap could not grow.
  if (first && begin < end && end - begin <= 2 * static_cast<uintptr_t>(heapRoom))
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
  free(first);
}

#else

void prepareHeap() {}

#endif

} // namespace tile
