// cvt between all types: one general routine, and short ones for the pairs that kernels are full
// of.
#include "test/emulator/Decoder.h"

namespace emu {
namespace {

enum Type : uint8_t {
  U8,
  S8,
  U16,
  S16,
  U32,
  S32,
  U64,
  S64,
  Half,
  Brain,
  Single,
  Double,
  Tf32,
  E4m3,
  E5m2,
  NoType
};

Type typeOf(const std::string &name) {
  static const std::map<std::string, Type> names = {
      {"u8", U8},      {"s8", S8},      {"u16", U16},  {"s16", S16},  {"u32", U32},
      {"s32", S32},    {"u64", U64},    {"s64", S64},  {"f16", Half}, {"bf16", Brain},
      {"f32", Single}, {"f64", Double}, {"tf32", Tf32}};
  auto found = names.find(name);
  return found == names.end() ? NoType : found->second;
}
bool isInteger(Type t) { return t <= S64; }
bool isSigned(Type t) { return isInteger(t) && (t & 1); }
unsigned bitsOfType(Type t) {
  switch (t) {
  case U8:
  case S8:
  case E4m3:
  case E5m2:
    return 8;
  case U16:
  case S16:
  case Half:
  case Brain:
    return 16;
  case U64:
  case S64:
  case Double:
    return 64;
  default:
    return 32;
  }
}
constexpr Format single{8, 23, false};

struct Mode {
  Type to, from;
  Round round;
  bool integral, sat, relu, ftz;
};
int64_t packMode(const Mode &m) {
  return m.to | m.from << 4 | int(m.round) << 8 | m.integral << 12 | m.sat << 13 | m.relu << 14 |
         m.ftz << 15;
}
Mode unpackMode(int64_t v) {
  return {Type(v & 15),       Type(v >> 4 & 15),  Round(v >> 8 & 15), (v >> 12 & 1) != 0,
          (v >> 13 & 1) != 0, (v >> 14 & 1) != 0, (v >> 15 & 1) != 0};
}

double readFloat(uint64_t bits, const Mode &m) {
  switch (m.from) {
  case Half:
    return decodeFloat(uint32_t(bits & 0xFFFF), half);
  case Brain:
    return decodeFloat(uint32_t(bits & 0xFFFF), brain);
  case Single: {
    float value = bitsOf<float>(uint32_t(bits));
    return m.ftz ? flush(value) : value;
  }
  default:
    return bitsOf<double>(bits);
  }
}

uint64_t writeFloat(double value, const Mode &m) {
  if (m.relu && !(value > 0) && value == value)
    value = 0;
  if (m.sat && m.to != E4m3 && m.to != E5m2)
    value = value > 0 ? std::min(value, 1.0) : 0;
  switch (m.to) {
  case Half:
    return encodeFloat(value, half, m.round, false);
  case Brain:
    return encodeFloat(value, brain, m.round, false);
  case E4m3:
    return encodeFloat(value, e4m3, m.round, true);
  case E5m2:
    return encodeFloat(value, e5m2, m.round, true);
  case Tf32:
    return encodeTf32(float(value), m.round);
  case Single: {
    uint32_t bits = encodeFloat(value, single, m.round, false);
    return m.ftz ? bitsOf<uint32_t>(flush(bitsOf<float>(bits))) : bits;
  }
  default:
    return bitsOf<uint64_t>(value);
  }
}

/// Clamped to the type, as a conversion from a float is; NaN becomes 0.
uint64_t toInteger(double value, Type to) {
  unsigned bits = bitsOfType(to);
  if (value != value)
    return bits == 64 ? uint64_t(1) << 63 : 0;
  double low = isSigned(to) ? -std::ldexp(1.0, int(bits) - 1) : 0,
         high = std::ldexp(1.0, int(bits) - isSigned(to));
  if (value <= low)
    return isSigned(to) ? uint64_t(1) << (bits - 1) | (bits < 64 ? ~uint64_t(0) << bits : 0) : 0;
  if (value >= high)
    return isSigned(to) ? (uint64_t(1) << (bits - 1)) - 1
           : bits == 64 ? ~uint64_t(0)
                        : (uint64_t(1) << bits) - 1;
  return isSigned(to) ? uint64_t(int64_t(value)) : uint64_t(value);
}

uint64_t extend(uint64_t value, Type type) {
  unsigned bits = bitsOfType(type);
  if (bits == 64)
    return value;
  value &= (uint64_t(1) << bits) - 1;
  return isSigned(type) && value >> (bits - 1) ? value | ~uint64_t(0) << bits : value;
}

/// An integer as f32 or f64, rounded once.
uint64_t fromInteger(uint64_t value, const Mode &m) {
  if (m.to == Single && m.round == Round::Nearest && !m.sat)
    return bitsOf<uint32_t>(isSigned(m.from) ? float(int64_t(value)) : float(value));
  if (m.to == Double || bitsOfType(m.from) <= 32)
    return writeFloat(isSigned(m.from) ? double(int64_t(value)) : double(value), m);
  // The high and low halves are exact in double.
  double high = isSigned(m.from) ? double(int64_t(value) >> 32) : double(value >> 32);
  return writeFloat(addToOdd(high * 4294967296.0, double(value & 0xFFFFFFFFu)), m);
}

uint64_t integerToInteger(uint64_t value, const Mode &m) {
  if (!m.sat)
    return value;
  unsigned bits = bitsOfType(m.to);
  __int128 wide = isSigned(m.from) ? __int128(int64_t(value)) : __int128(value),
           low = isSigned(m.to) ? -(__int128(1) << (bits - 1)) : 0,
           high = (__int128(1) << (bits - isSigned(m.to))) - 1;
  return uint64_t(wide < low ? low : wide > high ? high : wide);
}

uint64_t convertOne(uint64_t value, const Mode &m) {
  if (isInteger(m.from)) {
    value = extend(value, m.from);
    return isInteger(m.to) ? extend(integerToInteger(value, m), m.to) : fromInteger(value, m);
  }
  double number = readFloat(value, m);
  if (isInteger(m.to))
    return extend(toInteger(roundToIntegral(number, m.round), m.to), m.to);
  if (m.integral)
    number = std::copysign(roundToIntegral(number, m.round), number);
  return writeFloat(number, m);
}

uint64_t readLane(Warp &w, uint32_t offset, unsigned bits, int lane) {
  return bits == 16   ? w.at<uint16_t>(offset)[lane]
         : bits == 32 ? w.at<uint32_t>(offset)[lane]
                      : w.at<uint64_t>(offset)[lane];
}
void writeLane(Warp &w, uint32_t offset, unsigned bits, int lane, uint64_t value) {
  if (bits == 16)
    w.at<uint16_t>(offset)[lane] = uint16_t(value);
  else if (bits == 32)
    w.at<uint32_t>(offset)[lane] = uint32_t(value);
  else
    w.at<uint64_t>(offset)[lane] = value;
}

Step convert(Warp &w, const Op &op, uint32_t m) {
  Mode mode = unpackMode(op.imm);
  eachLane(m, [&](int i) {
    writeLane(w, op.d, op.wide, i, convertOne(readLane(w, op.a, op.bits, i), mode));
  });
  return Step::Next;
}

/// Two floats into halves of a register: the first one is the high half.
Step packTwo(Warp &w, const Op &op, uint32_t m) {
  Mode mode = unpackMode(op.imm);
  unsigned bits = bitsOfType(mode.to);
  eachLane(m, [&](int i) {
    uint64_t high = convertOne(readLane(w, op.a, 32, i), mode),
             low = convertOne(readLane(w, op.b, 32, i), mode);
    writeLane(w, op.d, bits * 2, i, high << bits | low);
  });
  return Step::Next;
}
template <class H> Step packTwoFast(Warp &w, const Op &op, uint32_t m) {
  return binary<uint32_t, float>(
      w, op, m, [](float a, float b) { return uint32_t(H::store(a)) << 16 | H::store(b); });
}
/// Two f16 of one register to two 8-bit floats, and back.
Step packFloat8(Warp &w, const Op &op, uint32_t m) {
  Mode mode = unpackMode(op.imm);
  eachLane(m, [&](int i) {
    uint32_t pair = w.at<uint32_t>(op.a)[i];
    uint64_t low = convertOne(pair & 0xFFFF, mode), high = convertOne(pair >> 16, mode);
    w.at<uint16_t>(op.d)[i] = uint16_t(high << 8 | low);
  });
  return Step::Next;
}
Step unpackFloat8(Warp &w, const Op &op, uint32_t m) {
  Mode mode = unpackMode(op.imm);
  const Format &format = mode.from == E4m3 ? e4m3 : e5m2;
  eachLane(m, [&](int i) {
    uint32_t pair = w.at<uint16_t>(op.a)[i];
    uint64_t low = writeFloat(decodeFloat(pair & 255, format), mode),
             high = writeFloat(decodeFloat(pair >> 8, format), mode);
    w.at<uint32_t>(op.d)[i] = uint32_t(high << 16 | low);
  });
  return Step::Next;
}

/// Two integers, clamped, below the lower half of a third one: the first one is the higher byte.
template <int32_t low, int32_t high> Step packBytes(Warp &w, const Op &op, uint32_t m) {
  eachLane(m, [&](int i) {
    auto byte = [&](uint32_t from) {
      return uint32_t(std::clamp(w.at<int32_t>(from)[i], low, high)) & 255;
    };
    w.at<uint32_t>(op.d)[i] = w.at<uint32_t>(op.c)[i] << 16 | byte(op.a) << 8 | byte(op.b);
  });
  return Step::Next;
}

Execute fastPath(const Mode &m) {
  if (m.sat || m.relu || m.ftz)
    return nullptr;
  if (m.to == U64 && m.from == U32)
    return [](Warp &w, const Op &op, uint32_t k) {
      return unary<uint64_t, uint32_t>(w, op, k, [](uint32_t a) { return uint64_t(a); });
    };
  if (m.to == S64 && m.from == S32)
    return [](Warp &w, const Op &op, uint32_t k) {
      return unary<int64_t, int32_t>(w, op, k, [](int32_t a) { return int64_t(a); });
    };
  if (m.to == U32 && m.from == U64)
    return [](Warp &w, const Op &op, uint32_t k) {
      return unary<uint32_t, uint64_t>(w, op, k, [](uint64_t a) { return uint32_t(a); });
    };
  if (m.to == Single && m.from == Half)
    return [](Warp &w, const Op &op, uint32_t k) {
      return unary<float, uint16_t>(w, op, k, halfToFloat);
    };
  if (m.to == Single && m.from == Brain)
    return [](Warp &w, const Op &op, uint32_t k) {
      return unary<float, uint16_t>(w, op, k,
                                    [](uint16_t a) { return canonical(brainToFloat(a)); });
    };
  if (m.to == Half && m.from == Single && m.round == Round::Nearest)
    return [](Warp &w, const Op &op, uint32_t k) {
      return unary<uint16_t, float>(w, op, k, floatToHalf);
    };
  if (m.to == Brain && m.from == Single && m.round == Round::Nearest)
    return [](Warp &w, const Op &op, uint32_t k) {
      return unary<uint16_t, float>(w, op, k, floatToBrain);
    };
  return nullptr;
}

} // namespace

bool decodeConvert(Decoder &d, Op &op) {
  const auto &words = d.current().words;
  if (d.name() != "cvt" || words.size() < 3)
    return false;
  if (words[1] == "pack") {
    if (words.size() != 6 || words[2] != "sat" || words[4] != "s32" || words[5] != "b32" ||
        (words[3] != "s8" && words[3] != "u8"))
      return false;
    op.d = d.result(0, 32);
    op.a = d.source(1, 32);
    op.b = d.source(2, 32);
    op.c = d.source(3, 32);
    op.run = words[3] == "s8" ? packBytes<-128, 127> : packBytes<0, 255>;
    return true;
  }
  const std::string &to = words[words.size() - 2], &from = words.back();
  Mode m{typeOf(to),    typeOf(from), Round::Nearest, false, d.has("sat") || d.has("satfinite"),
         d.has("relu"), d.has("ftz")};
  for (size_t i = 1; i + 2 < words.size(); ++i) {
    const std::string &word = words[i];
    if (word == "sat" || word == "satfinite" || word == "relu" || word == "ftz")
      continue;
    m.integral = word.size() == 3 && word[2] == 'i';
    if (word == "rna")
      m.round = Round::Away;
    else if (word.compare(0, 2, "rn") == 0)
      m.round = Round::Nearest;
    else if (word.compare(0, 2, "rz") == 0)
      m.round = Round::Zero;
    else if (word.compare(0, 2, "rm") == 0)
      m.round = Round::Down;
    else if (word.compare(0, 2, "rp") == 0)
      m.round = Round::Up;
    else
      d.fail("'." + word + "' is not emulated");
  }
  bool isPair8 = to == "e4m3x2" || to == "e5m2x2";
  if (to == "f16x2" || to == "bf16x2" || isPair8) {
    m.to = to == "f16x2" ? Half : to == "bf16x2" ? Brain : to == "e4m3x2" ? E4m3 : E5m2;
    op.d = d.result(0, isPair8 ? 16 : 32);
    if (from == "f32") {
      op.a = d.source(1, 32);
      op.b = d.source(2, 32);
      op.run = packTwo;
      if (!m.relu && !m.sat && !isPair8 && m.round == Round::Nearest)
        op.run = m.to == Half ? packTwoFast<F16> : packTwoFast<BF16>;
    } else if (isPair8 && from == "f16x2") {
      m.from = Half;
      op.a = d.source(1, 32);
      op.run = packFloat8;
    } else if (to == "f16x2" && (from == "e4m3x2" || from == "e5m2x2")) {
      m.from = from == "e4m3x2" ? E4m3 : E5m2;
      op.a = d.source(1, 16);
      op.run = unpackFloat8;
    }
    op.imm = packMode(m);
    return op.run != nullptr;
  }
  if (m.to == NoType || m.from == NoType)
    return false;
  if (m.sat && m.to == Tf32)
    return false;
  unsigned wide = d.widthOf(d.operand(0)), given = d.widthOf(d.operand(1));
  unsigned toBits = std::max(16u, bitsOfType(m.to)), fromBits = std::max(16u, bitsOfType(m.from));
  wide = std::max(wide, toBits);
  given = std::max(given, fromBits);
  // A register may be wider than an integer; floats have registers of their size.
  if ((!isInteger(m.to) && wide != toBits) || (!isInteger(m.from) && given != fromBits))
    d.fail("a register is wider than the number");
  op.d = d.result(0, wide);
  op.a = d.source(1, given);
  op.wide = uint8_t(wide);
  op.bits = uint8_t(given);
  op.imm = packMode(m);
  op.run = wide == toBits && given == fromBits ? fastPath(m) : nullptr;
  if (!op.run)
    op.run = convert;
  return true;
}

} // namespace emu
