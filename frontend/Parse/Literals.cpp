// AST builder: numbers and strings.
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

ExprPtr AstBuilder::literal(TileParser::LiteralContext *context) {
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

ExprPtr AstBuilder::intLiteral(Range place) {
  auto node = std::make_unique<IntLiteral>();
  node->range = place;
  std::string digits = withoutUnderscores(text(place));
  llvm::StringRef rest = digits;
  unsigned radix = rest.consume_front("0x") ? 16 : rest.consume_front("0b") ? 2 : 10;
  if (rest.getAsInteger(radix, node->value))
    diagnostics.report(diag::numberTooLarge, place, abbreviated(text(place)));
  return node;
}

ExprPtr AstBuilder::floatLiteral(Range place) {
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
std::string AstBuilder::unescape(Range place) {
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
