// Where the memory of a call's tensors lies, asked of the driver: for callers who want to be told
// of a host pointer given to a GPU's kernel before the kernel faults.
#ifndef TILE_RUNTIME_SRC_RESIDENCY_H
#define TILE_RUNTIME_SRC_RESIDENCY_H

#include "launch/CudaDriver.h"
#include "launch/Fill.h"

namespace tile::runtime {

/// TILE_ERROR_RESIDENCY for the first tensor, of `count` arguments, whose memory the kernel's
/// device does not reach by itself. On a GPU that device is the current context's: its own memory,
/// managed memory and host memory that the driver knows are right; other host memory and other
/// devices' memory are not. On the CPU memory of a device is not right, which is asked of the
/// driver where there is one. Null and empty tensors are not looked at.
Error checkResidency(bool onHost, const tk_kernel &kernel, const tile_argument *arguments,
                     size_t count);

} // namespace tile::runtime

#endif
