// Rules of accesses. Lower and the checks of bodies ask for them.
#include "frontend/Sema/AccessRules.h"

#include "llvm/ADT/STLExtras.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::StringRef;

/// Memory adds numbers of 16 bits and compares numbers of 32; all else works on bits.
const char *tile::neededByAtomic(StringRef builtin, DType dtype) {
  bool adds = builtin == "atomic_add",
       compares = builtin == "atomic_max" || builtin == "atomic_min";
  bool isNumber = isInteger(dtype) || (isFloat(dtype) && !isStorage(dtype));
  if (adds)
    return isNumber && bitWidth(dtype) >= 16 ? nullptr : "numbers of 16 bits or more";
  if (compares)
    return isNumber && bitWidth(dtype) >= 32 ? nullptr : "numbers of 32 bits or more";
  return isInteger(dtype) ? nullptr : "integers";
}

std::optional<size_t> tile::findWord(const SemValue &value, ArrayRef<const char *> words) {
  if (value.kind != SemValue::Kind::String)
    return std::nullopt;
  auto found = llvm::find(words, StringRef(value.text));
  return found == words.end() ? std::nullopt : std::optional(size_t(found - words.begin()));
}

bool tile::isStorable(const SemValue &value, DType dtype) {
  return value.isNumeric() && (!value.isData() || value.dtype == dtype);
}

bool tile::fitsAccess(ArrayRef<int64_t> value, ArrayRef<int64_t> access) {
  if (value.size() > access.size())
    return false;
  return llvm::all_of(llvm::zip(value, access.take_back(value.size())), [](auto pair) {
    auto [mine, theirs] = pair;
    return mine == 1 || mine == theirs;
  });
}

Shape tile::gatheredShape(ArrayRef<int64_t> ranges, size_t at, ArrayRef<int64_t> joint) {
  Shape shape(ranges);
  shape.insert(shape.begin() + at, joint.begin(), joint.end());
  return shape;
}

Shape tile::transposedOrder(int64_t rank) {
  Shape order(rank);
  for (int64_t i = 0; i < rank; ++i)
    order[i] = i < rank - 2 ? i : i == rank - 2 ? rank - 1 : rank - 2;
  return order;
}

int64_t tile::countElements(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}
