// One syntax error while it is being described. Internal to SyntaxErrors.cpp,
// ForeignSyntax.cpp and ForeignForms.cpp.
#ifndef TILE_FRONTEND_PARSE_MISTAKE_H
#define TILE_FRONTEND_PARSE_MISTAKE_H

#include "frontend/Diag/Engine.h"
#include "frontend/Parse/TokenCheck.h"

#include "TileParser.h"

#include "llvm/ADT/STLExtras.h"

namespace tile {

using antlr4::Token;

/// What stands around an error: where the parser stood, what it would have accepted, and the tokens
/// before and behind.
class ErrorSite {
public:
  /// The index of the first token behind the foreign form that was reported: errors before it are
  /// of the same mistake. 0 if the error has no such form.
  size_t getQuietUntil() const { return quietUntil; }

protected:
  ErrorSite(FileID file, DiagnosticEngine &diagnostics, antlr4::Parser &parser, const Token *found);

  bool expects(size_t type) const { return expected.contains(type); }
  bool expectsExpr() const { return expects(TileParser::INT) && expects(TileParser::LPAREN); }
  bool expectsName() const {
    return expects(TileParser::ID) && expects(TileParser::WHERE) && !expectsExpr();
  }
  bool expectsStatement() const { return expects(TileParser::LET); }
  bool expectsDecl() const { return expects(TileParser::KERNEL); }
  bool expectsClause() const { return expects(TileParser::GRID) && expects(TileParser::WITH); }

  bool isOneOf(const Token *token, std::initializer_list<size_t> types) const {
    return token && llvm::is_contained(types, token->getType());
  }
  bool adjacent(const Token *left, const Token *right) const {
    return left && right && left->getStopIndex() + 1 == right->getStartIndex();
  }
  const Token *before(const Token *token) const;
  const Token *after(const Token *token) const;
  const Token *closing(const Token *open) const;
  const Token *findAfter(const Token *from, std::initializer_list<size_t> types) const;
  const Token *openBracket() const;
  const Token *statementStart() const;
  bool comparesBefore() const;

  Range range(const Token *token) const { return tokenRange(file, token); }
  llvm::StringRef text(const Token *token) const {
    return diagnostics.sources().text(range(token));
  }
  llvm::StringRef between(const Token *first, const Token *last) const;
  std::string describe(const Token *token) const;
  std::string describeExpected() const;
  std::string place() const;

  FileID file;
  DiagnosticEngine &diagnostics;
  antlr4::TokenStream &tokens;
  const antlr4::dfa::Vocabulary &vocabulary;
  antlr4::misc::IntervalSet expected;
  size_t rule = 0; // of the grammar, in which the parser stood
  const Token *found, *previous;
  size_t quietUntil = 0;
};

/// An error that is right in another language.
class ForeignMistake : public ErrorSite {
protected:
  using ErrorSite::ErrorSite;

  bool reportForeign();
  /// A comment behind `previous` in its line that reads like the rest of an expression; null if
  /// there is none.
  const Token *swallowedCode() const;
  void addSlashNote(DiagnosticBuilder &report, const Token *comment) const;

private:
  // Words and signs (ForeignSyntax.cpp).
  bool reportForeignOperator();
  bool reportForeignParameter();
  bool reportForeignStatement();
  bool reportForeignDecl();
  bool reportForeignImport();
  // Whole forms (ForeignForms.cpp).
  bool reportForeignForm();
  bool reportPath();
  bool reportCast();
  bool reportPointer();
  bool reportSlice();
  bool reportForeignLoop();
  std::string counterOf(const Token *open, const Token *close) const;
  bool reportParameter();
  bool reportPattern();
  bool reportDottedOperator();
};

/// Any error: first the mistakes that are common, then "expected X, found Y".
class Mistake : public ForeignMistake {
public:
  Mistake(FileID file, DiagnosticEngine &diagnostics, antlr4::Parser &parser, const Token *found)
      : ForeignMistake(file, diagnostics, parser, found) {}

  /// Returns whether the parser goes on as if nothing had happened, so that the next error is one
  /// of its own.
  bool report();

private:
  bool reportUnclosed();
  bool reportOperator();
  bool reportNumber();
  bool reportSeparator();
  bool reportResult(Range end);
  void addBracesFix(DiagnosticBuilder &report) const;
  bool reportName();
  void reportExpected();
  void reportAssignment();
};

} // namespace tile

#endif
