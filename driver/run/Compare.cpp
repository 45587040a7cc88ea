// Results against what they should be.
#include "driver/run/Compare.h"
#include "driver/support/Jobs.h"
#include "manifest/Encode.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>

namespace tile {

namespace {

struct Difference {
  double largest = 0; ///< finite element expected
  double error = 0;   ///< largest
  size_t wrong = 0;
};

} // namespace

static double decode(runtime::Dtype dtype, const char *data, size_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, size);
  return runtime::isIntegral(dtype) ? double(runtime::decodeInteger(bits, dtype).value_or(0))
                                    : runtime::decodeFloat(bits, dtype);
}

std::string compareTensors(runtime::Dtype dtype, const char *data, const char *expected,
                           size_t bytes, double tolerance) {
  constexpr size_t chunk = size_t(1) << 20; // bytes; a multiple of every element's size
  size_t size = (runtime::dtypeBits(dtype) + 7) / 8, chunks = (bytes + chunk - 1) / chunk;
  std::vector<Difference> parts(chunks);
  std::vector<char> same(chunks);
  auto forEach = [&](auto work) {
    runJobs(0, chunks, [&](size_t c) { work(c, c * chunk, std::min(bytes, (c + 1) * chunk)); });
  };
  // Mostly they are the same to the bit, and large.
  forEach([&](size_t c, size_t begin, size_t end) {
    same[c] = std::memcmp(data + begin, expected + begin, end - begin) == 0;
  });
  if (std::all_of(same.begin(), same.end(), [](char each) { return each != 0; }))
    return "";
  forEach([&](size_t c, size_t begin, size_t end) {
    for (size_t at = begin; at + size <= end; at += size)
      if (double value = std::abs(decode(dtype, expected + at, size)); std::isfinite(value))
        parts[c].largest = std::max(parts[c].largest, value);
  });
  double largest = 0;
  for (const Difference &part : parts)
    largest = std::max(largest, part.largest);
  forEach([&](size_t c, size_t begin, size_t end) {
    if (same[c])
      return;
    for (size_t at = begin; at + size <= end; at += size) {
      if (std::memcmp(data + at, expected + at, size) == 0)
        continue;
      double a = decode(dtype, data + at, size), b = decode(dtype, expected + at, size);
      if ((std::isnan(a) && std::isnan(b)) || a == b)
        continue;
      double off = std::abs(a - b);
      parts[c].wrong += !(off <= tolerance * largest);
      parts[c].error = std::max(parts[c].error, std::isnan(off) ? INFINITY : off);
    }
  });
  size_t wrong = 0;
  double error = 0;
  for (const Difference &part : parts) {
    wrong += part.wrong;
    error = std::max(error, part.error);
  }
  if (!wrong)
    return "";
  return "in " + std::to_string(wrong) + " of " + std::to_string(bytes / size) +
         " elements; the largest error is " + llvm::formatv("{0:f6}", error).str() +
         ", allowed is " + llvm::formatv("{0:f6}", tolerance * largest).str();
}

} // namespace tile
