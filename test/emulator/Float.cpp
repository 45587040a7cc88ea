// Arithmetic of f32 and f64. Results that are NaN are the canonical one in f32.
#include "test/emulator/Decoder.h"

namespace emu {
namespace {

template <bool ftz> float in(float value) { return ftz ? flush(value) : value; }
template <bool ftz> float out(float value) { return canonical(ftz ? flush(value) : value); }

/// Minimum or maximum; -0 is below 0. With `nan` a NaN wins, else the number does.
template <class T> T lesser(T a, T b, bool nan) {
  if (a != a || b != b)
    return (a != a && b != b) || nan ? std::numeric_limits<T>::quiet_NaN() : a != a ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T> T greater(T a, T b, bool nan) {
  if (a != a || b != b)
    return (a != a && b != b) || nan ? std::numeric_limits<T>::quiet_NaN() : a != a ? b : a;
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
float saturate(float value) { return value > 0 ? std::min(value, 1.0f) : 0.0f; }

#define TWO(expression)                                                                            \
  (ftz ? Execute([](Warp &w, const Op &op, uint32_t m) {                                           \
    return binary<float, float>(w, op, m, [](float a, float b) {                                   \
      a = in<true>(a), b = in<true>(b);                                                            \
      return out<true>(expression);                                                                \
    });                                                                                            \
  })                                                                                               \
       : Execute([](Warp &w, const Op &op, uint32_t m) {                                           \
           return binary<float, float>(w, op, m,                                                   \
                                       [](float a, float b) { return canonical(expression); });    \
         }))
#define ONE(expression)                                                                            \
  (ftz ? Execute([](Warp &w, const Op &op, uint32_t m) {                                           \
    return unary<float, float>(w, op, m, [](float a) {                                             \
      a = in<true>(a);                                                                             \
      return out<true>(expression);                                                                \
    });                                                                                            \
  })                                                                                               \
       : Execute([](Warp &w, const Op &op, uint32_t m) {                                           \
           return unary<float, float>(w, op, m, [](float a) { return canonical(expression); });    \
         }))
#define THREE(expression)                                                                          \
  (ftz ? Execute([](Warp &w, const Op &op, uint32_t m) {                                           \
    return ternary<float, float, float>(w, op, m, [](float a, float b, float c) {                  \
      a = in<true>(a), b = in<true>(b), c = in<true>(c);                                           \
      return out<true>(expression);                                                                \
    });                                                                                            \
  })                                                                                               \
       : Execute([](Warp &w, const Op &op, uint32_t m) {                                           \
           return ternary<float, float, float>(                                                    \
               w, op, m, [](float a, float b, float c) { return canonical(expression); });         \
         }))
#define TWO64(expression)                                                                          \
  Execute([](Warp &w, const Op &op, uint32_t m) {                                                  \
    return binary<double, double>(w, op, m, [](double a, double b) { return expression; });        \
  })
#define ONE64(expression)                                                                          \
  Execute([](Warp &w, const Op &op, uint32_t m) {                                                  \
    return unary<double, double>(w, op, m, [](double a) { return expression; });                   \
  })

/// Instructions that have one rounding here, to nearest.
bool isOtherRounding(const Decoder &d) { return d.has("rz") || d.has("rm") || d.has("rp"); }

Execute choose32(const Decoder &d, size_t &sources) {
  const std::string &name = d.name();
  bool ftz = d.has("ftz"), nan = d.has("NaN"), sat = d.has("sat");
  sources = 2;
  if (name == "add")
    return sat ? TWO(saturate(a + b)) : TWO(a + b);
  if (name == "sub")
    return sat ? TWO(saturate(a - b)) : TWO(a - b);
  if (name == "mul")
    return sat ? TWO(saturate(a * b)) : TWO(a * b);
  if (name == "div") // .approx and .full lie within what they may
    return TWO(a / b);
  if (name == "min")
    return nan ? TWO(lesser(a, b, true)) : TWO(lesser(a, b, false));
  if (name == "max")
    return nan ? TWO(greater(a, b, true)) : TWO(greater(a, b, false));
  if (name == "copysign")
    return TWO(std::copysign(b, a));
  sources = 3;
  if (name == "fma" || name == "mad")
    return sat ? THREE(saturate(std::fma(a, b, c))) : THREE(std::fma(a, b, c));
  sources = 1;
  if (name == "neg")
    return ONE(-a);
  if (name == "abs")
    return ONE(std::fabs(a));
  if (name == "rcp")
    return ONE(1 / a);
  if (name == "sqrt")
    return ONE(std::sqrt(a));
  if (name == "rsqrt")
    return ONE(float(1 / std::sqrt(double(a))));
  if (name == "ex2")
    return ONE(float(std::exp2(double(a))));
  if (name == "lg2")
    return ONE(float(std::log2(double(a))));
  if (name == "sin")
    return ONE(float(std::sin(double(a))));
  if (name == "cos")
    return ONE(float(std::cos(double(a))));
  if (name == "tanh")
    return ONE(float(std::tanh(double(a))));
  return nullptr;
}

Execute choose64(const Decoder &d, size_t &sources) {
  const std::string &name = d.name();
  bool nan = d.has("NaN");
  sources = 2;
  if (name == "add")
    return TWO64(a + b);
  if (name == "sub")
    return TWO64(a - b);
  if (name == "mul")
    return TWO64(a * b);
  if (name == "div")
    return TWO64(a / b);
  if (name == "min")
    return nan ? TWO64(lesser(a, b, true)) : TWO64(lesser(a, b, false));
  if (name == "max")
    return nan ? TWO64(greater(a, b, true)) : TWO64(greater(a, b, false));
  if (name == "copysign")
    return TWO64(std::copysign(b, a));
  sources = 3;
  if (name == "fma" || name == "mad")
    return [](Warp &w, const Op &op, uint32_t m) {
      return ternary<double, double, double>(
          w, op, m, [](double a, double b, double c) { return std::fma(a, b, c); });
    };
  sources = 1;
  if (name == "neg")
    return ONE64(-a);
  if (name == "abs")
    return ONE64(std::fabs(a));
  if (name == "rcp")
    return ONE64(1 / a);
  if (name == "sqrt")
    return ONE64(std::sqrt(a));
  return nullptr;
}

/// add, sub and fma of f32 with 16-bit operands: `sub.rn.f32.f16 d, a, c`.
template <class H> bool decodeMixed(Decoder &d, Op &op) {
  bool isFma = d.name() == "fma";
  d.allow({"rn"});
  if (!isFma && d.name() != "add" && d.name() != "sub")
    return false;
  op.d = d.result(0, 32);
  op.a = d.source(1, 16);
  op.b = isFma ? d.source(2, 16) : op.a;
  op.c = d.source(isFma ? 3 : 2, 32);
  op.imm = d.name()[0];
  op.run = [](Warp &w, const Op &o, uint32_t m) {
    char what = char(o.imm);
    return ternary<float, uint16_t, float>(w, o, m, [what](uint16_t a, uint16_t b, float c) {
      float x = H::load(a);
      return canonical(what == 'f' ? std::fma(x, H::load(b), c) : what == 'a' ? x + c : x - c);
    });
  };
  return true;
}

} // namespace

bool decodeFloat32(Decoder &d, Op &op) {
  const std::string &type = d.last();
  const auto &words = d.current().words;
  if (words.size() > 2 && words[words.size() - 2] == "f32" && d.name() != "cvt" &&
      d.name() != "mma" && d.name() != "wgmma") {
    if (type == "f16")
      return decodeMixed<F16>(d, op);
    if (type == "bf16")
      return decodeMixed<BF16>(d, op);
  }
  if (type != "f32" && type != "f64")
    return false;
  size_t sources = 0;
  unsigned bits = Decoder::bitsOf(type);
  Execute run = bits == 32 ? choose32(d, sources) : choose64(d, sources);
  if (!run)
    return false;
  if (isOtherRounding(d) && d.name() != "tanh")
    return false;
  d.allow({"rn", "ftz", "NaN", "sat", "approx", "full"});
  op.d = d.result(0, bits);
  op.a = d.source(1, bits);
  if (sources > 1)
    op.b = d.source(2, bits);
  if (sources > 2)
    op.c = d.source(3, bits);
  op.run = run;
  return true;
}

//===--- f16 and bf16, alone and in pairs ---------------------------------===//

namespace {

/// One 16-bit result by `f` of floats, rounded once.
template <class H, class F> uint16_t rounded(F f) { return H::store(f); }

template <class H> uint16_t lesser16(uint16_t a, uint16_t b, bool nan, bool isMax) {
  float x = H::load(a), y = H::load(b);
  if (x != x || y != y)
    return (x != x && y != y) || nan ? uint16_t(0x7FFF) : x != x ? b : a;
  float r = isMax ? greater(x, y, nan) : lesser(x, y, nan);
  return bitsOf<uint32_t>(r) == bitsOf<uint32_t>(x) ? a : b;
}

struct Flags {
  bool nan, ftz, relu;
};
template <class H, bool isBrain> uint16_t flush16(uint16_t a) {
  return (a & (isBrain ? 0x7F80 : 0x7C00)) ? a : uint16_t(a & 0x8000);
}

template <class H> uint16_t apply16(char what, int64_t flags, uint16_t a, uint16_t b, uint16_t c) {
  constexpr bool isBrain = std::is_same_v<H, BF16>;
  if (flags & 2) {
    a = flush16<H, isBrain>(a);
    b = flush16<H, isBrain>(b);
    c = flush16<H, isBrain>(c);
  }
  uint16_t r = 0;
  switch (what) {
  case '+':
    r = H::store(H::load(a) + H::load(b));
    break;
  case '-':
    r = H::store(H::load(a) - H::load(b));
    break;
  case '*':
    r = H::store(H::load(a) * H::load(b));
    break;
  case 'f':
    r = H::store(addToOdd(double(H::load(a)) * double(H::load(b)), double(H::load(c))));
    break;
  case '<':
    r = lesser16<H>(a, b, flags & 1, false);
    break;
  case '>':
    r = lesser16<H>(a, b, flags & 1, true);
    break;
  case 'n':
    r = H::load(a) != H::load(a) ? uint16_t(0x7FFF) : uint16_t(a ^ 0x8000);
    break;
  case '|':
    r = H::load(a) != H::load(a) ? uint16_t(0x7FFF) : uint16_t(a & 0x7FFF);
    break;
  case 'e':
    r = H::store(std::exp2(double(H::load(a))));
    break;
  case 't':
    r = H::store(std::tanh(double(H::load(a))));
    break;
  }
  if ((flags & 4) && (r & 0x8000) && H::load(r) == H::load(r))
    r = 0;
  return flags & 2 ? flush16<H, isBrain>(r) : r;
}

template <class H, class Word> Step execute16(Warp &w, const Op &op, uint32_t m) {
  char what = char(op.imm & 255);
  int64_t flags = op.imm >> 8;
  return ternary<Word, Word, Word>(w, op, m, [&](Word a, Word b, Word c) {
    Word low = apply16<H>(what, flags, uint16_t(a), uint16_t(b), uint16_t(c));
    if constexpr (sizeof(Word) == 4)
      low |= Word(apply16<H>(what, flags, uint16_t(a >> 16), uint16_t(b >> 16), uint16_t(c >> 16)))
             << 16;
    return low;
  });
}

} // namespace

bool decodeFloat16(Decoder &d, Op &op) {
  static const std::map<std::string, std::pair<char, size_t>> names = {
      {"add", {'+', 2}}, {"sub", {'-', 2}}, {"mul", {'*', 2}}, {"fma", {'f', 3}},
      {"min", {'<', 2}}, {"max", {'>', 2}}, {"neg", {'n', 1}}, {"abs", {'|', 1}},
      {"ex2", {'e', 1}}, {"tanh", {'t', 1}}};
  const std::string &type = d.last();
  auto found = names.find(d.name());
  if (found == names.end() ||
      (type != "f16" && type != "bf16" && type != "f16x2" && type != "bf16x2"))
    return false;
  d.allow({"rn", "ftz", "NaN", "approx", "relu"});
  auto [what, sources] = found->second;
  unsigned bits = Decoder::bitsOf(type);
  op.d = d.result(0, bits);
  op.a = d.source(1, bits);
  op.b = sources > 1 ? d.source(2, bits) : op.a;
  op.c = sources > 2 ? d.source(3, bits) : op.a;
  op.imm = what | int64_t(d.has("NaN") | d.has("ftz") << 1 | d.has("relu") << 2) << 8;
  op.run = type == "f16"     ? execute16<F16, uint16_t>
           : type == "bf16"  ? execute16<BF16, uint16_t>
           : type == "f16x2" ? execute16<F16, uint32_t>
                             : execute16<BF16, uint32_t>;
  return true;
}

} // namespace emu
