// Built-ins that make, reshape, reduce and multiply tiles.
#ifndef TILE_FRONTEND_LOWER_TILECALLS_H
#define TILE_FRONTEND_LOWER_TILECALLS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class TileCalls : LowerPart {
public:
  explicit TileCalls(Lowering &lowering) : LowerPart(lowering) {}

  SemValue callShape(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callReduce(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callRange(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callOther(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue permuted(const SemValue &value, llvm::ArrayRef<int64_t> permutation, Range range);

private:
  SemValue callDot(std::vector<Arg> &args, Range range);
  std::optional<llvm::SmallVector<int64_t>> evalShape(const Arg &arg);
  std::optional<llvm::SmallVector<int64_t>> evalPermutation(const Arg &arg, int64_t rank);
};

} // namespace tile

#endif
