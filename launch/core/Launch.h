/* The last steps of a launch on a GPU: tensor maps (Map.c), where memory lies, fills and the
 * driver's own call (Start.c). Part of the launcher's core. */
#ifndef TILE_CORE_LAUNCH_H
#define TILE_CORE_LAUNCH_H

#include "launch/core/Core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor map as the driver encodes it; the driver wants 64-byte addresses. */
typedef struct {
  uint64_t words[16];
} __attribute__((aligned(64))) tk_encoded;
/* A tensor as the driver wants it described, fastest dimension first: strides in bytes, that of
 * the fastest is 0. */
typedef struct {
  uint64_t address, extents[TK_MAP_RANK], strides[TK_MAP_RANK];
} tk_description;
/* `strides` are the tensor's, in elements. A tensor without elements is stood in for by a single
 * one: `empty` points to 32 bytes, 16 zeros for those that are read, then 16 for those written. */
TK_CORE void tk_describe(const tk_kernel *k, const tk_map *map, const tile_argument *argument,
                         const int64_t *strides, tk_device_pointer empty,
                         tk_description *description);
TK_CORE tile_code tk_encode_map(const tk_driver *driver, const tk_kernel *k, const tk_map *map,
                                const tk_description *description, tk_encoded *result);

/* TILE_OK for success, else TILE_ERROR_CUDA: "WHAT: CUDA_ERROR_INVALID_VALUE (invalid argument)",
 * after the kernel's name if there is one. */
TK_CORE tile_code tk_refused(const tk_driver *driver, const tk_kernel *k, int result,
                             const char *what);
/* Whether every tensor lies where it is reached: from the device `current` in its memory, in
 * managed memory, or in host memory that the driver knows; from the CPU (`on_host`) in no device's
 * memory. */
TK_CORE tile_code tk_check_residency(const tk_driver *driver, const tk_kernel *k,
                                     const tile_argument *a, size_t count, int on_host,
                                     int current);
/* Writes a fill in a stream's order. */
TK_CORE tile_code tk_fill_device(const tk_driver *driver, const tk_kernel *k, const tk_fill *fill,
                                 void *stream);
/* Blocks to launch: one for each program, or of a persistent kernel as many as are resident; whole
 * clusters. */
TK_CORE unsigned tk_count_blocks(const tk_kernel *k, int64_t programs, unsigned resident);
TK_CORE tile_code tk_start(const tk_driver *driver, const tk_kernel *k, void *function,
                           unsigned blocks, unsigned shared_bytes, void *stream, void **arguments);

#ifdef __cplusplus
}
#endif

#endif
