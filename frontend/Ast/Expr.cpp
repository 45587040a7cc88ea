// AST: the spellings of operators.
#include "frontend/Ast/Expr.h"

using namespace tile;
using namespace tile::ast;

llvm::StringRef ast::spelling(UnaryOp op) {
  static const char *const names[] = {"-", "!", "~"};
  return names[size_t(op)];
}

llvm::StringRef ast::spelling(BinaryOp op) {
  static const char *const names[] = {"||", "&&", "==", "!=", "<", "<=", ">", ">=", "|",
                                      "^",  "&",  "<<", ">>", "+", "-",  "*", "/",  "%"};
  return names[size_t(op)];
}
