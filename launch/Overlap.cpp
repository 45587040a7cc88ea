// Overlap of strided tensors: a search for two elements whose addresses differ by less than an
// element.
#include "launch/Overlap.h"

#include <algorithm>

namespace tile::runtime {

bool Region::isEmpty() const {
  for (unsigned i = 0; i < rank; ++i)
    if (shape[i] == 0)
      return true;
  return false;
}

uint64_t Region::spanBytes() const {
  if (isEmpty())
    return 0;
  unsigned __int128 last = 0;
  for (unsigned i = 0; i < rank; ++i)
    last += (unsigned __int128)uint64_t(shape[i] - 1) * uint64_t(strides[i]);
  unsigned __int128 bytes = ((last + 1) * elementBits + 7) / 8;
  return bytes >> 63 ? UINT64_MAX : uint64_t(bytes);
}

namespace {

/// A multiple of `stride` bytes, with the factor in low..high.
struct Term {
  int64_t stride, low, high;
};

/// Whether `target` is a sum of the terms from `index` on; terms are sorted by falling stride.
/// `budget` bounds the search: when it runs out the answer is yes.
bool reaches(const Term *terms, unsigned count, __int128 target, int &budget) {
  if (count == 0)
    return target == 0;
  if (--budget < 0)
    return true;
  __int128 restLow = 0, restHigh = 0;
  for (unsigned i = 1; i < count; ++i) {
    restLow += (__int128)terms[i].low * terms[i].stride;
    restHigh += (__int128)terms[i].high * terms[i].stride;
  }
  // Factors for which the rest can still make up the difference.
  auto floorDivide = [](__int128 a, __int128 b) { return a >= 0 ? a / b : -((-a + b - 1) / b); };
  __int128 stride = terms[0].stride;
  __int128 low = std::max<__int128>(terms[0].low, -floorDivide(restHigh - target, stride));
  __int128 high = std::min<__int128>(terms[0].high, floorDivide(target - restLow, stride));
  for (__int128 factor = low; factor <= high; ++factor)
    if (reaches(terms + 1, count - 1, target - factor * stride, budget))
      return true;
  return false;
}

} // namespace

bool overlaps(const Region &a, const Region &b) {
  uint64_t spanA = a.spanBytes(), spanB = b.spanBytes();
  if (spanA == 0 || spanB == 0)
    return false;
  if (b.address >= a.address ? b.address - a.address >= spanA : a.address - b.address >= spanB)
    return false;
  if (spanA == UINT64_MAX || spanB == UINT64_MAX || a.elementBits % 8 || b.elementBits % 8 ||
      a.rank > 8 || b.rank > 8)
    return true;

  // An element of a at i and one of b at j meet if address(b) - address(a) = i·sa - j·sb + r, with
  // -|b| < r < |a| bytes.
  Term terms[17];
  unsigned count = 0;
  auto add = [&](int64_t stride, int64_t low, int64_t high) {
    if (stride == 0 || (low == 0 && high == 0)) // an extent of 1 may have any stride
      return;
    for (unsigned i = 0; i < count; ++i)
      if (terms[i].stride == stride) {
        terms[i].low += low;
        terms[i].high += high;
        return;
      }
    terms[count++] = {stride, low, high};
  };
  int64_t bytesA = a.elementBits / 8, bytesB = b.elementBits / 8;
  for (unsigned i = 0; i < a.rank; ++i)
    add(int64_t(uint64_t(a.strides[i]) * bytesA), 0, a.shape[i] - 1);
  for (unsigned i = 0; i < b.rank; ++i)
    add(int64_t(uint64_t(b.strides[i]) * bytesB), 1 - b.shape[i], 0);
  add(1, 1 - bytesB, bytesA - 1);
  std::sort(terms, terms + count, [](const Term &x, const Term &y) { return x.stride > y.stride; });
  int budget = 4096;
  return reaches(terms, count, (__int128)b.address - (__int128)a.address, budget);
}

} // namespace tile::runtime
