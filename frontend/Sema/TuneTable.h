// Which of several tuned configurations a launch takes, by the values of the tune clause's key.
#ifndef TILE_FRONTEND_SEMA_TUNETABLE_H
#define TILE_FRONTEND_SEMA_TUNETABLE_H

#include "manifest/Expr.h"

namespace tile {

/// The best configuration for one value of the key.
struct TunedPoint {
  std::vector<int64_t> key; ///< one number for each expression of the key
  size_t choice;
};

/// Gives points with equal keys one choice: that which loses least over all of them, by the
/// geometric mean. `times`: milliseconds by point and choice, infinite where nothing is known, as
/// if it took twice as long as the best; may be empty. Of equals the first counts.
void agreeOnKeys(std::vector<TunedPoint> &points, const std::vector<std::vector<double>> &times,
                 size_t choices);

/// For each of `choices` the condition on `keys` under which it is taken. They exclude each other
/// and together hold always: a tree of comparisons of single keys, so that each point gets its
/// choice and others that of points near by: the bounds lie at the geometric means of neighbouring
/// values. Of points with equal keys the first counts. A choice that no point has gets the
/// condition 0.
std::vector<runtime::Expr> divideKeys(const std::vector<runtime::Expr> &keys,
                                      const std::vector<TunedPoint> &points, size_t choices);

} // namespace tile

#endif
