/* A CUDA driver without a device: it records what the runtime asks of it. The tests load it through
 * TILE_LIBCUDA. */
#ifndef TILE_TEST_UNIT_RUNTIME_FAKECUDA_H
#define TILE_TEST_UNIT_RUNTIME_FAKECUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  FAKE_MAX_ARGUMENTS = 16,
  FAKE_MAX_MEMSETS = 16,
  FAKE_MAX_MAPS = 8,
  FAKE_MAX_MEMORY = 4,
  FAKE_MAX_USER_OBJECTS = 64
};

struct FakeMemset {
  unsigned long long address;
  size_t pitch, width, rows;
  unsigned value, cellBytes;
  void *stream;
};

/* Memory that the driver knows: type 1 is the host's, 2 a device's. */
struct FakeMemory {
  unsigned long long begin, end;
  unsigned type, managed;
  int device;
};

/* What cuTensorMapEncodeTiled was told. The encoded map starts with its number. */
struct FakeMap {
  int dataType, swizzle, promotion;
  unsigned rank;
  uint64_t address, extents[5], strides[5];
  uint32_t box[5];
};

/* What keeps memory with a graph: its number is that of the capture. */
struct FakeUserObject {
  void *value;
  void (*destroy)(void *value);
  int graph;
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
  /* What the driver is like, and what happened, of tensor maps, persistent kernels and clusters. */
  int encodeResult, processors, blocksPerProcessor;
  int encodings, allocations, frees;
  unsigned cluster; /* 0: launched without */
  struct FakeMap map[FAKE_MAX_MAPS];
  struct FakeMemory memory[FAKE_MAX_MEMORY];
  int device; /* the current context's */
  int pointerQueries;
  /* Of memory, captures and streams. */
  int capturing; /* the number of the capture that all streams are in; 0: none */
  int streamAge; /* streams of another age have other numbers with the same handles */
  int isBusy;    /* no event has been reached */
  int lacksPools, lacksStreamIds;
  size_t memoryBytes; /* that the device has; 0: enough */
  size_t liveBytes, peakBytes;
  unsigned long long nextAddress;
  int asyncAllocations, asyncFrees, eventRecords, eventWaits, captureMode, userObjectCount;
  int strictUnloads; /* that would spoil a capture of any thread */
  void *freeStream;  /* of the last free in a stream's order */
  struct FakeUserObject userObjects[FAKE_MAX_USER_OBJECTS];
};

/* The one state of the process. */
struct FakeCuda *fakeCuda(void);
/* Ends a capture's graph and all that was made from it. */
void fakeDestroyGraph(int graph);

#ifdef __cplusplus
}
#endif
#endif
