// Parsing one file: checks of the text and its tokens, ANTLR's parser, the AST builder.
#include "frontend/Parse/Parser.h"
#include "frontend/Parse/AstBuilder.h"
#include "frontend/Parse/ByteStream.h"
#include "frontend/Parse/SyntaxErrors.h"
#include "frontend/Parse/TokenCheck.h"

#include "TileLexer.h"
#include "TileParser.h"

using namespace tile;

/// SLL prediction is fast and decides every correct program; only where it stumbles the full LL
/// parser runs, whose errors are reported. Returns null after too many of them.
static TileParser::ProgramContext *parse(TileParser &parser, antlr4::CommonTokenStream &tokens,
                                         antlr4::ANTLRErrorListener &errors) {
  auto *simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  parser.removeErrorListeners();
  simulator->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    return parser.program();
  } catch (const antlr4::ParseCancellationException &) {
  }
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

std::unique_ptr<ast::Program> tile::parseFile(const SourceManager &sources, FileID file,
                                              DiagnosticEngine &diagnostics) {
  unsigned errorsBefore = diagnostics.errors();
  if (!checkUtf8(sources, file, diagnostics))
    return nullptr;
  try {
    ByteStream text(sources.text(file));
    TileLexer lexer(&text);
    lexer.removeErrorListeners(); // every byte is some token, so the lexer has nothing to report
    antlr4::CommonTokenStream tokens(&lexer);
    tokens.fill();
    std::vector<antlr4::Token *> all = tokens.getTokens();
    if (!checkTokens(all, file, diagnostics) || !checkNesting(all, file, diagnostics))
      return nullptr;

    TileParser parser(&tokens);
    SyntaxErrors errors(file, diagnostics);
    TileParser::ProgramContext *tree = parse(parser, tokens, errors);
    if (errors.any())
      return nullptr;
    std::unique_ptr<ast::Program> program = AstBuilder(file, tokens, diagnostics).build(tree);
    return diagnostics.errors() == errorsBefore && !diagnostics.limitReached() ? std::move(program)
                                                                               : nullptr;
  } catch (const std::exception &) {
    // Nothing above throws for any input that is known; should ANTLR's runtime do so, it is an
    // error, not an end.
    diagnostics.report(diag::parserFailed, {file, 0, 0});
    return nullptr;
  }
}
