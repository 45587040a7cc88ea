// Values are described when they are seen: SSA values end with their kernel.
#include "lsp/Values.h"
#include "frontend/Sema/SemValue.h"

using namespace tile;
using namespace tile::lsp;

/// Called for each expression that is evaluated, again for each trip of an unrolled loop and each
/// call: the first value of a place counts. The number of evaluations limits the time of a check
/// (isEnough).
void Values::onValue(Range range, const SemValue &value) {
  ++evaluations;
  if (value.isError() || value.kind == SemValue::Kind::Void || !range.isValid())
    return;
  Place place(range.file, range.begin, range.end);
  auto found = values.lower_bound(place);
  if (found != values.end() && found->first == place)
    return;
  std::string text;
  if (value.isTuple()) { // of each element
    for (const SemValue &each : *value.elements)
      text += (text.empty() ? "(" : ", ") + describe(each);
    text += ")";
  } else {
    text = describe(value);
  }
  bool isHint = value.isData() || value.isRange() || value.isView();
  values.emplace_hint(found, place, tile::lsp::Value{std::move(text), isHint});
}

const tile::lsp::Value *Values::find(Range range) const {
  auto found = values.find({range.file, range.begin, range.end});
  return found == values.end() ? nullptr : &found->second;
}

/// The smallest range that holds the offset: the innermost expression.
const tile::lsp::Value *Values::findAround(FileID file, uint32_t offset, Range &range) const {
  const Value *best = nullptr;
  auto first = values.lower_bound({file, 0, 0});
  for (; first != values.end() && std::get<0>(first->first) == file; ++first) {
    auto [own, begin, end] = first->first;
    if (begin > offset)
      break;
    if (offset > end || (best && end - begin > range.size()))
      continue;
    best = &first->second;
    range = {file, begin, end};
  }
  return best;
}
