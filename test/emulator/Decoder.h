// From read PTX to operations: where operands lie in a warp's register file, and which routine
// executes an instruction. What no routine is known for is an error.
#ifndef TILE_TEST_EMULATOR_DECODER_H
#define TILE_TEST_EMULATOR_DECODER_H

#include "test/emulator/Machine.h"

namespace emu {

/// Initial values of the module's variables in global memory: name -> address.
using Globals = std::map<std::string, uint64_t>;

class Decoder {
public:
  Decoder(const Module &module, const Function &function, const Globals &globals);
  Kernel run();

  [[noreturn]] void fail(const std::string &text) const;
  const Instruction &current() const { return *instruction; }
  bool has(const char *word) const { return instruction->has(word); }
  const std::string &name() const { return instruction->words[0]; }
  const std::string &last() const { return instruction->words.back(); }
  const Operand &operand(size_t i) const;
  size_t operands() const { return instruction->operands.size(); }

  /// Bits of the type's name; 0 where it is no type.
  static unsigned bitsOf(const std::string &type);
  /// Bits of a register, 0 where the operand is none.
  unsigned widthOf(const Operand &operand) const;
  /// An operand that is read, as lanes of that many bits.
  uint32_t source(const Operand &operand, unsigned bits);
  uint32_t source(size_t i, unsigned bits) { return source(operand(i), bits); }
  /// A register that is written; none for `_`.
  uint32_t result(const Operand &operand, unsigned bits);
  uint32_t result(size_t i, unsigned bits) { return result(operand(i), bits); }
  /// A predicate that is read, its negation as a flag.
  uint32_t predicate(const Operand &operand, bool &negated);
  uint32_t constant(uint64_t value, unsigned bits);
  /// Fills a, addressBits and imm for `[register + offset]`.
  void address(const Operand &operand, Op &op);
  /// The address of a variable, in its space.
  uint64_t symbol(const Operand &operand) const;
  /// The space that the opcode names.
  Space space() const;
  std::vector<uint32_t> &lists() { return kernel.lists; }
  /// Appends the operand's parts, or itself, to the lists.
  void list(const Operand &operand, unsigned bits, bool isResult, Op &op);
  /// Accepts only these words behind the first one; anything else is an instruction that is not
  /// known.
  void allow(std::initializer_list<const char *> words) const;

private:
  const Module &module;
  const Function &function;
  Kernel kernel;
  const Instruction *instruction = nullptr;
  std::vector<uint32_t> offsets;
  std::map<std::pair<uint64_t, unsigned>, uint32_t> constants;
  std::map<std::string, uint64_t> symbols;

  uint32_t grow(uint32_t bytes);
  uint32_t special(const std::string &name);
  void layOut(const Globals &globals);
};

// Families of instructions. Each returns false for what is not its own.
bool decodeInteger(Decoder &decoder, Op &op);
bool decodeFloat32(Decoder &decoder, Op &op);
bool decodeFloat16(Decoder &decoder, Op &op);
bool decodeCompare(Decoder &decoder, Op &op);
bool decodeConvert(Decoder &decoder, Op &op);
bool decodeMove(Decoder &decoder, Op &op);
bool decodeMemory(Decoder &decoder, Op &op);
bool decodeAtomic(Decoder &decoder, Op &op);
bool decodeWarp(Decoder &decoder, Op &op);
bool decodeCall(Decoder &decoder, Op &op);
bool decodeBarrier(Decoder &decoder, Op &op);
bool decodeMatrix(Decoder &decoder, Op &op);
bool decodeWgmma(Decoder &decoder, Op &op);
bool decodeCopy(Decoder &decoder, Op &op);
bool decodeBulk(Decoder &decoder, Op &op);
bool decodeTensorMap(Decoder &decoder, Op &op);

/// Does f for each lane of the mask.
template <class F> inline void eachLane(uint32_t mask, F f) {
  if (mask == all) {
    for (int i = 0; i < 32; ++i)
      f(i);
    return;
  }
  for (; mask; mask &= mask - 1)
    f(__builtin_ctz(mask));
}
template <class D, class A, class F> inline Step unary(Warp &w, const Op &op, uint32_t mask, F f) {
  D *d = w.at<D>(op.d);
  const A *a = w.at<A>(op.a);
  eachLane(mask, [&](int i) { d[i] = f(a[i]); });
  return Step::Next;
}
template <class D, class A, class F> inline Step binary(Warp &w, const Op &op, uint32_t mask, F f) {
  D *d = w.at<D>(op.d);
  const A *a = w.at<A>(op.a), *b = w.at<A>(op.b);
  eachLane(mask, [&](int i) { d[i] = f(a[i], b[i]); });
  return Step::Next;
}
template <class D, class A, class C, class F>
inline Step ternary(Warp &w, const Op &op, uint32_t mask, F f) {
  D *d = w.at<D>(op.d);
  const A *a = w.at<A>(op.a), *b = w.at<A>(op.b);
  const C *c = w.at<C>(op.c);
  eachLane(mask, [&](int i) { d[i] = f(a[i], b[i], c[i]); });
  return Step::Next;
}

} // namespace emu

#endif
