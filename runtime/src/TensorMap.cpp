// Encoding of tensor maps, and the cache of those encoded last.
#include "runtime/src/TensorMap.h"

#include <algorithm>

namespace tile::runtime {

namespace {

constexpr unsigned maxRank = 5;

/// A tensor as the driver wants it described, fastest dimension first.
struct Description {
  uint64_t address;
  unsigned rank;
  uint64_t extents[maxRank];
  uint64_t strides[maxRank]; // bytes; that of the fastest dimension is not passed
  uint32_t box[maxRank];
};

/// The driver's number for an element type. Types that it does not know go as bytes.
int dataType(Dtype dtype) {
  switch (dtype) {
  case Dtype::I16:
  case Dtype::U16:
    return 1;
  case Dtype::U32:
    return 2;
  case Dtype::I32:
    return 3;
  case Dtype::U64:
    return 4;
  case Dtype::I64:
    return 5;
  case Dtype::F16:
    return 6;
  case Dtype::F32:
    return 7;
  case Dtype::F64:
    return 8;
  case Dtype::BF16:
    return 9;
  default:
    return 0;
  }
}

/// 0, 32, 64 and 128 bytes as the driver numbers them.
int swizzleMode(unsigned bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }

Description describe(const TensorMap &map, const Param &param, const tile_argument &argument,
                     const int64_t *strides, CUdeviceptr empty) {
  Description result;
  result.address = uint64_t(uintptr_t(argument.data));
  result.rank = unsigned(map.order.size());
  unsigned bits = dtypeBits(param.dtype), perCell = bits < 8 ? 8 / bits : 1;
  bool isEmpty = false;
  for (unsigned i = 0; i < result.rank; ++i) {
    result.extents[i] = uint64_t(argument.shape[map.order[i]]);
    result.strides[i] = uint64_t(strides[map.order[i]]) * bits / 8;
    result.box[i] = map.box[i];
    isEmpty |= result.extents[i] == 0;
  }
  result.extents[0] = (result.extents[0] + perCell - 1) / perCell;
  // Every position of an empty tensor reads as zero, and so does the first of these.
  if (isEmpty)
    result.address = empty + (param.access == Access::In ? 0 : 16);
  for (unsigned i = 0; i < result.rank; ++i) {
    if (isEmpty)
      result.extents[i] = 1;
    // Nothing steps along this dimension: whatever the caller has there, the driver wants multiples
    // of 16, below 2^40.
    if (i > 0 && result.extents[i] == 1) {
      unsigned __int128 dense = (unsigned __int128)result.extents[i - 1] *
                                (i > 1 ? result.strides[i - 1] : (bits + 7) / 8);
      result.strides[i] =
          dense >> 39 ? 16 : std::max<uint64_t>((uint64_t(dense) + 15) / 16 * 16, 16);
    }
  }
  // A dimension that is cut: see TensorMap.
  for (unsigned i = 2; i < result.rank && !isEmpty; ++i)
    if (map.order[i] == map.order[i - 1]) {
      result.extents[i - 1] = map.box[i - 1];
      result.extents[i] += map.box[i - 1];
      result.address -= map.box[i - 1] * result.strides[i];
    }
  return result;
}

Error encode(const CudaDriver &driver, const Kernel &kernel, const TensorMap &map,
             const Param &param, const Description &description, EncodedMap &result) {
  if (!driver.tensorMapEncodeTiled)
    return Error(TILE_ERROR_DRIVER,
                 kernel.name + ": the CUDA driver lacks cuTensorMapEncodeTiled: it is too old, "
                               "install one for CUDA 12 or newer");
  uint32_t steps[maxRank] = {1, 1, 1, 1, 1};
  // A swizzled row is 128 bytes; more at once would be its neighbour's.
  constexpr int interleaveNone = 0, promotion128 = 2, fillZero = 0;
  CUresult code = driver.tensorMapEncodeTiled(
      &result, dataType(param.dtype), description.rank,
      reinterpret_cast<void *>(uintptr_t(description.address)), description.extents,
      description.strides + 1, description.box, steps, interleaveNone, swizzleMode(map.swizzle),
      promotion128, fillZero);
  if (code == cuda::success)
    return {};
  std::string what =
      kernel.name + ": cannot describe '" + param.name + "' to the hardware (extents";
  for (unsigned i = description.rank; i-- > 0;)
    what += " " + std::to_string(description.extents[i]);
  what += ", strides in bytes";
  for (unsigned i = description.rank; i-- > 1;)
    what += " " + std::to_string(description.strides[i]);
  return driver.check(code, (what + ")").c_str());
}

} // namespace

Error TensorMapCache::get(const CudaDriver &driver, const Validator &validator,
                          const tile_argument *arguments, const Plan &plan, CUdeviceptr empty,
                          std::vector<EncodedMap> &maps) {
  const Kernel &kernel = validator.getKernel();
  // Their memory stays, so that a launch allocates nothing.
  thread_local std::vector<Description> descriptions;
  thread_local std::vector<uint64_t> key;
  descriptions.clear();
  key.clear();
  for (size_t i = 0; i < kernel.tensorMaps.size(); ++i) {
    size_t param = validator.getMapParam(i);
    const Description &description = descriptions.emplace_back(
        describe(kernel.tensorMaps[i], kernel.params[param], arguments[param],
                 validator.getStrides(plan, param), empty));
    key.push_back(description.address);
    key.insert(key.end(), description.extents, description.extents + description.rank);
    key.insert(key.end(), description.strides + 1, description.strides + description.rank);
  }
  maps.resize(descriptions.size());
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
  for (size_t i = 0; i < descriptions.size(); ++i)
    if (Error error = encode(driver, kernel, kernel.tensorMaps[i],
                             kernel.params[validator.getMapParam(i)], descriptions[i], maps[i]))
      return error;
  oldest->key = key;
  oldest->maps = maps;
  oldest->used = ++clock;
  return {};
}

} // namespace tile::runtime
