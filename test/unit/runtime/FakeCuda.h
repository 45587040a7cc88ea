/* A CUDA driver without a device: it records what the runtime asks of it. The tests load it through TILE_LIBCUDA. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FAKE_MAX_ARGUMENTS = 16, FAKE_MAX_MEMSETS = 16 };

struct FakeMemset {
  unsigned long long address;
  size_t pitch, width, rows;
  unsigned value, cellBytes;
  void *stream;
};

struct FakeCuda {
  /* What the driver is like. */
  int major, minor, optinShared, staticShared;
  int loadResult, launchResult;
  const char *symbols; /* names of the functions in every module, each followed by a comma */
  int argumentCount;   /* machine arguments that a launch copies */
  /* What happened. */
  int loads, unloads, launches, retains, memsets, maxDynamicShared;
  unsigned grid[3], block[3], shared;
  void *stream;
  uint64_t arguments[FAKE_MAX_ARGUMENTS];
  char lastFunction[64];
  struct FakeMemset memset[FAKE_MAX_MEMSETS];
  void *current; /* the current context */
  unsigned long long contextId;
};

/* The one state of the process. */
struct FakeCuda *fakeCuda(void);

#ifdef __cplusplus
}
#endif
#endif
