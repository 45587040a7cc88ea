// PTX as it was read: instructions with resolved registers and labels. Only the syntax; what an
// instruction does is decided by the decoder.
#ifndef TILE_TEST_EMULATOR_PTX_H
#define TILE_TEST_EMULATOR_PTX_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace emu {

/// PTX that cannot be read or executed: where and why.
struct BadPtx : std::runtime_error {
  BadPtx(unsigned line, const std::string &text)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + text) {}
};

struct Operand {
  enum Kind { Register, Integer, F32, F64, Symbol, Special, Vector, Address, Pair, Sink };
  Kind kind = Sink;
  std::string name;           ///< of a symbol or special register
  int64_t value = 0;          ///< a number or its bits, an address's offset, a register's number
  bool negated = false;       ///< of a predicate
  std::vector<Operand> parts; ///< of a vector or pair; of an address: the base, then coordinates
};

struct Instruction {
  unsigned line = 0;
  int guard = -1; ///< the number of a predicate register
  bool guardNegated = false;
  std::vector<std::string> words; ///< the opcode's parts
  std::vector<Operand> operands;

  bool has(const char *word) const {
    for (const std::string &one : words)
      if (one == word)
        return true;
    return false;
  }
  std::string opcode() const;
};

/// Memory that is declared: a parameter, shared, global, constant or local memory.
struct Variable {
  std::string name, space;
  uint64_t align = 1, bytes = 0;
  bool isExtern = false;
  std::vector<uint8_t> initial;
};

struct Function {
  std::string name;
  bool isEntry = false;
  std::vector<Variable> params, variables;
  std::vector<unsigned> registers; ///< bits of each; 1: a predicate
  std::vector<Instruction> body;
  unsigned threads[3] = {0, 0, 0}; ///< .reqntid
};

struct Module {
  std::string target;
  std::vector<Variable> variables;
  std::map<std::string, Function> functions;
};

Module parsePtx(const std::string &text);

} // namespace emu

#endif
