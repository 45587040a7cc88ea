// The two functions of the CUDA system that kernels call: vprintf and __assertfail.
#include "test/emulator/Decoder.h"

#include <cstdio>

namespace emu {
namespace {

/// Bytes of global memory or of the thread's local memory, at a generic address.
const uint8_t *readable(Warp &w, const Op &op, int lane, uint64_t address, uint32_t bytes) {
  uint64_t offset = address & ~windowMask;
  if ((address & windowMask) == localWindow && offset + bytes <= w.kernel->localBytes)
    return &w.local[size_t(lane) * w.kernel->localBytes + offset];
  if (!w.block->grid->memory->contains(address, bytes))
    fault(IllegalAddress, w, op, lane, "a call is given " + hex(address) + ", which is no memory");
  return reinterpret_cast<const uint8_t *>(address);
}
std::string textAt(Warp &w, const Op &op, int lane, uint64_t address) {
  std::string text;
  while (char c = char(*readable(w, op, lane, address + text.size(), 1)))
    text += c;
  return text;
}
uint64_t argument(Warp &w, const Op &op, int lane, uint32_t number) {
  uint64_t value = 0;
  uint32_t offset = w.kernel->lists[op.list + number];
  memcpy(&value, &w.local[size_t(lane) * w.kernel->localBytes + offset], 8);
  return value;
}

/// One conversion of a format, `spec` from its % to its letter, with its argument.
std::string format(Warp &w, const Op &op, int lane, const std::string &spec, uint64_t value) {
  char text[256];
  std::string flags = spec.substr(0, spec.find_first_of("hlzjt", 1));
  char letter = spec.back();
  if (flags.back() == letter)
    flags.pop_back();
  if (letter == 's')
    return textAt(w, op, lane, value);
  if (strchr("eEfFgGaA", letter)) {
    snprintf(text, sizeof text, (flags + letter).c_str(), bitsOf<double>(value));
  } else {
    bool isLong = spec.find_first_of("lzjt") != std::string::npos || letter == 'p';
    if (!isLong)
      value = strchr("di", letter) ? uint64_t(int64_t(int32_t(value))) : uint64_t(uint32_t(value));
    if (letter == 'c')
      return std::string(1, char(value));
    snprintf(text, sizeof text, (flags + "ll" + (letter == 'p' ? 'x' : letter)).c_str(),
             static_cast<long long>(value));
  }
  return text;
}

Step print(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int lane) {
    std::string pattern = textAt(w, op, lane, argument(w, op, lane, 0)), text;
    uint64_t at = argument(w, op, lane, 1);
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (pattern[i] != '%') {
        text += pattern[i];
        continue;
      }
      if (pattern.compare(i, 2, "%%") == 0) {
        text += '%';
        ++i;
        continue;
      }
      size_t end = std::min(pattern.find_first_of("diouxXeEfFgGaAcsp", i), pattern.size() - 1);
      std::string spec = pattern.substr(i, end - i + 1);
      bool isWide = spec.find_first_of("lzjt") != std::string::npos ||
                    strchr("eEfFgGaAsp", spec.back()) != nullptr;
      uint32_t bytes = isWide ? 8 : 4;
      at = (at + bytes - 1) / bytes * bytes;
      uint64_t value = 0;
      memcpy(&value, readable(w, op, lane, at, bytes), bytes);
      at += bytes;
      text += format(w, op, lane, spec, value);
      i = end;
    }
    fputs(text.c_str(), stdout);
  });
  fflush(stdout);
  return Step::Next;
}

Step failAssertion(Warp &w, const Op &op, uint32_t m) {
  int lane = __builtin_ctz(m);
  std::string text = textAt(w, op, lane, argument(w, op, lane, 1)) + ":" +
                     std::to_string(uint32_t(argument(w, op, lane, 2))) + ": " +
                     textAt(w, op, lane, argument(w, op, lane, 3)) +
                     ": assertion failed: " + textAt(w, op, lane, argument(w, op, lane, 0));
  fprintf(stderr, "%s\n", text.c_str());
  fault(AssertFailed, w, op, lane, text);
}

} // namespace

bool decodeCall(Decoder &d, Op &op) {
  if (d.name() != "call")
    return false;
  d.allow({"uni"});
  size_t name = d.operand(0).kind == Operand::Vector ? 1 : 0;
  const std::string &callee = d.operand(name).name;
  if (callee != "vprintf" && callee != "__assertfail")
    d.fail("the function '" + callee + "' is not emulated");
  for (const Operand &part : d.operand(name + 1).parts) {
    d.lists().push_back(uint32_t(d.symbol(part)));
    ++op.count;
  }
  if (op.count != (callee == "vprintf" ? 2u : 5u))
    d.fail("it has too many or too few arguments");
  op.run = callee == "vprintf" ? print : failAssertion;
  return true;
}

} // namespace emu
