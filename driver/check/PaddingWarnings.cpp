// Places the padding lint's findings in the source, and writes what would settle them.
#include "driver/check/PaddingWarnings.h"
#include "passes/Analysis/PaddingLint.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tile {

/// The access that starts at `begin`, up to its closing bracket on the same line; invalid where
/// there is none.
static Range findAccess(const SourceManager &sources, Range begin) {
  Range line = sources.lineRange(begin.file, sources.begin(begin).line);
  if (!line.isValid() || begin.begin > line.end)
    return Range();
  StringRef text = sources.text(Range{begin.file, begin.begin, line.end});
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '[')
      ++depth;
    else if (c == ']' && depth && --depth == 0 && !text.substr(i + 1).starts_with("["))
      return Range{begin.file, begin.begin, uint32_t(begin.begin + i + 1)};
    else if (depth == 0 && c != '_' && c != '.' && !isAlnum(c))
      break;
  }
  return Range();
}

/// Inside of `load(` the padding becomes one more argument; a plain access is wrapped.
static void addPadFixIt(DiagnosticBuilder &report, const SourceManager &sources, Range access,
                        StringRef neutral) {
  Range line = sources.lineRange(access.file, sources.begin(access).line);
  StringRef before = sources.text(Range{access.file, line.begin, access.begin}),
            after = sources.text(Range{access.file, access.end, line.end});
  std::string pad = ", pad: " + neutral.str();
  if (!before.rtrim().ends_with("load("))
    report.fixIt(access, "load(" + sources.text(access).str() + pad + ")",
                 "read what changes nothing instead");
  else if (after.ltrim().starts_with(")"))
    report.fixIt(Range{access.file, access.end, access.end}, pad,
                 "read what changes nothing instead");
}

/// What tells the lanes of the reduced tile that exist: `inside` of the whole access where the tile
/// has its dimensions, else of the clipped dimension alone (a place on each of the others, as in
/// `inside(k[n, 0])`), turned into its place. Empty where the source does not show it.
static std::string makeMask(StringRef access, const PaddingFinding &finding) {
  if (finding.inPlace)
    return "inside(" + access.str() + ")";
  size_t open = access.find('[');
  if (finding.dim < 0 || open == StringRef::npos || access.count('[') != access.count(']') ||
      access.rfind('[', access.size() - 1) != open)
    return "";
  SmallVector<StringRef> items;
  access.slice(open + 1, access.size() - 1).split(items, ',');
  auto load = cast<LoadOp>(finding.load);
  if (items.size() != load.getSizes().size())
    return "";
  std::string text = "inside(" + access.take_front(open + 1).str();
  for (auto [d, item] : llvm::enumerate(items)) {
    bool isOther = load.getSizes()[d] >= 0 && int64_t(d) != finding.dim;
    text += (d ? ", " : "") + (isOther ? "0" : item.trim().str());
  }
  text += "])";
  if (finding.after)
    text += "[:";
  for (unsigned d = 0; d < finding.after; ++d)
    text += ", None";
  return finding.after ? text + "]" : text;
}

void reportPadding(mlir::ModuleOp module, Session &session) {
  const SourceManager &sources = session.getSources();
  findPaddingReductions(module, [&](const PaddingFinding &finding) {
    mlir::Operation *from = finding.load;
    Range place = session.getRange(finding.reduction->getLoc()),
          load = session.getRange(from->getLoc());
    if (!place.isValid() || !load.isValid())
      return;
    Range access = findAccess(sources, load);
    DiagnosticBuilder report =
        session.getDiagnostics().report(diag::paddingReduced, place, finding.what, finding.found);
    report.note(access.isValid() ? access : load, "lanes of this load may not exist");
    bool alone = from->hasOneUse();
    std::string text = access.isValid() ? sources.text(access).str() : std::string("x[...]");
    std::string mask = makeMask(text, finding);
    StringRef meaning = mask.empty() ? ", with an e that is true of the lanes of v that exist" : "";
    if (mask.empty())
      mask = finding.neutral.empty() ? "exists" : "e";
    if (finding.neutral.empty()) {
      auto [before, after] = StringRef(finding.advice).split('$');
      report.note(before + mask + after);
    } else if (finding.direct && access.isValid() && alone)
      addPadFixIt(report, sources, access, finding.neutral);
    else if (finding.direct && access.isValid())
      report.note("load it for this with what changes nothing: load(" + text +
                  ", pad: " + finding.neutral + ")");
    else
      report.note("put what changes nothing in their place: where(" + mask + ", v, " +
                  finding.neutral + ")" + meaning);
  });
}

} // namespace tile
