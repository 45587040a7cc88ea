// Element-wise built-ins.
#ifndef TILE_FRONTEND_LOWER_ELEMENTCALLS_H
#define TILE_FRONTEND_LOWER_ELEMENTCALLS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class ElementCalls : LowerPart {
public:
  explicit ElementCalls(Lowering &lowering) : LowerPart(lowering) {}

  SemValue callUnary(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callBinary(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callElement(const Builtin &builtin, std::vector<Arg> &args, Range range);

private:
  SemValue callWhere(std::vector<Arg> &args, Range range);
};

} // namespace tile

#endif
