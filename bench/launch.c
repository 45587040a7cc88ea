/* Cost of a launch on the host, in nanoseconds, of examples/deploy's saxpy: cuLaunchKernel alone,
 * the runtime library with and without checks, a prepared call likewise, generated C with and
 * without. launch CUBIN THREADS; built and run by bench/launch.py. */
#include "kernels.h"
#include "tile_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of libcuda. */
int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(unsigned long long *address, size_t bytes);
int cuModuleLoad(void **module, const char *path);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned shared, void *stream,
                   void **arguments, void **extra);

enum { ELEMENTS = 1024, CALLS = 400, ROUNDS = 100 };
static void *function;
static unsigned threads;
static tile_kernel *kernel;
static tile_prepared *prepared;
static unsigned long long x, y;
static float a = 2;
static int64_t n = ELEMENTS;

static void need(int failed, const char *what) {
  if (failed) {
    fprintf(stderr, "%s failed: %d\n", what, failed);
    exit(1);
  }
}
static void raw(void) {
  void *arguments[] = {&x, &y, &a, &n};
  need(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL),
       "cuLaunchKernel");
}
#define ARGUMENTS                                                                                  \
  {{TILE_TENSOR, TILE_F32, (void *)x, 1, &n, NULL, 0, 0},                                          \
   {TILE_TENSOR, TILE_F32, (void *)y, 1, &n, NULL, 0, 0},                                          \
   {TILE_SCALAR, TILE_F32, NULL, 0, NULL, NULL, 0, 0x40000000}}
static void library(uint32_t flags) {
  tile_argument list[3] = ARGUMENTS;
  need(tile_kernel_launch(kernel, list, 3, NULL, flags) != NULL, "tile_kernel_launch");
}
static void ready(uint32_t flags) {
  uint64_t values[3] = {x, y, 0x40000000};
  need(tile_prepared_launch(prepared, values, 3, NULL, flags) != NULL, "tile_prepared_launch");
}
static void readyChecked(void) { ready(0); }
static void readyUnchecked(void) { ready(TILE_LAUNCH_UNCHECKED); }
static void checked(void) { library(0); }
static void unchecked(void) { library(TILE_LAUNCH_UNCHECKED); }
static void generated(void) {
  need(saxpy_launch((float *)x, (float *)y, a, n, NULL, 0), "saxpy_launch");
}
static void generatedUnchecked(void) {
  need(saxpy_launch((float *)x, (float *)y, a, n, NULL, TILE_LAUNCH_UNCHECKED), "saxpy_launch");
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
static int ascending(const void *p, const void *q) {
  double d = *(const double *)p - *(const double *)q;
  return d < 0 ? -1 : d > 0;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*call)(void);
  } ways[] = {{"cuLaunchKernel", raw},
              {"library", checked},
              {"library unchecked", unchecked},
              {"prepared", readyChecked},
              {"prepared unchecked", readyUnchecked},
              {"generated C", generated},
              {"generated C unchecked", generatedUnchecked}};
  enum { WAYS = sizeof ways / sizeof ways[0] };
  static double times[WAYS][ROUNDS];
  void *context = NULL, *module = NULL;
  tile_module *loaded = NULL;
  int device = 0;
  if (argc < 3)
    return 2;
  threads = (unsigned)atoi(argv[2]);
  need(cuInit(0), "cuInit");
  need(cuDeviceGet(&device, 0), "cuDeviceGet");
  need(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  need(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  need(cuMemAlloc_v2(&x, ELEMENTS * 4) || cuMemAlloc_v2(&y, ELEMENTS * 4), "cuMemAlloc");
  need(cuModuleLoad(&module, argv[1]) || cuModuleGetFunction(&function, module, "saxpy"),
       "cuModuleLoad");
  need(tile_module_load(argv[1], &loaded) || tile_module_kernel(loaded, "saxpy", &kernel),
       "tile_module_load");
  tile_argument list[3] = ARGUMENTS;
  need(tile_kernel_prepare(kernel, list, 3, &prepared) != NULL, "tile_kernel_prepare");
  for (int round = 0; round < ROUNDS;
       ++round) /* the ways alternate, so that all meet the same machine */
    for (int way = 0; way < WAYS; ++way) {
      double begin = now();
      for (int i = 0; i < CALLS; ++i)
        ways[way].call();
      times[way][round] = (now() - begin) / CALLS;
      need(cuCtxSynchronize(), "cuCtxSynchronize");
    }
  for (int way = 0; way < WAYS; ++way) {
    qsort(times[way], ROUNDS, sizeof times[way][0], ascending);
    printf("%s\t%.0f\n", ways[way].name, times[way][ROUNDS / 2]);
  }
  return 0;
}
