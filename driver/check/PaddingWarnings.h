// The padding lint's findings as warnings with fix-its.
#ifndef TILE_DRIVER_CHECK_PADDINGWARNINGS_H
#define TILE_DRIVER_CHECK_PADDINGWARNINGS_H

#include "driver/Session.h"

#include "mlir/IR/BuiltinOps.h"

namespace tile {

/// Warns where lanes that do not exist reach a reduction of the optimised `module` with a value
/// that may change its result.
void reportPadding(mlir::ModuleOp module, Session &session);

} // namespace tile

#endif
