// A file's tokens and ANTLR's parse tree of them.
#ifndef TILE_FRONTEND_PARSE_SYNTAXTREE_H
#define TILE_FRONTEND_PARSE_SYNTAXTREE_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"
#include "frontend/Parse/TokenList.h"

#include "TileParser.h"

#include <optional>

namespace tile {

/// ANTLR's parser, which enters a rule without asking each node for its type.
class RuleParser : public TileParser {
public:
  using TileParser::TileParser;

  void enterRule(antlr4::ParserRuleContext *context, size_t state, size_t rule) override;
};

/// A file that has been parsed once, for all who read its tree.
class SyntaxTree {
public:
  /// Reports every error of the syntax; there is no tree then, nor an AST.
  SyntaxTree(const SourceManager &sources, FileID file, DiagnosticEngine &diagnostics);

  /// The AST, which does not refer to this tree. Null after errors, its own ones among them, which
  /// are reported.
  std::unique_ptr<ast::Program> takeProgram() { return std::move(program); }

  /// Only where there is a program.
  TileParser::ProgramContext *getRoot() const { return root; }
  const TokenList &getTokens() const { return *tokens; }

private:
  void parse(const SourceManager &sources, FileID file, DiagnosticEngine &diagnostics);

  std::optional<TokenList> tokens;
  std::optional<RuleParser> parser; // owns the tree
  TileParser::ProgramContext *root = nullptr;
  std::unique_ptr<ast::Program> program;
};

} // namespace tile

#endif
