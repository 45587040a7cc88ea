// Chooses the configuration of one version of a kernel. Internal to elaboration.
#ifndef TILE_FRONTEND_LOWER_CHOOSECONFIG_H
#define TILE_FRONTEND_LOWER_CHOOSECONFIG_H

#include "frontend/Lower/Elaborator.h"

namespace tile {

/// Elaborates what the `tune` clause of `kernel` allows, on the side, and has it rated. None where
/// there is nothing to choose, where nothing rates, or where the source has a configuration for the
/// target; then the parameters' defaults hold. What is wrong with a candidate is no error: it only
/// cannot be chosen.
std::optional<ConfigChoice> chooseConfig(const Modules &modules, const ast::KernelDecl &kernel,
                                         const ElaborateOptions &options,
                                         DiagnosticEngine &diagnostics, mlir::MLIRContext *context,
                                         const Instance &instance, const Variant &variant);

} // namespace tile

#endif
