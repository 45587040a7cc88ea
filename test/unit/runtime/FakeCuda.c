/* The fake driver: exactly the functions that the runtime loads, with the driver's names. */
#include "FakeCuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct FakeCuda state;
struct FakeCuda *fakeCuda(void) { return &state; }

/* Functions are pointers to their names, so that a launch can tell which one it got. */
static char names[64][64];
static int nameCount;

int cuInit(unsigned flags) { return flags ? 1 : 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuGetErrorName(int error, const char **name) {
  *name = error == 200   ? "CUDA_ERROR_INVALID_IMAGE"
          : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                         : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuGetErrorString(int error, const char **text) { return *text = "text of the fake driver", 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal != 0; }
/* "8.9 NVIDIA L4" as capability and name, for processes that cannot reach the record. */
static const char *readDevice(void) {
  const char *device = getenv("TILE_FAKE_DEVICE");
  int length = 0;
  if (!device || sscanf(device, "%d.%d %n", &state.major, &state.minor, &length) < 2)
    return "Fake";
  return device + length;
}
int cuDeviceGetName(char *name, int length, int device) {
  return strncpy(name, readDevice(), (size_t)length), 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  readDevice();
  *value = attribute == 75   ? state.major
           : attribute == 76 ? state.minor
           : attribute == 97 ? state.optinShared
           : attribute == 16 ? state.processors
                             : 1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  return ++state.retains, *context = &state, 0;
}
int cuCtxGetCurrent(void **context) { return *context = state.current, 0; }
int cuCtxSetCurrent(void *context) { return state.current = context, 0; }
int cuCtxPushCurrent_v2(void *context) { return 0; }
int cuCtxPopCurrent_v2(void **context) { return *context = state.current, 0; }
int cuCtxGetDevice(int *device) { return *device = state.device, 0; }
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer) {
  ++state.pointerQueries;
  for (int i = 0; i < FAKE_MAX_MEMORY; ++i) {
    const struct FakeMemory *known = &state.memory[i];
    if (pointer < known->begin || pointer >= known->end)
      continue;
    if (attribute == 2)
      *(unsigned *)value = known->type;
    else if (attribute == 8)
      *(unsigned *)value = known->managed;
    else if (attribute == 9)
      *(int *)value = known->device;
    else
      return 1;
    return 0;
  }
  return 1;
}
int cuCtxSynchronize(void) { return 0; }
int cuCtxGetId(void *context, unsigned long long *id) { return *id = state.contextId, 0; }
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values) {
  __atomic_fetch_add(&state.loads, 1, __ATOMIC_RELAXED);
  if (state.loadResult)
    strcpy(values[0], "ptxas: line 1, what is wrong\n");
  *module = &state;
  return state.loadResult;
}
int cuModuleUnload(void *module) {
  enum { Relaxed = 2 };
  state.strictUnloads += state.captureMode != Relaxed;
  return __atomic_fetch_add(&state.unloads, 1, __ATOMIC_RELAXED), 0;
}
int cuModuleGetFunction(void **function, void *module, const char *name) {
  char listed[72];
  strcpy(listed, name);
  strcat(listed, ",");
  if (!strstr(state.symbols, listed))
    return 500;
  char *copy = names[nameCount++ % 64];
  *function = strcpy(copy, name);
  return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
  return *value = state.staticShared, 0;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  if (attribute == 8)
    state.maxDynamicShared = value;
  return 0;
}
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned shared, void *stream,
                   void **arguments, void **extra) {
  unsigned grid[3] = {gridX, gridY, gridZ}, block[3] = {blockX, blockY, blockZ};
  ++state.launches;
  memcpy(state.grid, grid, sizeof grid);
  memcpy(state.block, block, sizeof block);
  state.shared = shared;
  state.stream = stream;
  for (int i = 0; i < state.argumentCount; ++i)
    memcpy(&state.arguments[i], arguments[i], 8);
  strcpy(state.lastFunction, function);
  state.cluster = 0;
  return state.launchResult;
}
struct Attribute {
  int id, padding;
  unsigned value[16];
};
struct Config {
  unsigned grid[3], block[3], shared;
  void *stream;
  struct Attribute *attributes;
  unsigned count;
};
int cuLaunchKernelEx(const struct Config *c, void *function, void **arguments, void **extra) {
  int result = cuLaunchKernel(function, c->grid[0], c->grid[1], c->grid[2], c->block[0],
                              c->block[1], c->block[2], c->shared, c->stream, arguments, extra);
  state.cluster = c->count == 0 ? 0
                  : c->count == 1 && c->attributes->id == 4 && c->attributes->value[1] == 1
                      ? c->attributes->value[0]
                      : 99;
  return result;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                size_t shared) {
  return *blocks = state.blocksPerProcessor, 0;
}
int cuTensorMapEncodeTiled(void *map, int dataType, uint32_t rank, void *address,
                           const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                           const uint32_t *steps, int interleave, int swizzle, int promotion,
                           int fill) {
  struct FakeMap entry = {dataType, swizzle, promotion, rank, (uint64_t)(uintptr_t)address,
                          {0},      {0},     {0}};
  uint64_t number = 0x3a90000 + (uint64_t)state.encodings;
  for (uint32_t i = 0; i < rank; ++i) {
    entry.extents[i] = extents[i];
    entry.strides[i] = i ? strides[i - 1] : 0;
    entry.box[i] = box[i];
    if (extents[i] == 0 || steps[i] != 1 || (i && strides[i - 1] % 16))
      return 1;
  }
  if ((uintptr_t)map % 64 || interleave || fill)
    return 1;
  state.map[state.encodings++ % FAKE_MAX_MAPS] = entry;
  memcpy(map, &number, 8);
  return state.encodeResult;
}

/* Memory that is allocated: addresses are never given twice before the record is reset. */
enum { FAKE_MAX_ALLOCATIONS = 16384 };
static struct {
  unsigned long long address;
  size_t bytes;
} allocated[FAKE_MAX_ALLOCATIONS];

static int allocate(unsigned long long *address, size_t bytes) {
  if (bytes == 0 || (state.memoryBytes && state.liveBytes + bytes > state.memoryBytes))
    return 2;
  *address = state.nextAddress ? state.nextAddress : 0x1000;
  state.nextAddress = *address + (bytes + 0xfff) / 0x1000 * 0x1000;
  ++state.allocations;
  state.liveBytes += bytes;
  state.peakBytes = state.liveBytes > state.peakBytes ? state.liveBytes : state.peakBytes;
  for (int i = 0; i < FAKE_MAX_ALLOCATIONS; ++i)
    if (!allocated[i].bytes || allocated[i].address == *address) {
      allocated[i].address = *address;
      allocated[i].bytes = bytes;
      return 0;
    }
  return 2;
}
static int release(unsigned long long address) {
  ++state.frees;
  for (int i = 0; i < FAKE_MAX_ALLOCATIONS; ++i)
    if (allocated[i].bytes && allocated[i].address == address) {
      state.liveBytes -= allocated[i].bytes;
      allocated[i].bytes = 0;
      return 0;
    }
  return 1;
}
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) { return allocate(address, bytes); }
int cuMemFree_v2(unsigned long long address) { return release(address); }
int cuMemAllocAsync(unsigned long long *address, size_t bytes, void *stream) {
  if (state.capturing)
    return 900;
  if (state.lacksPools)
    return 801;
  ++state.asyncAllocations;
  return allocate(address, bytes);
}
int cuMemFreeAsync(unsigned long long address, void *stream) {
  ++state.asyncFrees;
  state.freeStream = stream;
  return state.capturing ? 900 : release(address);
}
int cuStreamIsCapturing(void *stream, int *status) { return *status = state.capturing != 0, 0; }
int cuStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph,
                              void *const **dependencies, size_t *count) {
  *status = state.capturing != 0;
  if (state.capturing) {
    *id = (unsigned long long)state.capturing;
    *graph = &state;
  }
  return 0;
}
/* Streams have the number that the tests gave their handle; a new stream may get a known handle. */
int cuStreamGetId(void *stream, unsigned long long *id) {
  if (state.lacksStreamIds)
    return 801;
  *id = (unsigned long long)(uintptr_t)stream + ((unsigned long long)state.streamAge << 32);
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  int before = state.captureMode;
  state.captureMode = *mode;
  *mode = before;
  return 0;
}
int cuUserObjectCreate(void **object, void *value, void (*destroy)(void *), unsigned references,
                       unsigned flags) {
  if (references != 1 || flags != 1 || state.userObjectCount == FAKE_MAX_USER_OBJECTS)
    return 1;
  struct FakeUserObject *made = &state.userObjects[state.userObjectCount++];
  made->value = value;
  made->destroy = destroy;
  made->graph = 0;
  *object = made;
  return 0;
}
int cuGraphRetainUserObject(void *graph, void *object, unsigned references, unsigned flags) {
  if (!state.capturing || references != 1 || flags != 1)
    return 1;
  ((struct FakeUserObject *)object)->graph = state.capturing;
  return 0;
}
int cuUserObjectRelease(void *object, unsigned references) {
  struct FakeUserObject *known = object;
  if (known->destroy)
    known->destroy(known->value);
  known->destroy = 0;
  return 0;
}
/* What the driver does once a graph and all that was made from it are gone. */
void fakeDestroyGraph(int graph) {
  for (int i = 0; i < state.userObjectCount; ++i)
    if (state.userObjects[i].graph == graph && state.userObjects[i].destroy)
      cuUserObjectRelease(&state.userObjects[i], 1);
}
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) { return 0; }
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) { return 0; }

static int record(unsigned long long to, size_t pitch, unsigned value, size_t width, size_t rows,
                  unsigned cellBytes, void *stream) {
  if (state.memsets == FAKE_MAX_MEMSETS)
    return 2;
  struct FakeMemset entry = {to, pitch, width, rows, value, cellBytes, stream};
  state.memset[state.memsets++] = entry;
  return 0;
}
int cuMemsetD2D8Async(unsigned long long to, size_t pitch, unsigned char v, size_t w, size_t h,
                      void *s) {
  return record(to, pitch, v, w, h, 1, s);
}
int cuMemsetD2D16Async(unsigned long long to, size_t pitch, unsigned short v, size_t w, size_t h,
                       void *s) {
  return record(to, pitch, v, w, h, 2, s);
}
int cuMemsetD2D32Async(unsigned long long to, size_t pitch, unsigned v, size_t w, size_t h,
                       void *s) {
  return record(to, pitch, v, w, h, 4, s);
}
int cuMemsetD8Async(unsigned long long to, unsigned char v, size_t n, void *s) {
  return record(to, 0, v, n, 1, 1, s);
}
int cuMemsetD16Async(unsigned long long to, unsigned short v, size_t n, void *s) {
  return record(to, 0, v, n, 1, 2, s);
}
int cuMemsetD32Async(unsigned long long to, unsigned v, size_t n, void *s) {
  return record(to, 0, v, n, 1, 4, s);
}
int cuStreamSynchronize(void *stream) { return 0; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return ++state.eventWaits, 0; }
int cuEventCreate(void **event, unsigned flags) { return *event = &state, 0; }
int cuEventRecord(void *event, void *stream) { return ++state.eventRecords, 0; }
int cuEventQuery(void *event) { return state.isBusy ? 600 : 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuEventElapsedTime(float *milliseconds, void *start, void *end) { return *milliseconds = 1, 0; }
int cuEventDestroy_v2(void *event) { return 0; }
