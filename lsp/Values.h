// Values of expressions and names, kept from the elaboration of kernels.
#ifndef TILE_LSP_VALUES_H
#define TILE_LSP_VALUES_H

#include "frontend/Lower/Elaborate.h"

#include <map>
#include <string>
#include <tuple>

namespace tile::lsp {

/// A value as editors show it.
struct Value {
  std::string text; // "f32[128, 64]", "the int 5"
  bool isHint;      // it has a dtype or shape that the source does not say
};

/// Collects the first value of each place, of one kernel.
class Values : public ValueObserver {
public:
  /// Evaluations that one kernel may take while somebody types; more would be felt.
  static constexpr unsigned mostEvaluations = 10000;

  void onValue(Range range, const SemValue &value) override;
  bool isEnough() const override { return evaluations > mostEvaluations; }

  const Value *find(Range range) const;
  /// The value of the smallest expression that covers the byte.
  const Value *findAround(FileID file, uint32_t offset, Range &range) const;

private:
  using Place = std::tuple<FileID, uint32_t, uint32_t>;
  std::map<Place, Value> values;
  unsigned evaluations = 0;
};

} // namespace tile::lsp

#endif
