/* Tensor maps, in the launcher's core: what a kernel's copies by TMA need to know of a tensor.
 *
 *   order     the tensor's dimensions, the fastest first
 *   extents   in elements (of two in a byte: bytes), in that order
 *   strides   in bytes, multiples of 16; the first is the element's and not told
 *
 * A dimension of which a store may cut off rows stands twice, each with the same stride; the first
 * has as many positions as a box, the second begins a box earlier. To write n rows from `row` on, a
 * copy begins at (box - n, row + n):
 *
 *   first    0 .. box-n ... box-1 | nothing here     n rows of the box are inside, the rest is not
 *   address  (box - n) + (row + n) - box = row
 */
#include "launch/core/Launch.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 tk_wide;

/* The driver's number for an element type. Types that it does not know go as bytes. */
static int tk_map_dtype(int dtype) {
  switch (dtype) {
  case TILE_I16:
  case TILE_U16:
    return 1;
  case TILE_U32:
    return 2;
  case TILE_I32:
    return 3;
  case TILE_U64:
    return 4;
  case TILE_I64:
    return 5;
  case TILE_F16:
    return 6;
  case TILE_F32:
    return 7;
  case TILE_F64:
    return 8;
  case TILE_BF16:
    return 9;
  default:
    return 0;
  }
}

TK_CORE void tk_describe(const tk_kernel *k, const tk_map *map, const tile_argument *argument,
                         const int64_t *strides, tk_device_pointer empty, tk_description *d) {
  const tk_param *p = &k->params[map->param];
  unsigned bits = (unsigned)p->bits, cells = bits < 8 ? 8 / bits : 1;
  int is_empty = 0;
  memset(d, 0, sizeof *d);
  d->address = (uint64_t)(uintptr_t)argument->data;
  for (int i = 0; i < map->rank; ++i) {
    d->extents[i] = (uint64_t)argument->shape[map->order[i]];
    d->strides[i] = (uint64_t)strides[map->order[i]] * bits / 8;
    is_empty |= d->extents[i] == 0;
  }
  d->extents[0] = (d->extents[0] + cells - 1) / cells;
  /* Every position of an empty tensor reads as zero, and so does the first of these. */
  if (is_empty)
    d->address = empty + (p->access == TILE_IN ? 0 : 16);
  for (int i = 0; i < map->rank; ++i) {
    if (is_empty)
      d->extents[i] = 1;
    /* Nothing steps along this dimension: whatever the caller has there, the driver wants multiples
     * of 16, below 2^40. */
    if (i > 0 && d->extents[i] == 1) {
      tk_wide dense =
          (tk_wide)d->extents[i - 1] * (i > 1 ? d->strides[i - 1] : (uint64_t)(bits + 7) / 8);
      uint64_t rounded = dense >> 39 ? 16 : ((uint64_t)dense + 15) / 16 * 16;
      d->strides[i] = rounded > 16 ? rounded : 16;
    }
  }
  /* A dimension that is cut: the first of the two is as long as a box, the second begins one
   * earlier. */
  for (int i = 2; i < map->rank && !is_empty; ++i)
    if (map->order[i] == map->order[i - 1]) {
      d->extents[i - 1] = map->box[i - 1];
      d->extents[i] += map->box[i - 1];
      d->address -= map->box[i - 1] * d->strides[i];
    }
  d->strides[0] = 0; /* not told to the driver */
}

TK_CORE tile_code tk_encode_map(const tk_driver *driver, const tk_kernel *k, const tk_map *map,
                                const tk_description *d, tk_encoded *result) {
  /* A swizzled row is 128 bytes; more at once would be its neighbour's. */
  enum { INTERLEAVE_NONE = 0, PROMOTE_128 = 2, FILL_ZERO = 0 };
  uint32_t box[TK_MAP_RANK], steps[TK_MAP_RANK];
  int swizzle = map->swizzle == 128 ? 3 : (int)(map->swizzle / 32), code;
  tk_message what;
  tile_code refused;
  if (!driver->tensorMapEncodeTiled) {
    tk_about(k);
    tk_say("the CUDA driver lacks cuTensorMapEncodeTiled: it is too old, install one for CUDA 12 "
           "or newer");
    return TILE_ERROR_DRIVER;
  }
  for (int i = 0; i < TK_MAP_RANK; ++i) {
    /* The driver's box has the positions that are passed over, too. */
    box[i] = map->box[i] * map->steps[i];
    steps[i] = map->steps[i];
  }
  code = driver->tensorMapEncodeTiled(result, tk_map_dtype(k->params[map->param].dtype),
                                      (uint32_t)map->rank, (void *)(uintptr_t)d->address,
                                      d->extents, d->strides + 1, box, steps, INTERLEAVE_NONE,
                                      swizzle, PROMOTE_128, FILL_ZERO);
  if (code == 0)
    return TILE_OK;
  memset(&what, 0, sizeof what);
  tk_add_text(&what, "cannot describe '%s' to the hardware (extents", k->params[map->param].name);
  for (int i = map->rank; i-- > 0;)
    tk_add_text(&what, " %llu", (unsigned long long)d->extents[i]);
  tk_add_text(&what, ", strides in bytes");
  for (int i = map->rank; i-- > 1;)
    tk_add_text(&what, " %llu", (unsigned long long)d->strides[i]);
  tk_add_text(&what, ")");
  refused = tk_refused(driver, k, code, tk_text(&what));
  free(what.large);
  return refused;
}
