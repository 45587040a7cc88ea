/* What the compiler's archives (libstdc++, libgcc_eh, LLVM) need of glibc beyond 2.28, in terms of
 * older functions. Linked into portable binaries alone (relink.py): hidden, so that nobody else
 * sees these. */
#define _GNU_SOURCE
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* 2.36; std::random_device */
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    abort();
  return value;
}

/* 2.33; LLVM's statistics. mallinfo counts in ints, which wrap around. */
struct wide_mallinfo {
  size_t values[10];
};
HIDDEN struct wide_mallinfo wide_mallinfo(void) __asm__("mallinfo2");
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct wide_mallinfo wide_mallinfo(void) {
  struct mallinfo narrow = mallinfo();
  int values[10];
  struct wide_mallinfo wide;
  memcpy(values, &narrow, sizeof values);
  for (int i = 0; i < 10; ++i)
    wide.values[i] = (unsigned)values[i];
  return wide;
}

/* 2.32; libstdc++'s shared_ptr: 0 says that there may be threads. */
HIDDEN char may_be_single_threaded __asm__("__libc_single_threaded") = 0;

/* 2.35; the unwinder of libgcc_eh. The layout is that of glibc's struct dl_find_object on x86-64
 * and arm64. */
struct found_object {
  unsigned long long flags;
  void *begin, *end, *map, *frames;
  unsigned long long reserved[7];
};
struct search {
  uintptr_t address;
  struct found_object *result;
};
static int visit(struct dl_phdr_info *info, size_t size, void *data) {
  struct search *search = data;
  uintptr_t low = UINTPTR_MAX, high = 0, frames = 0;
  int is_inside = 0;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
              end = begin + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
      frames = begin;
    if (info->dlpi_phdr[i].p_type != PT_LOAD)
      continue;
    low = begin < low ? begin : low;
    high = end > high ? end : high;
    is_inside |= search->address >= begin && search->address < end;
  }
  if (!is_inside || !frames)
    return 0;
  memset(search->result, 0, sizeof *search->result);
  search->result->begin = (void *)low;
  search->result->end = (void *)high;
  search->result->frames = (void *)frames;
  return 1;
}
HIDDEN int find_object(void *address, struct found_object *result) __asm__("_dl_find_object");
int find_object(void *address, struct found_object *result) {
  struct search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(visit, &search) ? 0 : -1;
}
