// Checks and packs tensor maps. The rules are those that the CUDA driver documents for
// cuTensorMapEncodeTiled.
#include "test/emulator/TensorMap.h"

#include <cstring>

namespace emu {

std::string encodeTensorMap(void *to, int dtype, uint32_t rank, void *address,
                            const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                            const uint32_t *steps, int interleave, int swizzle, int promotion,
                            int fill) {
  // u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32 flushed, tf32, tf32 flushed
  static const uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  static const uint8_t spans[] = {0, 32, 64, 128};
  auto text = [](const char *what, uint64_t value) {
    return std::string(what) + ", found " + std::to_string(value);
  };
  if (!to || !address || !extents || !box || !steps || (rank > 1 && !strides))
    return "a null pointer";
  if (reinterpret_cast<uint64_t>(to) % 64)
    return "the map's own address must be a multiple of 64";
  if (dtype < 0 || dtype > 12)
    return text("there is no such type of elements", uint64_t(dtype));
  if (rank < 1 || rank > 5)
    return text("the rank must be 1 to 5", rank);
  if (interleave != 0)
    return text("interleaved layouts are not emulated", uint64_t(interleave));
  if (swizzle < 0 || swizzle > 3)
    return text("there is no such swizzle", uint64_t(swizzle));
  if (promotion < 0 || promotion > 3)
    return text("there is no such promotion", uint64_t(promotion));
  if (fill != 0)
    return text("fills other than zeros are not emulated", uint64_t(fill));
  uint64_t base = reinterpret_cast<uint64_t>(address);
  if (base % 16)
    return "the tensor's address must be a multiple of 16";
  TensorMap map{};
  map.mark = TensorMap::magic;
  map.base = base;
  map.dtype = uint8_t(dtype);
  map.rank = uint8_t(rank);
  map.swizzle = spans[swizzle];
  map.bytes = sizes[dtype];
  for (uint32_t i = 0; i < 5; ++i) {
    map.extents[i] = 1;
    map.box[i] = 1;
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] == 0 || extents[i] > uint64_t(1) << 32)
      return text("an extent must be 1 to 2^32", extents[i]);
    if (box[i] == 0 || box[i] > 256)
      return text("a box's extent must be 1 to 256", box[i]);
    if (steps[i] == 0 || steps[i] > 8)
      return text("an element stride must be 1 to 8", steps[i]);
    if (i == 0 && steps[i] != 1)
      return text("an element stride of the first dimension is not emulated", steps[i]);
    map.extents[i] = extents[i];
    map.box[i] = uint16_t((box[i] + steps[i] - 1) / steps[i]);
    map.steps[i] = uint8_t(steps[i]);
    map.strides[i] = i ? strides[i - 1] : map.bytes;
    if (i && (strides[i - 1] % 16 || strides[i - 1] >= uint64_t(1) << 40))
      return text("a stride must be a multiple of 16 below 2^40", strides[i - 1]);
  }
  uint32_t inner = box[0] * map.bytes;
  if (inner % 16)
    return text("the bytes of a box's first dimension must be a multiple of 16", inner);
  if (map.swizzle && inner > map.swizzle)
    return text("the bytes of a box's first dimension must not exceed the swizzle's span", inner);
  memset(to, 0, 128);
  memcpy(to, &map, sizeof map);
  return "";
}

} // namespace emu
