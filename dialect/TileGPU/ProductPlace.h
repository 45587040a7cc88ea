// The parts of #tile_gpu.schedule.
#ifndef TILE_DIALECT_TILEGPU_PRODUCTPLACE_H
#define TILE_DIALECT_TILEGPU_PRODUCTPLACE_H

#include "llvm/ADT/Hashing.h"

#include <cstdint>
#include <optional>
#include <tuple>

namespace tile::gpu {

/// When a product of a loop is issued and waited for.
struct ProductPlace {
  int64_t stage = 0;             ///< trips after its own in which it is issued
  int64_t order = 0;             ///< among the products that a trip issues
  std::optional<int64_t> flight; ///< trips after its issue till the wait; none: waited for at once
  int64_t parts = 1;             ///< along K, that it is issued in, or of which it is one

  bool operator==(const ProductPlace &other) const {
    return std::tie(stage, order, flight, parts) ==
           std::tie(other.stage, other.order, other.flight, other.parts);
  }
  friend llvm::hash_code hash_value(const ProductPlace &place) {
    return llvm::hash_combine(place.stage, place.order, place.flight.value_or(-1), place.parts);
  }
};

/// What holds for all products of a loop.
struct ScheduleWords {
  bool vectorsFirst = false; ///< fetched vectors are read before the products
  bool scaleUnder = false;   ///< sums of staged products are scaled under those of stage 0
  bool apart = false;        ///< each product is issued behind what is computed from the one before
  bool turns = false;        ///< warpgroups issue one after the other
  bool peek = false;         ///< the next trip's tile is waited for before the last product

  bool operator==(const ScheduleWords &other) const {
    return std::tie(vectorsFirst, scaleUnder, apart, turns, peek) ==
           std::tie(other.vectorsFirst, other.scaleUnder, other.apart, other.turns, other.peek);
  }
  friend llvm::hash_code hash_value(const ScheduleWords &words) {
    return llvm::hash_combine(words.vectorsFirst, words.scaleUnder, words.apart, words.turns,
                              words.peek);
  }
};

} // namespace tile::gpu

#endif
