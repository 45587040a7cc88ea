// A GPU that does not exist, for tests: it shows that a row is all that a target needs. Only
// tile-opt and unit tests link it.
#ifndef TILE_TARGET_TESTTARGETS_H
#define TILE_TARGET_TESTTARGETS_H

#include "target/Target.h"

namespace tile {

/// Rows that `tile-opt --test-targets` adds to the table.
Rows<GPUTarget> getTestTargets();

} // namespace tile

#endif
