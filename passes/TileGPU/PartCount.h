// How many parts a launch makes of a split loop that leaves it to the launch: one rule for the
// kernel, the manifest and the cost model.
#ifndef TILE_PASSES_TILEGPU_PARTCOUNT_H
#define TILE_PASSES_TILEGPU_PARTCOUNT_H

#include <algorithm>
#include <cstdint>

namespace tile::gpu {

/// As many parts, 1 to `most`, as bring `programs` (at least 1) to `wanted` programs. Where copies
/// run `ahead` of products, `wanted` is one program for each multiprocessor; if then a second part
/// does not fit and a quarter of them would be idle, the parts make two for each.
///
///   wanted 132, ahead   programs  8  32  66  | 67 .. 88  89 .. 99 | 100 ..
///                       parts    16   4   2  |    3         2     |   1
///
/// `math` computes with values of some kind: `constant`, `mul`, `div` (rounded down), `min`, `max`.
template <typename Math>
auto countParts(Math math, typename Math::Value programs, int64_t wanted, int64_t most,
                bool ahead) {
  auto one = math.constant(1);
  auto parts = math.div(math.constant(wanted), programs);
  if (ahead) {
    auto alone = math.div(one, math.max(parts, one)),
         idle = math.min(math.div(math.constant(3 * wanted), math.mul(programs, math.constant(4))),
                         one),
         twice = math.div(math.constant(2 * wanted), programs);
    parts = math.max(parts, math.mul(math.mul(alone, idle), twice));
  }
  return math.max(one, math.min(parts, math.constant(most)));
}

/// Of `parts` states with so many words in a thread, how many the last part to arrive reads at
/// once: their latencies overlap, and all words of a thread together are no more than registers
/// allow.
inline int64_t countStatesAhead(int64_t words, int64_t parts) {
  constexpr int64_t fewWords = 128;
  return std::clamp<int64_t>(fewWords / std::max<int64_t>(words, 1) - 1, 1,
                             std::max<int64_t>(parts - 1, 1));
}

/// How often it waits for some of them, one after the other.
inline int64_t countMergeRounds(int64_t words, int64_t parts) {
  int64_t ahead = countStatesAhead(words, parts);
  return (parts - 1 + ahead - 1) / ahead;
}

/// Into how many groups, as large as each other, parts of a known number are merged first, each by
/// its last part to arrive, all at once; 1: the last part of all merges them. A second merge costs
/// what stores, a count and a latency of L2 take, as long as `perLevel` rounds.
inline int64_t countPartGroups(int64_t words, int64_t parts) {
  constexpr int64_t perLevel = 3;
  int64_t best = 1, least = countMergeRounds(words, parts);
  for (int64_t groups = 2; groups < parts; ++groups) {
    if (parts % groups)
      continue;
    int64_t rounds =
        countMergeRounds(words, parts / groups) + countMergeRounds(words, groups) + perLevel;
    if (rounds < least)
      best = groups, least = rounds;
  }
  return best;
}

/// Integers of the compiler's own, none negative.
struct IntegerMath {
  using Value = int64_t;
  static Value constant(int64_t value) { return value; }
  static Value mul(Value a, Value b) { return a * b; }
  static Value div(Value a, Value b) { return a / b; }
  static Value min(Value a, Value b) { return std::min(a, b); }
  static Value max(Value a, Value b) { return std::max(a, b); }
};

} // namespace tile::gpu

#endif
