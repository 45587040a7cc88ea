/* C interface of the compiler: from a source to kernels that can be launched, in one call.
 *
 *   tile_compile_request request = {sizeof request};
 *   request.path = "softmax.tile";
 *   tile_module *module;
 *   tile_error *error = tile_compile(&request, &module);
 *
 * The compiler, tilec, runs as a child process, and its results are kept in a folder: of any
 * number of processes and threads that want the same, one compiles and the others wait for it.
 * Functions report as those of tile_runtime.h do, and may be called from several threads. */
#ifndef TILE_COMPILE_H
#define TILE_COMPILE_H

#include "tile_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be made. */
typedef enum tile_output {
  TILE_OUTPUT_PACKAGE = 0,  /* what tile_module_load_package takes */
  TILE_OUTPUT_INTERFACE = 1 /* JSON: parameters, dimensions and grid of every instance */
} tile_output;

enum {
  /* The compiler's messages are JSON, one object a line, as tilec --diagnostics-format=json writes
   * them. */
  TILE_COMPILE_JSON = 1
};

/* A call of the compiler. Zero or NULL stands for what is not asked for; lists end with NULL. */
typedef struct tile_compile_request {
  size_t size;        /* sizeof(tile_compile_request) */
  const char *path;   /* of the source file; or: */
  const char *source; /* the source itself; imports are then relative to the folder at hand */
  const char *target; /* "sm_90a", "cpu", "sm_80,sm_90a,cpu"; NULL: the device at hand,
                         which is the first CUDA device where there is one, else the CPU.
                         Configurations are chosen by the figures of the first device's card that
                         a target is for, where there is one */
  const char *kernel; /* this kernel alone */
  const char *const *constants;  /* "BLOCK=1024", "T=f16" */
  const char *const *attributes; /* "warps=8" */
  const char *const *extents;    /* "M=4096": the shape for which configurations are chosen */
  const char *const *divisors;   /* "N=16": what divides extents of all calls; one version of a
                                    kernel is compiled where they decide, not those for others */
  const char *const *includes;   /* folders to search for imports */
  const char *config;            /* a result of tilec tune, or "BM=64,BN=128" */
  int32_t output;                /* a tile_output */
  uint32_t flags;
  const char *compiler;  /* path of tilec; NULL: the environment's TILEC, else beside this library,
                            else on PATH */
  const char *assembler; /* path of ptxas; NULL: tilec looks for it */
  const char *cache;     /* the folder for results; NULL: see tile_cache_folder; "": none */
} tile_compile_request;

/* Compiles, and loads what was compiled. An error in the source is TILE_ERROR_COMPILE, its message
 * what tilec prints: places, lines of source, notes. Warnings are those of the module, see
 * tile_module_warning. */
tile_error *tile_compile(const tile_compile_request *request, tile_module **module);

/* What the compiler wrote, for those who keep or load it themselves. */
typedef struct tile_compiled tile_compiled;
tile_error *tile_compile_bytes(const tile_compile_request *request, tile_compiled **compiled);
const void *tile_compiled_bytes(const tile_compiled *compiled, size_t *size);
/* What the compiler said: warnings and remarks. Results that were kept have theirs, too. */
const char *tile_compiled_messages(const tile_compiled *compiled);
/* 1 where the result was found on disk, or another thread or process has just put it there; 0 where
 * this call has compiled. */
int tile_compiled_was_kept(const tile_compiled *compiled);
/* Why the result is not kept, as "'/tmp/x': others may write to it"; "" where it is. */
const char *tile_compiled_cache_problem(const tile_compiled *compiled);
/* NULL is allowed. */
void tile_compiled_free(tile_compiled *compiled);

/* The folder in which results are kept unless a request names another: `tile` in XDG_CACHE_HOME,
 * which is ~/.cache where it is not set. Writes at most `size` bytes with the zero at the end, and
 * returns the length that the path has without it. */
size_t tile_cache_folder(char *path, size_t size);
/* Removes every result from a folder; NULL: from that of tile_cache_folder. Modules that are loaded
 * stay. */
tile_error *tile_cache_clear(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
