// `tilec run --device cuda`: through the runtime's C interface, as any other host program.
#ifndef TILE_DRIVER_RUNCUDA_H
#define TILE_DRIVER_RUNCUDA_H

#include "driver/Compile.h"
#include "driver/RunArguments.h"

namespace tile {

/// Sets the target to that of device 0. False, after reporting, where there is no usable device.
bool chooseCudaTarget(Options &options, Session &session);

/// Compiles what `compiler` has elaborated and runs it on device 0.
bool runOnCuda(Compiler &compiler, RunArguments &arguments, const Options &options, Session &session);

} // namespace tile

#endif
