// Built-ins of debug builds, probes, and PTX written out.
#ifndef TILE_FRONTEND_LOWER_DEBUGCALLS_H
#define TILE_FRONTEND_LOWER_DEBUGCALLS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class DebugCalls : LowerPart {
public:
  explicit DebugCalls(Lowering &lowering) : LowerPart(lowering) {}

  SemValue callDebug(const Builtin &builtin, std::vector<Arg> &args, Range range);
  /// With ElaborateOptions::probes: a probe of the value that `name` has from here on, or,
  /// without a name, before a statement. What is no number is passed over.
  void probe(llvm::StringRef name, const SemValue &value, Range range);

private:
  SemValue callPrint(std::vector<Arg> &args, Range range);
  SemValue callAssert(std::vector<Arg> &args, Range range);
  SemValue callPtx(std::vector<Arg> &args, Range range);
};

} // namespace tile

#endif
