// Declares the option structs, constructors and registration of every pass that Passes.td defines.
#ifndef TILE_PASSES_PASSES_H
#define TILE_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include <memory>

namespace tile {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tile

#endif
