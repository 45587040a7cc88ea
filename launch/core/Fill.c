/* Fills, in the launcher's core: merging of dimensions, blocks, and the host's loop.
 *
 *   a tensor             shape [4, 8, 16]   strides [256, 16, 1]
 *   8 rows of 16 are     shape [4, 128]     strides [256, 1]        dense in each other: one
 *   one block            4 rows of 128 cells, 256 cells apart       one call of the driver
 *
 * What has more dimensions left is as many blocks as these have positions. Dimensions of extent 1
 * and stride 0 are dropped: they name the same cells again. */
#include "launch/core/Core.h"

#include <string.h>

/* Products wrap around where nothing is checked: the memory is then not there anyway. */
static int64_t tk_wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

TK_CORE void tk_make_fill(tk_fill *fill, void *data, uint64_t bits, unsigned element_bytes,
                          unsigned rank, const int64_t *shape, const int64_t *strides) {
  unsigned merged = 0;
  memset(fill, 0, sizeof *fill);
  fill->data = data;
  fill->bits = bits;
  fill->elementBytes = element_bytes;
  for (unsigned i = 0; i < rank; ++i) {
    unsigned at = fill->rank;
    if (shape[i] == 1 || strides[i] == 0)
      continue;
    for (++fill->rank; at > 0 && fill->strides[at - 1] < strides[i]; --at) {
      fill->shape[at] = fill->shape[at - 1];
      fill->strides[at] = fill->strides[at - 1];
    }
    fill->shape[at] = shape[i];
    fill->strides[at] = strides[i];
  }
  for (unsigned i = 1; i < fill->rank; ++i) {
    if (fill->strides[merged] == tk_wrap_mul(fill->shape[i], fill->strides[i])) {
      fill->shape[merged] = tk_wrap_mul(fill->shape[merged], fill->shape[i]);
    } else {
      ++merged;
      fill->shape[merged] = fill->shape[i];
    }
    fill->strides[merged] = fill->strides[i];
  }
  fill->rank = fill->rank ? merged + 1 : 0;
}

TK_CORE int tk_get_fill(const tk_kernel *k, const tile_argument *a, const tk_plan *plan, int param,
                        tk_fill *fill) {
  const tk_param *p = &k->params[param];
  if (!p->fills || tk_is_empty(&a[param]))
    return 0;
  tk_make_fill(fill, a[param].data, p->fill_bits, (unsigned)p->bits / 8, (unsigned)p->rank,
               a[param].shape, plan->strides + p->first_stride);
  return 1;
}

/* The driver writes 4 bytes at most: the lower and the upper halves of cells of 8 bytes are two
 * tensors, whose longest dimension comes last, as the rows of a block. */
static tile_code tk_each_half(const tk_fill *fill,
                              tile_code (*write)(const tk_block *block, void *context),
                              void *context) {
  tk_fill half = *fill;
  unsigned longest = 0, last = fill->rank ? fill->rank - 1 : 0, i;
  tile_code code;
  for (i = 0; i <= last; ++i) {
    half.strides[i] = tk_wrap_mul(fill->strides[i], 2);
    longest = fill->shape[i] > fill->shape[longest] ? i : longest;
  }
  half.shape[last] = fill->shape[longest];
  half.shape[longest] = fill->shape[last];
  half.strides[last] = tk_wrap_mul(fill->strides[longest], 2);
  half.strides[longest] = tk_wrap_mul(fill->strides[last], 2);
  half.elementBytes = 4;
  code = tk_each_block(&half, write, context);
  half.bits = fill->bits >> 32;
  half.data = (void *)((uintptr_t)fill->data + 4);
  return code ? code : tk_each_block(&half, write, context);
}

TK_CORE tile_code tk_each_block(const tk_fill *fill,
                                tile_code (*write)(const tk_block *block, void *context),
                                void *context) {
  int64_t index[TK_MAX_RANK] = {0, 0, 0, 0, 0, 0, 0, 0}, cells = 1;
  unsigned inner = fill->rank;
  tk_block block;
  memset(&block, 0, sizeof block);
  block.value = (uint32_t)fill->bits;
  block.cellBytes = fill->elementBytes;
  if (fill->elementBytes == 8) {
    if ((uint32_t)fill->bits != (uint32_t)(fill->bits >> 32))
      return tk_each_half(fill, write, context);
    block.cellBytes = 4;
    cells = 2;
  }
  /* The innermost dimension is a row if it is dense; the one outside it counts rows; loops run over
   * the rest. */
  block.width = block.rows = 1;
  if (inner > 0 && fill->strides[inner - 1] == 1)
    block.width = fill->shape[--inner];
  block.pitchBytes = tk_wrap_mul(fill->elementBytes, block.width);
  if (inner > 0) {
    --inner;
    block.rows = fill->shape[inner];
    block.pitchBytes = tk_wrap_mul(fill->strides[inner], fill->elementBytes);
  }
  block.width = tk_wrap_mul(block.width, cells);
  for (;;) {
    uint64_t offset = 0;
    unsigned axis;
    tile_code code;
    for (axis = 0; axis < inner; ++axis)
      offset += (uint64_t)index[axis] * (uint64_t)fill->strides[axis];
    block.data = (char *)(uintptr_t)((uint64_t)(uintptr_t)fill->data + offset * fill->elementBytes);
    code = write(&block, context);
    if (code)
      return code;
    for (axis = inner; axis > 0 && ++index[axis - 1] == fill->shape[axis - 1]; --axis)
      index[axis - 1] = 0;
    if (axis == 0)
      return TILE_OK;
  }
}

static void tk_fill_axis(const tk_fill *fill, unsigned axis, char *data) {
  if (axis == fill->rank) {
    memcpy(data, &fill->bits, fill->elementBytes); /* little endian: the low bytes come first */
    return;
  }
  for (int64_t i = 0; i < fill->shape[axis]; ++i)
    tk_fill_axis(fill, axis + 1, data + i * fill->strides[axis] * fill->elementBytes);
}

TK_CORE void tk_fill_host(const tk_fill *fill) { tk_fill_axis(fill, 0, (char *)fill->data); }
