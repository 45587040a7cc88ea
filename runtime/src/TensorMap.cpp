// The cache of the tensor maps that were encoded last.
#include "runtime/src/TensorMap.h"

#include <algorithm>

namespace tile::runtime {

/// A map is encoded by the driver; equal calls find it here. Entries are replaced by age; `used` 0
/// means free.
Error TensorMapCache::get(const CudaDriver &driver, const Validator &validator,
                          const tile_argument *arguments, const Plan &plan, CUdeviceptr empty,
                          std::vector<tk_encoded> &maps) {
  const tk_kernel &kernel = validator.getTables();
  // Their memory stays, so that a launch allocates nothing.
  thread_local std::vector<tk_description> descriptions;
  // All that a map depends on besides the kernel: address, extents, strides beyond the innermost.
  thread_local std::vector<uint64_t> key;
  descriptions.clear();
  key.clear();
  for (int i = 0; i < kernel.map_count; ++i) {
    const tk_map &map = kernel.maps[i];
    tk_description &description = descriptions.emplace_back();
    tk_describe(&kernel, &map, &arguments[map.param], validator.getStrides(plan, size_t(map.param)),
                empty, &description);
    key.push_back(description.address);
    key.insert(key.end(), description.extents, description.extents + map.rank);
    key.insert(key.end(), description.strides + 1, description.strides + map.rank);
  }
  maps.resize(descriptions.size());
  // Held while a map is encoded, too: two threads with one new key would do so twice.
  std::lock_guard<std::mutex> lock(mutex);
  Entry *oldest = &entries[0];
  for (Entry &entry : entries) {
    if (entry.used && entry.key == key) {
      entry.used = ++clock;
      std::copy(entry.maps.begin(), entry.maps.end(), maps.begin());
      return {};
    }
    if (entry.used < oldest->used)
      oldest = &entry;
  }
  // Into the caller's list first: an error leaves the entry as it was.
  for (size_t i = 0; i < descriptions.size(); ++i)
    if (tile_code code =
            tk_encode_map(&driver, &kernel, &kernel.maps[i], &descriptions[i], &maps[i]))
      return lastError(code);
  oldest->key = key;
  oldest->maps = maps;
  oldest->used = ++clock;
  return {};
}

} // namespace tile::runtime
