// The table of renamed passes. A row lives for one version, then it is taken out.
#include "passes/FormerNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tile {

static constexpr struct {
  StringLiteral former, present;
} renamed[] = {
    {"tile-gpu-mark-read-once", "tile-gpu-set-eviction-policies"},
    {"tile-gpu-reuse-loads", "tile-gpu-eliminate-redundant-loads"},
    {"tile-gpu-send-ahead", "tile-gpu-prefetch-coordinates"},
    {"tile-gpu-skip-scaling", "tile-gpu-rescale-lazily"},
    {"tile-gpu-take-programs", "tile-gpu-schedule-tiles-dynamically"},
    {"tile-gpu-version-rows", "tile-gpu-version-row-loops"},
};

StringRef getPresentPassName(StringRef name) {
  for (const auto &row : renamed)
    if (row.former == name)
      return row.present;
  return name;
}

/// Words end where no pass's name goes on: at commas, brackets, braces and signs of equality.
std::string renameFormerPasses(StringRef argument) {
  StringRef key = argument.take_until([](char c) { return c == '='; });
  StringRef option = key.ltrim('-');
  if (option.size() == key.size()) // a file
    return argument.str();
  // Names of passes are values of --pass-pipeline and of --mlir-print-ir-before and -after.
  bool takesNames = option == "pass-pipeline" || option.starts_with("mlir-print-ir-");
  StringRef rest = takesNames ? argument : key;
  std::string result;
  while (!rest.empty()) {
    StringRef word = rest.take_while([](char c) { return isAlnum(c) || c == '-'; });
    StringRef name = word.ltrim('-');
    result += word.drop_back(name.size());
    result += getPresentPassName(name);
    rest = rest.drop_front(word.size());
    result += rest.take_front();
    rest = rest.drop_front(!rest.empty());
  }
  if (!takesNames)
    result += argument.drop_front(key.size());
  return result;
}

} // namespace tile
