// Syntax errors that are right in C, Python or CUDA: each says how it is written here. Words are
// rows of Diag/Aliases.def.
#include "frontend/Diag/Aliases.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Parse/Mistake.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile;

/// `and`, `or`, `not`, `**`, `a if c else b`.
/// Words such as `and` are names to the lexer. They are operators only where the parser wanted one:
/// an expression may well use a variable of that name.
bool ForeignMistake::reportForeignOperator() {
  auto expectedFound = [&](llvm::StringRef wanted, const Token *token) {
    return diagnostics.report(diag::expectedToken, range(token), wanted, describe(token));
  };
  llvm::StringRef word = text(found);
  if (isOneOf(found, {TileParser::ID}) && !expectsExpr() && (word == "and" || word == "or")) {
    const char *sign = word == "and" ? "&&" : "||";
    expectedFound(std::string("'") + sign + "'", found)
        .fixIt(range(found), sign, std::string("write '") + sign + "'");
    return true;
  }
  if (isOneOf(found, {TileParser::ID}) && !expectsExpr() && word == "is") {
    expectedFound("an operator", found).note("write '==' or '!='");
    return true;
  }
  if (isOneOf(previous, {TileParser::ID}) && text(previous) == "not") {
    expectedFound("an expression", previous).note(findAlias("not")->note);
    return true;
  }
  if (isOneOf(found, {TileParser::STAR}) && isOneOf(previous, {TileParser::STAR}) &&
      adjacent(previous, found) && expectsExpr() && rule != TileParser::RuleArguments) {
    expectedFound("an expression", found).note("a power is written pow(x, y)");
    return true;
  }
  if (isOneOf(previous, {TileParser::ID}) && isOneOf(found, {TileParser::ID}) && word != "then" &&
      text(previous) == "lambda") {
    expectedFound("an expression", previous).note(findAlias("lambda")->note);
    return true;
  }
  if (isOneOf(found, {TileParser::IF}) && previous && !expectsStatement() && !expectsDecl() &&
      !isOneOf(previous, {TileParser::ELSE, TileParser::CONST}) &&
      found->getLine() == previous->getLine() &&
      (expects(TileParser::SEMI) || expects(TileParser::RPAREN))) {
    expectedFound(describeExpected(), found)
        .note("`if` is a statement; where(condition, a, b) selects a value");
    return true;
  }
  return false;
}

/// Variable numbers of parameters.
bool ForeignMistake::reportForeignParameter() {
  bool isFunction = rule == TileParser::RuleFnDecl || rule == TileParser::RuleFnParam,
       isKernel = rule == TileParser::RuleKernelDecl || rule == TileParser::RuleParam,
       isCall = rule == TileParser::RuleArguments;
  bool isVariadic =
      isOneOf(found, {TileParser::DOT_DOT}) && isOneOf(after(found), {TileParser::DOT});
  bool isStar = isOneOf(found, {TileParser::STAR}) &&
                isOneOf(previous, {TileParser::LPAREN, TileParser::COMMA, TileParser::STAR});
  if ((isVariadic || isStar) && (isFunction || isKernel || isCall)) {
    Range place = isVariadic ? range(found).join(range(after(found))) : range(found);
    auto report = diagnostics.report(diag::expectedToken, place, describeExpected(),
                                     "'" + diagnostics.sources().text(place).str() + "'");
    if (isCall)
      report.note("a tuple is passed as one argument, `f(t)`; its members are t[0], t[1]");
    else if (isFunction)
      report.note(
          "the number of parameters is fixed, so that every call can be checked against the "
          "declaration: take a tuple as one parameter");
    else
      report.note(
          "the number of parameters is fixed, as a launch passes each by its place; an array "
          "of tensors of one type is `xs: in f32[N] * 3`");
    return true;
  }
  return false;
}

/// The first token of the statement or declaration in which the error is.
/// Brackets that are closed are gone over; one that is open is inside of the statement, and passed.
/// Null where the error is at the statement's first token.
const Token *ErrorSite::statementStart() const {
  const Token *first = nullptr;
  unsigned closed = 0;
  for (const Token *token = previous; token; first = token, token = before(token)) {
    if (isOneOf(token, {TileParser::RPAREN, TileParser::RBRACKET}))
      ++closed;
    else if (isOneOf(token, {TileParser::LPAREN, TileParser::LBRACKET}))
      closed -= closed ? 1 : 0;
    else if (!closed && isOneOf(token, {TileParser::SEMI, TileParser::LBRACE, TileParser::RBRACE}))
      break;
  }
  return first;
}

/// Two words where a statement begins with one: `elif c`, `int i`, `lett x`.
bool ForeignMistake::reportForeignStatement() {
  const Token *start = statementStart();
  if (!isOneOf(start, {TileParser::ID}) || start == found || !openBracket())
    return false;
  llvm::StringRef word = text(start);
  const Token *second = after(start);
  bool isPair = isOneOf(second, {TileParser::ID}) || second->getType() <= TileParser::NONE;
  const Alias *alias = findAlias(word);
  auto report = [&] {
    return diagnostics.report(diag::expectedToken, range(start), "a statement", describe(start));
  };
  // Without it each statement of the block would be reported as one out of place.
  auto skipBlock = [&] { // what stands in it is of the same foreign statement
    const Token *open = findAfter(start, {TileParser::LBRACE});
    const Token *close = open ? closing(open) : nullptr;
    if (close && text(start) == "do" && isOneOf(after(close), {TileParser::WHILE}))
      close = findAfter(after(close), {TileParser::SEMI});
    quietUntil = close ? close->getTokenIndex() + 1 : 0;
  };
  if (alias && alias->replacement == "else if") {
    report().fixIt(range(start), alias->replacement, "write `else if`");
    return true;
  }
  static const llvm::StringRef types[] = {"auto", "int",  "float", "double", "half",
                                          "bool", "long", "short", "char",   "unsigned"};
  if (isPair && (llvm::is_contained(types, word) || word.ends_with("_t"))) {
    if (isOneOf(after(second), {TileParser::LBRACKET}))
      report().note("a tile is a value: `var t = zeros(f32, [4]);` makes one; it is changed as a "
                    "whole, as in `t = where(iota(4) == i, v, t);`");
    else
      report().note(
          "a variable is declared by `let i = ...;`, by `var i = ...;` where it changes; its "
          "dtype follows from the value");
    return true;
  }
  static const llvm::StringRef statements[] = {
      "pass",  "switch",   "do",      "def",        "func",   "try",    "loop",
      "until", "function", "foreach", "__shared__", "static", "extern", "volatile"};
  if (alias && llvm::is_contained(statements, word)) {
    skipBlock();
    auto builder = report();
    builder.note(alias->note.empty() ? "functions stand at the top of a file: `fn name(x) { ... }`"
                                     : alias->note);
    return true;
  }
  if (!isPair)
    return false;
  std::string near = suggest(word, {"let", "var", "return", "while", "for", "const", "if"});
  if (near.empty())
    return false;
  report().fixIt(range(start), near, "did you mean '" + near + "'?");
  return true;
}

/// Misspelt and foreign words that begin a declaration or a clause.
bool ForeignMistake::reportForeignDecl() {
  if (!isOneOf(found, {TileParser::ID}) || (!expectsDecl() && !expectsClause()))
    return false;
  auto report =
      diagnostics.report(diag::expectedToken, range(found), describeExpected(), describe(found));
  const Token *open =
      isOneOf(after(after(found)), {TileParser::LPAREN}) ? after(after(found)) : nullptr;
  const Token *close = open ? closing(open) : nullptr;
  const Alias *alias = findAlias(text(found));
  if (expectsDecl() && alias && alias->replacement == "fn" &&
      !(close && isOneOf(after(close), {TileParser::LBRACE})))
    report.note("a kernel is `kernel name(x: in f32[N], y: out f32[N]) { ... }`, a function `fn "
                "name(x) { ... }`: bodies stand in braces");
  else if (expectsDecl())
    addSuggestion(report, range(found), text(found), {"kernel", "fn", "const", "import"});
  else
    addSuggestion(report, range(found), text(found),
                  {"where", "specialize", "grid", "with", "tune"});
  return true;
}

/// `a // b` divides in other languages: here the rest of the line is a comment, and the error is in
/// the next line. Only a comment that reads like code counts, so that a remark in prose is not
/// blamed.
const Token *ForeignMistake::swallowedCode() const {
  for (size_t i = previous ? previous->getTokenIndex() + 1 : tokens.size(); i < tokens.size();
       ++i) {
    const Token *token = tokens.get(i);
    if (token->getChannel() == Token::DEFAULT_CHANNEL || token->getLine() != previous->getLine())
      return nullptr;
    if (token->getType() != TileParser::LINE_COMMENT)
      continue;
    llvm::StringRef rest = text(token).drop_front(2).trim();
    bool isOperand = llvm::all_of(rest, [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '.' || c == '(' || c == ')';
    });
    bool ends = rest.ends_with(";") || rest.ends_with(")") || rest.ends_with("]") ||
                rest.ends_with(",") || rest.ends_with("{");
    bool begins = !rest.empty() && (llvm::isAlnum(rest[0]) || rest[0] == '(' || rest[0] == '_');
    return begins && (isOperand || ends) ? token : nullptr;
  }
  return nullptr;
}

void ForeignMistake::addSlashNote(DiagnosticBuilder &report, const Token *comment) const {
  report.note(range(comment), "'//' begins a comment; '/' divides integers and rounds toward zero");
}

/// `import math`, `from std.activations import gelu`.
bool ForeignMistake::reportForeignImport() {
  if (rule == TileParser::RuleImportDecl && isOneOf(found, {TileParser::ID}) &&
      isOneOf(previous, {TileParser::IMPORT})) {
    auto report =
        diagnostics.report(diag::expectedToken, range(found), "a string", describe(found));
    const Token *end = after(found);
    bool isAlone = isOneOf(end, {TileParser::SEMI}) || end->getLine() > found->getLine();
    Range whole = range(previous).join(range(isOneOf(end, {TileParser::SEMI}) ? end : found));
    if (isForeignModule(text(found)) && isAlone)
      report.fixIt(whole, "", "exp, sqrt and the like are built in: leave the import out");
    else if (isForeignModule(text(found)))
      report.note("exp, sqrt and the like are built in: leave the import out");
    else
      report.note("an import names a file: `import \"std/norms.tile\" as n;`");
    return true;
  }
  const Token *word = after(found);
  if (!expectsDecl() || text(found) != "from" || !isOneOf(word, {TileParser::ID}))
    return false;
  std::string path = text(word).str();
  for (word = after(word); isOneOf(word, {TileParser::DOT}); word = after(after(word)))
    path += "/" + text(after(word)).str();
  auto report =
      diagnostics.report(diag::expectedToken, range(found), describeExpected(), describe(found));
  const Token *end = findAfter(found, {TileParser::SEMI});
  std::string import = "import \"" + path + ".tile\";";
  if (llvm::StringRef(path).starts_with("std/") && end && end->getLine() == found->getLine())
    report.fixIt(range(found).join(range(end)), import, "import the file's functions");
  else if (isForeignModule(llvm::StringRef(path).split('/').first))
    report.note("exp, sqrt and the like are built in: leave the import out");
  else
    report.note("write `" + import + "`, and behind a name `import \"" + path + ".tile\" as n;`");
  return true;
}

/// In this order, since later ones take more: reportForeignDecl reports any word where a
/// declaration or clause should be.
bool ForeignMistake::reportForeign() {
  return reportForeignOperator() || reportForeignForm() || reportForeignParameter() ||
         reportForeignStatement() || reportForeignImport() || reportForeignDecl();
}
