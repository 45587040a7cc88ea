// Rules of accesses as functions of types: what fits into memory, what atomics take, the words of
// orders, scopes and caches, the shapes of accesses and of parts of tiles.
#ifndef TILE_FRONTEND_SEMA_ACCESSRULES_H
#define TILE_FRONTEND_SEMA_ACCESSRULES_H

#include "frontend/Sema/TypeRules.h"

namespace tile {

/// What an atomic built-in needs, "integers" as an example, where it does not take elements of that
/// dtype; null where it does.
const char *neededByAtomic(llvm::StringRef builtin, DType dtype);

/// Words of `order:`, `scope:` and `cache:`, in the order of the dialect's enumerations.
constexpr const char *memoryOrders[] = {"relaxed", "acquire", "release", "acq_rel"};
constexpr const char *memoryScopes[] = {"gpu", "system"};
constexpr const char *cacheHints[] = {"default", "keep", "stream"};
/// The place of a string among `words`; none for any other value.
std::optional<size_t> findWord(const SemValue &value, llvm::ArrayRef<const char *> words);

/// Has a value the dtype of the elements it is stored to, or is it a number, which takes that?
bool isStorable(const SemValue &value, DType dtype);
/// May a value of one shape be stored to an access of another? Extents of 1 are repeated, and
/// dimensions in front.
bool fitsAccess(llvm::ArrayRef<int64_t> value, llvm::ArrayRef<int64_t> access);

/// The shape of an access by tiles of positions, whose joint shape stands at `at` among the extents
/// of the ranges.
Shape gatheredShape(llvm::ArrayRef<int64_t> ranges, size_t at, llvm::ArrayRef<int64_t> joint);

/// The order of dimensions in which the last two change places.
Shape transposedOrder(int64_t rank);
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// `low..high` of a dimension; `keeps` unless it was one position, which drops the dimension.
struct TileCut {
  int64_t low = 0, high = 0;
  bool keeps = true;
  bool isIn(int64_t extent) const { return low >= 0 && high <= extent && low < high; }
};

} // namespace tile

#endif
