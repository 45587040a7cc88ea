/* Part of generated C: filling outputs before a launch. Follows Memory.c. */

/* `rows` times `width` cells of `cell_bytes` (1, 2 or 4), rows `pitch` bytes apart. */
typedef struct {
  uint64_t address;
  uint32_t value;
  int cell_bytes;
  int64_t pitch, width, rows;
} tk_block;

/* Calls `write` until every element of the filled tensors is covered. */
TK_UNUSED static tile_code
tk_fill_all(const tk_kernel *k, const tile_argument *a, size_t count, const tk_plan *plan,
            tile_code (*write)(const tk_kernel *k, const tk_block *block, void *stream),
            void *stream) {
  for (int i = 0; i < (int)count; ++i) {
    const tk_param *p = &k->params[i];
    const int64_t *strides = plan->strides + p->first_stride;
    int64_t shape[8], steps[8], index[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int rank = 0, merged = 0, inner;
    tk_block block;
    if (!p->fills || tk_is_empty(&a[i]))
      continue;
    /* Dimensions by falling stride; those that lie densely in each other become one. */
    for (int axis = 0; axis < p->rank; ++axis) {
      int at = rank;
      if (a[i].shape[axis] == 1 || strides[axis] == 0)
        continue;
      for (; at > 0 && steps[at - 1] < strides[axis]; --at) {
        shape[at] = shape[at - 1];
        steps[at] = steps[at - 1];
      }
      shape[at] = a[i].shape[axis];
      steps[at] = strides[axis];
      ++rank;
    }
    for (int axis = 1; axis < rank; ++axis) {
      if (steps[merged] == shape[axis] * steps[axis]) {
        shape[merged] *= shape[axis];
      } else {
        ++merged;
        shape[merged] = shape[axis];
      }
      steps[merged] = steps[axis];
    }
    rank = rank ? merged + 1 : 0;
    int bytes = p->bits / 8, cells = 1;
    if (bytes == 8 && (uint32_t)p->fill_bits != (uint32_t)(p->fill_bits >> 32)) {
      tk_about(k);
      tk_say("a fill value of 8 bytes must have equal halves");
      return TILE_ERROR_FILL;
    }
    block.cell_bytes = bytes;
    if (bytes == 8) {
      block.cell_bytes = 4;
      cells = 2;
    }
    block.value = (uint32_t)p->fill_bits;
    block.width = 1;
    block.rows = 1;
    inner = rank;
    if (inner > 0 && steps[inner - 1] == 1)
      block.width = shape[--inner];
    block.pitch = bytes * block.width;
    if (inner > 0) {
      --inner;
      block.rows = shape[inner];
      block.pitch = steps[inner] * bytes;
    }
    block.width *= cells;
    for (;;) {
      int64_t offset = 0;
      int axis;
      tile_code code;
      for (axis = 0; axis < inner; ++axis)
        offset += index[axis] * steps[axis];
      block.address = (uint64_t)(uintptr_t)a[i].data + (uint64_t)(offset * bytes);
      code = write(k, &block, stream);
      if (code)
        return code;
      for (axis = inner; axis > 0 && ++index[axis - 1] == shape[axis - 1]; --axis)
        index[axis - 1] = 0;
      if (axis == 0)
        break;
    }
  }
  return TILE_OK;
}
