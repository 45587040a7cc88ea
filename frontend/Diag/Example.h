// Examples of the diagnostics: a wrong program for each code, what the compiler says about it, and
// the rules that it breaks.
#ifndef TILE_FRONTEND_DIAG_EXAMPLE_H
#define TILE_FRONTEND_DIAG_EXAMPLE_H

#include "frontend/Diag/Engine.h"

namespace tile {

/// One folder entry of frontend/Diag/Examples: CODE.tile and CODE.txt, built into the program. A
/// test runs every one.
struct DiagnosticExample {
  const char *code;   // E0101
  const char *source; // CODE.tile; empty where there is none
  const char *text; // CODE.txt: "Rules: …", "Call: …", then what the call writes to standard error
};

/// The example for a code such as "E0101", or null.
const DiagnosticExample *findExample(llvm::StringRef code);

/// The rules of docs/Language.md, the program and what is said about it, for --explain.
void printExample(llvm::raw_ostream &os, const DiagnosticExample &example);

} // namespace tile

#endif
