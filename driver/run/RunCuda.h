// `tilec run --device cuda`: through the runtime's C interface, as any other host program.
#ifndef TILE_DRIVER_RUN_RUNCUDA_H
#define TILE_DRIVER_RUN_RUNCUDA_H

#include "driver/compile/Compile.h"
#include "driver/run/RunArguments.h"

namespace tile {

/// Sets the target to that of the device. False, after reporting, where there is no usable device.
bool chooseCudaTarget(Options &options, Session &session);

/// Reads a binary and the manifest beside it.
bool readImage(const std::string &path, Session &session, std::string &image,
               runtime::Manifest &manifest);

/// Compiles what `compiler` has elaborated and runs it on the device.
bool runOnCuda(Compiler &compiler, RunArguments &arguments, const Options &options,
               Session &session);

} // namespace tile

#endif
