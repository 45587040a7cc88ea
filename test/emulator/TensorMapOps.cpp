// Tensor maps that kernels write: tensormap.replace in shared memory, and the fence that shows a
// map in global memory to copies by TMA. A copy by a map that no such fence has shown as it is now
// is an error, and so is one by a map that breaks a rule.
#include "test/emulator/Decoder.h"
#include "test/emulator/TensorMap.h"

#include <cstring>

namespace emu {
namespace {

enum class Field : uint32_t {
  Address,
  Rank,
  Box,
  Extent,
  Stride,
  ElementStep,
  Type,
  Interleave,
  Swizzle,
  Fill,
};

const char *const names[] = {"global_address", "rank",           "box_dim",  "global_dim",
                             "global_stride",  "element_stride", "elemtype", "interleave_layout",
                             "swizzle_mode",   "fill_mode"};

/// a: the map's address in shared memory, b: the value, count: the field, target: the dimension.
Step replace(Warp &w, const Op &op, uint32_t m) {
  static const uint8_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  eachLane(m, [&](int i) {
    uint64_t at =
        op.addressBits == 32 ? uint64_t(w.at<uint32_t>(op.a)[i]) : w.at<uint64_t>(op.a)[i];
    at += uint64_t(op.imm);
    if (at % 128)
      fault(Misaligned, w, op, i, "a tensor map at " + hex(at) + ": expected a multiple of 128");
    auto *map = reinterpret_cast<TensorMap *>(sharedAt(w, op, i, at, 128));
    uint64_t value = op.bits == 64 ? w.at<uint64_t>(op.b)[i] : w.at<uint32_t>(op.b)[i];
    if (op.target > 4)
      fault(IllegalInstruction, w, op, i, "a tensor map has at most 5 dimensions");
    map->mark = TensorMap::magic;
    switch (Field(op.count)) {
    case Field::Address:
      map->base = value;
      break;
    case Field::Rank:
      map->rank = uint8_t(value + 1);
      break;
    case Field::Box:
      map->box[op.target] = uint16_t(value);
      break;
    case Field::Extent:
      map->extents[op.target] = value ? value : uint64_t(1) << 32;
      break;
    case Field::Stride:
      if (op.target < 4)
        map->strides[op.target + 1] = value;
      break;
    case Field::ElementStep:
      map->steps[op.target] = uint8_t(value);
      break;
    case Field::Type:
      if (value >= sizeof sizes)
        fault(IllegalInstruction, w, op, i, "there is no such type of elements");
      // As the driver numbers them: without the flushed form between f32 and f64.
      map->dtype = uint8_t(value <= 7 ? value : value == 8 ? 10 : value <= 10 ? value - 1 : value);
      map->bytes = sizes[value];
      map->strides[0] = map->bytes;
      break;
    case Field::Swizzle:
      map->swizzle = value ? uint8_t(16 << value) : 0;
      break;
    default:
      if (value)
        fault(IllegalInstruction, w, op, i, "interleaved layouts and fills are not emulated");
    }
  });
  return Step::Next;
}

/// a: the map's address in global memory.
Step acquire(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int i) {
    uint64_t at = w.at<uint64_t>(op.a)[i] + uint64_t(op.imm);
    if (at % 128 || !w.block->grid->memory->contains(at, 128))
      fault(IllegalAddress, w, op, i, "there is no tensor map at " + hex(at));
    w.block->grid->shownMaps[{at, w.block->index}].assign(reinterpret_cast<const char *>(at), 128);
  });
  return Step::Next;
}

} // namespace

void checkShown(Warp &w, const Op &op, int lane, uint64_t address) {
  auto shown = w.block->grid->shownMaps.find({address, w.block->index});
  if (shown == w.block->grid->shownMaps.end() ||
      memcmp(shown->second.data(), reinterpret_cast<const void *>(address), 128) != 0)
    fault(IllegalInstruction, w, op, lane,
          "no fence.proxy.tensormap has shown the tensor map at " + hex(address) + " as it is now");
  const auto &map = *reinterpret_cast<const TensorMap *>(address);
  auto refuse = [&](const char *what, uint64_t value) {
    fault(IllegalInstruction, w, op, lane,
          std::string("a tensor map that the kernel has written: ") + what + ", found " +
              hex(value));
  };
  if (map.base % 16 || !map.base)
    refuse("the address must be a multiple of 16", map.base);
  if (map.rank < 1 || map.rank > 5 || !map.bytes)
    refuse("the rank must be 1 to 5, and elements have a type", map.rank);
  for (unsigned d = 0; d < map.rank; ++d) {
    if (!map.extents[d] || map.extents[d] > uint64_t(1) << 32)
      refuse("an extent must be 1 to 2^32", map.extents[d]);
    if (!map.box[d] || map.box[d] > 256)
      refuse("a box's extent must be 1 to 256", map.box[d]);
    if (map.steps[d] != 1)
      refuse("an element stride other than 1 is not emulated", map.steps[d]);
    if (d && (map.strides[d] % 16 || map.strides[d] >= uint64_t(1) << 40))
      refuse("a stride must be a multiple of 16 below 2^40", map.strides[d]);
  }
  if (map.box[0] * map.bytes % 16 || (map.swizzle && map.box[0] * map.bytes > map.swizzle))
    refuse("rows of a box must be multiples of 16 bytes within the swizzle's span", map.box[0]);
}

bool decodeTensorMap(Decoder &d, Op &op) {
  const std::string &name = d.name();
  if (name == "fence") {
    if (!d.has("proxy") || !d.has("tensormap::generic"))
      return false;
    if (d.has("release")) {
      op.run = [](Warp &, const Op &, uint32_t) { return Step::Next; };
      return true;
    }
    if (!d.has("acquire") || d.operand(1).value != 128)
      return false;
    d.address(d.operand(0), op);
    op.run = acquire;
    return op.addressBits == 64;
  }
  if (name != "tensormap" || !d.has("replace") || !d.has("tile") || !d.has("shared::cta"))
    return false;
  const std::vector<std::string> &words = d.current().words;
  for (uint32_t field = 0; field < sizeof names / sizeof *names; ++field)
    if (words[3] == names[field]) {
      bool isOfDimension = field >= uint32_t(Field::Box) && field <= uint32_t(Field::ElementStep);
      op.count = uint8_t(field);
      op.bits = uint8_t(Decoder::bitsOf(d.last()));
      op.target = isOfDimension ? uint32_t(d.operand(1).value) : 0;
      d.address(d.operand(0), op);
      op.b = d.source(isOfDimension ? 2 : 1, op.bits);
      op.run = replace;
      return true;
    }
  return false;
}

} // namespace emu
