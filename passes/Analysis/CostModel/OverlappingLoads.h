// Loads whose tiles overlap: the taps of a filter, which lie beside each other or move on by less
// than their tile from trip to trip.
#ifndef TILE_PASSES_ANALYSIS_COSTMODEL_OVERLAPPINGLOADS_H
#define TILE_PASSES_ANALYSIS_COSTMODEL_OVERLAPPINGLOADS_H

#include "dialect/Tile/TileDialect.h"

namespace tile::cost {

/// The share of a load's elements that no load before it in its block has brought.
double getShareBeside(LoadOp load);

/// The share of a load's elements over `trips` trips of the loop around it that no trip before has
/// brought, where its position goes on with the counter.
double getShareOfTrips(LoadOp load, double trips);

} // namespace tile::cost

#endif
