// What the parts of the check of a body share.
#ifndef TILE_FRONTEND_CHECK_BODYPART_H
#define TILE_FRONTEND_CHECK_BODYPART_H

#include "frontend/Sema/KernelContext.h"

namespace tile {

class BodyChecker;

class BodyPart {
protected:
  explicit BodyPart(BodyChecker &body);

  BodyChecker &body;
  KernelContext &here;
};

/// The argument of that name, or null.
const Arg *findNamed(llvm::ArrayRef<Arg> args, llvm::StringRef name);

} // namespace tile

#endif
