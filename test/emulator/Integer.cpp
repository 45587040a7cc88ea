// Integer arithmetic, bits and shifts.
#include "test/emulator/Decoder.h"

#include <type_traits>

namespace emu {
namespace {

template <class T>
using Wider =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

/// The routine for the type that the opcode names, instantiated by `f(T())`.
template <class F> Execute byType(const std::string &type, F f) {
  if (type == "s16")
    return f(int16_t());
  if (type == "u16" || type == "b16")
    return f(uint16_t());
  if (type == "s32")
    return f(int32_t());
  if (type == "u32" || type == "b32")
    return f(uint32_t());
  if (type == "s64")
    return f(int64_t());
  if (type == "u64" || type == "b64")
    return f(uint64_t());
  return nullptr;
}
// A routine of two or one operands of the type T by an expression. The unsigned type U computes
// what may overflow.
#define TWO(expression)                                                                            \
  byType(type, [](auto zero) -> Execute {                                                          \
    using T = decltype(zero);                                                                      \
    return [](Warp &w, const Op &op, uint32_t m) {                                                 \
      return binary<T, T>(w, op, m, [](T a, T b) {                                                 \
        using U [[maybe_unused]] = std::make_unsigned_t<T>;                                        \
        return T(expression);                                                                      \
      });                                                                                          \
    };                                                                                             \
  })
#define ONE(expression)                                                                            \
  byType(type, [](auto zero) -> Execute {                                                          \
    using T = decltype(zero);                                                                      \
    return [](Warp &w, const Op &op, uint32_t m) {                                                 \
      return unary<T, T>(w, op, m, [](T a) {                                                       \
        using U [[maybe_unused]] = std::make_unsigned_t<T>;                                        \
        return T(expression);                                                                      \
      });                                                                                          \
    };                                                                                             \
  })

template <class T> T highProduct(T a, T b) {
  if constexpr (sizeof(T) == 8)
    return T((std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>(a) * b) >> 64);
  else
    return T((Wider<T>(a) * Wider<T>(b)) >> (sizeof(T) * 8));
}
/// Division as the hardware does it, which knows no trap.
template <class T> T quotient(T a, T b) {
  if (b == 0)
    return T(-1);
  if (std::is_signed_v<T> && b == T(-1))
    return T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(a));
  return T(a / b);
}
template <class T> T remainder(T a, T b) {
  if (b == 0)
    return a;
  if (std::is_signed_v<T> && b == T(-1))
    return 0;
  return T(a % b);
}

Execute shift(const std::string &type, bool left) {
  return byType(type, [left](auto zero) -> Execute {
    using T = decltype(zero);
    constexpr unsigned bits = sizeof(T) * 8;
    if (left)
      return [](Warp &w, const Op &op, uint32_t m) {
        T *d = w.at<T>(op.d);
        const T *a = w.at<T>(op.a);
        const uint32_t *b = w.at<uint32_t>(op.b);
        eachLane(m, [&](int i) {
          d[i] = b[i] >= bits ? T(0) : T(std::make_unsigned_t<T>(a[i]) << b[i]);
        });
        return Step::Next;
      };
    return [](Warp &w, const Op &op, uint32_t m) {
      T *d = w.at<T>(op.d);
      const T *a = w.at<T>(op.a);
      const uint32_t *b = w.at<uint32_t>(op.b);
      eachLane(m, [&](int i) {
        d[i] =
            b[i] >= bits ? (std::is_signed_v<T> ? T(a[i] >> (bits - 1)) : T(0)) : T(a[i] >> b[i]);
      });
      return Step::Next;
    };
  });
}

template <class T> T field(T a, uint32_t position, uint32_t length) {
  constexpr uint32_t bits = sizeof(T) * 8;
  position &= 255;
  length &= 255;
  if (length == 0)
    return 0;
  uint32_t top = std::min(position + length - 1, bits - 1);
  bool sign = std::is_signed_v<T> && (a >> top & 1);
  uint64_t value = position >= bits ? 0 : uint64_t(std::make_unsigned_t<T>(a)) >> position;
  uint32_t kept = position >= bits ? 0 : top - position + 1;
  uint64_t mask = kept >= 64 ? ~uint64_t(0) : (uint64_t(1) << kept) - 1;
  return T(sign ? value | ~mask : value & mask);
}

bool decodeProduct(Decoder &d, Op &op, const std::string &type, unsigned bits) {
  bool adds = d.name() == "mad", wide = d.has("wide");
  op.d = d.result(0, wide ? bits * 2 : bits);
  op.a = d.source(1, bits);
  op.b = d.source(2, bits);
  op.c = adds ? d.source(3, wide ? bits * 2 : bits) : d.constant(0, wide ? bits * 2 : bits);
  if (wide)
    op.run = type == "s16" || type == "u16" || type == "s32" || type == "u32"
                 ? byType(type,
                          [](auto zero) -> Execute {
                            using T = decltype(zero);
                            using W = Wider<T>;
                            return [](Warp &w, const Op &o, uint32_t m) {
                              return ternary<W, T, W>(w, o, m, [](T a, T b, W c) {
                                using U = std::make_unsigned_t<W>;
                                return W(U(W(a)) * U(W(b)) + U(c));
                              });
                            };
                          })
                 : nullptr;
  else if (d.has("hi"))
    op.run = byType(type, [](auto zero) -> Execute {
      using T = decltype(zero);
      return [](Warp &w, const Op &o, uint32_t m) {
        return ternary<T, T, T>(w, o, m, [](T a, T b, T c) {
          using U = std::make_unsigned_t<T>;
          return T(U(highProduct(a, b)) + U(c));
        });
      };
    });
  else if (d.has("lo"))
    op.run = byType(type, [](auto zero) -> Execute {
      using T = decltype(zero);
      return [](Warp &w, const Op &o, uint32_t m) {
        return ternary<T, T, T>(
            w, o, m, [](T a, T b, T c) { return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); });
      };
    });
  return op.run != nullptr;
}

Step permute(Warp &w, const Op &op, uint32_t m) {
  return ternary<uint32_t, uint32_t, uint32_t>(w, op, m, [](uint32_t a, uint32_t b, uint32_t s) {
    uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      uint32_t select = s >> (4 * i), byte = uint32_t(bytes >> (8 * (select & 7))) & 255;
      if (select & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * i);
    }
    return result;
  });
}

Step logic(Warp &w, const Op &op, uint32_t m) {
  uint32_t table = uint32_t(op.imm);
  return ternary<uint32_t, uint32_t, uint32_t>(
      w, op, m, [table](uint32_t a, uint32_t b, uint32_t c) {
        uint32_t result = 0;
        for (uint32_t row = 0; row < 8; ++row)
          if (table >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
        return result;
      });
}

/// An instruction of two numbers for each half of 32 bits.
template <class T, class F> Step pairs(Warp &w, const Op &op, uint32_t m, F f) {
  return binary<uint32_t, uint32_t>(w, op, m, [f](uint32_t a, uint32_t b) {
    auto half = [](T value) { return uint32_t(std::make_unsigned_t<T>(value)); };
    return half(f(T(a), T(b))) | half(f(T(a >> 16), T(b >> 16))) << 16;
  });
}

/// add, min and max of pairs of 16 bits (sm_90 and later).
template <class T> Execute choosePairs(const std::string &name) {
  if (name == "add")
    return [](Warp &w, const Op &o, uint32_t m) {
      return pairs<T>(w, o, m, [](T a, T b) { return T(uint32_t(a) + uint32_t(b)); });
    };
  if (name == "min")
    return [](Warp &w, const Op &o, uint32_t m) {
      return pairs<T>(w, o, m, [](T a, T b) { return std::min(a, b); });
    };
  if (name == "max")
    return [](Warp &w, const Op &o, uint32_t m) {
      return pairs<T>(w, o, m, [](T a, T b) { return std::max(a, b); });
    };
  return nullptr;
}

/// and, or, xor, not of predicates, as masks.
bool decodePredicate(Decoder &d, Op &op) {
  bool negated = false;
  op.d = d.result(0, 1);
  op.a = d.predicate(d.operand(1), negated);
  if (negated)
    d.fail("a negated operand is not emulated here");
  op.b = d.name() == "not" ? op.a : d.predicate(d.operand(2), negated);
  if (negated)
    d.fail("a negated operand is not emulated here");
  op.imm = d.name()[0];
  op.run = [](Warp &w, const Op &o, uint32_t m) {
    uint32_t a = *w.at<uint32_t>(o.a), b = *w.at<uint32_t>(o.b), &to = *w.at<uint32_t>(o.d);
    uint32_t value = o.imm == 'a' ? a & b : o.imm == 'o' ? a | b : o.imm == 'x' ? a ^ b : ~a;
    to = (to & ~m) | (value & m);
    return Step::Next;
  };
  return true;
}

} // namespace

bool decodeInteger(Decoder &d, Op &op) {
  const std::string &name = d.name(), &type = d.last();
  if (type == "pred" && (name == "and" || name == "or" || name == "xor" || name == "not"))
    return decodePredicate(d, op);
  if (type[0] == 'f' || type[0] == 'e' || type.compare(0, 2, "bf") == 0)
    return false;
  if (type == "s16x2" || type == "u16x2") {
    d.allow({});
    op.d = d.result(0, 32);
    op.a = d.source(1, 32);
    op.b = d.source(2, 32);
    op.run = type == "s16x2" ? choosePairs<int16_t>(name) : choosePairs<uint16_t>(name);
    return op.run != nullptr;
  }
  unsigned bits = Decoder::bitsOf(type);
  if (name == "mul" || name == "mad") {
    d.allow({"lo", "hi", "wide"});
    return decodeProduct(d, op, type, bits);
  }
  if (name == "prmt" && d.current().words.size() == 2) {
    op.d = d.result(0, 32);
    op.a = d.source(1, 32);
    op.b = d.source(2, 32);
    op.c = d.source(3, 32);
    op.run = permute;
    return true;
  }
  if (name == "lop3") {
    d.allow({});
    op.d = d.result(0, 32);
    op.a = d.source(1, 32);
    op.b = d.source(2, 32);
    op.c = d.source(3, 32);
    op.imm = d.operand(4).value;
    op.run = logic;
    return true;
  }
  if (name == "bfe") {
    op.d = d.result(0, bits);
    op.a = d.source(1, bits);
    op.b = d.source(2, 32);
    op.c = d.source(3, 32);
    op.run = byType(type, [](auto zero) -> Execute {
      using T = decltype(zero);
      return [](Warp &w, const Op &o, uint32_t m) {
        T *to = w.at<T>(o.d);
        const T *a = w.at<T>(o.a);
        const uint32_t *b = w.at<uint32_t>(o.b), *c = w.at<uint32_t>(o.c);
        eachLane(m, [&](int i) { to[i] = field(a[i], b[i], c[i]); });
        return Step::Next;
      };
    });
    return op.run != nullptr;
  }
  if (name == "bfi" && bits == 32) { // a's lowest bits in b: position c, length e
    op.d = d.result(0, 32);
    op.a = d.source(1, 32);
    op.b = d.source(2, 32);
    op.c = d.source(3, 32);
    op.e = d.source(4, 32);
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      const uint32_t *a = w.at<uint32_t>(o.a), *b = w.at<uint32_t>(o.b), *c = w.at<uint32_t>(o.c),
                     *e = w.at<uint32_t>(o.e);
      uint32_t *to = w.at<uint32_t>(o.d);
      eachLane(m, [&](int i) {
        uint32_t position = c[i] & 255, length = std::min(e[i] & 255, 32u);
        uint64_t mask = position > 31 ? 0 : ((uint64_t(1) << length) - 1) << position;
        to[i] = uint32_t((uint64_t(a[i]) << (position & 31) & mask) | (b[i] & ~mask));
      });
      return Step::Next;
    };
    return true;
  }
  if (name == "shf" && type == "b32" && d.has("wrap")) { // of the pair {b, a}
    op.d = d.result(0, 32);
    op.a = d.source(1, 32);
    op.b = d.source(2, 32);
    op.c = d.source(3, 32);
    op.imm = d.has("l");
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      bool left = o.imm;
      return ternary<uint32_t, uint32_t, uint32_t>(
          w, o, m, [left](uint32_t a, uint32_t b, uint32_t c) {
            uint64_t both = uint64_t(b) << 32 | a;
            return left ? uint32_t(both << (c & 31) >> 32) : uint32_t(both >> (c & 31));
          });
    };
    return true;
  }
  if (name == "popc" || name == "clz" || name == "brev") {
    d.allow({});
    op.d = d.result(0, name == "brev" ? bits : 32);
    op.a = d.source(1, bits);
    op.run = byType(type, [&name](auto zero) -> Execute {
      using T = decltype(zero);
      if (name == "popc")
        return [](Warp &w, const Op &o, uint32_t m) {
          return unary<uint32_t, T>(w, o, m, [](T a) {
            return uint32_t(__builtin_popcountll(uint64_t(std::make_unsigned_t<T>(a))));
          });
        };
      if (name == "clz")
        return [](Warp &w, const Op &o, uint32_t m) {
          return unary<uint32_t, T>(w, o, m, [](T a) {
            constexpr uint32_t width = sizeof(T) * 8;
            return a ? uint32_t(__builtin_clzll(uint64_t(std::make_unsigned_t<T>(a)))) + width - 64
                     : width;
          });
        };
      return [](Warp &w, const Op &o, uint32_t m) {
        return unary<T, T>(w, o, m, [](T a) {
          std::make_unsigned_t<T> from = std::make_unsigned_t<T>(a), to = 0;
          for (unsigned i = 0; i < sizeof(T) * 8; ++i)
            to = decltype(to)(to << 1 | (from >> i & 1));
          return T(to);
        });
      };
    });
    return op.run != nullptr && bits >= 32;
  }
  size_t sources = 2;
  Execute run = nullptr;
  if (name == "add")
    run = TWO(U(a) + U(b));
  else if (name == "sub")
    run = TWO(U(a) - U(b));
  else if (name == "and")
    run = TWO(a & b);
  else if (name == "or")
    run = TWO(a | b);
  else if (name == "xor")
    run = TWO(a ^ b);
  else if (name == "min" && d.has("relu"))
    run = TWO(std::max<T>(std::min(a, b), 0));
  else if (name == "max" && d.has("relu"))
    run = TWO(std::max<T>(std::max(a, b), 0));
  else if (name == "min")
    run = TWO(std::min(a, b));
  else if (name == "max")
    run = TWO(std::max(a, b));
  else if (name == "div")
    run = TWO(quotient(a, b));
  else if (name == "rem")
    run = TWO(remainder(a, b));
  else if (name == "shl" || name == "shr")
    run = shift(type, name == "shl");
  else if (name == "not")
    run = ONE(~a), sources = 1;
  else if (name == "neg")
    run = ONE(U(0) - U(a)), sources = 1;
  else if (name == "abs")
    run = ONE(a < 0 ? U(0) - U(a) : U(a)), sources = 1;
  if (!run)
    return false;
  d.allow({"relu"});
  op.d = d.result(0, bits);
  op.a = d.source(1, bits);
  if (sources == 2)
    op.b = d.source(2, name[0] == 's' && name[1] == 'h' ? 32 : bits);
  op.run = run;
  return true;
}

} // namespace emu
