/* Runs `scale` of a package on the CPU: cpu_package FILE. Built with nothing but a C compiler and
 * the runtime. */
#include "tile_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(tile_error *error, const char *what) {
  printf("%s: %d: %s\n", what, (int)tile_error_code(error), tile_error_message(error));
  tile_error_free(error);
  return 1;
}

/* The same call, prepared, for other memory and another factor, and by the generic variant. */
static int64_t again(tile_kernel *kernel, const tile_argument *arguments, const char *variant) {
  int64_t count = arguments[0].shape[0] * arguments[0].shape[1], i, wrong = 0;
  size_t bytes = (size_t)((count * 4 + 127) / 128 * 128);
  float *x = aligned_alloc(128, bytes), *y = aligned_alloc(128, bytes);
  tile_prepared *prepared = NULL;
  tile_error *error;
  uint64_t values[3];
  if ((error = tile_kernel_prepare(kernel, arguments, 3, &prepared)))
    return fail(error, "prepare");
  if (strcmp(tile_instance_variant(tile_prepared_instance(prepared)), variant))
    return 1;
  values[0] = (uint64_t)(uintptr_t)x;
  values[1] = (uint64_t)(uintptr_t)y;
  for (int round = 0; round < 2; ++round) {
    values[2] = (uint64_t)(round + 5);
    for (i = 0; i < count; ++i) {
      x[i] = (float)(i % 89);
      y[i] = -1.0f;
    }
    if ((error =
             tile_prepared_launch(prepared, values, 3, NULL, round ? TILE_LAUNCH_CHECK_MEMORY : 0)))
      return fail(error, "launch of a prepared call");
    for (i = 0; i < count; ++i)
      wrong += y[i] != x[i] * (float)(round + 5);
    if ((error = tile_prepared_pin(prepared, "")))
      return fail(error, "pin");
  }
  printf("again: %d wrong\n", (int)wrong);
  /* Memory that is both read and written is refused still. */
  values[1] = values[0];
  error = tile_prepared_launch(prepared, values, 3, NULL, 0);
  wrong += tile_error_code(error) != TILE_ERROR_OVERLAP;
  tile_error_free(error);
  tile_prepared_free(prepared);
  free(x);
  free(y);
  return wrong;
}

/* y = k x for m rows of n numbers, checked against the same loop here. */
static int run(tile_kernel *kernel, int64_t m, int64_t n, int k, const char *variant) {
  int64_t shape[2], i, wrong = 0;
  float *x = aligned_alloc(128, (size_t)((m * n * 4 + 127) / 128 * 128)),
        *y = aligned_alloc(128, (size_t)((m * n * 4 + 127) / 128 * 128));
  tile_argument arguments[3];
  tile_launch_plan plan;
  tile_error *error;
  memset(arguments, 0, sizeof arguments);
  shape[0] = m;
  shape[1] = n;
  for (i = 0; i < m * n; ++i) {
    x[i] = (float)(i % 97) - 40.5f;
    y[i] = -1.0f;
  }
  arguments[0].kind = arguments[1].kind = TILE_TENSOR;
  arguments[0].dtype = arguments[1].dtype = TILE_F32;
  arguments[0].rank = arguments[1].rank = 2;
  arguments[0].shape = arguments[1].shape = shape;
  arguments[0].data = x;
  arguments[1].data = y;
  arguments[2].kind = TILE_SCALAR;
  arguments[2].dtype = TILE_I32;
  arguments[2].bits = (uint64_t)(uint32_t)k;
  if ((error = tile_kernel_plan(kernel, arguments, 3, &plan, NULL, 0)))
    return fail(error, "plan");
  if (strcmp(tile_instance_variant(plan.instance), variant)) {
    printf("%d x %d took variant '%s', expected '%s'\n", (int)m, (int)n,
           tile_instance_variant(plan.instance), variant);
    return 1;
  }
  if ((error = tile_kernel_launch(kernel, arguments, 3, NULL, 0)))
    return fail(error, "launch");
  for (i = 0; i < m * n; ++i)
    wrong += y[i] != x[i] * (float)k;
  printf("%d x %d: variant '%s', %d wrong\n", (int)m, (int)n, variant, (int)wrong);
  wrong += again(kernel, arguments, variant);
  free(x);
  free(y);
  return wrong != 0;
}

int main(int argc, char **argv) {
  tile_module *module = NULL;
  tile_kernel *kernel = NULL;
  tile_error *error;
  int bad = 0;
  if (argc != 2)
    return 2;
  if ((error = tile_module_load_device(argv[1], TILE_DEVICE_CPU, &module)))
    return fail(error, "load");
  remove(argv[1]); /* not needed any more */
  if ((error = tile_module_kernel(module, "scale", &kernel)))
    return fail(error, "kernel");
  printf("%s on device %d, %d variants\n", tile_module_target(module),
         (int)tile_module_device(module), (int)tile_kernel_instance_count(kernel));
  bad |= run(kernel, 3, 1024, 2, "N=1024");
  bad |= run(kernel, 5, 192, -7, "N % 64 == 0,align(x)=128");
  bad |= run(kernel, 7, 131, 3, "");
  bad |= run(kernel, 1, 1, 1, "");
  /* A broken contract is named, and nothing runs. */
  {
    int64_t shape[2] = {5000, 1};
    tile_argument arguments[3];
    float memory[2];
    memset(arguments, 0, sizeof arguments);
    arguments[0].dtype = arguments[1].dtype = TILE_F32;
    arguments[0].rank = arguments[1].rank = 2;
    arguments[0].shape = arguments[1].shape = shape;
    arguments[0].data = &memory[0];
    arguments[1].data = &memory[1];
    arguments[2].kind = TILE_SCALAR;
    arguments[2].dtype = TILE_I32;
    error = tile_kernel_launch(kernel, arguments, 3, NULL, 0);
    printf("%s\n", tile_error_message(error));
    bad |= tile_error_code(error) != TILE_ERROR_CONTRACT;
    tile_error_free(error);
  }
  tile_module_free(module);
  return bad;
}
