// AST builder: numbers and strings, and numbers that look like powers.
#include "frontend/Parse/AstBuilder.h"
#include "frontend/Parse/TokenCheck.h"
#include "frontend/Source/ReadFloat.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace tile;
using namespace tile::ast;

static std::string withoutUnderscores(llvm::StringRef text) {
  std::string out;
  for (char c : text)
    if (c != '_')
      out += c;
  return out;
}

ExprPtr ExprBuilder::literal(TileParser::LiteralContext *context) {
  Range place = range(context);
  switch (context->start->getType()) {
  case TileParser::INT:
    return intLiteral(place);
  case TileParser::FLOAT:
    return floatLiteral(place);
  case TileParser::STRING: {
    auto node = std::make_unique<StringLiteral>();
    node->range = place;
    node->value = unescape(place);
    return node;
  }
  case TileParser::NONE: {
    auto node = std::make_unique<NoneLiteral>();
    node->range = place;
    return node;
  }
  default: {
    auto node = std::make_unique<BoolLiteral>();
    node->range = place;
    node->value = context->start->getType() == TileParser::TRUE;
    return node;
  }
  }
}

/// The value has no sign and up to 64 bits: which dtype it must fit is known later.
ExprPtr ExprBuilder::intLiteral(Range place) {
  auto node = std::make_unique<IntLiteral>();
  node->range = place;
  std::string digits = withoutUnderscores(text(place));
  llvm::StringRef rest = digits;
  unsigned radix = rest.consume_front("0x") ? 16 : rest.consume_front("0b") ? 2 : 10;
  if (rest.getAsInteger(radix, node->value))
    diagnostics.report(diag::numberTooLarge, place, abbreviated(text(place)));
  return node;
}

/// The integer that an operand consists of; an exponent may have a sign, which `isNegative` tells,
/// and be converted. Null for all else.
static antlr4::Token *findInteger(antlr4::ParserRuleContext *operand, bool isExponent,
                                  bool &isNegative) {
  while (operand->start != operand->stop) {
    auto *unary = dynamic_cast<TileParser::UnaryContext *>(operand);
    auto *cast = dynamic_cast<TileParser::CastContext *>(operand);
    if (isExponent && unary && unary->MINUS() && !isNegative) {
      isNegative = true;
      operand = unary->unary();
    } else if (cast && (isExponent || cast->castTarget().empty())) {
      operand = cast->unary();
    } else {
      return nullptr;
    }
  }
  return operand->start->getType() == TileParser::INT ? operand->start : nullptr;
}

/// A number in decimal, which is how powers are written; none if it is too large, too.
static std::optional<uint64_t> readDecimal(llvm::StringRef text) {
  uint64_t value;
  if (text.starts_with("0x") || text.starts_with("0b") ||
      llvm::StringRef(withoutUnderscores(text)).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

/// A power of 2 or 10 as an expression; empty where there is no exact one.
/// Zeros in groups of three, as the language lets numbers be written; 10 to a negative power is a
/// float.
static std::string spellPower(uint64_t base, bool isNegative, uint64_t exponent, bool standsAlone) {
  if (base == 2) {
    if (isNegative || exponent > 63)
      return "";
    if (exponent == 63) // of u64 alone
      return "9_223_372_036_854_775_808";
    std::string shift = "1 << " + std::to_string(exponent);
    return standsAlone ? shift : "(" + shift + ")";
  }
  if (isNegative || exponent > 18)
    return exponent > 300 ? "" : (isNegative ? "1e-" : "1e") + std::to_string(exponent);
  std::string digits = "1";
  for (uint64_t zeros = exponent; zeros-- > 0;)
    digits += zeros % 3 == 2 ? "_0" : "0";
  return digits;
}

/// Warns of `2^41` and `10^6`, which are powers elsewhere. Beside another operation on bits it is
/// one, too. `at` numbers the '^' among the operands and operators of `arithmetic`.
void ExprBuilder::warnOfPower(antlr4::ParserRuleContext *arithmetic, size_t at,
                              const BinaryExpr &node) {
  const std::vector<antlr4::tree::ParseTree *> &parts = arithmetic->children;
  auto operand = [&](size_t i) { return static_cast<antlr4::ParserRuleContext *>(parts[i]); };
  bool isNegative = false;
  antlr4::Token *first = findInteger(operand(at - 1), /*isExponent=*/false, isNegative);
  antlr4::Token *second = findInteger(operand(at + 1), /*isExponent=*/true, isNegative);
  if (!first || !second)
    return;
  std::optional<uint64_t> base = readDecimal(text(range(first)));
  std::optional<uint64_t> exponent = readDecimal(text(range(second)));
  if (!base || !exponent || (*base != 2 && *base != 10))
    return;

  // In `a * 2^10` the `*` takes the 2: the '^' joins a * 2 and 10.
  // An operator on the other side of an operand, which takes that away from the '^'.
  antlr4::Token *taker = nullptr;
  for (size_t beside : {at - 2, at + 2}) { // before the first operand: a huge number
    if (beside >= parts.size())
      continue;
    antlr4::Token *found = static_cast<antlr4::tree::TerminalNode *>(parts[beside])->getSymbol();
    switch (found->getType()) {
    case TileParser::PLUS:
    case TileParser::MINUS:
    case TileParser::STAR:
    case TileParser::SLASH:
    case TileParser::PERCENT:
      taker = taker ? taker : found;
      break;
    case TileParser::PIPE:
      break;
    default:
      return;
    }
  }

  std::string sign = isNegative ? "-" : "";
  std::string written = "'" + std::to_string(*base) + "^" + sign + std::to_string(*exponent) + "'";
  uint64_t value = *base ^ (isNegative ? 0 - *exponent : *exponent);
  std::string is = isNegative ? std::to_string(int64_t(value)) : std::to_string(value);
  DiagnosticBuilder report =
      diagnostics.report(diag::xorAsPower, node.opRange,
                         taker ? written + " is not one operand here, as '" +
                                     text(range(taker)).str() + "' binds more tightly"
                               : written + " is " + is);
  Range whole = range(first).join(range(second));
  bool standsAlone = !taker && range(second).end == node.range.end;
  std::string power = spellPower(*base, isNegative, *exponent, standsAlone);
  std::string meant = *base == 2 ? "0x2" : "0xa";
  if (power.empty())
    report.note("no integer holds this power, one of floats is written pow(x, y); if the exclusive "
                "or is meant, write the base as " +
                meant);
  else // with alternatives, so that `tilec fix` leaves the choice to the author
    report.fixIt(whole, power, "the power, written out")
        .fixIt(range(first), meant, "a base in hexadecimal says that the exclusive or is meant");
}

ExprPtr ExprBuilder::floatLiteral(Range place) {
  auto node = std::make_unique<FloatLiteral>();
  node->range = place;
  node->text = withoutUnderscores(text(place));
  std::optional<double> value = readFloat(node->text);
  if (!value)
    diagnostics.report(diag::malformedNumber, place, abbreviated(text(place)));
  else if (std::isinf(*value))
    diagnostics.report(diag::floatTooLarge, place, abbreviated(text(place)));
  else
    node->value = *value;
  return node;
}

/// The characters of a string literal, quotes dropped and escapes resolved.
/// An escape that is wrong is reported and left out. The range covers the quotes, which a token of
/// this type always has on both sides.
std::string ExprBuilder::unescape(Range place) {
  llvm::StringRef body = text(place).drop_front().drop_back();
  std::string out;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      out += body[i];
      continue;
    }
    static const llvm::StringRef letters = "ntr0abfv\\\"'", meanings("\n\t\r\0\a\b\f\v\\\"'", 11);
    uint32_t begin = place.begin + 1 + uint32_t(i);
    char escape = body[++i]; // the lexer saw to it that there is one
    size_t known = letters.find(escape);
    if (known != llvm::StringRef::npos) {
      out += meanings[known];
    } else if (escape == 'x' && i + 2 < body.size() && llvm::isHexDigit(body[i + 1]) &&
               llvm::isHexDigit(body[i + 2])) {
      out += char(llvm::hexFromNibbles(body[i + 1], body[i + 2]));
      i += 2;
    } else {
      Range bad = {file, begin, begin + 2};
      diagnostics.report(diag::invalidEscape, bad, text(bad));
    }
  }
  return out;
}
