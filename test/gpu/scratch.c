/* Scratch memory on a GPU: two CUDA graphs of a split kernel, captured on one stream, replayed side
 * by side for 200 rounds; 96 growing launches, and the memory that they keep; a stream that is
 * destroyed with its launch under way. Built and run by scratch.py, which gives it the module. */
#include "tile_runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

#define FUNCTIONS(X)                                                                               \
  X(init, "cuInit", (unsigned))                                                                    \
  X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                                            \
  X(setCurrent, "cuCtxSetCurrent", (void *))                                                       \
  X(synchronize, "cuCtxSynchronize", (void))                                                       \
  X(allocate, "cuMemAlloc_v2", (Address *, size_t))                                                \
  X(toDevice, "cuMemcpyHtoD_v2", (Address, const void *, size_t))                                  \
  X(toHost, "cuMemcpyDtoH_v2", (void *, Address, size_t))                                          \
  X(set, "cuMemsetD8_v2", (Address, unsigned char, size_t))                                        \
  X(memory, "cuMemGetInfo_v2", (size_t *, size_t *))                                               \
  X(createStream, "cuStreamCreate", (void **, unsigned))                                           \
  X(destroyStream, "cuStreamDestroy_v2", (void *))                                                 \
  X(begin, "cuStreamBeginCapture_v2", (void *, int))                                               \
  X(end, "cuStreamEndCapture", (void *, void **))                                                  \
  X(instantiate, "cuGraphInstantiateWithFlags", (void **, void *, unsigned long long))             \
  X(replay, "cuGraphLaunch", (void *, void *))                                                     \
  X(destroyExec, "cuGraphExecDestroy", (void *))                                                   \
  X(destroyGraph, "cuGraphDestroy", (void *))
#define DECLARE(name, symbol, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

enum { ROUNDS = 200, GROWING = 96, BYTES_OF_A_PROGRAM = 16512, TILE_ROWS = 64 };
static tile_kernel *kernel;
static int64_t m = 64, n = 512, k = 65536;
static size_t count; /* of the result's elements */
static int failures;

static void need(int failed, const char *what) {
  if (failed) {
    fprintf(stderr, "%s failed: %d\n", what, failed);
    exit(1);
  }
}
static void expect(int holds, const char *what) {
  printf("%s: %s\n", what, holds ? "right" : "WRONG");
  failures += !holds;
}

static void launch(Address a, Address b, Address c, void *stream) {
  int64_t shapes[3][2] = {{m, k}, {k, n}, {m, n}};
  Address data[3] = {a, b, c};
  tile_argument list[3];
  memset(list, 0, sizeof list);
  for (int i = 0; i < 3; ++i) {
    list[i].dtype = i < 2 ? TILE_F16 : TILE_F32;
    list[i].rank = 2;
    list[i].shape = shapes[i];
    list[i].data = (void *)(uintptr_t)data[i];
  }
  tile_error *error = tile_kernel_launch(kernel, list, 3, stream, 0);
  if (error) {
    fprintf(stderr, "%s\n", tile_error_message(error));
    exit(1);
  }
}

static int isEqual(Address c, const float *expected) {
  static float *got;
  got = got ? got : (float *)malloc(count * 4);
  need(toHost(got, c, count * 4), "cuMemcpyDtoH");
  return memcmp(got, expected, count * 4) == 0;
}

static Address randomHalves(size_t elements) {
  unsigned short *host = (unsigned short *)malloc(elements * 2);
  Address device;
  for (size_t i = 0; i < elements; ++i)
    host[i] = (unsigned short)(0x3000 | (rand() & 0x8bff));
  need(allocate(&device, elements * 2) || toDevice(device, host, elements * 2), "inputs");
  free(host);
  return device;
}

static void *capture(Address a, Address b, Address c, void *stream) {
  void *graph, *exec;
  need(begin(stream, 0), "cuStreamBeginCapture");
  launch(a, b, c, stream);
  need(end(stream, &graph) || instantiate(&exec, graph, 0), "cuGraphInstantiate");
  need(destroyGraph(graph), "cuGraphDestroy"); /* the memory is the instance's now */
  return exec;
}

int main(int argc, char **argv) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context, *s, *t, *u;
  tile_module *module;
  size_t before, after, total;
  if (argc < 2 || !driver)
    return 2;
#define LOAD(name, symbol, parameters)                                                             \
  *(void **)&name = dlsym(driver, symbol);                                                         \
  need(!name, symbol);
  FUNCTIONS(LOAD)
  need(init(0) || retain(&context, 0) || setCurrent(context), "cuInit");
  need(tile_module_load(argv[1], &module) || tile_module_kernel(module, "matmul_split", &kernel),
       "tile_module_load");
  count = (size_t)(m * n);
  srand(1);
  Address b = randomHalves((size_t)(k * n)), a1 = randomHalves((size_t)(m * k)),
          a2 = randomHalves((size_t)(m * k)), c1, c2;
  need(allocate(&c1, (size_t)TILE_ROWS * GROWING * 4096 * 4) || allocate(&c2, count * 4),
       "outputs");
  need(createStream(&s, 1) || createStream(&t, 1) || createStream(&u, 1), "cuStreamCreate");
  float *e1 = (float *)malloc(count * 4), *e2 = (float *)malloc(count * 4);
  launch(a1, b, c1, s);
  launch(a2, b, c2, s);
  need(synchronize() || toHost(e1, c1, count * 4) || toHost(e2, c2, count * 4), "a launch alone");

  void *first = capture(a1, b, c1, s), *second = capture(a2, b, c2, s);
  int wrong = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    need(set(c1, 0, count * 4) || set(c2, 0, count * 4) || synchronize(), "cuMemset");
    need(replay(first, t) || replay(second, u) || synchronize(), "cuGraphLaunch");
    wrong += !isEqual(c1, e1) || !isEqual(c2, e2);
  }
  printf("%d of %d rounds wrong: ", wrong, ROUNDS);
  expect(!wrong, "graphs captured on one stream, side by side");

  wrong = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    need(set(c1, 0, count * 4) || set(c2, 0, count * 4) || synchronize(), "cuMemset");
    launch(a1, b, c1, s);
    need(replay(second, t) || synchronize(), "cuGraphLaunch");
    wrong += !isEqual(c1, e1) || !isEqual(c2, e2);
  }
  printf("%d of %d rounds wrong: ", wrong, ROUNDS);
  expect(!wrong, "a launch on the stream beside a graph captured on it");

  wrong = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    void *one, *other;
    need(createStream(&one, 1), "cuStreamCreate");
    launch(a1, b, c1, one);
    need(destroyStream(one) || createStream(&other, 1), "cuStreamDestroy");
    launch(a2, b, c2, other);
    need(synchronize(), "cuCtxSynchronize");
    wrong += !isEqual(c1, e1) || !isEqual(c2, e2);
    need(destroyStream(other), "cuStreamDestroy");
  }
  printf("%d of %d rounds wrong: ", wrong, ROUNDS);
  expect(!wrong, "a stream destroyed with its launch under way");

  k = 64;
  n = 4096;
  need(synchronize() || memory(&before, &total), "cuMemGetInfo");
  for (int i = 1; i <= GROWING; ++i) {
    m = TILE_ROWS * i;
    launch(a1, b, c1, s);
  }
  need(synchronize() || memory(&after, &total), "cuMemGetInfo");
  double largest = (double)BYTES_OF_A_PROGRAM * GROWING * 64 * 4;
  double kept = before > after ? (double)(before - after) : 0;
  printf("%.2f GB kept, the largest launch needs %.2f: ", kept / 1e9, largest / 1e9);
  expect(kept <= 2.2 * largest, "growing launches");

  /* Captured again and again: a graph's memory goes with it. */
  m = TILE_ROWS;
  k = 65536;
  n = 512;
  need(synchronize() || memory(&before, &total), "cuMemGetInfo");
  for (int i = 0; i < ROUNDS; ++i) {
    void *again = capture(a1, b, c1, s);
    need(replay(again, t) || synchronize() || destroyExec(again), "a graph for a while");
  }
  launch(a1, b, c1, s);
  need(synchronize() || memory(&after, &total), "cuMemGetInfo");
  printf("%.1f MB more after %d captures: ", ((double)before - (double)after) / 1e6, ROUNDS);
  expect((double)before - (double)after < 256e6, "graphs that came and went");

  need(destroyExec(first) || destroyExec(second), "cuGraphExecDestroy");
  tile_module_free(module);
  printf(failures ? "%d failures\n" : "all right\n", failures);
  return failures != 0;
}
