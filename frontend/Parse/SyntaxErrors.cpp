// Messages for syntax errors: first the mistakes that are common, then "expected X, found Y".
//
// How errors are told from their consequences (`syntaxError`):
//
//   recovering   the last report was of a mistake that the parser cannot repair: errors close
//                behind it, up to the next ';', are consequences
//   lost         one such mistake was anywhere before: braces no longer match, so errors between
//                declarations say nothing
//   quietUntil   the mistake covers tokens up to here
//
// A missing ';' is the exception: the parser inserts it, and the next error is one of its own.
#include "frontend/Parse/SyntaxErrors.h"
#include "frontend/Parse/Mistake.h"

using namespace tile;
ErrorSite::ErrorSite(FileID file, DiagnosticEngine &diagnostics, antlr4::Parser &parser,
                     const Token *found)
    : file(file), diagnostics(diagnostics), tokens(*parser.getTokenStream()),
      vocabulary(parser.getVocabulary()), expected(parser.getExpectedTokens()), found(found) {
  const antlr4::ParserRuleContext *context = parser.getContext();
  if (context->getRuleIndex() == TileParser::RuleBlock && expected.size() == 1 &&
      context->parent) // the '{' is missing
    context = static_cast<const antlr4::ParserRuleContext *>(context->parent);
  rule = context->getRuleIndex();
  previous = before(found);
}

const Token *ErrorSite::before(const Token *token) const {
  for (size_t i = token ? token->getTokenIndex() : 0; i-- > 0;)
    if (tokens.get(i)->getChannel() == Token::DEFAULT_CHANNEL)
      return tokens.get(i);
  return nullptr;
}

const Token *ErrorSite::after(const Token *token) const {
  for (size_t i = token->getTokenIndex() + 1; i < tokens.size(); ++i)
    if (tokens.get(i)->getChannel() == Token::DEFAULT_CHANNEL)
      return tokens.get(i);
  return nullptr;
}

/// The innermost bracket that is still open in front of the error.
const Token *ErrorSite::openBracket() const {
  unsigned closed = 0;
  for (const Token *token = previous; token; token = before(token)) {
    if (isOneOf(token, {TileParser::RPAREN, TileParser::RBRACKET, TileParser::RBRACE}))
      ++closed;
    else if (isOneOf(token, {TileParser::LPAREN, TileParser::LBRACKET, TileParser::LBRACE}) &&
             closed-- == 0)
      return token;
  }
  return nullptr;
}

/// Whether a comparison stands before the error in the same expression.
bool ErrorSite::comparesBefore() const {
  unsigned closed = 0;
  for (const Token *token = previous; token; token = before(token)) {
    if (isOneOf(token, {TileParser::RPAREN, TileParser::RBRACKET}))
      ++closed;
    else if (isOneOf(token, {TileParser::LPAREN, TileParser::LBRACKET}) && closed-- == 0)
      return false;
    else if (isOneOf(token, {TileParser::SEMI, TileParser::LBRACE, TileParser::RBRACE}))
      return false;
    else if (closed == 0 && isOneOf(token, {TileParser::COMMA, TileParser::EQUAL,
                                            TileParser::AND_AND, TileParser::OR_OR}))
      return false;
    else if (closed == 0 && token->getType() >= TileParser::EQUAL_EQUAL &&
             token->getType() <= TileParser::GREATER_EQUAL)
      return true;
  }
  return false;
}

std::string ErrorSite::describe(const Token *token) const {
  size_t type = token->getType();
  std::string quoted = "'" + text(token).str() + "'";
  if (type == Token::EOF)
    return "the end of the file";
  if (type == TileParser::INT || type == TileParser::FLOAT)
    return "the number " + quoted;
  if (type == TileParser::STRING)
    return "a string";
  if (type >= TileParser::KERNEL && type <= TileParser::NONE)
    return "the keyword " + quoted;
  if (type == TileParser::ID)
    return "the name " + quoted;
  return quoted;
}

/// The set of acceptable tokens in words: groups first, what is left token by token.
/// The parser's set may have fifty tokens, since an expression begins with many. Sets that belong
/// to one construct are named as that; signs that only go on with an expression are left out.
std::string ErrorSite::describeExpected() const {
  std::vector<std::string> parts;
  bool expr = expectsExpr(), statement = expectsStatement(), decl = expectsDecl(),
       clause = expectsClause();
  if (decl)
    parts.push_back("a declaration (import, const, fn or kernel)");
  if (statement)
    parts.push_back("a statement");
  else if (expr)
    parts.push_back("an expression");
  else if (expectsName())
    parts.push_back("a name");
  else if (clause)
    parts.push_back("a clause (where, specialize, grid, with or tune)");
  else if (expects(TileParser::ID))
    parts.push_back(rule == TileParser::RuleStaticKind || rule == TileParser::RuleStaticParam
                        ? "int, bool, float, string, dtype or fn"
                        : "a type");
  for (ssize_t type : expected.toList()) {
    bool word = type == TileParser::ID || (type >= TileParser::WHERE && type <= TileParser::INOUT);
    bool literal = type == TileParser::INT || type == TileParser::FLOAT ||
                   type == TileParser::STRING || type == TileParser::TRUE ||
                   type == TileParser::FALSE || type == TileParser::NONE;
    bool assign = type >= TileParser::EQUAL && type <= TileParser::SHIFT_RIGHT_EQUAL;
    bool prefix = type == TileParser::MINUS || type == TileParser::NOT ||
                  type == TileParser::TILDE || type == TileParser::LPAREN ||
                  type == TileParser::LBRACKET;
    bool keyword = type >= TileParser::KERNEL && type <= TileParser::NONE;
    if ((word && (expr || clause || expects(TileParser::ID))) || (literal && expr) ||
        (prefix && expr))
      continue;
    if (((decl || statement) && keyword) || (clause && type == TileParser::WITH))
      continue;
    if (assign && expects(TileParser::SEMI))
      continue;
    if (type == TileParser::FN && rule == TileParser::RuleStaticKind)
      continue;
    if (size_t(type) == Token::EOF)
      continue;
    parts.push_back(vocabulary.getDisplayName(size_t(type)));
  }
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i == 0 ? "" : i + 1 == parts.size() ? " or " : ", ") + parts[i];
  return out.empty() ? "the end of the file" : out;
}

/// The construct that the parser was reading, for "expected ';' after …" and "the body of …".
std::string ErrorSite::place() const {
  switch (rule) {
  case TileParser::RuleImportDecl:
    return "the import";
  case TileParser::RuleConstDecl:
    return "the constant";
  case TileParser::RuleFnDecl:
    return "the function";
  case TileParser::RuleKernelDecl:
    return "the kernel";
  case TileParser::RuleIfStmt:
    return "`if`";
  case TileParser::RuleTuneItem:
    return "the item";
  case TileParser::RuleSetting:
    return "the setting";
  case TileParser::RuleStatement:
    return expects(TileParser::SEMI) ? "the statement" : "the loop";
  default:
    return "it";
  }
}

/// Brackets that are open at the end of the file, and empty tuples.
bool Mistake::reportUnclosed() {
  const Token *open = openBracket();
  if (found->getType() == Token::EOF && open) {
    diagnostics.report(diag::unclosedBracket, range(open), text(open))
        .note(range(found), "the file ends here, where " + describeExpected() + " could stand");
    return true;
  }
  if (expectsExpr() && isOneOf(found, {TileParser::RPAREN}) &&
      isOneOf(previous, {TileParser::LPAREN})) {
    diagnostics.report(diag::emptyTuple, range(previous).join(range(found)));
    return true;
  }
  return false;
}

/// Operators where none can stand: chains, angle brackets, ranges, `++`.
bool Mistake::reportOperator() {
  size_t type = found->getType();
  if (isOneOf(found, {TileParser::DOT_DOT, TileParser::DOT_DOT_EQUAL})) {
    auto report = diagnostics.report(diag::rangeOutOfPlace, range(found), text(found));
    if (type == TileParser::DOT_DOT_EQUAL && rule == TileParser::RuleSuffix)
      report.note("a slice does not include its end: write `lo..hi + 1`");
    else
      report.note(
          "ranges stand after `in`, and `lo..hi` in subscripts; for a range of positions write "
          "`block(i, B)` or `at(start, B)`");
    return true;
  }
  if (type == TileParser::LESS &&
      (rule == TileParser::RuleKernelDecl || rule == TileParser::RuleFnDecl)) {
    diagnostics.report(diag::angleGenerics, range(found)).note("write `name[N: int](...)`");
    return true;
  }
  if (type == TileParser::LPAREN && expectsExpr() == false &&
      isOneOf(previous, {TileParser::GREATER})) {
    diagnostics.report(diag::angleGenerics, range(previous)).note("write `name[3](x)`");
    return true;
  }
  if (type >= TileParser::EQUAL_EQUAL && type <= TileParser::GREATER_EQUAL && !expectsExpr() &&
      comparesBefore()) {
    const Token *sign = previous; // `a > 0 & b`: '&' and '|' bind tighter than comparisons
    while (sign && sign->getType() != TileParser::AMP && sign->getType() != TileParser::PIPE &&
           !(sign->getType() >= TileParser::EQUAL_EQUAL &&
             sign->getType() <= TileParser::GREATER_EQUAL))
      sign = before(sign);
    if (isOneOf(sign, {TileParser::AMP, TileParser::PIPE})) {
      std::string joined = text(sign).str() + text(sign).str();
      diagnostics.report(diag::chainedComparison, range(sign))
          .fixIt(range(sign), joined,
                 "'" + text(sign) + "' binds tighter than a comparison: join two by '" + joined +
                     "'");
      return true;
    }
    if (type == TileParser::GREATER && isOneOf(after(found), {TileParser::LPAREN}))
      diagnostics.report(diag::angleGenerics, range(found)).note("write `name[3](x)`");
    else
      diagnostics.report(diag::chainedComparison, range(found))
          .note("join two comparisons with '&&'");
    return true;
  }
  const Token *first = type == TileParser::PLUS ? previous : previous ? before(previous) : nullptr;
  const Token *second = type == TileParser::PLUS
                            ? found
                            : previous; // `x++` stops at the second sign, `x--` behind it
  for (size_t sign : {TileParser::PLUS, TileParser::MINUS})
    if (expectsExpr() && isOneOf(first, {sign}) && isOneOf(second, {sign}) &&
        adjacent(first, second)) {
      Range whole = range(first).join(range(second));
      auto report =
          diagnostics.report(diag::noIncrement, whole, text(first).str() + text(second).str());
      const Token *name = before(first);
      std::string change = " " + text(first).str() + "= 1";
      if (isOneOf(name, {TileParser::ID}) && name == statementStart() &&
          isOneOf(after(second), {TileParser::SEMI}))
        report.fixIt(whole, change, "write `" + text(name) + change + "`");
      else
        report.note("write `x" + change + ";` as a statement of its own, x a `var`");
      return true;
    }
  return false;
}

/// `1.` and `.5`.
bool Mistake::reportNumber() {
  const Token *next = found->getType() == Token::EOF ? nullptr : after(found);
  if (isOneOf(found, {TileParser::DOT}) && expectsExpr() && isOneOf(next, {TileParser::INT}) &&
      adjacent(found, next)) {
    Range whole = range(found).join(range(next));
    diagnostics.report(diag::malformedNumber, whole, diagnostics.sources().text(whole))
        .fixIt(range(found).atBegin(), "0", "a point needs a digit on both sides");
    return true;
  }
  const Token *first = previous ? before(previous) : nullptr;
  if (isOneOf(previous, {TileParser::DOT}) && isOneOf(first, {TileParser::INT}) &&
      adjacent(first, previous)) {
    Range whole = range(first).join(range(previous));
    diagnostics.report(diag::malformedNumber, whole, diagnostics.sources().text(whole))
        .fixIt(whole.atEnd(), "0", "a point needs a digit on both sides");
    return true;
  }
  return false;
}

/// `=` where only a value can stand.
void Mistake::reportAssignment() {
  if (rule == TileParser::RuleArguments && isOneOf(previous, {TileParser::ID})) {
    diagnostics.report(diag::namedArgument, range(found))
        .fixIt(range(found), ":", "name an argument with ':'");
    return;
  }
  auto report = diagnostics.report(diag::assignmentInExpression, range(found));
  if (found->getType() == TileParser::EQUAL)
    report.fixIt(range(found), "==", "compare with '=='");
}

/// `{ max(v, 0.0) }` as a function's last word: a value without `return`.
bool Mistake::reportResult(Range end) {
  const Token *open = isOneOf(found, {TileParser::RBRACE}) ? openBracket() : nullptr;
  const Token *start = statementStart(), *head = open;
  while (head && !isOneOf(head, {TileParser::FN, TileParser::KERNEL, TileParser::RBRACE}))
    head = before(head);
  bool isBody = isOneOf(head, {TileParser::FN}) && isOneOf(before(open), {TileParser::RPAREN});
  bool isValue = isOneOf(start, {TileParser::ID, TileParser::INT, TileParser::FLOAT,
                                 TileParser::LPAREN, TileParser::MINUS});
  for (const Token *token = start; isValue && token != found; token = after(token))
    isValue =
        token->getType() < TileParser::EQUAL || token->getType() > TileParser::SHIFT_RIGHT_EQUAL;
  if (!isBody || !isValue)
    return false;
  Range value = range(start).join(range(previous));
  diagnostics.report(diag::missingSemicolon, end, place(), describe(found))
      .fixIt(value, "return " + diagnostics.sources().text(value) + ";",
             "a function gives what `return` says");
  return true;
}

/// Braces around the one statement that follows a condition.
void Mistake::addBracesFix(DiagnosticBuilder &report) const {
  const Token *semi = findAfter(found, {TileParser::SEMI, TileParser::LBRACE});
  if (rule == TileParser::RuleFnDecl || rule == TileParser::RuleKernelDecl ||
      !isOneOf(semi, {TileParser::SEMI})) {
    report.note("write `{ ... }` around the body");
    return;
  }
  Range body = range(found).join(range(semi));
  report.fixIt(body, "{ " + diagnostics.sources().text(body) + " }", "a body stands in braces");
}

/// Missing and superfluous ';' and ',', missing '{', misplaced '='.
bool Mistake::reportSeparator() {
  bool assigns =
      found->getType() >= TileParser::EQUAL && found->getType() <= TileParser::SHIFT_RIGHT_EQUAL;
  if (assigns && !expectsName() && !expectsExpr() && !expects(TileParser::ID)) {
    reportAssignment();
    return true;
  }
  if (expects(TileParser::SEMI) && !expectsExpr() && previous &&
      (found->getLine() > previous->getLine() ||
       isOneOf(found, {TileParser::RBRACE, Token::EOF}))) {
    Range end = range(previous).atEnd();
    if (reportResult(end))
      return true;
    DiagnosticBuilder report =
        diagnostics.report(diag::missingSemicolon, end, place(), describe(found));
    if (const Token *comment = swallowedCode())
      addSlashNote(report, comment);
    else
      report.fixIt(end, ";", "add ';'");
    return true;
  }
  if (expects(TileParser::LBRACE) && expected.size() == 1) {
    auto report =
        diagnostics.report(diag::bodyWithoutBraces, range(found), place(), describe(found));
    if (rule == TileParser::RuleFnDecl && isOneOf(found, {TileParser::MINUS, TileParser::COLON}))
      report.note("leave it out: a function's result type follows from what it returns");
    else if (isOneOf(found, {TileParser::COLON})) {
      report.note("bodies stand in braces, without ':', as in `if c { ... } else { ... }`");
      // In a file that is written so throughout, the next declaration is the next chance.
      const Token *next = found;
      while (next && !isOneOf(next, {TileParser::KERNEL, TileParser::FN, Token::EOF}))
        next = after(next);
      quietUntil = next ? next->getTokenIndex() : 0;
    } else if (text(found) == "then")
      report.fixIt(range(found), "", "bodies stand in braces, without `then`");
    else
      addBracesFix(report);
    return true;
  }
  if (isOneOf(found, {TileParser::SEMI}) && isOneOf(previous, {TileParser::RBRACE}) &&
      (expectsStatement() || expectsDecl())) {
    diagnostics.report(diag::expectedToken, range(found), describeExpected(), describe(found))
        .fixIt(range(found), "", "a body in braces takes no ';'");
    return true;
  }
  if (isOneOf(previous, {TileParser::COMMA}) &&
      isOneOf(found, {TileParser::RPAREN, TileParser::RBRACKET, TileParser::RBRACE,
                      TileParser::LBRACE, TileParser::SEMI})) {
    DiagnosticBuilder report =
        diagnostics.report(diag::expectedToken, range(found), describeExpected(), describe(found));
    if (isOneOf(found, {TileParser::RPAREN, TileParser::RBRACKET}))
      report.note("a tuple has two or more members, and `(a)` is `a`");
    else
      report.fixIt(range(previous), "", "a list that no bracket closes has no trailing ','");
    return true;
  }
  return false;
}

/// Keywords as names.
bool Mistake::reportName() {
  if (!expectsName() || found->getType() < TileParser::KERNEL ||
      found->getType() > TileParser::NONE)
    return false;
  auto report = diagnostics.report(diag::keywordAsName, range(found), text(found));
  if (isOneOf(found, {TileParser::IN}) &&
      (rule == TileParser::RuleParam || rule == TileParser::RuleKernelDecl))
    report.note("write `name: in T[...]`");
  return true;
}

void Mistake::reportExpected() {
  if (isOneOf(previous, {TileParser::CONST}) && rule == TileParser::RuleStatement) {
    diagnostics
        .report(diag::expectedToken, range(found), "'if' or 'for' after `const`", describe(found))
        .note("`const` declares only at the top of a file; in a body use `let`");
    return;
  }
  auto report =
      diagnostics.report(diag::expectedToken, range(found), describeExpected(), describe(found));
  if (text(found) == "then" || isOneOf(found, {TileParser::COLON}))
    if (rule == TileParser::RuleStatement || rule == TileParser::RuleIfStmt)
      report.note("bodies stand in braces");
  if (const Token *comment = swallowedCode())
    addSlashNote(report, comment);
  if (expectsStatement() &&
      isOneOf(found, {TileParser::FN, TileParser::KERNEL, TileParser::IMPORT}))
    report.note("declarations stand at the top of a file; is a '}' missing above?");
  if (rule == TileParser::RuleStatement && expects(TileParser::EQUAL) &&
      !expects(TileParser::SEMI) && isOneOf(found, {TileParser::SEMI}))
    report.note("every variable starts with a value");
  if (expects(TileParser::RPAREN) || expects(TileParser::RBRACKET))
    if (const Token *open = openBracket())
      report.note(range(open), "the '" + text(open) + "' to be closed is here");
}

/// In this order: what explains the error best comes first, "expected X, found Y" last. Exactly one
/// error is reported.
bool Mistake::report() {
  unsigned before = diagnostics.errors();
  if (!reportUnclosed() && !reportForeign() && !reportNumber() && !reportOperator() &&
      !reportSeparator() && !reportName())
    reportExpected();
  return diagnostics.errors() > before && diagnostics.all().back().id == diag::missingSemicolon;
}

void SyntaxErrors::syntaxError(antlr4::Recognizer *recognizer, Token *offending, size_t, size_t,
                               const std::string &, std::exception_ptr) {
  constexpr unsigned enough =
      1000; // raw errors: this is not a program, stop searching for its pieces
  // Ends the parse: parseTokens() catches it.
  if (++count > enough || diagnostics.limitReached())
    throw antlr4::ParseCancellationException();
  // What the parser says while it finds its feet again is seldom true; behind a ';' it is again,
  // but not of braces: their count is wrong from the first error on.
  auto &parser = *static_cast<antlr4::Parser *>(recognizer);
  bool brace = offending->getType() == TileParser::RBRACE || offending->getType() == Token::EOF;
  bool outside = parser.getContext()->getRuleIndex() == TileParser::RuleProgram;
  bool follows = recovering && (brace || outside || offending->getTokenIndex() <= lastIndex + 3 ||
                                offending->getLine() == lastLine);
  for (size_t i = lastIndex; follows && !brace && i < offending->getTokenIndex(); ++i)
    follows = parser.getTokenStream()->get(i)->getType() != TileParser::SEMI;
  follows = follows || (outside && lost) || offending->getTokenIndex() < quietUntil;
  lastIndex = offending->getTokenIndex();
  lastLine = offending->getLine();
  if (follows)
    return;
  Mistake mistake(file, diagnostics, parser, offending);
  recovering = !mistake.report();
  lost = lost || recovering;
  quietUntil = std::max(quietUntil, mistake.getQuietUntil());
}
