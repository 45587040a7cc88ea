// Finds `selp.b64 a, x, 1, p` whose result multiplies a 64-bit integer that lanes have exchanged:
// the next lanes' part of a scan, times this lane's element, or 1 where that does not exist.
//
//   shfl.sync.idx.b32  %r64, %r63, %r62, 31, -1;     a half of %rd70
//   selp.b64           %rd17, %rd11, 1, %p1;
//   mul.lo.s64         %rd71, %rd70, %rd17;
#include "codegen/SelectedFactors.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace tile {

namespace {

/// An instruction's name, its first operand, to which it writes, and the others.
struct Instruction {
  StringRef name;
  SmallVector<StringRef, 4> operands;

  explicit Instruction(StringRef line) {
    name = line.take_until([](char c) { return isSpace(c); });
    line.drop_front(name.size()).rtrim("; \r").split(operands, ',');
    for (StringRef &operand : operands)
      operand = operand.trim(" \t{}|");
  }

  bool reads(const StringSet<> &registers) const {
    return any_of(drop_begin(operands), [&](StringRef each) { return registers.contains(each); });
  }
};

} // namespace

bool hasSelectedFactor(StringRef ptx) {
  // Of a kernel: results of exchanges and what is put together of them; selections of 1.
  StringSet<> exchanged, selected;
  while (!ptx.empty()) {
    auto [first, rest] = ptx.split('\n');
    StringRef line = first.trim();
    ptx = rest;
    if (line.contains(".entry ")) {
      exchanged.clear();
      selected.clear();
      continue;
    }
    if (!line.starts_with("shfl.") && exchanged.empty())
      if (!line.starts_with("selp.b64"))
        continue;
    Instruction op(line);
    if (op.operands.size() < 2)
      continue;
    bool passesOn = op.name.starts_with("cvt.") || op.name.starts_with("shl.b64") ||
                    op.name.starts_with("or.b64") || op.name.starts_with("mov.b64") ||
                    op.name.starts_with("selp.b64") || op.name.starts_with("mul.lo.s64") ||
                    op.name.starts_with("mad.lo.s64") || op.name.starts_with("add.s64");
    if (op.name == "mul.lo.s64" && op.reads(exchanged) && op.reads(selected))
      return true;
    if (op.name == "selp.b64" && op.operands.size() == 4 &&
        (op.operands[1] == "1" || op.operands[2] == "1"))
      selected.insert(op.operands[0]);
    if (op.name.starts_with("shfl.") || (passesOn && op.reads(exchanged)))
      exchanged.insert(op.operands[0]);
  }
  return false;
}

} // namespace tile
