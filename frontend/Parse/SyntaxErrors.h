// Turns what ANTLR's parser trips over into messages for people.
#ifndef TILE_FRONTEND_PARSE_SYNTAXERRORS_H
#define TILE_FRONTEND_PARSE_SYNTAXERRORS_H

#include "frontend/Diag/Engine.h"

#include "antlr4-runtime.h"

namespace tile {

/// Replaces ANTLR's default listener. Follow-up errors close behind an error are dropped. After
/// very many errors it ends the parse by a ParseCancellationException.
class SyntaxErrors : public antlr4::BaseErrorListener {
public:
  SyntaxErrors(FileID file, DiagnosticEngine &diagnostics) : file(file), diagnostics(diagnostics) {}

  void syntaxError(antlr4::Recognizer *recognizer, antlr4::Token *offending, size_t line,
                   size_t column, const std::string &message,
                   std::exception_ptr exception) override;

  bool any() const { return count != 0; }

private:
  FileID file;
  DiagnosticEngine &diagnostics;
  unsigned count = 0;      // as ANTLR reports them
  bool recovering = false; // the previous error was a real one
  bool lost = false;       // braces no longer say where a declaration ends
  size_t quietUntil = 0;   // errors about tokens before this one belong to an earlier one
  size_t lastIndex = 0, lastLine = 0; // of the token that the previous error was about
};

} // namespace tile

#endif
