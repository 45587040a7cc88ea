// One walk over the tokens with the brackets that are open.
//
// Where the walk is in a declaration (`place`), and the clause in which it is (`clause`):
//
//   kernel k  [BLOCK: int]   (x: in f32[N])   where N % 8 == 0, grid(i: N) with ..   { .. }
//   Head      Statics        Params           Clauses                                Body
//                                             WHERE              GRID      WITH
//
// Text that is being written lacks brackets and names. So nothing here is an error: a word gets the
// role that its neighbours suggest, and a bracket without its partner reaches to the text's end.
#include "lsp/Outline.h"
#include "frontend/Parse/Automaton.h"
#include "frontend/Parse/ByteStream.h"

#include "TileLexer.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

using namespace tile;
using namespace tile::lsp;
using llvm::StringRef;
using Lexer = TileLexer;

bool tile::lsp::isSoftKeyword(size_t type) { return type >= Lexer::WHERE && type <= Lexer::INOUT; }

bool tile::lsp::isKeyword(size_t type) { return type >= Lexer::KERNEL && type <= Lexer::INOUT; }

bool tile::lsp::isCommentToken(size_t type) {
  return type == Lexer::LINE_COMMENT || type == Lexer::BLOCK_COMMENT ||
         type == Lexer::DOC_COMMENT || type == Lexer::BAD_COMMENT;
}

const std::vector<std::string> &tile::lsp::keywords() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    ByteStream nothing("");
    TileLexer lexer(&nothing);
    for (size_t type = Lexer::KERNEL; type <= Lexer::INOUT; ++type)
      all.push_back(StringRef(lexer.getVocabulary().getLiteralName(type)).trim('\'').str());
    return all;
  }();
  return words;
}

namespace tile::lsp {

class OutlineReader {
public:
  explicit OutlineReader(Outline &out) : out(out) {}

  void lex();
  void read();

private:
  /// A bracket that is open.
  struct Open {
    size_t bracket; // in out.brackets
    size_t visible; // how many names were visible before it
    bool isStart;   // nothing but commas since an entry began
  };
  /// Where in a declaration the walk is.
  enum class Place { Head, Statics, Params, Clauses, Body };

  // Safe for each i: beyond the end the type is EOF, and the token the last one.
  size_t type(size_t i) const { return i < code.size() ? out.tokens[code[i]].type : Lexer::EOF; }
  const Token &token(size_t i) const { return out.tokens[code[std::min(i, code.size() - 1)]]; }
  StringRef text(size_t i) const {
    return StringRef(out.source).slice(token(i).begin, token(i).end);
  }
  bool isName(size_t i) const { return type(i) == Lexer::ID || isSoftKeyword(type(i)); }
  bool isClauseWord(size_t i) const;
  int declare(Declared::Kind kind, size_t i, uint32_t wholeBegin, uint32_t wholeEnd);
  int find(StringRef name) const;
  int addOccurrence(Occurrence::Role role, size_t i, int declared, int base = -1);
  void open(size_t i);
  void close(size_t i);
  size_t endOfEntry(size_t i) const;
  size_t endOfStatement(size_t i) const;
  bool readEntry(size_t i);
  size_t readPattern(size_t i);
  void readName(size_t i);
  int calleeBefore(size_t i) const;

  Outline &out;
  std::vector<size_t> code; // tokens that are no comments
  std::vector<Open> opened;
  std::vector<int> visible;      // declared names, the latest last
  std::vector<size_t> loops;     // loop variables that wait for their block
  std::vector<int> occurrenceOf; // by index into `code`
  Place place = Place::Head;
  bool isKernel = false;
  int clause = 0; // token type of the clause's word
};

} // namespace tile::lsp

void OutlineReader::lex() {
  Lexeme found;
  for (uint32_t at = 0; Automaton::get().next(out.source, at, found);)
    out.tokens.push_back({found.type, found.begin, found.end});
  for (auto [i, each] : llvm::enumerate(out.tokens))
    if (!isCommentToken(each.type))
      code.push_back(i);
  occurrenceOf.assign(code.size(), -1);
}

/// The scope begins at the name and reaches to the end of the text, until close() cuts it: what is
/// declared in a block is visible up to its brace.
int OutlineReader::declare(Declared::Kind kind, size_t i, uint32_t wholeBegin, uint32_t wholeEnd) {
  uint32_t end = uint32_t(out.source.size());
  out.declared.push_back({kind, text(i).str(), token(i).begin, token(i).end, wholeBegin,
                          std::max(wholeEnd, token(i).end), token(i).begin, end});
  int index = int(out.declared.size()) - 1;
  visible.push_back(index);
  addOccurrence(Occurrence::Role::Name, i, index);
  return index;
}

/// Of names that clash, an error of the program, the latest counts.
int OutlineReader::find(StringRef name) const {
  for (int index : llvm::reverse(visible))
    if (out.declared[index].name == name)
      return index;
  return -1;
}

int OutlineReader::addOccurrence(Occurrence::Role role, size_t i, int declared, int base) {
  out.occurrences.push_back({role, token(i).begin, token(i).end, declared, base});
  return occurrenceOf[i] = int(out.occurrences.size()) - 1;
}

/// The function's name before the bracket i, compile-time arguments left out.
/// `f[64](`: the bracket before the parenthesis is skipped, to the name f. -1 where no word stands.
int OutlineReader::calleeBefore(size_t i) const {
  if (i && type(i - 1) == Lexer::RBRACKET) {
    unsigned depth = 0;
    while (i-- > 0) {
      if (type(i) == Lexer::RBRACKET)
        ++depth;
      else if (type(i) == Lexer::LBRACKET && --depth == 0)
        break;
    }
    if (depth)
      return -1;
  }
  return i && i <= code.size() ? occurrenceOf[i - 1] : -1;
}

void OutlineReader::open(size_t i) {
  Bracket bracket{out.source[token(i).begin], token(i).begin, uint32_t(out.source.size())};
  if (bracket.kind == '(')
    bracket.callee = calleeBefore(i);
  // Braces of `tune { .. }` and of a set `N in {..}` are none of the body.
  if (opened.empty() && bracket.kind == '{' && clause != Lexer::TUNE && clause != Lexer::IN) {
    place = Place::Body;
    out.body = bracket.begin;
  }
  if (bracket.kind == '{' && place == Place::Body)
    clause = 0;
  opened.push_back({out.brackets.size(), visible.size(), true});
  out.brackets.push_back(bracket);
  if (bracket.kind == '{' && place == Place::Body)
    for (size_t index : std::exchange(loops, {}))
      visible.push_back(int(index));
}

void OutlineReader::close(size_t i) {
  char kind = out.source[token(i).begin] == ')'   ? '('
              : out.source[token(i).begin] == ']' ? '['
                                                  : '{';
  // Brackets that are open inside end here, too.
  while (!opened.empty()) {
    Open last = opened.back();
    Bracket &bracket = out.brackets[last.bracket];
    bool matches = bracket.kind == kind;
    // A ')' that nothing opened is left alone. A '}' is believed: people finish blocks before
    // lists.
    if (!matches && kind != '{')
      return;
    opened.pop_back();
    bracket.end = token(i).end;
    bracket.isClosed = matches;
    // Only blocks of the body are scopes.
    if (bracket.kind == '{' && place == Place::Body) {
      // The names of the block end here; those of the parameters and clauses reach over the body.
      for (size_t each = last.visible; each < visible.size(); ++each)
        out.declared[visible[each]].scopeEnd = token(i).begin;
      visible.resize(std::min(last.visible, visible.size()));
    }
    if (matches)
      break;
  }
}

/// The token before the ',' or bracket that ends the entry of a list which begins at i.
size_t OutlineReader::endOfEntry(size_t i) const {
  unsigned depth = 0;
  for (size_t last = i; i < code.size(); last = i++) {
    size_t each = type(i);
    if (each == Lexer::LPAREN || each == Lexer::LBRACKET || each == Lexer::LBRACE)
      ++depth;
    else if ((each == Lexer::RPAREN || each == Lexer::RBRACKET || each == Lexer::RBRACE) &&
             depth-- == 0)
      return last;
    else if (each == Lexer::COMMA && depth == 0)
      return last;
  }
  return code.size() - 1;
}

/// A statement without its ';' ends before the next one that is recognised as such.
size_t OutlineReader::endOfStatement(size_t i) const {
  for (; i < code.size(); ++i)
    if (type(i) == Lexer::SEMI || type(i) == Lexer::LBRACE || type(i) == Lexer::RBRACE ||
        type(i) == Lexer::LET || type(i) == Lexer::VAR)
      return type(i) == Lexer::SEMI ? i : i - 1;
  return code.size() - 1;
}

bool OutlineReader::isClauseWord(size_t i) const {
  size_t each = type(i);
  bool isWord = each == Lexer::WHERE || each == Lexer::SPECIALIZE || each == Lexer::GRID ||
                each == Lexer::WITH || each == Lexer::TUNE;
  return isWord && opened.empty() && place == Place::Clauses;
}

/// The beginning of an entry of statics, parameters or the grid: `name: …`. True if it is one.
bool OutlineReader::readEntry(size_t i) {
  if (!isName(i) || opened.size() != 1 || !opened.back().isStart)
    return false;
  bool isTyped = type(i + 1) == Lexer::COLON;
  uint32_t begin = token(i).begin, end = token(endOfEntry(i)).end;
  if (place == Place::Statics && isTyped) {
    declare(Declared::Kind::Static, i, begin, end);
  } else if (place == Place::Params) {
    bool isTensor =
        type(i + 2) == Lexer::IN || type(i + 2) == Lexer::OUT || type(i + 2) == Lexer::INOUT;
    declare(!isKernel  ? Declared::Kind::Parameter
            : isTensor ? Declared::Kind::Tensor
                       : Declared::Kind::Scalar,
            i, begin, end);
  } else if (place == Place::Clauses && clause == Lexer::GRID && isTyped) {
    declare(Declared::Kind::Axis, i, begin, end);
  } else {
    return false;
  }
  out.declared.back().isTyped = isTyped;
  out.declared.back().scopeBegin = 0;
  return true;
}

/// `let NAME` and `let (a, b)`, i at the first token behind the word. The first token after it.
size_t OutlineReader::readPattern(size_t i) {
  bool isVar = type(i - 1) == Lexer::VAR, isTuple = type(i) == Lexer::LPAREN;
  size_t last = endOfStatement(i);
  size_t first = out.declared.size();
  if (isTuple)
    ++i;
  while (isName(i)) {
    // It declares nothing, but is a word of the text.
    if (text(i) == "_")
      addOccurrence(Occurrence::Role::Name, i, -1);
    else
      declare(isVar ? Declared::Kind::Var : Declared::Kind::Let, i, token(i).begin,
              token(last).end);
    ++i;
    if (!isTuple || type(i) != Lexer::COMMA)
      break;
    ++i;
  }
  if (isTuple && type(i) == Lexer::RPAREN)
    ++i;
  for (size_t each = first; each < out.declared.size(); ++each)
    out.declared[each].isTyped = type(i) == Lexer::COLON;
  return i;
}

/// A word in its place: a member, an argument's name, or a use.
void OutlineReader::readName(size_t i) {
  bool isSoft = isSoftKeyword(type(i));
  if (i && type(i - 1) == Lexer::DOT) {
    addOccurrence(Occurrence::Role::Member, i, -1, i > 1 ? occurrenceOf[i - 2] : -1);
    return;
  }
  if (i && type(i - 1) == Lexer::CONFIG && type(i + 1) == Lexer::LBRACE) {
    addOccurrence(Occurrence::Role::Target, i, -1);
    return;
  }
  const Bracket *around = opened.empty() ? nullptr : &out.brackets[opened.back().bracket];
  if (around && around->kind == '(' && type(i + 1) == Lexer::COLON && opened.back().isStart) {
    addOccurrence(Occurrence::Role::Argument, i, -1, around->callee);
    return;
  }
  bool startsAttribute = i && (type(i - 1) == Lexer::WITH || type(i - 1) == Lexer::COMMA);
  if (clause == Lexer::WITH && startsAttribute && (!around || around->kind == '{')) {
    addOccurrence(Occurrence::Role::Attribute, i, -1);
    return;
  }
  int known = find(text(i));
  if (isSoft && known < 0 && type(i + 1) != Lexer::LPAREN)
    return; // a keyword
  // A name in a tensor's type that nothing declares is a dimension.
  bool isInType = isKernel && place == Place::Params && around && around->kind == '[';
  if (known < 0 && isInType && type(i + 1) != Lexer::LPAREN && type(i + 1) != Lexer::DOT) {
    known = declare(Declared::Kind::Dim, i, token(i).begin, token(i).end);
    out.declared[known].scopeBegin = 0;
    return;
  }
  addOccurrence(Occurrence::Role::Name, i, known);
}

void OutlineReader::read() {
  if (code.empty())
    return;
  size_t i = 0, head = type(0);
  uint32_t begin = token(0).begin, end = uint32_t(out.source.size());
  isKernel = head == Lexer::KERNEL;
  out.body = end;
  if (head == Lexer::IMPORT) {
    for (size_t each = 1; each < code.size(); ++each)
      if (type(each) == Lexer::AS && isName(each + 1)) {
        declare(Declared::Kind::Import, each + 1, begin, end);
        out.hasHead = true;
      }
    return;
  }
  if ((isKernel || head == Lexer::FN || head == Lexer::CONST) && isName(1)) {
    declare(isKernel            ? Declared::Kind::Kernel
            : head == Lexer::FN ? Declared::Kind::Fn
                                : Declared::Kind::Const,
            1, begin, end);
    // So that a use of it inside is found as a global, by the modules.
    visible.clear(); // it is a name of the file
    out.declared.front().isTyped = type(2) == Lexer::COLON;
    out.hasHead = true;
    i = 2;
  }
  // `continue` keeps isStart of the bracket; `break` ends the entry's beginning.
  for (; i < code.size(); ++i) {
    size_t each = type(i);
    switch (each) {
    case Lexer::LPAREN:
    case Lexer::LBRACKET:
    case Lexer::LBRACE:
      if (opened.empty() && place == Place::Head && head != Lexer::CONST)
        place = each == Lexer::LBRACKET ? Place::Statics
                : each == Lexer::LPAREN ? Place::Params
                                        : place;
      open(i);
      continue;
    case Lexer::RPAREN:
    case Lexer::RBRACKET:
    case Lexer::RBRACE:
      close(i);
      if (opened.empty() && place == Place::Statics)
        place = Place::Head;
      else if (opened.empty() && place == Place::Params)
        place = Place::Clauses;
      if (clause == Lexer::IN && opened.empty())
        clause = Lexer::WHERE;
      else if (clause == Lexer::TUNE && opened.empty())
        clause = 0;
      break;
    case Lexer::COMMA:
      if (!opened.empty())
        opened.back().isStart = true;
      continue;
    case Lexer::LET:
    case Lexer::VAR:
      if (place == Place::Body)
        i = readPattern(i + 1) - 1;
      break;
    case Lexer::FOR:
      // `for i in LIST {`: i is declared at its place, but visible in the block only, not in LIST.
      if (isName(i + 1)) {
        uint32_t loop = token(i++).begin;
        declare(Declared::Kind::Loop, i, loop, token(endOfStatement(i)).end);
        loops.push_back(visible.back());
        visible.pop_back();
      }
      break;
    case Lexer::SEMI:
      // A ';' ends attributes of a loop (`with`), but in `tune { a in {1}; .. }` none of the
      // clause.
      clause = place == Place::Body ? 0 : clause;
      loops.clear();
      break;
    default:
      if (isClauseWord(i) || each == Lexer::WITH)
        clause = int(each);
      else if (each == Lexer::IN && place == Place::Clauses && opened.empty() &&
               type(i + 1) == Lexer::LBRACE)
        clause = Lexer::IN; // its braces are a set
      else if (isName(i) && !readEntry(i))
        readName(i);
      break;
    }
    if (!opened.empty())
      opened.back().isStart = false;
  }
}

Outline::Outline(StringRef text) : source(text.str()) {
  OutlineReader reader(*this);
  reader.lex();
  reader.read();
}

const Occurrence *Outline::occurrenceAt(uint32_t offset) const {
  const Occurrence *found = nullptr; // of two that touch, the one that begins there
  for (const Occurrence &each : occurrences)
    if (each.begin <= offset && offset <= each.end)
      found = &each;
  return found;
}

std::vector<const Declared *> Outline::visibleAt(uint32_t offset) const {
  std::vector<const Declared *> found;
  for (const Declared &each : declared)
    if (each.scopeBegin <= offset && offset <= each.scopeEnd && &each != getHead())
      found.push_back(&each);
  return found;
}

std::optional<std::pair<const Bracket *, unsigned>> Outline::callAt(uint32_t offset) const {
  const Bracket *call = nullptr;
  for (const Bracket &each : brackets)
    if (each.begin < offset && (offset < each.end || !each.isClosed)) {
      if (each.kind == '{')
        call = nullptr;
      else if (each.kind == '(' && each.callee >= 0)
        call = &each;
    }
  if (!call)
    return std::nullopt;
  unsigned commas = 0, depth = 0;
  for (const Token &each : tokens) {
    if (each.begin <= call->begin || each.begin >= offset)
      continue;
    if (each.type == Lexer::LPAREN || each.type == Lexer::LBRACKET)
      ++depth;
    else if ((each.type == Lexer::RPAREN || each.type == Lexer::RBRACKET) && depth)
      --depth;
    else if (each.type == Lexer::COMMA && !depth)
      ++commas;
  }
  return std::pair(call, commas);
}

std::string Outline::docBefore(uint32_t offset) const {
  std::string doc;
  size_t end =
      llvm::partition_point(tokens, [&](const Token &each) { return each.begin < offset; }) -
      tokens.begin();
  size_t begin = end;
  while (begin && tokens[begin - 1].type == Lexer::DOC_COMMENT)
    --begin;
  for (size_t i = begin; i < end; ++i) {
    StringRef line = StringRef(source).slice(tokens[i].begin, tokens[i].end).drop_front(3);
    line.consume_front(" ");
    doc += (i == begin ? "" : "\n") + line.str();
  }
  return doc;
}

bool Outline::isInComment(uint32_t offset) const {
  for (const Token &each : tokens)
    if (each.begin < offset && offset <= each.end) {
      if (isCommentToken(each.type))
        return offset < each.end || each.type != Lexer::BLOCK_COMMENT;
      if (each.type == Lexer::STRING || each.type == Lexer::BAD_STRING)
        return offset < each.end || each.type == Lexer::BAD_STRING;
    }
  return false;
}

bool Outline::isComplete() const {
  for (const Bracket &each : brackets)
    if (!each.isClosed)
      return false;
  size_t last = Lexer::SEMI;
  for (const Token &each : tokens)
    if (!isCommentToken(each.type))
      last = each.type;
  return last == Lexer::SEMI || (last == Lexer::RBRACE && body < source.size());
}
