// Parsing one file: checks of the text and its tokens, ANTLR's parser, the AST builder.
//
//   text -> checkUtf8 -> tokens -> checkTokens, checkNesting -> parser -> tree -> AstBuilder -> AST
//
// Each step needs what the one before guarantees, so the first that reports an error is the last:
// no parser for tokens that are none, no AST of a tree with holes.
#include "frontend/Parse/SyntaxTree.h"
#include "frontend/Parse/AstBuilder.h"
#include "frontend/Parse/SyntaxErrors.h"
#include "frontend/Parse/TokenCheck.h"

using namespace tile;

void RuleParser::enterRule(antlr4::ParserRuleContext *context, size_t state, size_t rule) {
  setState(state);
  context->start = _input->LT(1);
  _ctx = context;
  if (context->parent)
    context->parent->children.push_back(context);
}

/// SLL prediction is fast and decides every correct program; only where it stumbles the full LL
/// parser runs, whose errors are reported. Returns null after too many of them.
static TileParser::ProgramContext *parseTokens(TileParser &parser,
                                               antlr4::CommonTokenStream &tokens,
                                               antlr4::ANTLRErrorListener &errors) {
  auto *simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  parser.removeErrorListeners();
  simulator->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    return parser.program();
  } catch (const antlr4::ParseCancellationException &) {
  }
  // The second parser sees the same tokens from the first on, and no state of the first try.
  tokens.seek(0);
  parser.reset();
  parser.addErrorListener(&errors);
  parser.setErrorHandler(std::make_shared<antlr4::DefaultErrorStrategy>());
  simulator->setPredictionMode(antlr4::atn::PredictionMode::LL);
  try {
    return parser.program();
  } catch (const antlr4::ParseCancellationException &) {
    return nullptr;
  }
}

SyntaxTree::SyntaxTree(const SourceManager &sources, FileID file, DiagnosticEngine &diagnostics) {
  try {
    parse(sources, file, diagnostics);
  } catch (const std::exception &) {
    // Nothing throws for any input that is known; should ANTLR's runtime do so, it is an error, not
    // an end.
    diagnostics.report(diag::parserFailed, {file, 0, 0});
  }
}

void SyntaxTree::parse(const SourceManager &sources, FileID file, DiagnosticEngine &diagnostics) {
  unsigned errorsBefore = diagnostics.errors();
  if (!checkUtf8(sources, file, diagnostics))
    return;
  tokens.emplace(sources.text(file));
  if (!checkTokens(tokens->all(), file, diagnostics) ||
      !checkNesting(tokens->all(), file, diagnostics))
    return;
  parser.emplace(&*tokens);
  SyntaxErrors errors(file, diagnostics);
  root = parseTokens(*parser, *tokens, errors);
  if (errors.any())
    return;
  std::unique_ptr<ast::Program> built = AstBuilder(file, *tokens, diagnostics).build(root);
  // The builder reports as well; an AST is for programs without a syntax error of any kind.
  if (diagnostics.errors() == errorsBefore && !diagnostics.limitReached())
    program = std::move(built);
}
