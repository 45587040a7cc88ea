// A tensor map: what copies by TMA know of a tensor. The driver encodes it, kernels get its 128
// bytes.
#ifndef TILE_TEST_EMULATOR_TENSORMAP_H
#define TILE_TEST_EMULATOR_TENSORMAP_H

#include <cstdint>
#include <string>

namespace emu {

struct TensorMap {
  static constexpr uint64_t magic = 0x54656e736f724d70;
  uint64_t mark;
  uint64_t base;
  uint64_t extents[5];
  uint64_t strides[5];                 ///< bytes; the first is an element's size
  uint16_t box[5];                     ///< elements that are copied
  uint8_t steps[5];                    ///< how far they are apart
  uint8_t dtype, rank, swizzle, bytes; ///< swizzle: the span, 0 without
};
static_assert(sizeof(TensorMap) <= 128, "a tensor map has 128 bytes");

/// Why the arguments of cuTensorMapEncodeTiled break a rule; "" where they keep all.
std::string encodeTensorMap(void *to, int dtype, uint32_t rank, void *address,
                            const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                            const uint32_t *steps, int interleave, int swizzle, int promotion,
                            int fill);

struct Warp;
struct Op;
/// Reports a map in global memory that no fence has shown to copies, or that breaks a rule.
void checkShown(Warp &warp, const Op &op, int lane, uint64_t address);

} // namespace emu

#endif
