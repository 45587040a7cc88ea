// `tilec fix`: puts the changes that diagnostics propose into the sources.
#include "driver/check/Fix.h"
#include "driver/compile/Compile.h"
#include "driver/support/Output.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>
#include <set>

using namespace llvm;

namespace tile {

/// Edits are taken from front to back; one that overlaps an earlier one is left for the next round.
std::string applyEdits(StringRef text, const std::vector<Edit> &edits,
                       std::vector<size_t> &applied) {
  std::vector<size_t> order(edits.size());
  std::iota(order.begin(), order.end(), size_t(0));
  llvm::stable_sort(order, [&](size_t a, size_t b) { return edits[a].begin < edits[b].begin; });
  std::string result;
  uint32_t done = 0;
  applied.clear();
  for (size_t i : order) {
    const Edit &edit = edits[i];
    // Two insertions at one place would be in the order of chance: the second waits for its turn.
    bool isInsertion = edit.begin == edit.end;
    if ((!applied.empty() && (edit.begin < done || (edit.begin == done && isInsertion))) ||
        edit.end < edit.begin || edit.end > text.size())
      continue;
    result += text.slice(done, edit.begin);
    result += edit.replacement;
    done = edit.end;
    applied.push_back(i);
  }
  return result + text.drop_front(done).str();
}

namespace {

/// The findings in one file.
struct Look {
  std::vector<Edit> edits;
  std::vector<std::string> said; ///< what the edits do, with their places
};

} // namespace

/// Compiles up to where warnings of the source end, and keeps the changes of the file itself. Each
/// diagnostic is taken by its first: others are alternatives. Of a warning with alternatives none
/// is taken: the program runs, and may mean either.
static Look lookAt(const Options &options, const std::string &path) {
  Look look;
  raw_null_ostream nowhere;
  Session own(options, nowhere);
  Compiler compiler(options, own, path);
  compiler.run(Stage::TileOpt);
  const SourceManager &sources = own.getSources();
  for (const Diagnostic &diagnostic : own.getDiagnostics().all())
    if (!diagnostic.fixIts.empty() && (diagnosticInfo(diagnostic.id).severity == Severity::error ||
                                       diagnostic.fixIts.size() == 1)) {
      const Diagnostic::FixIt &fix = diagnostic.fixIts.front();
      if (sources.name(fix.range.file) != path)
        continue;
      LineColumn at = sources.begin(fix.range);
      look.edits.push_back({fix.range.begin, fix.range.end, fix.replacement});
      look.said.push_back(path + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                          ": " + fix.text + " [" + diagnostic.code() + "]");
    }
  return look;
}

/// Rounds go on while they make a text that was not there before: one mistake may hide others.
/// Writes the file after each round, as the compiler reads it from there; `seen` ends changes that
/// go back and forth between two texts.
static bool fixFile(const Options &options, Session &session, const std::string &path) {
  constexpr size_t mostRounds = 20;
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return session.failCall("cannot read '" + path + "': " + buffer.getError().message());
  std::string text = (*buffer)->getBuffer().str();
  std::set<std::string> seen = {text};
  size_t total = 0;
  Look look = lookAt(options, path);
  for (size_t round = 0; round < mostRounds && !look.edits.empty(); ++round) {
    std::vector<size_t> applied;
    std::string changed = applyEdits(text, look.edits, applied);
    if (applied.empty() || !seen.insert(changed).second)
      break;
    if (!writeFiles({{path, changed}}, session))
      return false;
    for (size_t i : applied)
      outs() << look.said[i] << "\n";
    total += applied.size();
    text = std::move(changed);
    look = lookAt(options, path);
  }
  outs() << path << ": " << total << " change" << (total == 1 ? "" : "s") << "\n";
  outs().flush();
  Session rest(options, session.getStream());
  Compiler(options, rest, path).run(Stage::TileOpt);
  session.adopt(rest.getExitCode());
  return true;
}

int fixSources(const Options &options, Session &session) {
  for (const std::string &path : options.inputs)
    if (!fixFile(options, session, path))
      break;
  return session.getExitCode();
}

} // namespace tile
