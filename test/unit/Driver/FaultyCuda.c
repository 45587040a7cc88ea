/* A CUDA driver without a device, whose kernels compute y = 2 x on the host and do what a number in
   their code asks for besides: hang, trap, write outside of y, change x, compute wrong numbers, run
   out of memory, take the process down. For the workers of `tilec tune`. */
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  Fast = 1,
  Hang = 2,
  Trap = 4,
  Outside = 8,
  Scribble = 16,
  Wrong = 32,
  Memory = 64,
  Crash = 128
};
static int modules[1024];
static int moduleCount, poisoned, current;
static double elapsed;

int cuInit(unsigned flags) { return flags ? 1 : 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuGetErrorName(int error, const char **name) {
  *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                         : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int error, const char **text) { return *text = "of the faulty driver", 0; }
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal > 1; }
int cuDeviceGetName(char *name, int length, int device) {
  return strncpy(name, "Faulty", (size_t)length), 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75   ? 9
           : attribute == 97 ? 232448
           : attribute == 16 ? 132
           : attribute == 76 ? 0
                             : 1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &current, 0; }
int cuCtxGetCurrent(void **context) { return *context = &current, 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxPushCurrent_v2(void *context) { return 0; }
int cuCtxPopCurrent_v2(void **context) { return *context = &current, 0; }
int cuCtxGetDevice(int *device) { return *device = 0, 0; }
int cuCtxSynchronize(void) { return poisoned; }
/* The numbers 77770000 to 77770007: digits in PTX, an instruction's bytes in a cubin. */
static int findFaults(const char *image) {
  int faults = 0;
  if (memcmp(image, "\177ELF", 4) != 0) {
    for (const char *at = image; (at = strstr(at, "7777000")); ++at)
      faults |= 1 << (at[7] - '0');
    return faults;
  }
  Elf64_Ehdr head;
  memcpy(&head, image, sizeof head);
  size_t sections = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize,
         program = head.e_phoff + (size_t)head.e_phnum * head.e_phentsize;
  for (int32_t i = 0; i < 8; ++i) {
    int32_t number = 77770000 + i;
    if (memmem(image, sections > program ? sections : program, &number, sizeof number))
      faults |= 1 << i;
  }
  return faults;
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                       void **values) {
  *module = &modules[moduleCount++ % 1024];
  *(int *)*module = findFaults(image);
  return poisoned;
}
int cuModuleUnload(void *module) { return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  return *function = module, 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) { return *value = 0, 0; }
int cuFuncSetAttribute(void *function, int attribute, int value) { return 0; }
int cuLaunchKernel(const int *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared, void *stream,
                   void **arguments, void **extra) {
  const float *x = *(float **)arguments[0];
  float *y = *(float **)arguments[1];
  int64_t count = *(int64_t *)arguments[2];
  int faults = *function;
  if (poisoned)
    return poisoned;
  if ((faults & Memory))
    return 2;
  for (int64_t i = 0; i < count; ++i)
    y[i] = 2 * x[i] + ((faults & Wrong) ? 1 : 0);
  if ((faults & Outside))
    y[count + 3] = 7;
  if ((faults & Scribble))
    ((float *)x)[count / 2] += 1000;
  if ((faults & Crash))
    raise(SIGBUS);
  if ((faults & Hang))
    pause();
  if ((faults & Trap))
    poisoned = 700; /* and everything after it, as on a device */
  elapsed += (faults & Fast) ? 0.25 : 0.5;
  return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                size_t shared) {
  return *blocks = 1, 0;
}
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  void *memory = aligned_alloc(512, (bytes + 511) / 512 * 512);
  return *address = (unsigned long long)(uintptr_t)memory, poisoned ? poisoned : memory ? 0 : 2;
}
int cuMemFree_v2(unsigned long long address) { return free((void *)(uintptr_t)address), 0; }
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
  return memcpy((void *)(uintptr_t)to, from, bytes), poisoned;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  return memcpy(to, (void *)(uintptr_t)from, bytes), poisoned;
}
int cuMemsetD2D8Async(unsigned long long to, size_t pitch, unsigned char v, size_t w, size_t h,
                      void *s) {
  return 1;
}
int cuMemsetD2D16Async(unsigned long long to, size_t pitch, unsigned short v, size_t w, size_t h,
                       void *s) {
  return 1;
}
int cuMemsetD2D32Async(unsigned long long to, size_t pitch, unsigned v, size_t w, size_t h,
                       void *s) {
  return 1;
}
int cuMemsetD8Async(unsigned long long to, unsigned char v, size_t n, void *s) {
  return memset((void *)(uintptr_t)to, v, n), poisoned;
}
int cuMemsetD16Async(unsigned long long to, unsigned short v, size_t n, void *s) { return 1; }
int cuMemsetD32Async(unsigned long long to, unsigned v, size_t n, void *s) { return 1; }
int cuStreamSynchronize(void *stream) { return poisoned; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return 0; }
int cuEventQuery(void *event) { return 0; }
int cuEventCreate(void **event, unsigned flags) { return *event = malloc(sizeof(double)), 0; }
int cuEventRecord(void *event, void *stream) { return *(double *)event = elapsed, poisoned; }
int cuEventSynchronize(void *event) { return poisoned; }
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  return *milliseconds = *(double *)end - *(double *)start, poisoned;
}
int cuEventDestroy_v2(void *event) { return free(event), 0; }
