// Checks of the token stream that come before parsing.
#include "frontend/Parse/TokenCheck.h"
#include "frontend/Parse/Parser.h"

#include "TileLexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace tile;

Range tile::tokenRange(FileID file, const antlr4::Token *token) {
  uint32_t begin = uint32_t(token->getStartIndex());
  if (token->getType() == antlr4::Token::EOF)
    return {file, begin, begin};
  return {file, begin, uint32_t(token->getStopIndex() + 1)};
}

/// Before anything else: all that shows text to people and JSON take UTF-8 for granted.
bool tile::checkUtf8(const SourceManager &sources, FileID file, DiagnosticEngine &diagnostics) {
  llvm::StringRef text = sources.text(file);
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  auto *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
  const llvm::UTF8 *at = begin;
  if (llvm::isLegalUTF8String(&at, end)) // leaves `at` at the first illegal sequence
    return true;
  uint32_t offset = uint32_t(at - begin);
  std::string byte = "0x" + llvm::utohexstr(*at);
  diagnostics.report(diag::invalidUtf8, {file, offset, offset + 1}, byte);
  return false;
}

std::string tile::abbreviated(llvm::StringRef text) {
  constexpr size_t most = 40;
  return text.size() <= most ? text.str() : text.take_front(most).str() + "...";
}

/// A name for the characters of an UNKNOWN token.
static std::string describeUnknown(llvm::StringRef text) {
  unsigned char first = text[0];
  if (first < 0x20 || first == 0x7f)
    return "the control character 0x" + llvm::utohexstr(first, /*LowerCase=*/true, 2);
  return text.size() > 40 ? "this text" : "'" + text.str() + "'";
}

/// `#`, `#include <x>`, `#define N 4`: a comment of Python or a line for C's preprocessor.
static void addHashFix(DiagnosticBuilder &report, Range range, llvm::StringRef line) {
  Range whole = {range.file, range.begin, range.begin + uint32_t(line.size())};
  llvm::StringRef rest = line.drop_front(1).trim();
  if (rest.consume_front("include")) {
    if (rest.trim().starts_with("<"))
      report.fixIt(whole, "", "exp, sqrt and the like are built in: leave the line out");
    else
      report.note("a file of functions is imported: `import \"norms.tile\";`");
    return;
  }
  if (rest.consume_front("define")) {
    auto [name, value] = rest.trim().split(' ');
    value = value.trim();
    int64_t integer;
    double number;
    bool isInt = !value.getAsInteger(10, integer), isFloat = !isInt && !value.getAsDouble(number);
    bool isName = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (isName && (isInt || isFloat) && llvm::isDigit(value.back()) && llvm::isDigit(value[0]))
      report.fixIt(whole, "const " + name + ": " + (isInt ? "int" : "float") + " = " + value + ";",
                   "a constant is declared by `const`");
    else
      report.note(
          "there is no preprocessor: a constant is `const N: int = 4;`, a macro a function, "
          "`fn f(x) { return 2.0 * x; }`");
    return;
  }
  bool isDirective = rest.starts_with("pragma") || rest.starts_with("if") || rest == "endif" ||
                     rest == "else" || rest.starts_with("undef");
  if (isDirective)
    report.note("there is no preprocessor: `const if` chooses code when the kernel is compiled");
  else
    report.fixIt(range, "//", "a comment begins with '//'");
}

/// `@triton.jit` on a line of its own, or `a @ b`.
static void addAtFix(DiagnosticBuilder &report, Range range, llvm::StringRef line, bool isFirst) {
  if (!isFirst) {
    report.note("dot(a, b) multiplies matrices");
    return;
  }
  llvm::StringRef name = line.drop_front(1).rtrim();
  bool isWord = llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  if (isWord)
    report.fixIt({range.file, range.begin, range.begin + 1 + uint32_t(name.size())}, "",
                 "there are no decorators: `kernel` says that this is one");
  else
    report.note("there are no decorators: `kernel name(...)` declares a kernel, `tune { B in {32, "
                "64}; }` behind its head lists what `tilec tune` tries");
}

static void reportUnknown(llvm::StringRef text, Range range, DiagnosticEngine &diagnostics) {
  llvm::StringRef file = diagnostics.sources().text(range.file);
  llvm::StringRef line = file.drop_front(range.begin).take_until([](char c) { return c == '\n'; });
  llvm::StringRef start = file.take_front(range.begin);
  start = start.substr(start.rfind('\n') + 1);
  if (text == "?") {
    diagnostics.report(diag::noTernary, range)
        .note("write `where(condition, a, b)` to select a value");
    return;
  }
  auto report = diagnostics.report(diag::unknownCharacter, range, describeUnknown(text));
  if (text == "'") {
    llvm::StringRef string = line.drop_front(1).take_until([](char c) { return c == '\''; });
    if (line.size() > string.size() + 1 && !string.contains('"'))
      report.fixIt({range.file, range.begin, range.begin + uint32_t(string.size() + 2)},
                   "\"" + string + "\"", "strings stand in double quotes");
    else
      report.note("strings stand in double quotes");
  } else if (text == "#")
    addHashFix(report, range, line);
  else if (text == "@")
    addAtFix(report, range, line, start.trim().empty());
  else if (text == "\xE2\x88\x92" ||
           text == "\xE2\x80\x93") // the minus sign and the en dash of typeset text
    report.fixIt(range, "-", "use '-'");
}

/// `1.0f`, `10UL`, `1e`.
static void reportNumber(llvm::StringRef text, Range range, DiagnosticEngine &diagnostics) {
  auto report = diagnostics.report(diag::malformedNumber, range, abbreviated(text));
  llvm::StringRef number = text.rtrim("fFuUlLhH");
  for (llvm::StringRef suffix : {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8",
                                 "u16", "u32", "u64", "isize", "usize"})
    if (llvm::StringRef rest = text; rest.consume_back(suffix))
      number = rest.rtrim('_');
  bool isDecimal = !text.starts_with("0x") && !number.empty() && llvm::isDigit(number.back()) &&
                   llvm::all_of(number, [](char c) { return llvm::isDigit(c) || c == '.'; });
  if (isDecimal && number.size() < text.size())
    report
        .note("a number has no suffix: it takes the dtype of what it meets, or one by `as`, as in "
              "`1.0 as f16`")
        .fixIt({range.file, range.begin + uint32_t(number.size()), range.end}, "",
               "leave the suffix away");
}

static void reportReserved(llvm::StringRef word, Range range, DiagnosticEngine &diagnostics) {
  auto report = diagnostics.report(diag::reservedWord, range, word);
  report.note("choose another name");
}

bool tile::checkTokens(llvm::ArrayRef<std::unique_ptr<antlr4::Token>> tokens, FileID file,
                       DiagnosticEngine &diagnostics) {
  if (tokens.size() > maxTokens) {
    diagnostics
        .report(diag::tooLarge, tokenRange(file, tokens[maxTokens].get()),
                "the words and signs of a file", maxTokens, tokens.size())
        .note("divide it; constants and functions can be imported");
    return false;
  }
  bool good = true;
  // All bad tokens of a file are reported in one go, up to the limit of errors.
  uint32_t quietUntil = 0; // what stands before belongs to a mistake that has been reported
  for (const std::unique_ptr<antlr4::Token> &token : tokens) {
    Range range = tokenRange(file, token.get());
    if (range.begin < quietUntil)
      continue;
    auto text = [&] { return diagnostics.sources().text(range); };
    switch (token->getType()) {
    default:
      continue;
    case TileLexer::BAD_NUMBER:
      reportNumber(text(), range, diagnostics);
      break;
    case TileLexer::BAD_STRING:
      diagnostics.report(diag::unterminatedString, range);
      break;
    case TileLexer::BAD_COMMENT: {
      Range opening = {file, range.begin, range.begin + 2};
      diagnostics.report(diag::unterminatedComment, opening);
      break;
    }
    case TileLexer::RESERVED:
      reportReserved(text(), range, diagnostics);
      break;
    case TileLexer::UNKNOWN: {
      reportUnknown(text(), range, diagnostics);
      llvm::StringRef line =
          diagnostics.sources().text(file).drop_front(range.begin).take_until([](char c) {
            return c == '\n';
          });
      size_t quote = text() == "'" ? line.find('\'', 1) : llvm::StringRef::npos;
      if (text() == "#" || text() == "@")
        quietUntil = range.begin + uint32_t(line.size());
      else if (quote != llvm::StringRef::npos)
        quietUntil = range.begin + uint32_t(quote) + 1;
      break;
    }
    }
    good = false;
    if (diagnostics.limitReached())
      break;
  }
  return good;
}

/// Whether an operand may end in this token, so that a '-' after it is infix.
static bool endsOperand(size_t type) {
  switch (type) {
  case TileLexer::INT:
  case TileLexer::FLOAT:
  case TileLexer::STRING:
  case TileLexer::ID:
  case TileLexer::TRUE:
  case TileLexer::FALSE:
  case TileLexer::RPAREN:
  case TileLexer::RBRACKET:
  case TileLexer::WHERE:
  case TileLexer::SPECIALIZE:
  case TileLexer::GRID:
  case TileLexer::TUNE:
  case TileLexer::KEY:
  case TileLexer::CONFIG:
  case TileLexer::OPT:
  case TileLexer::STEP:
  case TileLexer::OUT:
  case TileLexer::INOUT:
    return true;
  default:
    return false;
  }
}

namespace {
/// One open bracket: what it adds to the depth, with the prefix operators and `else if`s before it.
struct Open {
  unsigned prefixes;
  unsigned elses = 0; // `else`s of the if statement that stands directly inside
};
} // namespace

/// ANTLR's parser and the AST builder recurse once for each level, and a stack that is full cannot
/// be caught. A loop over the tokens counts the levels beforehand, a little more rather than too
/// few.
///
///   f(-(!(x)))     depth 1 for each bracket, and 1 for each prefix before it
///   else if .. else if     1 for each `else`, till the chain ends
bool tile::checkNesting(llvm::ArrayRef<std::unique_ptr<antlr4::Token>> tokens, FileID file,
                        DiagnosticEngine &diagnostics) {
  std::vector<Open> open = {{0}};
  unsigned depth = 0, prefixes = 0;
  size_t previous = antlr4::Token::INVALID_TYPE;
  for (const std::unique_ptr<antlr4::Token> &token : tokens) {
    size_t type = token->getType();
    if (token->getChannel() != antlr4::Token::DEFAULT_CHANNEL)
      continue;
    // A '}' without an `else` behind it ends the chain.
    if (previous == TileLexer::RBRACE && type != TileLexer::ELSE)
      depth -= std::exchange(open.back().elses, 0);
    bool prefix = type == TileLexer::NOT || type == TileLexer::TILDE ||
                  (type == TileLexer::MINUS && !endsOperand(previous));
    switch (type) {
    case TileLexer::LPAREN:
    case TileLexer::LBRACKET:
    case TileLexer::LBRACE:
      depth += 1 + prefixes;
      open.push_back({prefixes});
      break;
    case TileLexer::RPAREN:
    case TileLexer::RBRACKET:
    case TileLexer::RBRACE:
      if (open.size() > 1) {
        depth -= 1 + open.back().prefixes + open.back().elses;
        open.pop_back();
      }
      break;
    case TileLexer::ELSE:
      ++open.back().elses;
      ++depth;
      break;
    default:
      break;
    }
    prefixes = prefix ? prefixes + 1 : 0;
    if (depth + prefixes > maxNesting) {
      diagnostics.report(diag::nestingTooDeep, tokenRange(file, token.get()), maxNesting);
      return false;
    }
    previous = type;
  }
  return true;
}
