/* Launches of a split kernel by generated C over the fake driver, captured and not. */
#include "split.h"

#include "test/unit/runtime/FakeCuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct FakeCuda *fake;

/* The scratch memory that a launch of so many rows gets. */
static uint64_t launch(int64_t m) {
  static const size_t base = 0x100000000;
  fake->memsets = 0;
  tile_code code = matmul_split_T_f16_launch((tile_f16 *)base, (tile_f16 *)(2 * base),
                                             (float *)(3 * base), m, 4096, 4096, (void *)0x30, 0);
  if (code) {
    puts(split_message());
    exit(1);
  }
  return fake->arguments[6];
}

int main(void) {
  struct FakeCuda *(*get)(void);
  void (*destroy)(int);
  void *library = dlopen(getenv("TILE_LIBCUDA"), RTLD_NOW), *symbols[2];
  if (!library)
    return 2;
  symbols[0] = dlsym(library, "fakeCuda");
  symbols[1] = dlsym(library, "fakeDestroyGraph");
  memcpy(&get, &symbols[0], sizeof get);
  memcpy(&destroy, &symbols[1], sizeof destroy);
  fake = get();
  fake->major = 9;
  fake->optinShared = 232448;
  fake->processors = 132;
  fake->blocksPerProcessor = 1;
  fake->symbols = "matmul_split_T_f16,";
  fake->argumentCount = 7;
  fake->current = fake;
  uint64_t eager = launch(64);
  fake->capturing = 1;
  uint64_t first = launch(64);
  int cleared = fake->memsets;
  fake->capturing = 2;
  uint64_t second = launch(64);
  fake->capturing = 0;
  if (eager != first && first != second && eager != second && cleared == 1 && fake->memsets == 1)
    puts("graphs share nothing");
  destroy(1);
  destroy(2);
  size_t small = fake->liveBytes / 3;
  int allocations = fake->allocations, isBounded = 1;
  for (int i = 2; i <= 96; ++i) {
    launch(64 * i);
    isBounded &= fake->liveBytes <= small * (size_t)i * 22 / 10;
  }
  printf("96 launches: %d allocations, %s 2.2 times the largest\n", fake->allocations - allocations,
         isBounded ? "at most" : "more than");
  split_unload();
  printf("after a graph's end and unload: %zu bytes\n", fake->liveBytes);
  return 0;
}
