// The parser's results for those who need no tree.
#include "frontend/Parse/Parser.h"
#include "frontend/Parse/SyntaxTree.h"

using namespace tile;

std::unique_ptr<ast::Program> tile::parseFile(const SourceManager &sources, FileID file,
                                              DiagnosticEngine &diagnostics) {
  return SyntaxTree(sources, file, diagnostics).takeProgram();
}
