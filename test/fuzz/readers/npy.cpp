// fuzz-npy: whatever the bytes, an array is read or refused, and one that is read has as many bytes
// as its shape and dtype say.
#include "formats/Npy.h"
#include "readers.h"

using namespace tile::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  NpyArray array;
  if (Error error = parseNpy(asText(data, size), "input", std::nullopt, array)) {
    require(!error.message.empty(), "a refusal without a reason");
    return 0;
  }
  uint64_t bits = uint64_t(array.elementCount()) * dtypeBits(array.dtype);
  require(array.data.size() == (bits + 7) / 8, "the array's bytes do not fit its shape");
  std::string bytes;
  require(!formatNpy(array.dtype, array.shape, array.data.data(), bytes),
          "an array that was read cannot be written");
  return 0;
}
