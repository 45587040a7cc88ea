/* A program in C that compiles its kernel when it runs: tile_compile finds what was compiled
 * before, or calls the compiler. */
#include <tile_compile.h>

#include <stdio.h>

static const char *source =
    "kernel scale[K: int = 2](x: in f32[N], y: out f32[N]) where N in 1..=1048576\n"
    "  grid (i: cdiv(N, 1024)) { let n = block(i, 1024); y[n] = x[n] * (K as f32); }\n";

static int report(tile_error *error) {
  fprintf(stderr, "%s\n", tile_error_message(error));
  tile_error_free(error);
  return 1;
}

int main(void) {
  const char *constants[] = {"K=3", NULL};
  tile_compile_request request = {
      .size = sizeof request, .source = source, .constants = constants, .target = "cpu"};
  tile_module *module;
  tile_kernel *kernel;
  tile_error *error = tile_compile(&request, &module);
  if (error || (error = tile_module_kernel(module, "scale", &kernel)))
    return report(error);
  float x[4] = {1, 2, 3, 4}, y[4];
  int64_t shape[] = {4};
  tile_argument arguments[] = {
      {.kind = TILE_TENSOR, .dtype = TILE_F32, .data = x, .rank = 1, .shape = shape},
      {.kind = TILE_TENSOR, .dtype = TILE_F32, .data = y, .rank = 1, .shape = shape}};
  if ((error = tile_kernel_launch(kernel, arguments, 2, NULL, 0)))
    return report(error);
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  tile_module_free(module);

  request.source = "kernel scale(x: in f32[N]) where N in 1..=9 grid (i: N) { y[i] = 1.0; }";
  request.constants = NULL;
  report(tile_compile(&request, &module)); /* says where and why, with the line of source */
  return 0;
}
