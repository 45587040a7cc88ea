// Finds the candidate closest to a misspelt word.
#include "frontend/Diag/Suggest.h"
#include "frontend/Diag/Aliases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace tile;

/// Edit distance in thirds: a letter inserted, deleted, replaced or swapped with its neighbour is
/// 3, its case 1.
static unsigned distance(llvm::StringRef a, llvm::StringRef b) {
  std::vector<std::vector<unsigned>> cost(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = unsigned(3 * (i + j));
        continue;
      }
      char x = a[i - 1], y = b[j - 1];
      unsigned replace = x == y ? 0 : llvm::toLower(x) == llvm::toLower(y) ? 1 : 3;
      cost[i][j] = std::min({cost[i - 1][j] + 3, cost[i][j - 1] + 3, cost[i - 1][j - 1] + replace});
      // A swap of neighbours, no further edit between the two (optimal string alignment).
      if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 3);
    }
  return cost[a.size()][b.size()];
}

std::string tile::suggest(llvm::StringRef word, const std::vector<std::string> &candidates) {
  constexpr size_t longest =
      128; // nobody misspells longer names by a letter, and the table is quadratic
  if (word.size() > longest)
    return {};
  // In thirds: one edit for every three letters, and one for shorter words.
  unsigned allowed = std::max(3u, unsigned(word.size()));
  unsigned best = allowed + 1;
  std::string found;
  for (const std::string &candidate : candidates) {
    if (candidate.size() > longest || candidate == word)
      continue;
    unsigned d = distance(word, candidate);
    // The first of equally close candidates stays: callers list inner scopes before outer ones.
    if (d < best && d < 3 * std::min(word.size(), candidate.size())) { // not every letter changed
      best = d;
      found = candidate;
    }
  }
  return found;
}

/// For `tl.zeros`, `np.float32`: `whole` is all of it, `member` the word behind the point.
void tile::addPrefixHint(DiagnosticBuilder &report, Range whole, llvm::StringRef member,
                         const std::vector<std::string> &candidates) {
  if (llvm::is_contained(candidates, member))
    report.fixIt(whole, member, "what is built in has no prefix");
  else if (findAlias(member))
    addSuggestion(report, whole, member, candidates);
  else
    report.note(
        "there are no modules: what is built in has no prefix, and a function of a file has "
        "its import's, `import \"std/norms.tile\" as n;`");
}

void tile::addSuggestion(DiagnosticBuilder &report, Range range, llvm::StringRef name,
                         const std::vector<std::string> &candidates) {
  // A word of another language means what it means there, whatever it is spelt like here.
  if (const Alias *alias = findAlias(name)) {
    llvm::StringRef known = alias->replacement;
    bool isConstant = known == "true" || known == "false" || known == "inf" || known == "nan";
    if (isConstant || llvm::is_contained(candidates, known))
      report.fixIt(range, known, "here it is called '" + known + "'");
    else if (!known.empty() && alias->note.empty())
      report.note("here it is called '" + known + "'");
    if (!alias->note.empty())
      report.note(alias->note);
    return;
  }
  std::string found = suggest(name, candidates);
  if (!found.empty())
    report.fixIt(range, found, "did you mean '" + found + "'?");
}
