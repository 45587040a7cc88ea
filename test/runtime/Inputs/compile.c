/* tile_compile from C: program FOLDER. Kernels of a text on the CPU, what is kept, errors, threads.
 */
#include "tile_compile.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *source =
    "kernel scale[T: dtype in {f16, f32}, K: int = 2](x: in T[N], y: out T[N])\n"
    "  where N in 1..=4096 grid (i: N) { y[i] = x[i] * (K as T); }\n";
static int failures = 0;

static void expect(int isTrue, const char *what) {
  if (!isTrue) {
    printf("FAIL: %s\n", what);
    ++failures;
  }
}

/* Frees the error; prints its first line. */
static void show(tile_error *error) {
  printf("%d: %.*s\n", tile_error_code(error), (int)strcspn(tile_error_message(error), "\n"),
         tile_error_message(error));
  tile_error_free(error);
}

static void run(tile_module *module, float factor) {
  float x[5] = {1, 2, 3, 4, 5}, y[5] = {0};
  int64_t shape[1] = {5};
  tile_argument arguments[2] = {
      {.kind = TILE_TENSOR, .dtype = TILE_F32, .data = x, .rank = 1, .shape = shape},
      {.kind = TILE_TENSOR, .dtype = TILE_F32, .data = y, .rank = 1, .shape = shape}};
  tile_kernel *kernel;
  expect(!tile_module_kernel(module, "scale", &kernel), "the kernel");
  tile_error *error = tile_kernel_launch(kernel, arguments, 2, NULL, 0);
  if (error)
    show(error);
  for (int i = 0; i < 5; ++i)
    expect(y[i] == x[i] * factor, "a number");
}

static int made = 0;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *request) {
  tile_compiled *compiled;
  tile_error *error = tile_compile_bytes(request, &compiled);
  pthread_mutex_lock(&mutex);
  expect(!error, "a compilation in a thread");
  made += !error && !tile_compiled_was_kept(compiled);
  pthread_mutex_unlock(&mutex);
  tile_compiled_free(compiled);
  tile_error_free(error);
  return NULL;
}

int main(int argc, char **argv) {
  const char *constants[] = {"K=3", NULL}, *wrong[] = {"K", NULL}, *folder = argv[argc - 1];
  tile_compile_request request = {
      .size = sizeof request, .source = source, .target = "cpu", .cache = folder};
  tile_module *module;
  tile_compiled *compiled;
  size_t size;

  tile_error *error = tile_compile(&request, &module);
  if (error) {
    show(error);
    return 1;
  }
  run(module, 2);
  tile_module_free(module);
  request.constants = constants;
  expect(!tile_compile(&request, &module), "with a constant");
  run(module, 3);
  expect(!tile_module_warning(module, 0), "no warning");
  tile_module_free(module);

  expect(!tile_compile_bytes(&request, &compiled), "the same");
  expect(tile_compiled_was_kept(compiled), "which was kept");
  expect(tile_compiled_bytes(compiled, &size) != NULL && size > 1000, "a package");
  tile_compiled_free(compiled);
  request.output = TILE_OUTPUT_INTERFACE;
  expect(!tile_compile_bytes(&request, &compiled), "the interface");
  expect(strstr(tile_compiled_bytes(compiled, &size), "\"kernels\"") != NULL, "JSON");
  tile_compiled_free(compiled);
  request.output = TILE_OUTPUT_PACKAGE;

  expect(!tile_cache_clear(folder), "clear");
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i)
    pthread_create(&threads[i], NULL, work, &request);
  for (int i = 0; i < 8; ++i)
    pthread_join(threads[i], NULL);
  printf("of 8 threads %d compiled\n", made);

  tile_compile_request bad = request;
  bad.source = "kernel f(x: in f32[N], y: out f32[N]) where N in 1..=9 grid (i: N) { y[i] = z; }";
  bad.constants = NULL;
  error = tile_compile(&bad, &module);
  expect(strstr(tile_error_message(error), "^") != NULL && module == NULL, "a line of source");
  show(error);
  bad.flags = TILE_COMPILE_JSON;
  show(tile_compile(&bad, &module));
  bad.flags = 64;
  show(tile_compile(&bad, &module));
  bad = request;
  bad.constants = wrong;
  show(tile_compile(&bad, &module));
  bad = request;
  bad.size = 8;
  show(tile_compile(&bad, &module));
  bad = request;
  bad.path = "x.tile";
  show(tile_compile(&bad, &module));
  bad.source = NULL;
  bad.path = "/absent/x.tile";
  show(tile_compile(&bad, &module));
  bad = request;
  bad.cache = "";
  bad.compiler = "/absent/tilec";
  show(tile_compile(&bad, &module));
  bad.compiler = "/bin/false";
  show(tile_compile(&bad, &module));
  show(tile_compile(NULL, &module));
  show(tile_compile(&request, NULL));

  char path[4096];
  expect(tile_cache_folder(path, sizeof path) == strlen(path), "the folder's length");
  expect(tile_cache_folder(path, 3) > 3 && strlen(path) == 2, "a short buffer");
  printf("%d failures\n", failures);
  return failures != 0;
}
