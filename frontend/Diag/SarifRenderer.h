// Diagnostics as SARIF 2.1.0, the format that code hosts and editors read from analysers.
#ifndef TILE_FRONTEND_DIAG_SARIFRENDERER_H
#define TILE_FRONTEND_DIAG_SARIFRENDERER_H

#include "frontend/Diag/Engine.h"

#include "llvm/Support/raw_ostream.h"

namespace tile {

/// A consumer for DiagnosticEngine: writes one result of a SARIF log to a line, as JSON. Columns
/// count characters, from 1, and an end is the place behind the last one.
class SarifRenderer {
public:
  SarifRenderer(const SourceManager &sources, llvm::raw_ostream &os) : sources(&sources), os(&os) {}

  void operator()(const Diagnostic &diagnostic);

private:
  const SourceManager *sources;
  llvm::raw_ostream *os;
};

/// The log of results that SarifRenderer wrote, in their order, with the rules that they name.
/// Other lines of `results` go to `rest` as they are.
std::string makeSarifLog(llvm::StringRef results, llvm::StringRef version, llvm::raw_ostream &rest);

} // namespace tile

#endif
