// Calls: functions of the program are inlined, built-ins dispatched by family.
#ifndef TILE_FRONTEND_LOWER_CALLS_H
#define TILE_FRONTEND_LOWER_CALLS_H

#include "frontend/Lower/Accesses.h"
#include "frontend/Lower/Flow.h"
#include "frontend/Lower/LowerPart.h"

namespace tile {

class Calls : LowerPart {
public:
  explicit Calls(Lowering &lowering) : LowerPart(lowering) {}

  SemValue evalCall(const ast::CallExpr &expr);
  SemValue callFunction(const FunctionValue &function, std::vector<Arg> args, Range range);
  SemValue callBuiltin(const Builtin &builtin, const ast::CallExpr *expr, std::vector<Arg> args,
                       Range range);

private:
  SemValue callAccessForm(const Builtin &builtin, const ast::CallExpr &expr);

  unsigned inlinedCalls = 0;
};

} // namespace tile

#endif
