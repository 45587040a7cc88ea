// Which of several tuned configurations a launch takes, by the values of the tune clause's key.
//
// A binary decision tree over the keys, written out as one condition for each choice. Four points
// with the choices A and B:
//   M=64 A, M=128 A, M=4096 B, M=8192 B     ->    M <= 724: A     M > 724: B
//
// Every value of the keys satisfies exactly one of the conditions, since the leaves divide the
// whole space: a launch at a shape that was never measured takes the choice of the leaf it falls
// into.
#include "frontend/Sema/TuneTable.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

using namespace tile;
using llvm::ArrayRef;
using LaunchExpr = runtime::Expr;
using LaunchOp = runtime::Expr::Op;

namespace {

/// A comparison that divides points: `keys[axis] <= bound`.
struct Split {
  size_t axis = 0;
  int64_t bound = 0;
  double entropy = 0, gap = 0; ///< what is left unknown; how far apart the two sides are
};

} // namespace

/// Bits needed to tell the points' choices.
static double entropyOf(ArrayRef<TunedPoint> points) {
  std::map<size_t, size_t> counts;
  for (const TunedPoint &point : points)
    ++counts[point.choice];
  double sum = 0;
  for (const auto &[choice, count] : counts)
    sum -= double(count) * std::log2(double(count) / double(points.size()));
  return sum;
}

/// Both positive or not, the number in the middle that belongs to the lower side.
/// Geometric for positive numbers: between 64 and 4096 lies 512, as times grow by ratios. `low`
/// itself goes to the lower side and `high` to the upper one.
static int64_t middleOf(int64_t low, int64_t high) {
  double middle =
      low > 0 ? std::sqrt(double(low) * double(high)) : low + (double(high) - double(low)) / 2;
  return std::clamp<int64_t>(int64_t(middle), low, high - 1);
}

/// The comparison that leaves the fewest bits unknown; of equals the one with the widest gap
/// between its sides, which is the least likely to cut between two shapes that belong together.
/// Nothing where all points have one key.
static std::optional<Split> chooseSplit(ArrayRef<TunedPoint> points) {
  std::optional<Split> best;
  for (size_t axis = 0; axis < points.front().key.size(); ++axis) {
    std::vector<int64_t> values;
    for (const TunedPoint &point : points)
      values.push_back(point.key[axis]);
    llvm::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    for (size_t i = 0; i + 1 < values.size(); ++i) {
      Split split{axis, middleOf(values[i], values[i + 1]), 0, 0};
      std::vector<TunedPoint> sides[2];
      for (const TunedPoint &point : points)
        sides[point.key[axis] > split.bound].push_back(point);
      split.entropy = entropyOf(sides[0]) + entropyOf(sides[1]);
      split.gap = std::log2(double(std::max<int64_t>(values[i + 1], 1))) -
                  std::log2(double(std::max<int64_t>(values[i], 1)));
      bool isBetter = !best || split.entropy < best->entropy - 1e-9 ||
                      (split.entropy < best->entropy + 1e-9 && split.gap > best->gap + 1e-9);
      if (isBetter)
        best = split;
    }
  }
  return best;
}

/// Adds the conditions of the leaves under `path`.
static void divide(ArrayRef<LaunchExpr> keys, ArrayRef<TunedPoint> points,
                   std::optional<LaunchExpr> path,
                   std::vector<std::optional<LaunchExpr>> &conditions) {
  bool isLeaf = llvm::all_of(
      points, [&](const TunedPoint &point) { return point.choice == points.front().choice; });
  std::optional<Split> split = isLeaf ? std::nullopt : chooseSplit(points);
  if (!split) {
    std::optional<LaunchExpr> &condition = conditions[points.front().choice];
    // A tree of one leaf has no path: its condition is 1, always. Points of one key with several
    // choices end here as well; agreeOnKeys has left no such points.
    LaunchExpr here = path.value_or(LaunchExpr(1));
    condition = condition ? LaunchExpr::make(LaunchOp::Or, *condition, here) : here;
    return;
  }
  for (bool upper : {false, true}) {
    std::vector<TunedPoint> side;
    for (const TunedPoint &point : points)
      if ((point.key[split->axis] > split->bound) == upper)
        side.push_back(point);
    LaunchExpr test = LaunchExpr::make(upper ? LaunchOp::Gt : LaunchOp::Le, keys[split->axis],
                                       LaunchExpr(split->bound));
    divide(keys, side, path ? LaunchExpr::make(LaunchOp::And, *path, test) : test, conditions);
  }
}

/// Points with the same key (the shapes differ in a dimension that is no part of the key) must take
/// the same choice, the one whose loss over the best of each point is least in the geometric mean.
/// A choice without a time at a point counts as twice as slow there. The points' own best breaks a
/// tie.
void tile::agreeOnKeys(std::vector<TunedPoint> &points,
                       const std::vector<std::vector<double>> &times, size_t choices) {
  constexpr double unknown = 2;
  auto lossOf = [&](size_t point, size_t choice) { // over what was best there
    size_t own = points[point].choice;
    if (choice == own)
      return 1.0;
    bool isKnown = point < times.size() && std::isfinite(times[point][own]) &&
                   std::isfinite(times[point][choice]);
    return isKnown ? times[point][choice] / times[point][own] : unknown;
  };
  std::map<std::vector<int64_t>, std::vector<size_t>> groups;
  for (size_t i = 0; i < points.size(); ++i)
    groups[points[i].key].push_back(i);
  for (const auto &[key, members] : groups) {
    size_t best = points[members.front()].choice;
    auto sumOf = [&, &members = members](size_t choice) {
      double sum = 0;
      for (size_t i : members)
        sum += std::log(lossOf(i, choice));
      return sum;
    };
    double least = sumOf(best);
    for (size_t choice = 0; choice < choices; ++choice)
      if (double sum = sumOf(choice); sum < least - 1e-9) {
        least = sum;
        best = choice;
      }
    for (size_t i : members)
      points[i].choice = best;
  }
}

/// One condition for each choice, in their order; 0 (never) for a choice that no point takes.
std::vector<LaunchExpr> tile::divideKeys(const std::vector<LaunchExpr> &keys,
                                         const std::vector<TunedPoint> &points, size_t choices) {
  std::vector<std::optional<LaunchExpr>> conditions(choices);
  if (!points.empty())
    divide(keys, points, std::nullopt, conditions);
  std::vector<LaunchExpr> result;
  for (const std::optional<LaunchExpr> &condition : conditions)
    result.push_back(condition.value_or(LaunchExpr(0)));
  return result;
}
