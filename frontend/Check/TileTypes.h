// Types of built-ins that make, reshape, join, order, reduce and multiply tiles, and of index
// ranges.
#ifndef TILE_FRONTEND_CHECK_TILETYPES_H
#define TILE_FRONTEND_CHECK_TILETYPES_H

#include "frontend/Check/BodyPart.h"
#include "frontend/Sema/TypeRules.h"

namespace tile {

class TileTypes : BodyPart {
public:
  explicit TileTypes(BodyChecker &body) : BodyPart(body) {}

  SemValue callShape(const Builtin &builtin, std::vector<Arg> &args);
  SemValue callReduce(const Builtin &builtin, std::vector<Arg> &args);
  SemValue callRange(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callScan(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callJoin(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callOrder(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callRandom(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callOther(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue permuted(const SemValue &value, llvm::ArrayRef<int64_t> order);

private:
  std::optional<Shape> evalShape(const Arg &arg);
  std::optional<Shape> evalPermutation(const Arg &arg, int64_t rank);
  std::optional<int64_t> evalAxis(llvm::ArrayRef<Arg> args, const SemValue &tile);
  /// The tiles of `x` or `(x, y)`, of one shape that is no scalar's; none if they are not.
  std::optional<std::vector<Arg>> tilesOf(const Arg &operand, bool mayBeTuple, Range range);
  SemValue callCombined(const Builtin &builtin, const Arg &function, llvm::ArrayRef<Arg> tiles,
                        const Shape &shape, Range range);
  SemValue callConcat(bool isStack, llvm::ArrayRef<Arg> args, Range range);
  SemValue callTopk(llvm::ArrayRef<Arg> args);
  SemValue callHistogram(llvm::ArrayRef<Arg> args);
  SemValue callDot(llvm::ArrayRef<Arg> args);
  SemValue callTake(std::vector<Arg> &args);
  SemValue callView(llvm::ArrayRef<Arg> args);
  SemValue callBitcast(llvm::ArrayRef<Arg> args);
};

} // namespace tile

#endif
