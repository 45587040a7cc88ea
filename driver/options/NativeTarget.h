// The GPU of this machine, as `--target native` means it.
#ifndef TILE_DRIVER_OPTIONS_NATIVETARGET_H
#define TILE_DRIVER_OPTIONS_NATIVETARGET_H

#include "target/Target.h"
#include "llvm/Support/Error.h"

namespace tile {

struct NativeTarget {
  const GPUTarget *target;
  const GPUCard *card; ///< null for a card that the table does not have
};

/// Asks the CUDA driver, which is loaded for it. Fails where there is no driver, no such device, or
/// no target for it; the message says which.
llvm::Expected<NativeTarget> findNativeTarget(unsigned ordinal = 0);

} // namespace tile

#endif
