/* A program in C that carries its kernels: built from this file, kernels.c and kernels.h (and
 * kernels.o on the CPU), it needs nothing of Tile when it runs. With -DUSE_CUDA its tensors lie on
 * a GPU, and it needs libcuda. */
#include "kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 100, COLUMNS = 1000 };
static float x[ROWS * COLUMNS] __attribute__((aligned(64))),
    y[ROWS * COLUMNS] __attribute__((aligned(64)));
static float mean[ROWS] __attribute__((aligned(64)));

#ifdef USE_CUDA
/* The few functions of libcuda that this program needs itself. */
typedef unsigned long long device_pointer;
int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(device_pointer *address, size_t bytes);
int cuMemcpyHtoD_v2(device_pointer to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, device_pointer from, size_t bytes);

static void need(int result, const char *what) {
  if (result) {
    fprintf(stderr, "%s: CUDA error %d\n", what, result);
    exit(1);
  }
}
static float *to_device(const float *data, size_t bytes) {
  device_pointer address = 0;
  need(cuMemAlloc_v2(&address, bytes), "memory");
  need(cuMemcpyHtoD_v2(address, data, bytes), "copy");
  return (float *)(uintptr_t)address;
}
static void to_host(float *data, const float *device, size_t bytes) {
  need(cuCtxSynchronize(), "run");
  need(cuMemcpyDtoH_v2(data, (device_pointer)(uintptr_t)device, bytes), "copy");
}
static void open_device(void) {
  int device = 0;
  void *context = NULL;
  need(cuInit(0), "driver");
  need(cuDeviceGet(&device, 0), "device");
  need(cuDevicePrimaryCtxRetain(&context, device), "context");
  need(cuCtxSetCurrent(context), "context");
}
#else
static float *to_device(float *data, size_t bytes) { return bytes ? data : NULL; }
static void to_host(float *data, const float *device, size_t bytes) {
  if (data != device)
    memcpy(data, device, bytes);
}
static void open_device(void) {}
#endif

static void check(tile_code code) {
  if (code) {
    fprintf(stderr, "%s\n", kernels_message());
    exit(1);
  }
}

int main(void) {
  double worst = 0;
  open_device();
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    x[i] = (float)(i % 101) / 101;
    y[i] = 1;
  }
  float *dx = to_device(x, sizeof x), *dy = to_device(y, sizeof y),
        *dmean = to_device(mean, sizeof mean);
  check(saxpy_launch(dx, dy, 2.0f, ROWS * COLUMNS, NULL, 0));
  check(row_mean_launch(dy, dmean, ROWS, COLUMNS, NULL, 0));
  to_host(mean, dmean, sizeof mean);
  for (int row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (int i = 0; i < COLUMNS; ++i)
      sum += 2.0 * x[row * COLUMNS + i] + 1;
    double error = fabs(sum / COLUMNS - mean[row]);
    worst = error > worst ? error : worst;
  }
  printf("largest error %s 1e-5\n", worst < 1e-5 ? "below" : "ABOVE");
  /* What is wrong is refused by name. */
  if (row_mean_launch(dx, dx, ROWS, COLUMNS, NULL, 0) == TILE_ERROR_OVERLAP)
    printf("refused: %s\n", kernels_message());
  return worst < 1e-5 ? 0 : 1;
}
