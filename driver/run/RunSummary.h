// The line with which `tilec run` says what it did.
#ifndef TILE_DRIVER_RUN_RUNSUMMARY_H
#define TILE_DRIVER_RUN_RUNSUMMARY_H

#include "driver/run/RunArguments.h"

namespace tile {

/// Prints kernel, programs, the milliseconds that one run took, and of each output its shape and
/// extremes; NaN are counted. Says, too, if the sources print or assert and that is left out.
void printSummary(const Options &options, Session &session, llvm::StringRef kernel,
                  int64_t programs, double milliseconds, std::vector<RunArgument> &arguments);

} // namespace tile

#endif
