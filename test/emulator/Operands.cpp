// Reads numbers, registers, addresses and vectors of PTX.
#include "test/emulator/Parser.h"

#include <cstdlib>
#include <cstring>

namespace emu {

unsigned typeBits(const std::string &name) {
  if (name == "pred")
    return 1;
  if (name == "f16x2" || name == "bf16x2")
    return 32;
  if (name == "bf16")
    return 16;
  if (name.size() < 2 || !strchr("bsuf", name[0]))
    return 0;
  char *end = nullptr;
  unsigned long bits = strtoul(name.c_str() + 1, &end, 10);
  return *end || bits > 128 ? 0 : unsigned(bits);
}

int64_t Parser::integer() {
  bool negative = skip('-');
  if (peek().kind != Token::Number)
    fail("a number");
  uint64_t value = strtoull(take().text.c_str(), nullptr, 0);
  return negative ? -int64_t(value) : int64_t(value);
}

Operand Parser::number() {
  Operand result;
  bool negative = skip('-');
  if (peek().kind != Token::Number)
    fail("an operand");
  std::string text = take().text;
  if (text.size() == 10 && (text.compare(0, 2, "0f") == 0 || text.compare(0, 2, "0F") == 0)) {
    result.kind = Operand::F32;
    result.value = int64_t(strtoull(text.c_str() + 2, nullptr, 16));
  } else if (text.size() == 18 &&
             (text.compare(0, 2, "0d") == 0 || text.compare(0, 2, "0D") == 0)) {
    result.kind = Operand::F64;
    result.value = int64_t(strtoull(text.c_str() + 2, nullptr, 16));
  } else if (text.find('.') != std::string::npos) {
    double value = strtod(text.c_str(), nullptr);
    result.kind = Operand::F64;
    memcpy(&result.value, &value, sizeof value);
  } else {
    result.kind = Operand::Integer;
    result.value = int64_t(strtoull(text.c_str(), nullptr, 0));
  }
  if (negative)
    result.value = result.kind == Operand::Integer ? -result.value
                   : result.kind == Operand::F32   ? result.value ^ (int64_t(1) << 31)
                                                   : result.value ^ INT64_MIN;
  return result;
}

int Parser::findRegister(const std::string &name) const {
  for (size_t i = scopes.size(); i-- > 0;) {
    auto found = scopes[i].registers.find(name);
    if (found != scopes[i].registers.end())
      return found->second;
  }
  return -1;
}

/// A register, special register, symbol or number.
Operand Parser::atom() {
  if (peek().kind != Token::Word)
    return number();
  Operand result;
  result.name = word();
  result.value = findRegister(result.name);
  if (result.name == "_")
    result.kind = Operand::Sink;
  else if (result.value >= 0)
    result.kind = Operand::Register;
  else if (result.name == "WARP_SZ") {
    result.kind = Operand::Integer;
    result.value = 32;
  } else
    result.kind = result.name[0] == '%' ? Operand::Special : Operand::Symbol;
  if (result.kind == Operand::Symbol || result.kind == Operand::Special)
    result.value = 0;
  return result;
}

Operand Parser::operand() {
  Operand result;
  if (skip('[')) {
    result.kind = Operand::Address;
    result.parts.push_back(atom());
    while (isMark('+') || isMark('-')) {
      bool negative = take().text[0] == '-';
      result.value += negative ? -integer() : integer();
    }
    while (skip(','))
      result.parts.push_back(operand());
    expect(']');
    return result;
  }
  if (isMark('{') || isMark('(')) {
    char end = take().text[0] == '{' ? '}' : ')';
    result.kind = Operand::Vector;
    if (!isMark(end))
      do
        result.parts.push_back(operand());
      while (skip(','));
    expect(end);
    return result;
  }
  bool negated = skip('!');
  result = atom();
  result.negated = negated;
  if (skip('|')) {
    Operand pair;
    pair.kind = Operand::Pair;
    pair.parts = {result, atom()};
    return pair;
  }
  if (result.kind == Operand::Symbol && (isMark('+') || isMark('-'))) {
    bool negative = take().text[0] == '-';
    result.value = negative ? -integer() : integer();
  }
  return result;
}

} // namespace emu
