// Copies by TMA between a tensor and a box in shared memory. A load is done when somebody waits for
// its mbarrier; of a store the wait for its group reads shared memory, and the wait for its end
// writes. Or all at once.
//
//   late   load:   issue ................. wait: copied, bytes counted
//          store:  issue .... wait (read): read ...... wait: written
//   soon   load:   issue, copied           store: issue, read and written
//
// A kernel that is right gives the same either way. One that reads a slot before its barrier, or
// fills staging memory again before it has been read, does not.
#include "test/emulator/Decoder.h"
#include "test/emulator/TensorMap.h"

namespace emu {
namespace {

/// Calls f(offset in the box's bytes, address or 0 outside of the tensor) for each element.
template <class F> void eachChunk(const TensorMap &map, const int64_t *coords, F f) {
  uint32_t offset = 0;
  uint32_t at[5] = {};
  for (;;) {
    bool isInside = true;
    uint64_t address = map.base;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t position = coords[i] + int64_t(at[i]) * map.steps[i];
      isInside &= position >= 0 && uint64_t(position) < map.extents[i];
      address += uint64_t(position) * map.strides[i];
    }
    for (uint32_t x = 0; x < map.box[0]; ++x, offset += map.bytes) {
      int64_t position = coords[0] + x;
      bool exists = isInside && position >= 0 && uint64_t(position) < map.extents[0];
      f(offset, exists ? address + uint64_t(position) * map.bytes : 0);
    }
    unsigned i = 1;
    for (; i < map.rank; ++i) {
      if (++at[i] < map.box[i])
        break;
      at[i] = 0;
    }
    if (i >= map.rank)
      return;
  }
}

uint32_t boxBytes(const TensorMap &map) {
  uint32_t bytes = map.bytes;
  for (unsigned i = 0; i < map.rank; ++i)
    bytes *= map.box[i];
  return bytes;
}
/// Where a byte of the box lies in shared memory: 16-byte pieces are XORed within their span.
uint32_t swizzled(const TensorMap &map, uint32_t address) {
  return map.swizzle ? address ^ ((address >> 7 & (map.swizzle / 16 - 1)) << 4) : address;
}

void checkElement(Warp &w, const Op &op, uint64_t address, unsigned bytes) {
  if (!w.block->grid->memory->contains(address, bytes))
    fault(IllegalAddress, w, op, -1,
          "the tensor map leads to " + hex(address) + ", outside of every allocation");
}

void load(Block &issuer, const BulkCopy &copy) {
  const TensorMap &map = *copy.map;
  Warp &w = issuer.warps[copy.warp];
  Op op;
  op.line = copy.line;
  uint32_t bytes = boxBytes(map);
  for (Block *to : issuer.cluster) {
    if (!(copy.blocks >> to->rank & 1))
      continue;
    checkNoBarrier(w, op, -1, *to, copy.shared, bytes);
    eachChunk(map, copy.coords, [&](uint32_t offset, uint64_t address) {
      uint8_t *at = sharedAt(
          w, op, -1, swizzled(map, copy.shared + offset) | uint64_t(to->rank + 1) << 24, map.bytes);
      if (address) {
        checkElement(w, op, address, map.bytes);
        memcpy(at, reinterpret_cast<const void *>(address), map.bytes);
      } else
        memset(at, 0, map.bytes);
    });
    auto barrier = to->barriers.find(copy.barrier);
    if (barrier == to->barriers.end())
      fault(IllegalInstruction, w, op, -1, "there is no mbarrier at " + hex(copy.barrier));
    barrier->second.bytes -= bytes;
    settle(*issuer.grid, barrier->second);
  }
}

void readStore(Warp &w, BulkCopy &copy) {
  const TensorMap &map = *copy.map;
  Op op;
  op.line = copy.line;
  copy.bytes.resize(boxBytes(map));
  checkFenced(w, op, *w.block, copy.shared - sharedBase, uint32_t(copy.bytes.size()));
  for (uint32_t offset = 0; offset < copy.bytes.size(); offset += map.bytes)
    memcpy(&copy.bytes[offset], sharedAt(w, op, -1, swizzled(map, copy.shared + offset), map.bytes),
           map.bytes);
  copy.isRead = true;
  // The kernel may write the next map there from now on.
  auto *bytesOfMap = reinterpret_cast<const uint8_t *>(&map);
  copy.seen.assign(bytesOfMap, bytesOfMap + sizeof map);
  copy.map = reinterpret_cast<const TensorMap *>(copy.seen.data());
}

/// Sums of one element in the tensor's type.
void add(const TensorMap &map, uint8_t *to, const uint8_t *from) {
  auto with = [&](auto zero, auto f) {
    auto a = zero, b = zero;
    memcpy(&a, to, sizeof a);
    memcpy(&b, from, sizeof b);
    a = f(a, b);
    memcpy(to, &a, sizeof a);
  };
  switch (map.dtype) {
  case 6:
    return with(uint16_t(), [](auto a, auto b) { return F16::store(F16::load(a) + F16::load(b)); });
  case 7:
  case 10:
    return with(float(), [](auto a, auto b) { return canonical(a + b); });
  case 8:
    return with(double(), [](auto a, auto b) { return a + b; });
  case 9:
    return with(uint16_t(),
                [](auto a, auto b) { return BF16::store(BF16::load(a) + BF16::load(b)); });
  case 4:
  case 5:
    return with(uint64_t(), [](auto a, auto b) { return a + b; });
  default:
    return with(uint32_t(), [](auto a, auto b) { return a + b; });
  }
}

void writeStore(Warp &w, BulkCopy &copy) {
  if (!copy.isRead)
    readStore(w, copy);
  const TensorMap &map = *copy.map;
  Op op;
  op.line = copy.line;
  eachChunk(map, copy.coords, [&](uint32_t offset, uint64_t address) {
    if (!address)
      return;
    checkElement(w, op, address, map.bytes);
    uint8_t *to = reinterpret_cast<uint8_t *>(address);
    if (copy.reduces)
      add(map, to, &copy.bytes[offset]);
    else
      memcpy(to, &copy.bytes[offset], map.bytes);
  });
  ++w.block->grid->events;
}

/// The tensor map that a generic address leads to: a parameter, or global memory.
const TensorMap *findMap(Warp &w, const Op &op, int lane, uint64_t address) {
  std::vector<uint8_t> &params = w.block->grid->params;
  const uint8_t *at = nullptr;
  if ((address & windowMask) == paramWindow) {
    uint64_t offset = address & ~windowMask;
    if (offset + 128 <= params.size() && offset % 64 == 0)
      at = &params[offset];
  } else if (address % 64 == 0 && w.block->grid->memory->contains(address, 128)) {
    at = reinterpret_cast<const uint8_t *>(address);
    checkShown(w, op, lane, address);
  }
  const TensorMap *map = reinterpret_cast<const TensorMap *>(at);
  if (!at || map->mark != TensorMap::magic)
    fault(IllegalInstruction, w, op, lane, "there is no tensor map at " + hex(address));
  return map;
}

/// The places that Hopper refuses, which neither the driver nor ptxas checks.
void checkPlace(Warp &w, const Op &op, int lane, const BulkCopy &copy) {
  const TensorMap &map = *copy.map;
  if (copy.coords[0] * int64_t(map.bytes) % 16)
    fault(IllegalInstruction, w, op, lane,
          "a copy begins at element " + std::to_string(copy.coords[0]) + " of " +
              std::to_string(map.bytes) + " bytes in a row: expected a multiple of 16 bytes");
  for (uint32_t k = 0; copy.isStore && k < op.count; ++k)
    if (copy.coords[k] < 0)
      fault(IllegalInstruction, w, op, lane,
            "a store begins at " + std::to_string(copy.coords[k]) + " of dimension " +
                std::to_string(k) + ": expected a place in the tensor");
}

/// a: shared address, b: the map's, c: the barrier's, e: the blocks' mask or none. The lists hold
/// the coordinates. sign: it is a store, vector: it adds, imm, wide...: offsets.
Step start(Warp &w, const Op &op, uint32_t m) {
  bool isStore = op.sign;
  eachLane(m, [&](int i) {
    BulkCopy copy;
    copy.block = w.block;
    copy.warp = w.number;
    copy.lane = uint32_t(i);
    copy.line = op.line;
    copy.group = w.storeGroups[i];
    copy.isStore = isStore;
    copy.reduces = op.vector == 2;
    copy.map = findMap(w, op, i, w.at<uint64_t>(op.b)[i]);
    const TensorMap &map = *copy.map;
    if (map.rank != op.count)
      fault(IllegalInstruction, w, op, i,
            "the tensor map has " + std::to_string(map.rank) + " dimensions, the copy " +
                std::to_string(op.count));
    for (uint32_t k = 0; k < op.count; ++k)
      copy.coords[k] = w.at<int32_t>(w.kernel->lists[op.list + k])[i];
    checkPlace(w, op, i, copy);
    uint64_t shared = (op.addressBits == 32 ? uint64_t(w.at<uint32_t>(op.a)[i])
                                            : w.at<uint64_t>(op.a)[i] & ~windowMask) +
                      uint64_t(op.imm);
    copy.shared = uint32_t(shared & 0xFFFFFF);
    unsigned inner = map.box[0] * map.bytes;
    if (copy.shared % 128 || (map.swizzle && inner != map.swizzle && boxBytes(map) != inner))
      fault(Misaligned, w, op, i,
            "a box at " + hex(copy.shared) + " with rows of " + std::to_string(inner) +
                " bytes under a swizzle of " + std::to_string(map.swizzle) +
                ": expected a multiple of 128, and rows as long as the swizzle's span");
    sharedAt(w, op, i, shared, boxBytes(map));
    bool late = w.block->grid->options.late;
    if (isStore) {
      if (!late)
        readStore(w, copy), writeStore(w, copy);
      else
        w.stores.push_back(std::move(copy));
      return;
    }
    Block &to = blockAt(w, op, i, shared);
    uint32_t barrier = op.wide == 32 ? w.at<uint32_t>(op.c)[i] : uint32_t(w.at<uint64_t>(op.c)[i]);
    copy.barrier = (barrier + op.target) & 0xFFFFFF;
    copy.blocks = op.e == none ? 1u << to.rank : w.at<uint16_t>(op.e)[i];
    if (copy.blocks >> w.block->cluster.size() || !copy.blocks)
      fault(IllegalInstruction, w, op, i,
            "a copy to the blocks " + hex(copy.blocks) + " of a cluster of " +
                std::to_string(w.block->cluster.size()));
    if (late)
      w.block->loads.push_back(std::move(copy));
    else
      load(*w.block, copy);
  });
  ++w.block->grid->events;
  return Step::Next;
}

/// Ends the stores of groups but for the latest `leave`; with `reads` only reads their bytes.
Step waitStores(Warp &w, const Op &op, uint32_t m) {
  size_t kept = 0;
  for (size_t k = 0; k < w.stores.size(); ++k) {
    BulkCopy &copy = w.stores[k];
    bool isDue = (m >> copy.lane & 1) && copy.group + uint32_t(op.imm) < w.storeGroups[copy.lane];
    if (isDue && op.count && !copy.isRead)
      readStore(w, copy);
    if (isDue && !op.count)
      writeStore(w, copy);
    else if (kept++ != k)
      w.stores[kept - 1] = std::move(copy);
  }
  w.stores.resize(kept);
  return Step::Next;
}

} // namespace

bool deliver(Block &owner, uint32_t barrier) {
  bool any = false;
  for (Block *issuer : owner.cluster)
    for (size_t i = 0; i < issuer->loads.size();) {
      BulkCopy &copy = issuer->loads[i];
      if (copy.barrier != barrier || !(copy.blocks >> owner.rank & 1)) {
        ++i;
        continue;
      }
      BulkCopy now = std::move(copy);
      issuer->loads.erase(issuer->loads.begin() + long(i));
      load(*issuer, now);
      any = true;
    }
  return any;
}

void finishStores(Warp &w) {
  for (BulkCopy &copy : w.stores)
    writeStore(w, copy);
  w.stores.clear();
}

bool decodeBulk(Decoder &d, Op &op) {
  if (d.name() != "cp" || !d.has("bulk"))
    return false;
  if (d.has("commit_group")) {
    op.run = [](Warp &w, const Op &, uint32_t m) {
      eachLane(m, [&](int i) { ++w.storeGroups[i]; });
      return Step::Next;
    };
    return true;
  }
  if (d.has("wait_group")) {
    op.imm = d.operand(0).value;
    op.count = d.has("read");
    op.run = waitStores;
    return true;
  }
  if (!d.has("tensor") || (d.has("reduce") && !d.has("add")))
    return false;
  d.allow({"async", "reduce", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "shared::cluster",
           "shared::cta", "global", "tile", "mbarrier::complete_tx::bytes", "bulk_group", "add",
           "multicast::cluster", "L2::cache_hint"});
  op.sign = d.has("bulk_group");
  op.vector = d.has("reduce") ? 2 : 1;
  const Operand &box = d.operand(op.sign ? 1 : 0), &tensor = d.operand(op.sign ? 0 : 1);
  if (tensor.kind != Operand::Address || tensor.parts.size() != 2)
    d.fail("a tensor map and coordinates were expected");
  d.list(tensor.parts[1], 32, false, op);
  Op map;
  Operand plain = tensor;
  plain.parts.resize(1);
  d.address(plain, map);
  if (map.imm || map.addressBits != 64)
    return false;
  op.b = map.a;
  d.address(box, op);
  if (!op.sign) {
    Op barrier;
    d.address(d.operand(2), barrier);
    op.c = barrier.a;
    op.wide = barrier.addressBits;
    op.target = uint32_t(barrier.imm);
    if (d.has("multicast::cluster"))
      op.e = d.source(3, 16);
  }
  op.run = start;
  return true;
}

} // namespace emu
