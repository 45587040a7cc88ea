// A rough guess at how well a kernel's grid fills a GPU.
#ifndef TILE_DRIVER_WAVEMODEL_H
#define TILE_DRIVER_WAVEMODEL_H

#include "driver/TuneConfig.h"

namespace tile {

/// Time at a shape relative to a grid that fills every multiprocessor evenly, from the manifest beside a binary; 0 if unknown.
double estimateWaves(const std::string &manifestPath, const TuneShape &shape);

} // namespace tile

#endif
