/* Many threads load, launch and read messages of generated C at once, over the fake driver; built
 * with -fsanitize=thread. */
#include "softmax.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/runtime/FakeCuda.h"

enum { THREADS = 8, CALLS = 500 };

static void *work(void *number) {
  static _Alignas(64) float memory[2][4096];
  long failures = 0;
  for (int i = 0; i < CALLS; ++i) {
    tile_code code = softmax_T_f32_launch(memory[0], memory[1], 4, 1 + i % 1000, number, 0);
    failures += code != TILE_OK;
    code = softmax_T_f32_launch(memory[0], memory[1], 4, -1, number, 0);
    failures += code != TILE_ERROR_DIM || !strstr(softmax_message(), "is -1, expected 0 or more");
    if (i % 100 == 0)
      failures += softmax_load() != TILE_OK;
  }
  return (void *)failures;
}

int main(void) {
  struct FakeCuda *(*get)(void);
  void *library = dlopen(getenv("TILE_LIBCUDA"), RTLD_NOW),
       *symbol = library ? dlsym(library, "fakeCuda") : NULL, *result;
  pthread_t threads[THREADS];
  long failures = 0;
  if (!symbol)
    return 2;
  memcpy(&get, &symbol, sizeof get);
  struct FakeCuda *fake = get();
  fake->major = 9;
  fake->optinShared = 232448;
  fake->symbols = "softmax_T_f16,softmax_T_bf16,softmax_T_f32,softmax_T_f16_N_mod_8_0,"
                 "softmax_T_bf16_N_mod_8_0,softmax_T_f32_N_mod_8_0,";
  for (long i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, (void *)(i + 1));
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], &result);
    failures += (long)result;
  }
  softmax_unload();
  printf("%ld failures, %d loads, %d unloads\n", failures, fake->loads, fake->unloads);
  return failures != 0 || fake->loads != 1 || fake->unloads != 1;
}
