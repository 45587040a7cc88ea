// Results against what they should be.
#ifndef TILE_DRIVER_RUN_COMPARE_H
#define TILE_DRIVER_RUN_COMPARE_H

#include "manifest/Manifest.h"
#include <string>

namespace tile {

/// Compares `bytes` bytes of elements: each within `tolerance` of the largest finite element of
/// `expected`, NaN with NaN. Uses all processors. Empty where they agree, else how much differs:
/// "in 3 of 100 elements; the largest error is 1.0, allowed is 0.1".
std::string compareTensors(runtime::Dtype dtype, const char *data, const char *expected,
                           size_t bytes, double tolerance);

} // namespace tile

#endif
