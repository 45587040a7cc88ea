// A scanner of words, brackets, strings and comments; it agrees with TileLexer about where they
// end.
//
//   // of f          pending: comments go with the declaration that follows
//   fn f() { .. }    piece, from `pending` or the word to `end`
//   // behind it     on the same line as the end: belongs to f
//
// A wrong split costs little: the parts do not parse, and their diagnostics say so. It must only be
// stable, so that an edit in one declaration leaves the texts of the others as they are.
#include "lsp/Split.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile::lsp;
using llvm::StringRef;

namespace {

class Splitter {
public:
  explicit Splitter(StringRef text) : text(text) {}

  std::vector<Piece> run();

private:
  static bool isWordChar(char c) { return llvm::isAlnum(c) || c == '_'; }
  void skipComment();
  void skipString();
  StringRef readWord();
  StringRef nextWord() const;
  bool begins(StringRef word) const;
  void add(size_t begin, size_t end);
  bool isSameLine(size_t from, size_t to) const { return !text.slice(from, to).contains('\n'); }

  StringRef text;
  size_t at = 0;
  size_t piece = StringRef::npos;   // where the piece at hand begins: a comment or a word
  size_t pending = StringRef::npos; // where comments begin that belong to what follows
  size_t end = 0;                   // of the last word or sign
  char before = 0;                  // its last character
  unsigned depth = 0;               // of brackets
  bool hasCode = false;             // the piece has more than comments
  std::vector<Piece> pieces;
};

} // namespace

/// A comment that is not closed reaches to the end, as in the lexer (BAD_COMMENT).
void Splitter::skipComment() {
  size_t close = text.substr(at).starts_with("//") ? text.find('\n', at) : text.find("*/", at + 2);
  bool isBlock = text[at + 1] == '*';
  at = close == StringRef::npos ? text.size() : close + (isBlock ? 2 : 0);
}

/// A string ends with its line at the latest: a quote that is missing does not swallow
/// declarations.
void Splitter::skipString() {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n' && text[at] != '\r'; ++at)
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n' && text[at + 1] != '\r')
      ++at;
  if (at < text.size() && text[at] == '"')
    ++at;
}

StringRef Splitter::readWord() {
  size_t begin = at;
  while (at < text.size() && isWordChar(text[at]))
    ++at;
  return text.slice(begin, at);
}

StringRef Splitter::nextWord() const {
  StringRef rest = text.substr(at).ltrim(" \t\r\n\f");
  return rest.take_while([](char c) { return isWordChar(c); });
}

bool Splitter::begins(StringRef word) const {
  if (word == "kernel" || word == "import")
    return true;
  if (word == "fn") // `f: fn` is a kind of parameter
    return before != ':' && !nextWord().empty();
  if (word != "const")
    return false;
  StringRef next = nextWord();
  size_t begin = at - word.size();
  // `const` within brackets that are not closed counts where it begins a line, since statements
  // indent it.
  bool isFirst = begin == 0 || text[begin - 1] == '\n';
  return next != "if" && next != "for" && (depth == 0 || (isFirst && !next.empty()));
}

void Splitter::add(size_t begin, size_t finish) {
  StringRef trimmed = text.slice(begin, finish).rtrim(" \t\r\n\f");
  if (!trimmed.empty())
    pieces.push_back({uint32_t(begin), uint32_t(begin + trimmed.size())});
}

std::vector<Piece> Splitter::run() {
  while (at < text.size()) {
    char c = text[at];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
      ++at;
      continue;
    }
    size_t begin = at;
    if (text.substr(at).starts_with("//") || text.substr(at).starts_with("/*")) {
      skipComment();
      if (hasCode && pending == StringRef::npos && isSameLine(end, begin))
        end = at; // behind the last line of a declaration
      else if (pending == StringRef::npos)
        pending = begin;
      if (piece == StringRef::npos)
        piece = begin;
      continue;
    }
    StringRef word;
    if (c == '"')
      skipString();
    else if (isWordChar(c))
      word = readWord();
    else
      ++at;
    if (!word.empty() && begins(word)) {
      if (hasCode)
        add(piece, end);
      // A piece of comments alone goes on: they are of this declaration.
      if (hasCode || piece == StringRef::npos)
        piece = pending == StringRef::npos ? begin : pending;
      depth = 0;
    }
    if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}') && depth)
      --depth;
    if (piece == StringRef::npos)
      piece = begin;
    hasCode = true;
    pending = StringRef::npos;
    end = at;
    before = text[at - 1];
  }
  if (piece != StringRef::npos)
    add(piece, text.size());
  return std::move(pieces);
}

std::vector<Piece> tile::lsp::splitDeclarations(StringRef text) { return Splitter(text).run(); }
