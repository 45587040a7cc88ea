// The table of examples, made by cmake/EmbedExamples.cmake from frontend/Diag/Examples, and how
// --explain shows one.
#include "frontend/Diag/Example.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using llvm::StringRef;

static const DiagnosticExample table[] = {
#include "frontend/DiagnosticExamples.inc"
    {nullptr, nullptr, nullptr}};

const DiagnosticExample *tile::findExample(StringRef code) {
  for (const DiagnosticExample *entry = table; entry->code; ++entry)
    if (code == entry->code)
      return entry;
  return nullptr;
}

/// Prints lines indented, those that are very long cut.
static void printIndented(llvm::raw_ostream &os, StringRef text) {
  constexpr size_t longest = 160;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (!line.empty())
      os << "    " << line.take_front(longest) << (line.size() > longest ? "..." : "");
    os << '\n';
    text = rest;
  }
}

void tile::printExample(llvm::raw_ostream &os, const DiagnosticExample &example) {
  StringRef text = example.text;
  StringRef rules, call;
  for (;;) {
    auto [line, rest] = text.split('\n');
    static constexpr StringRef heads[] = {"Rules: ", "Call: ", "Data: ", "Bytes: ", "Reason: "};
    if (llvm::none_of(heads, [line = line](StringRef head) { return line.starts_with(head); }))
      break;
    if (line.consume_front("Rules: "))
      rules = line;
    else if (line.consume_front("Call: "))
      call = line;
    text = rest;
  }
  if (!rules.empty())
    os << "\nRules of docs/Language.md: " << rules << "\n";
  if (*example.source && !call.empty()) {
    os << "\nFor example, " << example.code << ".tile:\n\n";
    printIndented(os, example.source);
    os << "\n    $ " << call << "\n";
    printIndented(os, text);
  }
}
