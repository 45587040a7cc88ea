// Types of calls: functions of the program, whose bodies are walked for each call, and element-wise
// built-ins.
#ifndef TILE_FRONTEND_CHECK_CALLTYPES_H
#define TILE_FRONTEND_CHECK_CALLTYPES_H

#include "frontend/Check/BodyPart.h"

namespace tile {

class CallTypes : BodyPart {
public:
  explicit CallTypes(BodyChecker &body) : BodyPart(body) {}

  SemValue evalCall(const ast::CallExpr &expr);
  SemValue callFunction(const FunctionValue &function, std::vector<Arg> args, Range range);
  SemValue callBuiltin(const Builtin &builtin, std::vector<Arg> args, Range range);

private:
  bool declareParameters(const FunctionValue &function, llvm::ArrayRef<const Arg *> chosen,
                         Range range);
  SemValue callUnary(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callElement(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callWhere(std::vector<Arg> &args, Range range);
  SemValue callDebug(const Builtin &builtin, std::vector<Arg> &args, Range range);

  unsigned inlinedCalls = 0;
};

} // namespace tile

#endif
