// Formatting works on the tokens of each line, comments among them. The parse tree says what a sign
// is: a bracket that belongs to the word before it, a brace around a set, a minus with one operand.
#include "frontend/Parse/Format.h"
#include "frontend/Parse/Automaton.h"
#include "frontend/Parse/SyntaxTree.h"
#include "frontend/Parse/TokenCheck.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>

using namespace tile;
using antlr4::Token;

namespace {

/// Facts of the tree about a token, by its index.
struct Role {
  bool isAttached = false;      // a bracket without a blank before it
  bool isPrefix = false;        // an operator of one operand
  bool isSetBrace = false;      // of {a, b}
  bool isBody = false;          // a brace of a block of statements
  bool isName = false;          // a word that is a clause's elsewhere
  bool isLoose = false;         // a '..' between operands that contain operators
  bool closesOnOwnLine = false; // an opening bracket whose counterpart begins a line
};

struct Line {
  std::vector<const Token *> code;
  const Token *comment = nullptr; // behind the code, or alone
  bool isAfterBlank = false;
  std::string text; // of the code, formatted
};

class Formatter {
public:
  Formatter(const SyntaxTree &tree, FileID file, const SourceManager &sources)
      : tree(tree), tokens(tree.getTokens().all()), sources(sources), file(file),
        roles(tokens.size()) {}

  std::string run();

private:
  /// A bracket that is open where a line begins.
  struct Open {
    bool isBlock;    // of statements, or of `tune`
    unsigned closed; // columns of a line that begins with its counterpart,
    unsigned inside; // and of one inside
    bool isInStatement;
    unsigned statement; // what stood around it
    std::string clause;
  };

  void readRoles(antlr4::tree::ParseTree *tree);
  void splitLines();
  void layOut();
  void alignComments();
  unsigned indentOf(const Line &line, const Token *next) const;
  void follow(const Line &line, unsigned indent);
  bool needsBlank(const Token *left, const Token *right) const;
  std::string join(const Line &line) const;
  Role role(const Token *token) const { return roles[token->getTokenIndex()]; }
  llvm::StringRef text(const Token *token) const { return sources.text(tokenRange(file, token)); }

  static bool opens(const Token *token) {
    size_t type = token->getType();
    return type == TileLexer::LPAREN || type == TileLexer::LBRACKET || type == TileLexer::LBRACE;
  }
  static bool closes(const Token *token) {
    size_t type = token->getType();
    return type == TileLexer::RPAREN || type == TileLexer::RBRACKET || type == TileLexer::RBRACE;
  }
  static bool isComment(const Token *token) {
    size_t type = token->getType();
    return type == TileLexer::LINE_COMMENT || type == TileLexer::BLOCK_COMMENT ||
           type == TileLexer::DOC_COMMENT;
  }
  bool isClause(const Token *token) const {
    size_t type = token->getType();
    bool isWord = type == TileLexer::WHERE || type == TileLexer::SPECIALIZE ||
                  type == TileLexer::GRID || type == TileLexer::WITH || type == TileLexer::TUNE;
    return isWord && !role(token).isName;
  }

  const SyntaxTree &tree;
  llvm::ArrayRef<std::unique_ptr<Token>> tokens;
  const SourceManager &sources;
  FileID file;
  std::vector<Role> roles;
  std::vector<Line> lines;

  // Where the line at hand begins.
  std::vector<Open> open;
  bool isInStatement = false;
  unsigned statement = 0; // column of the statement or declaration
  std::string clause;     // word of the kernel's clause
};

} // namespace

/// A rule of the grammar matches a token at least, so what has no children is a token itself.
static const Token *tokenOf(antlr4::tree::ParseTree *tree) {
  return tree->children.empty() ? static_cast<antlr4::tree::TerminalNode *>(tree)->getSymbol()
                                : nullptr;
}

/// The rule of a tree that is no token.
static size_t ruleOf(antlr4::tree::ParseTree *tree) {
  return static_cast<antlr4::ParserRuleContext *>(tree)->getRuleIndex();
}

/// Does an expression contain an operator of two operands outside of brackets?
static bool hasOperator(antlr4::tree::ParseTree *tree) {
  while (tree->children.size() == 1)
    tree = tree->children[0];
  return !tokenOf(tree) && ruleOf(tree) >= TileParser::RuleExpr &&
         ruleOf(tree) <= TileParser::RuleCast;
}

void Formatter::readRoles(antlr4::tree::ParseTree *tree) {
  llvm::ArrayRef<antlr4::tree::ParseTree *> children = tree->children;
  while (children.size() == 1 && ruleOf(tree) != TileParser::RuleName) { // mostly expressions
    tree = children[0];
    children = tree->children;
  }
  if (children.empty())
    return;
  auto typeOf = [&](size_t i) {
    const Token *token = tokenOf(children[i]);
    return token ? token->getType() : Token::INVALID_TYPE;
  };
  auto child = [&](size_t i) -> Role * {
    const Token *token = tokenOf(children[i]);
    return token ? &roles[token->getTokenIndex()] : nullptr;
  };
  switch (ruleOf(tree)) {
  case TileParser::RuleName:
    child(0)->isName = true;
    break;
  case TileParser::RuleUnary:
    if (Role *sign = child(0))
      sign->isPrefix = true;
    break;
  case TileParser::RuleBlock:
    child(0)->isBody = child(children.size() - 1)->isBody = true;
    break;
  case TileParser::RuleValueSet:
    if (Role *brace = child(0)) {
      brace->isSetBrace = true;
      child(children.size() - 1)->isSetBrace = true;
    }
    break;
  case TileParser::RuleArguments:
  case TileParser::RuleStatics:
    child(0)->isAttached = true;
    break;
  case TileParser::RuleSuffix:
    if (Role *bracket = child(0))
      bracket->isAttached = true;
    break;
  case TileParser::RuleTypeSpec:
  case TileParser::RuleFnDecl:
  case TileParser::RuleKernelDecl:
    for (size_t i = 0; i < children.size(); ++i)
      if (typeOf(i) == TileLexer::LBRACKET || typeOf(i) == TileLexer::LPAREN)
        child(i)->isAttached = true;
    break;
  default:
    break;
  }
  for (size_t i = 1; i + 1 < children.size(); ++i)
    if (typeOf(i) == TileLexer::DOT_DOT || typeOf(i) == TileLexer::DOT_DOT_EQUAL)
      child(i)->isLoose = hasOperator(children[i - 1]) || hasOperator(children[i + 1]);
  for (antlr4::tree::ParseTree *each : children)
    readRoles(each);
}

static bool endsInBrace(const Line &line) {
  return !line.code.empty() && line.code.back()->getType() == TileLexer::LBRACE;
}

/// The line breaks in blanks: each LF, CR LF and CR alone is one.
static size_t countBreaks(llvm::StringRef blanks) {
  return blanks.count('\n') + blanks.count('\r') - blanks.count("\r\n");
}

void Formatter::splitLines() {
  llvm::StringRef source = sources.text(file);
  size_t end = 0;
  size_t breaks = 1;                               // before the token at hand
  for (size_t i = 0; i + 1 < tokens.size(); ++i) { // the last one is the end of the file
    const Token *token = tokens[i].get();
    if (breaks) {
      // No blank line stands at the begin or the end of a block.
      bool isAtEdge = !i || token->getType() == TileLexer::RBRACE || endsInBrace(lines.back());
      lines.emplace_back();
      lines.back().isAfterBlank = breaks > 1 && !isAtEdge;
    }
    end = tokenRange(file, token).end;
    bool isLast = i + 2 == tokens.size();
    size_t next = isLast ? source.size() : tokenRange(file, tokens[i + 1].get()).begin;
    breaks = countBreaks(source.slice(end, next));
    // A comment in the middle of a line is a token like any other; one at its end stands apart.
    if (isComment(token) && (isLast || breaks))
      lines.back().comment = token;
    else
      lines.back().code.push_back(token);
  }
  std::vector<const Token *> brackets;
  for (const Line &line : lines)
    for (const Token *token : line.code)
      if (opens(token)) {
        brackets.push_back(token);
      } else if (closes(token)) {
        roles[brackets.back()->getTokenIndex()].closesOnOwnLine = token == line.code.front();
        brackets.pop_back();
      }
}

bool Formatter::needsBlank(const Token *left, const Token *right) const {
  size_t before = left->getType(), after = right->getType();
  auto isDots = [](size_t type) {
    return type == TileLexer::DOT_DOT || type == TileLexer::DOT_DOT_EQUAL;
  };
  if (before == TileLexer::LPAREN || before == TileLexer::LBRACKET || role(right).isAttached)
    return false;
  if ((role(left).isSetBrace && before == TileLexer::LBRACE) ||
      (role(right).isSetBrace && after == TileLexer::RBRACE))
    return false;
  if (after == TileLexer::RPAREN || after == TileLexer::RBRACKET || after == TileLexer::COMMA ||
      after == TileLexer::SEMI)
    return false;
  if (before == TileLexer::DOT || after == TileLexer::DOT)
    return false;
  if (isDots(before) || isDots(after))
    return role(isDots(before) ? left : right).isLoose;
  if (role(left).isPrefix)
    return false;
  return after != TileLexer::COLON || before == TileLexer::COMMA;
}

std::string Formatter::join(const Line &line) const {
  std::string out;
  for (size_t i = 0; i < line.code.size(); ++i) {
    if (i && needsBlank(line.code[i - 1], line.code[i]))
      out += ' ';
    out += text(line.code[i]);
  }
  return out;
}

/// The column at which a line begins. A comment stands where the code behind it does, `next`.
unsigned Formatter::indentOf(const Line &line, const Token *next) const {
  if (!line.code.empty() && closes(line.code.front())) {
    size_t depth = 0; // the outermost of the brackets that it begins by closing
    while (depth < line.code.size() && closes(line.code[depth]))
      ++depth;
    return open.empty() ? 0 : open[open.size() - std::min(depth, open.size())].closed;
  }
  bool inBlock = open.empty() || open.back().isBlock;
  if (!inBlock || !isInStatement)
    return open.empty() ? 0 : open.back().inside;
  if (next && role(next).isBody)
    return statement;
  if (next && isClause(next))
    return statement + 2;
  return statement + (clause.empty() ? 4 : 3 + unsigned(clause.size()));
}

/// Moves over a line that begins at column `indent`.
void Formatter::follow(const Line &line, unsigned indent) {
  for (size_t i = 0; i < line.code.size(); ++i) {
    const Token *token = line.code[i];
    if (isComment(token))
      continue;
    bool inBlock = open.empty() || open.back().isBlock;
    if (inBlock && !isInStatement && !closes(token)) {
      isInStatement = true;
      statement = indent;
      clause.clear();
    }
    if (inBlock && isClause(token))
      clause = text(token).str();
    if (opens(token)) {
      bool isBlock = token->getType() == TileLexer::LBRACE && !role(token).isSetBrace;
      unsigned outer = isBlock && role(token).isBody ? statement : indent;
      bool isLast = i + 1 == line.code.size();
      // (               or    (
      //   a,                      a,
      // )                         b)
      bool isList = isLast && !isBlock && !role(token).closesOnOwnLine;
      if (isList && open.empty())
        outer = statement;
      unsigned inside = outer + (isBlock || (isLast && !isList) ? 2 : 4);
      open.push_back({isBlock, outer, inside, isInStatement, statement, clause});
      if (!isBlock && !isLast)
        open.back().closed = open.back().inside;
      if (isBlock) {
        isInStatement = false;
        clause.clear();
      }
    } else if (closes(token) && !open.empty()) {
      Open matching = std::move(open.back());
      open.pop_back();
      isInStatement = matching.isInStatement;
      statement = matching.statement;
      clause = matching.clause;
      // A body ends its statement and `config { }` its item, but `tune { }` is one clause of
      // several.
      if (matching.isBlock && (role(token).isBody || !open.empty()))
        isInStatement = false;
    } else if (token->getType() == TileLexer::SEMI && inBlock) {
      isInStatement = false;
    }
  }
}

void Formatter::layOut() {
  for (size_t i = 0; i < lines.size(); ++i) {
    const Token *next = nullptr;
    for (size_t j = i; j < lines.size() && !next; ++j)
      if (!lines[j].code.empty())
        next = lines[j].code.front();
    unsigned indent = indentOf(lines[i], next);
    lines[i].text = std::string(indent, ' ') + join(lines[i]);
    follow(lines[i], indent);
  }
}

/// The column behind a text, on the last of its lines if it has comments of several.
static size_t columnsOf(llvm::StringRef text) {
  size_t lineStart = text.find_last_of("\r\n");
  llvm::StringRef line = lineStart == llvm::StringRef::npos ? text : text.substr(lineStart + 1);
  int width = llvm::sys::unicode::columnWidthUTF8(line);
  return width < 0 ? line.size() : size_t(width); // tabs have no width
}

/// Comments behind the code of lines in a row stand in one column, three blanks behind the longest.
void Formatter::alignComments() {
  auto isBehind = [](const Line &line) { return line.comment && !line.code.empty(); };
  for (size_t first = 0; first < lines.size();) {
    size_t last = first, width = 0;
    for (; last < lines.size() && isBehind(lines[last]) &&
           (last == first || !lines[last].isAfterBlank);
         ++last)
      width = std::max(width, columnsOf(lines[last].text));
    for (size_t i = first; i < last; ++i)
      lines[i].text.append(width + 3 - columnsOf(lines[i].text), ' ');
    first = std::max(last, first + 1);
  }
}

std::string Formatter::run() {
  readRoles(tree.getRoot());
  splitLines();
  layOut();
  alignComments();
  std::string out;
  for (const Line &line : lines) {
    if (line.isAfterBlank)
      out += '\n';
    out += line.text;
    if (line.comment)
      out += text(line.comment).rtrim();
    out += '\n';
  }
  return out;
}

/// Have two texts the same tokens, comments included, wherever they stand?
static bool hasSameTokens(llvm::StringRef left, llvm::StringRef right) {
  const Automaton &automaton = Automaton::get();
  uint32_t leftAt = 0, rightAt = 0;
  Lexeme one, other;
  while (automaton.next(left, leftAt, one)) {
    if (!automaton.next(right, rightAt, other) || one.type != other.type ||
        left.slice(one.begin, one.end).rtrim() != right.slice(other.begin, other.end).rtrim())
      return false;
  }
  return !automaton.next(right, rightAt, other);
}

std::optional<std::string> tile::formatFile(const SourceManager &sources, FileID file,
                                            DiagnosticEngine &diagnostics) {
  SyntaxTree tree(sources, file, diagnostics);
  if (!tree.takeProgram())
    return std::nullopt;
  std::string formatted = Formatter(tree, file, sources).run();
  if (hasSameTokens(sources.text(file), formatted))
    return formatted;
  diagnostics.report(diag::internalError, Range{file, 0, 0},
                     "formatting would have changed more than blanks; nothing is written");
  return std::nullopt;
}
