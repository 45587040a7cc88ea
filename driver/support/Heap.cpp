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
static constexpr uintptr_t largePage = 2 << 20;
/// The most that glibc takes for the size from which a block is a mapping of its own, whose pages
/// would be small and new each time.
static constexpr int largestBlock = 32 << 20;

void prepareHeap() {
  mallopt(M_MMAP_THRESHOLD, largestBlock);
  mallopt(M_TRIM_THRESHOLD, 4 * heapRoom);
  mallopt(M_TOP_PAD, heapRoom);
  // More than is free at the end of the heap so far, so that the heap grows.
  constexpr size_t more = 256 << 10;
  void *first = malloc(more);
  auto begin = reinterpret_cast<uintptr_t>(first);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  free(first);
  // Behind what malloc has written, since a page that is there stays small, with all beside it.
  uintptr_t large = (begin + more + largePage) & ~(largePage - 1);
  // A block elsewhere means that the heap could not grow.
  if (!first || begin > end || end - begin > 2 * static_cast<uintptr_t>(heapRoom) || large > end)
    return;
  (void)madvise(reinterpret_cast<void *>(large), end - large, MADV_HUGEPAGE);
  // Nothing is written to what lies ahead of the first large page.
  static void *volatile unused;
  unused = malloc(large - begin);
  (void)unused;
}

#else

void prepareHeap() {}

#endif

} // namespace tile
