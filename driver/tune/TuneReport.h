// The log of a search to look at: as a table, and as a picture.
#ifndef TILE_DRIVER_TUNE_TUNEREPORT_H
#define TILE_DRIVER_TUNE_TUNEREPORT_H

#include "driver/tune/Tune.h"

namespace tile {

/// A line for each measurement, in the log's order: extents, tuned values, status, effort,
/// milliseconds, seconds, reason.
std::string toCsv(const TuneLog &log);

/// SVG: above, each measurement as its time over the best at its shape, along the seconds of the
/// search, and for each shape the best so far; below, the times of each configuration, from the
/// best on the whole to the worst.
std::string toSvg(const TuneLog &log, llvm::StringRef title);

} // namespace tile

#endif
