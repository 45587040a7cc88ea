// Diagnostics for programs: one JSON object a line.
#ifndef TILE_FRONTEND_DIAG_JSONRENDERER_H
#define TILE_FRONTEND_DIAG_JSONRENDERER_H

#include "frontend/Diag/Engine.h"

#include "llvm/Support/raw_ostream.h"

namespace tile {

/// A consumer for DiagnosticEngine. Each object has `severity code name message`, `place` (null
/// where there is none), and arrays `labels notes fixIts`. A place is {file, begin, end} with
/// {line, column, offset} each; lines and columns count from 1, columns and offsets in bytes.
class JsonRenderer {
public:
  JsonRenderer(const SourceManager &sources, llvm::raw_ostream &os) : sources(&sources), os(&os) {}

  void operator()(const Diagnostic &diagnostic);

private:
  const SourceManager *sources;
  llvm::raw_ostream *os;
};

} // namespace tile

#endif
