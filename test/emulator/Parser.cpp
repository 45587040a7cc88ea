// Reads PTX: declarations, scopes of registers and labels, instructions.
#include "test/emulator/Parser.h"

#include <algorithm>
#include <cstring>

namespace emu {

std::string Instruction::opcode() const {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ".") + word;
  return text;
}

/// Behind the space: `.align 16 .b8 name[128]`, perhaps with a value.
Variable Parser::variable(const std::string &space) {
  Variable v;
  v.space = space;
  uint64_t bytes = 0;
  while (peek().kind == Token::Word && peek().text[0] == '.') {
    std::string text = word();
    if (text == ".align")
      v.align = std::max<uint64_t>(v.align, uint64_t(integer()));
    else if (typeBits(text.substr(1)))
      bytes = typeBits(text.substr(1)) / 8;
    else if (text != ".ptr" && text != ".global" && text != ".shared" && text != ".const")
      throw BadPtx(peek().line, "unknown attribute '" + text + "' of a variable");
  }
  // An alignment behind .ptr is that of the memory pointed at.
  v.align = space == "param" && bytes > 1 ? bytes : std::max<uint64_t>(v.align, bytes);
  v.name = word();
  v.bytes = bytes;
  while (skip('[')) {
    v.bytes *= isMark(']') ? 0 : uint64_t(integer());
    expect(']');
  }
  if (skip('=')) {
    v.initial.resize(v.bytes);
    size_t to = 0;
    bool list = skip('{');
    do {
      int64_t value = number().value;
      if (to + bytes <= v.bytes)
        memcpy(&v.initial[to], &value, bytes);
      to += bytes;
    } while (list && skip(','));
    if (list)
      expect('}');
  }
  return v;
}

void Parser::declareRegisters() {
  std::string type = word();
  unsigned bits = typeBits(type.substr(1));
  if (!bits)
    fail("the type of a register");
  do {
    std::string name = word();
    if (skip('<')) {
      int64_t count = integer();
      expect('>');
      for (int64_t i = 0; i < count; ++i) {
        scopes.back().registers[name + std::to_string(i)] = int(function->registers.size());
        function->registers.push_back(bits);
      }
    } else {
      scopes.back().registers[name] = int(function->registers.size());
      function->registers.push_back(bits);
    }
  } while (skip(','));
  expect(';');
}

void Parser::closeScope() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (auto &[name, use] : scope.uses) {
    Operand &operand = function->body[use.instruction].operands[use.operand];
    auto found = scope.labels.find(name);
    if (found != scope.labels.end()) {
      operand.value = found->second;
      operand.kind = Operand::Integer;
    } else if (!scopes.empty())
      scopes.back().uses.emplace_back(name, use);
    else
      throw BadPtx(function->body[use.instruction].line, "there is no label '" + name + "'");
  }
}

void Parser::statement() {
  if (peek().kind == Token::Word && isMark(':', 1)) {
    scopes.back().labels[word()] = int64_t(function->body.size());
    take();
    return;
  }
  if (skip('{')) {
    scopes.emplace_back();
    return;
  }
  if (isMark('}')) {
    closeScope();
    take();
    return;
  }
  if (skip(';'))
    return;
  if (peek().text == ".reg") {
    take();
    return declareRegisters();
  }
  for (const char *space : {".shared", ".local", ".param"})
    if (peek().text == space) {
      take();
      function->variables.push_back(variable(space + 1));
      return expect(';');
    }
  if (peek().text == ".loc") {
    unsigned line = take().line;
    while (peek().line == line && peek().kind != Token::End)
      take();
    return;
  }
  if (peek().text[0] == '.') { // .pragma and the like
    while (!isMark(';') && peek().kind != Token::End)
      take();
    return expect(';');
  }
  Instruction instruction;
  instruction.line = peek().line;
  if (skip('@')) {
    instruction.guardNegated = skip('!');
    std::string name = word();
    instruction.guard = findRegister(name);
    if (instruction.guard < 0)
      throw BadPtx(instruction.line, "there is no predicate '" + name + "'");
  }
  std::string opcode = word();
  for (size_t from = 0; from <= opcode.size();) {
    size_t dot = std::min(opcode.find('.', from), opcode.size());
    instruction.words.push_back(opcode.substr(from, dot - from));
    from = dot + 1;
  }
  while (!isMark(';')) {
    instruction.operands.push_back(operand());
    if (!skip(','))
      break;
  }
  expect(';');
  if (instruction.words[0] == "bra") {
    if (instruction.operands.size() != 1)
      throw BadPtx(instruction.line, "a branch has one target");
    scopes.back().uses.push_back({instruction.operands[0].name, {function->body.size(), 0}});
  }
  function->body.push_back(std::move(instruction));
}

void Parser::body() {
  expect('{');
  scopes.emplace_back();
  while (!scopes.empty()) {
    if (peek().kind == Token::End)
      fail("'}'");
    statement();
  }
}

void Parser::functionAt(bool isEntry, bool isExtern) {
  Function result;
  result.isEntry = isEntry;
  auto params = [&] {
    if (!skip('('))
      return;
    while (!skip(')')) {
      if (word() != ".param")
        fail(".param");
      result.params.push_back(variable("param"));
      skip(',');
    }
  };
  if (!isEntry)
    params(); // results
  result.name = word();
  params();
  while (!isMark('{') && !isMark(';') && peek().kind != Token::End) {
    std::string directive = word();
    if (directive == ".noreturn")
      continue;
    for (unsigned i = 0; peek().kind == Token::Number; ++i) {
      unsigned value = unsigned(integer());
      if (directive == ".reqntid" && i < 3)
        result.threads[i] = value;
      skip(',');
    }
  }
  if (skip(';') || isExtern)
    return;
  function = &module.functions[result.name];
  *function = std::move(result);
  body();
}

Module Parser::run() {
  bool isExtern = false;
  while (peek().kind != Token::End) {
    std::string text = word();
    if (text == ".visible" || text == ".weak" || text == ".common")
      continue;
    if (text == ".extern") {
      isExtern = true;
      continue;
    }
    if (text == ".entry" || text == ".func") {
      functionAt(text == ".entry", isExtern);
    } else if (text == ".shared" || text == ".global" || text == ".const") {
      module.variables.push_back(variable(text.substr(1)));
      module.variables.back().isExtern = isExtern;
      expect(';');
    } else if (text == ".target") {
      module.target = word();
      while (skip(','))
        word();
    } else if (text == ".section") {
      word();
      expect('{');
      while (!skip('}') && peek().kind != Token::End)
        take();
    } else if (text == ".file" || text == ".version" || text == ".address_size") {
      unsigned line = tokens[at - 1].line;
      while (peek().line == line && peek().kind != Token::End)
        take();
    } else {
      throw BadPtx(tokens[at - 1].line, "unknown directive '" + text + "'");
    }
    isExtern = false;
  }
  return std::move(module);
}

Module parsePtx(const std::string &text) { return Parser(text).run(); }

} // namespace emu
