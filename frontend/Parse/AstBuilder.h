// From ANTLR's parse tree to the AST. Each class adds a kind of construct to the one before, in a
// file of its own: TreeReader (places and names), ExprBuilder (AstBuilderExpr.cpp, Literals.cpp),
// StmtBuilder (AstBuilderStmt.cpp), AstBuilder (AstBuilderDecl.cpp).
#ifndef TILE_FRONTEND_PARSE_ASTBUILDER_H
#define TILE_FRONTEND_PARSE_ASTBUILDER_H

#include "frontend/Ast/Decl.h"
#include "frontend/Diag/Engine.h"

#include "TileParser.h"

#include <set>

namespace tile {

/// Places and names of a parse tree's nodes. The tree is that of a parse without errors, so that
/// every mandatory child is there.
class TreeReader {
protected:
  template <typename T> using Ptrs = std::vector<T *>;

  TreeReader(FileID file, DiagnosticEngine &diagnostics) : file(file), diagnostics(diagnostics) {}

  Range range(const antlr4::Token *token) const;
  Range range(const antlr4::ParserRuleContext *context) const;
  Range range(antlr4::tree::TerminalNode *node) const { return range(node->getSymbol()); }
  llvm::StringRef text(Range range) const { return diagnostics.sources().text(range); }
  ast::Ident ident(TileParser::NameContext *context) const;
  ast::Ident ident(antlr4::tree::TerminalNode *node) const;

  FileID file;
  DiagnosticEngine &diagnostics;
};

/// Expressions, literals and types. Reports what the grammar leaves open: malformed literals, too
/// high expressions. `optional` gives null for null.
class ExprBuilder : protected TreeReader {
protected:
  using TreeReader::TreeReader;

  ast::ExprPtr expr(antlr4::ParserRuleContext *context);
  ast::ExprPtr optional(antlr4::ParserRuleContext *context) {
    return context ? expr(context) : nullptr;
  }
  std::vector<ast::ExprPtr> exprs(const Ptrs<TileParser::ExprContext> &contexts);
  std::vector<ast::Argument> arguments(TileParser::ArgumentsContext *context);
  ast::TypeSpec typeSpec(TileParser::TypeSpecContext *context);
  std::string unescape(Range range);

private:
  ast::ExprPtr chain(antlr4::ParserRuleContext *context, size_t &at, unsigned least);
  ast::ExprPtr cast(TileParser::CastContext *context);
  ast::ExprPtr unary(TileParser::UnaryContext *context);
  ast::ExprPtr suffix(ast::ExprPtr base, TileParser::SuffixContext *context);
  ast::ExprPtr primary(TileParser::PrimaryContext *context);
  ast::Subscript subscript(TileParser::SubscriptContext *context);
  ast::ExprPtr limitDepth(ast::ExprPtr expr, unsigned below);
  ast::ExprPtr literal(TileParser::LiteralContext *context);
  ast::ExprPtr intLiteral(Range range);
  ast::ExprPtr floatLiteral(Range range);
  void warnOfPower(antlr4::ParserRuleContext *arithmetic, size_t at, const ast::BinaryExpr &node);
};

/// Statements and attributes. Reports statements without effect and jumps outside of loops.
class StmtBuilder : protected ExprBuilder {
protected:
  using ExprBuilder::ExprBuilder;

  ast::Block block(TileParser::BlockContext *context);
  std::vector<ast::Attribute> attributes(TileParser::AttributesContext *context); // none for null

private:
  ast::StmtPtr statement(TileParser::StatementContext *context);
  ast::StmtPtr letStatement(TileParser::LetStatementContext *context);
  ast::StmtPtr simpleStatement(TileParser::SimpleStatementContext *context);
  ast::StmtPtr ifStatement(TileParser::IfStmtContext *context);
  ast::StmtPtr forStatement(TileParser::ForStatementContext *context);
  ast::StmtPtr whileStatement(TileParser::WhileStatementContext *context);
  ast::StmtPtr returnStatement(TileParser::ReturnStatementContext *context);
  ast::StmtPtr jumpStatement(TileParser::JumpStatementContext *context);
  ast::Pattern pattern(TileParser::PatternContext *context);
  void checkTarget(const ast::Expr &target);

  unsigned loops = 0; // around the statement at hand
};

/// Files and their declarations. Reports duplicate clauses and comments that document nothing.
class AstBuilder : StmtBuilder {
public:
  AstBuilder(FileID file, antlr4::CommonTokenStream &tokens, DiagnosticEngine &diagnostics)
      : StmtBuilder(file, diagnostics), tokens(tokens) {}

  std::unique_ptr<ast::Program> build(TileParser::ProgramContext *context);

private:
  std::string docBefore(const antlr4::ParserRuleContext *context);
  void reportStrayDocs();
  ast::DeclPtr importDecl(TileParser::ImportDeclContext *context);
  ast::DeclPtr constDecl(TileParser::ConstDeclContext *context);
  ast::DeclPtr fnDecl(TileParser::FnDeclContext *context);
  ast::DeclPtr kernelDecl(TileParser::KernelDeclContext *context);
  std::vector<ast::StaticParam> statics(TileParser::StaticsContext *context); // none for null
  ast::Param param(TileParser::ParamContext *context);
  ast::ValueSet valueSet(TileParser::ValueSetContext *context);
  ast::ClausePtr clause(TileParser::ClauseContext *context);
  std::vector<ast::Contract> contracts(const Ptrs<TileParser::ContractContext> &contexts);
  ast::TuneItem tuneItem(TileParser::TuneItemContext *context);

  antlr4::CommonTokenStream &tokens;
  std::set<size_t> docs; // tokens of the doc comments that belong to something
};

} // namespace tile

#endif
