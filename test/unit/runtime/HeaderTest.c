/* The C headers on their own, in C11, with the use that their comments promise. */
#include "runtime/include/tile_compile.h"
#include "runtime/include/tile_runtime.h"
#include "runtime/include/tile_xla.h"

int tileHeaderTest(void);

/* 0 if loading a file that does not exist is an error with a message, and no module. */
int tileHeaderTest(void) {
  tile_module *module = NULL;
  tile_error *error = tile_module_load("no-such-file.cubin", &module);
  int good =
      error && tile_error_code(error) == TILE_ERROR_IO && tile_error_message(error)[0] && !module;
  tile_error_free(error);
  tile_error_free(NULL);
  tile_module_free(NULL);
  return good ? 0 : 1;
}
