// Diagnostics for people: the message, the source line, what is underlined, notes and fix-its.
#ifndef TILE_FRONTEND_DIAG_TEXTRENDERER_H
#define TILE_FRONTEND_DIAG_TEXTRENDERER_H

#include "frontend/Diag/Engine.h"

#include "llvm/Support/raw_ostream.h"

namespace tile {

/// Writes each diagnostic as
///   file:line:col: error: message [E0101]
///       7 |   let x = a b;
///         |           ~ ^
/// A consumer for DiagnosticEngine: `engine.setConsumer(TextRenderer(sources, llvm::errs()))`.
class TextRenderer {
public:
  TextRenderer(const SourceManager &sources, llvm::raw_ostream &os, bool color = false)
      : sources(&sources), os(&os), color(color) {}

  void operator()(const Diagnostic &diagnostic);

private:
  struct Underline {
    Range range;
    char sign; // '^' for the place itself, '-' for a second one
    std::string label;
  };

  void head(Range range, llvm::StringRef severity, llvm::raw_ostream::Colors shade,
            llvm::StringRef message, llvm::StringRef code);
  void snippet(FileID file, std::vector<Underline> underlines);
  void line(Range source, unsigned number, unsigned width,
            const std::vector<const Underline *> &underlines);
  void fixIt(const Diagnostic::FixIt &fix);
  void paint(llvm::raw_ostream::Colors shade, bool bold = true);
  void plain();

  const SourceManager *sources;
  llvm::raw_ostream *os;
  bool color;
};

/// "3 errors and 1 warning", with a remark if the error limit cut the list; empty when there is
/// nothing to say.
std::string summary(const DiagnosticEngine &diagnostics);

} // namespace tile

#endif
