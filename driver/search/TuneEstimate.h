// The cost model's estimates for the configurations of a search.
#ifndef TILE_DRIVER_SEARCH_TUNEESTIMATE_H
#define TILE_DRIVER_SEARCH_TUNEESTIMATE_H

#include "driver/tune/TuneConfig.h"

namespace tile {

/// Milliseconds of each configuration at each shape, infinite where the model or the front end
/// rules it out. Nothing for a target that the model does not know. `options` says what else binds
/// the kernel: definitions, target. Uses all processors.
std::vector<std::vector<double>>
estimateSpace(const ast::Program &program, const ast::KernelDecl &kernel,
              const ElaborateOptions &options, const std::vector<TuneConfig> &configs,
              const std::vector<TuneShape> &shapes, const SourceManager &sources);

} // namespace tile

#endif
