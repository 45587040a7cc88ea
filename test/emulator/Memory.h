// The device's memory: allocations in the host's, with a gap between them, so that an access that
// leaves one is noticed.
#ifndef TILE_TEST_EMULATOR_MEMORY_H
#define TILE_TEST_EMULATOR_MEMORY_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace emu {

/// Spaces of addresses. A generic address tells its space by its highest bits:
///
///   bits 63..48     0xF000          0xE000    0xD000     else
///   space           shared          local     param      global: the host's own address
///   below them      rank, offset    offset    offset
enum Space : uint8_t { Generic, Global, Shared, SharedCluster, Local, Param, Const };
constexpr uint64_t sharedWindow = 0xF000ull << 48, localWindow = 0xE000ull << 48,
                   paramWindow = 0xD000ull << 48, windowMask = 0xFFFFull << 48;
/// Where a block's shared memory begins: an address of 0 is a mistake. Bits 24 and above of an
/// address in a cluster's shared memory are a block's rank + 1, or 0 for one's own.
constexpr uint32_t sharedBase = 1024;

class Memory {
public:
  Memory() = default;
  Memory(const Memory &) = delete;
  ~Memory() {
    for (auto &[address, bytes] : allocations)
      free(reinterpret_cast<void *>(address - gap));
  }

  /// 0 where there is no memory. Filled with 0xff, NaN of every float. Aligned to 512 bytes:
  ///
  ///   | gap | bytes | gap |     an access that runs out of its tensor lands in a gap
  uint64_t allocate(size_t bytes) {
    size_t padded = (bytes + 2 * gap + 511) / 512 * 512;
    void *memory = padded < bytes ? nullptr : aligned_alloc(512, padded);
    if (!memory)
      return 0;
    memset(memory, 0xff, padded);
    uint64_t address = reinterpret_cast<uint64_t>(memory) + gap;
    allocations[address] = bytes;
    return address;
  }
  bool release(uint64_t address) {
    auto found = allocations.find(address);
    if (found == allocations.end())
      return false;
    allocations.erase(found);
    lastBegin = lastEnd = 0;
    free(reinterpret_cast<void *>(address - gap));
    return true;
  }
  /// Whether all of these bytes are allocated together.
  bool contains(uint64_t address, uint64_t bytes) {
    if (address >= lastBegin && address < lastEnd && bytes <= lastEnd - address)
      return true;
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin())
      return false;
    --next;
    if (address - next->first >= next->second || bytes > next->second - (address - next->first))
      return false;
    lastBegin = next->first;
    lastEnd = next->first + next->second;
    return true;
  }

private:
  static constexpr size_t gap = 512;
  std::map<uint64_t, size_t> allocations;
  uint64_t lastBegin = 0, lastEnd = 0;
};

} // namespace emu

#endif
