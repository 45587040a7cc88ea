// Whole forms of other languages where the parser stumbles over them: paths with '::', casts before
// their value, pointers, slices with ':', loops in three parts, parameters with the type first.
//
// Each function looks at the tokens around the error, and either reports nothing and returns false,
// or reports one diagnostic and returns true: the first form that is recognised is the message.
// `found` is the token that the parser could not take, `previous` the one before; the form may
// begin before both. A fix is offered only where the text alone says what is meant.
#include "frontend/Diag/Aliases.h"
#include "frontend/Parse/Mistake.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile;

/// The counterpart of an opening bracket; null if there is none.
/// Linear in the tokens, as all searches here; syntax errors are few (SyntaxErrors::syntaxError).
const Token *ErrorSite::closing(const Token *open) const {
  unsigned depth = 0;
  for (const Token *token = open; token; token = after(token)) {
    if (isOneOf(token, {TileParser::LPAREN, TileParser::LBRACKET, TileParser::LBRACE}))
      ++depth;
    else if (isOneOf(token, {TileParser::RPAREN, TileParser::RBRACKET, TileParser::RBRACE}) &&
             --depth == 0)
      return token;
  }
  return nullptr;
}

/// The first of the types from `from` on that stands in no bracket opened behind `from`; null where
/// a bracket closes before.
const Token *ErrorSite::findAfter(const Token *from, std::initializer_list<size_t> types) const {
  for (const Token *token = from; token; token = after(token)) {
    if (isOneOf(token, types))
      return token;
    if (isOneOf(token, {TileParser::LPAREN, TileParser::LBRACKET, TileParser::LBRACE}))
      token = closing(token);
    else if (isOneOf(token, {TileParser::RPAREN, TileParser::RBRACKET, TileParser::RBRACE}))
      return nullptr;
    if (!token)
      return nullptr;
  }
  return nullptr;
}

llvm::StringRef ErrorSite::between(const Token *first, const Token *last) const {
  return diagnostics.sources().text(range(first).join(range(last)));
}

/// `std::max`, `f32::MIN`, `f::<3>(x)`.
bool ForeignMistake::reportPath() {
  const Token *first = isOneOf(previous, {TileParser::COLON}) ? previous : found;
  const Token *second = isOneOf(first, {TileParser::COLON}) ? after(first) : nullptr;
  if (!isOneOf(second, {TileParser::COLON}) || !adjacent(first, second))
    return false;
  // The lexer has no token '::': two colons without a blank between them are one.
  const Token *left = before(first), *right = after(second);
  if (isOneOf(right, {TileParser::LESS})) {
    const Token *close = findAfter(after(right), {TileParser::GREATER});
    auto report = diagnostics.report(diag::angleGenerics, range(first).join(range(right)));
    if (close && close != after(right))
      report.fixIt(range(first).join(range(close)),
                   "[" + between(after(right), before(close)) + "]", "write them in brackets");
    return true;
  }
  if (!isOneOf(left, {TileParser::ID}) || !isOneOf(right, {TileParser::ID}))
    return false;
  Range whole = range(left).join(range(right));
  auto report = diagnostics.report(diag::expectedToken, whole, "a name without '::'",
                                   "'" + between(left, right).str() + "'");
  llvm::StringRef dtype = text(left), member = text(right);
  // `float::MAX`, too, where another language's name of the dtype stands.
  if (const Alias *alias = findAlias(dtype); alias && isDtypeWord(alias->replacement))
    dtype = alias->replacement;
  if (isDtypeWord(dtype)) {
    std::string constant = member == "MIN"            ? ("lowest(" + dtype + ")").str()
                           : member == "MAX"          ? ("highest(" + dtype + ")").str()
                           : member == "INFINITY"     ? "inf"
                           : member == "NEG_INFINITY" ? "-inf"
                           : member == "NAN"          ? "nan"
                                                      : "";
    if (!constant.empty())
      report.fixIt(whole, constant, "here it is written '" + constant + "'");
    else
      report.note("of a dtype there are lowest(T) and highest(T), its extreme finite values");
  } else if (isForeignModule(text(left))) {
    report.fixIt(whole, member, "built-in functions have no prefix");
  } else {
    report.note("a function of an import stands behind its name and a point, `n.f(x)`; built-in "
                "functions have no prefix");
  }
  return true;
}

/// `(float)s`.
bool ForeignMistake::reportCast() {
  const Token *type = isOneOf(previous, {TileParser::RPAREN}) ? before(previous) : nullptr;
  const Token *open = isOneOf(type, {TileParser::ID}) ? before(type) : nullptr;
  std::string dtype = type ? dtypeOfC(text(type)) : "";
  if (!isOneOf(open, {TileParser::LPAREN}) || dtype.empty() ||
      // Behind a name or a bracket `(float)` would be a call.
      isOneOf(before(open), {TileParser::ID, TileParser::RPAREN, TileParser::RBRACKET}) ||
      !isOneOf(found, {TileParser::ID, TileParser::INT, TileParser::FLOAT}))
    return false;
  const Token *last = found; // of the operand, with its calls, subscripts and members
  for (const Token *next = after(last); next; next = after(last)) {
    if (isOneOf(next, {TileParser::LPAREN, TileParser::LBRACKET}))
      next = closing(next);
    else if (isOneOf(next, {TileParser::DOT}))
      next = after(next);
    else
      break;
    if (!next)
      return false;
    last = next;
  }
  diagnostics
      .report(diag::expectedToken, range(open).join(range(previous)),
              "a conversion behind its value", "'" + between(open, previous).str() + "' before it")
      .fixIt(range(open).join(range(last)), between(found, last).str() + " as " + dtype,
             "convert with `as`");
  return true;
}

/// `&x[i]`, `*p`.
bool ForeignMistake::reportPointer() {
  // Left to reportForeignParameter, which knows more of it.
  bool isVariadic = isOneOf(found, {TileParser::STAR}) && // of a call: `f(*args)`
                    rule == TileParser::RuleArguments;
  if (!expectsExpr() || isVariadic || !isOneOf(found, {TileParser::AMP, TileParser::STAR}) ||
      !isOneOf(after(found), {TileParser::ID}) ||
      isOneOf(previous, {TileParser::STAR, TileParser::AMP}))
    return false;
  auto report =
      diagnostics.report(diag::expectedToken, range(found), "an expression", describe(found));
  if (isOneOf(found, {TileParser::AMP}))
    report.fixIt(range(found), "", "there are no addresses: name the element itself, as in x[i]");
  else
    report.note("there are no pointers: write the access, x[i]");
  return true;
}

/// `x[i * 16 : i * 16 + 16]`, `x[:8]`.
bool ForeignMistake::reportSlice() {
  const Token *open = openBracket();
  const Token *colon = isOneOf(previous, {TileParser::COLON}) ? previous : found;
  if (!isOneOf(open, {TileParser::LBRACKET}) || !isOneOf(colon, {TileParser::COLON}) ||
      !isOneOf(before(open), {TileParser::ID, TileParser::RBRACKET, TileParser::RPAREN}) ||
      isOneOf(after(colon), {TileParser::COLON}) || isOneOf(before(colon), {TileParser::COLON}))
    return false;
  const Token *first = after(open);
  while (const Token *comma = findAfter(first, {TileParser::COMMA, TileParser::COLON})) {
    if (isOneOf(comma, {TileParser::COLON}) && comma->getTokenIndex() >= colon->getTokenIndex())
      break;
    first = after(comma);
  }
  const Token *end =
      findAfter(after(colon), {TileParser::COMMA, TileParser::RBRACKET, TileParser::COLON});
  auto report = diagnostics.report(diag::expectedToken, range(colon), "']' or ','", "':'");
  report.note(
      "a part of a tile is `t[lo..hi]`; of a tensor the 16 positions from lo on are `at(lo, "
      "16)`, and the i-th 16 of them `block(i, 16)`");
  if (!isOneOf(end, {TileParser::COMMA, TileParser::RBRACKET}) || first == colon ||
      end == after(colon))
    return true;
  // Blanks may stand anywhere: texts are compared without them.
  // lo : lo + B
  std::string lo = between(first, before(colon)).str(), hi;
  llvm::copy_if(between(after(colon), before(end)), std::back_inserter(hi),
                [](char c) { return !llvm::isSpace(c); });
  std::string start;
  llvm::copy_if(lo, std::back_inserter(start), [](char c) { return !llvm::isSpace(c); });
  llvm::StringRef size = hi;
  bool isWord = size.consume_front(start + "+") && !size.empty() &&
                llvm::all_of(size, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isWord)
    return true;
  llvm::StringRef index = start;
  bool isBlock =
      (index.consume_back(("*" + size).str()) || index.consume_front((size + "*").str())) &&
      llvm::all_of(index, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  std::string positions =
      isBlock ? ("block(" + index + ", " + size + ")").str() : "at(" + lo + ", " + size.str() + ")";
  report.fixIt(range(first).join(range(before(end))), positions, "write the range");
  return true;
}

/// `for (int k = 0; k < N; k += 256)`, `for j in 1:N`.
bool ForeignMistake::reportForeignLoop() {
  if (isOneOf(previous, {TileParser::FOR}) && isOneOf(found, {TileParser::LPAREN})) {
    const Token *close = closing(found);
    auto report = diagnostics.report(diag::expectedToken, range(found), "a name", describe(found));
    std::string head = close ? counterOf(found, close) : "";
    if (head.empty())
      report.note("write `for i in 0..n { ... }`");
    else
      report.fixIt(range(found).join(range(close)), head, "a loop counts over lo..hi, without hi");
    // The rest of the head would be three more errors.
    quietUntil = close ? close->getTokenIndex() + 1 : 0;
    return true;
  }
  if (isOneOf(found, {TileParser::COLON}) && expects(TileParser::DOT_DOT) &&
      rule == TileParser::RuleStatement && after(found)->getLine() == found->getLine()) {
    diagnostics.report(diag::expectedToken, range(found), "'..' or '..='", describe(found))
        .fixIt(range(found), "..=", "`lo..=hi` counts from lo to hi, hi included")
        .note("`lo..hi` ends before hi");
    return true;
  }
  return false;
}

/// `k in 0..N step 256` of `(int k = 0; k < N; k += 256)`; empty where it counts otherwise.
std::string ForeignMistake::counterOf(const Token *open, const Token *close) const {
  const Token *name = after(open);
  if (isOneOf(after(name), {TileParser::ID})) // a type before it
    name = after(name);
  // Three parts, whose middle compares the same name, and whose last adds to it: all else counts in
  // a way that a range cannot say.
  const Token *firstSemi = findAfter(name, {TileParser::SEMI});
  const Token *secondSemi = firstSemi ? findAfter(after(firstSemi), {TileParser::SEMI}) : nullptr;
  if (!isOneOf(name, {TileParser::ID}) || !isOneOf(after(name), {TileParser::EQUAL}) ||
      !secondSemi || secondSemi->getTokenIndex() > close->getTokenIndex() ||
      after(after(name)) == firstSemi)
    return "";
  std::string lo = between(after(after(name)), before(firstSemi)).str();
  const Token *compared = after(firstSemi), *sign = after(compared);
  if (text(compared) != text(name) || !isOneOf(sign, {TileParser::LESS, TileParser::LESS_EQUAL}) ||
      after(sign) == secondSemi)
    return "";
  std::string hi = between(after(sign), before(secondSemi)).str();
  std::string result =
      text(name).str() + " in " + lo + (isOneOf(sign, {TileParser::LESS}) ? ".." : "..=") + hi;
  const Token *step = after(secondSemi);
  std::string change;
  for (char c : between(step, before(close)))
    if (!llvm::isSpace(c))
      change += c;
  if (change == text(name).str() + "++" || change == "++" + text(name).str())
    return result;
  if (text(step) != text(name) || !isOneOf(after(step), {TileParser::PLUS_EQUAL}) ||
      after(after(step)) == close)
    return "";
  return result + " step " + between(after(after(step)), before(close)).str();
}

/// `float* x`, `const int n` among parameters, and `BLOCK: tl.constexpr`.
bool ForeignMistake::reportParameter() {
  bool isKernel = rule == TileParser::RuleKernelDecl || rule == TileParser::RuleParam ||
                  rule == TileParser::RuleTypeSpec,
       isFunction = rule == TileParser::RuleFnDecl || rule == TileParser::RuleFnParam;
  const Token *open = openBracket();
  if (!(isKernel || isFunction) || !isOneOf(open, {TileParser::LPAREN}))
    return false;
  const Token *type = previous, *dot = found;
  if (isOneOf(dot, {TileParser::DOT}) && isOneOf(type, {TileParser::ID}) &&
      isOneOf(after(dot), {TileParser::ID}) && isForeignModule(text(type))) {
    const Token *member = after(dot);
    auto report = diagnostics.report(diag::expectedToken, range(type).join(range(member)), "a type",
                                     "'" + between(type, member).str() + "'");
    if (const Alias *alias = findAlias(text(member)); alias && !alias->note.empty())
      report.note(alias->note);
    else if (alias)
      report.fixIt(range(type).join(range(member)), alias->replacement,
                   "here it is called '" + alias->replacement + "'");
    else
      report.note("a tensor is `x: in f32[N]`, a number `n: i32`");
    return true;
  }
  const Token *start = previous; // of the parameter
  while (start && start != open && !isOneOf(before(start), {TileParser::COMMA, TileParser::LPAREN}))
    start = before(start);
  if (start == open || isOneOf(start, {TileParser::COMMA}))
    start = found;
  bool hasTypeFirst = isOneOf(start, {TileParser::CONST}) ||
                      (isOneOf(start, {TileParser::ID}) &&
                       isOneOf(after(start), {TileParser::ID, TileParser::STAR, TileParser::AMP}));
  const Token *end = findAfter(start, {TileParser::COMMA, TileParser::RPAREN});
  if (!hasTypeFirst || !end || end == start)
    return false;
  Range whole = range(start).join(range(before(end)));
  auto report = diagnostics.report(diag::expectedToken, whole, "a name and ':'",
                                   "'" + diagnostics.sources().text(whole).str() + "'");
  if (isFunction)
    report.note(
        "a function's parameter is its name, `fn f(x)`, or has its type behind it, `x: f32`");
  else
    report.note("the type stands behind the name: a tensor is `x: in f32[N]` or `y: out f32[N]`, a "
                "number `n: i32`");
  if (const Token *close = closing(open))
    quietUntil = close->getTokenIndex() + 1;
  return true;
}

/// `let s, t = f(x)`, `let mut s`.
bool ForeignMistake::reportPattern() {
  const Token *start = statementStart();
  if (isOneOf(previous, {TileParser::ID}) && text(previous) == "mut" &&
      isOneOf(found, {TileParser::ID}) && isOneOf(before(previous), {TileParser::LET})) {
    diagnostics.report(diag::expectedToken, range(previous), "a name and '='", "'mut'")
        .fixIt(range(before(previous)).join(range(previous)), "var",
               "a variable that changes is declared by `var`");
    return true;
  }
  if (!isOneOf(found, {TileParser::COMMA}) || rule == TileParser::RuleArguments || !start)
    return false;
  bool declares = isOneOf(start, {TileParser::LET, TileParser::VAR});
  const Token *first = declares ? after(start) : start, *last = first;
  while (isOneOf(last, {TileParser::ID}) && isOneOf(after(last), {TileParser::COMMA}))
    last = after(after(last));
  if (!isOneOf(last, {TileParser::ID}) || !isOneOf(after(last), {TileParser::EQUAL}) ||
      found->getTokenIndex() > last->getTokenIndex())
    return false;
  Range names = range(first).join(range(last));
  diagnostics.report(diag::expectedToken, range(found), "'='", describe(found))
      .fixIt(names, "(" + diagnostics.sources().text(names) + ")",
             "the names for a tuple's members stand in brackets");
  return true;
}

/// `a .* b`.
bool ForeignMistake::reportDottedOperator() {
  if (!isOneOf(previous, {TileParser::DOT}) || !adjacent(previous, found) ||
      !isOneOf(found, {TileParser::STAR, TileParser::PLUS, TileParser::MINUS, TileParser::SLASH,
                       TileParser::CARET}))
    return false;
  Range sign = range(previous).join(range(found));
  auto report = diagnostics.report(diag::expectedToken, sign, "an operator",
                                   "'" + diagnostics.sources().text(sign).str() + "'");
  if (isOneOf(found, {TileParser::CARET}))
    report.note("a power is written pow(x, y)");
  else
    report.fixIt(sign, text(found), "operators work element by element as they are");
  return true;
}

/// Forms with a sign of their own first; reportParameter and reportPointer take whatever begins
/// with a word or a star.
bool ForeignMistake::reportForeignForm() {
  return reportPath() || reportCast() || reportForeignLoop() || reportSlice() || reportPattern() ||
         reportDottedOperator() || reportParameter() || reportPointer();
}
