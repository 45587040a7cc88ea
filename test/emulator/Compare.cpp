// Comparisons, selections, moves between registers and vectors.
#include "test/emulator/Decoder.h"

namespace emu {
namespace {

enum { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

/// Masks of lanes in which a < b, a == b, neither can be said.
template <class T, class Load> uint32_t compareLanes(Warp &w, const Op &op, uint32_t m, Load load) {
  const T *a = w.at<T>(op.a), *b = w.at<T>(op.b);
  uint32_t result = 0;
  unsigned wanted = unsigned(op.imm) & 15;
  eachLane(m, [&](int i) {
    auto x = load(a[i]), y = load(b[i]);
    unsigned relation = x < y ? Less : x == y ? Equal : x > y ? Greater : Unordered;
    result |= uint32_t((wanted & relation) != 0) << i;
  });
  return result;
}
/// p = comparison (and, or, xor c); q = the opposite comparison likewise.
Step setPredicates(Warp &w, const Op &op, uint32_t m, uint32_t value, uint32_t opposite) {
  uint32_t c = op.c == none ? 0 : *w.at<uint32_t>(op.c);
  if (op.imm & 256)
    c = ~c;
  switch (op.imm >> 4 & 15) {
  case 1:
    value &= c, opposite &= c;
    break;
  case 2:
    value |= c, opposite |= c;
    break;
  case 3:
    value ^= c, opposite ^= c;
    break;
  }
  uint32_t &p = *w.at<uint32_t>(op.d);
  p = (p & ~m) | (value & m);
  if (op.e != none) {
    uint32_t &q = *w.at<uint32_t>(op.e);
    q = (q & ~m) | (opposite & m);
  }
  return Step::Next;
}
Step setPredicates(Warp &w, const Op &op, uint32_t m, uint32_t value) {
  return setPredicates(w, op, m, value, ~value);
}
template <class T> Step compare(Warp &w, const Op &op, uint32_t m) {
  return setPredicates(w, op, m, compareLanes<T>(w, op, m, [](T x) { return x; }));
}
Step compareFlushed(Warp &w, const Op &op, uint32_t m) {
  return setPredicates(w, op, m, compareLanes<float>(w, op, m, [](float x) { return flush(x); }));
}
template <class H> Step compare16(Warp &w, const Op &op, uint32_t m) {
  return setPredicates(w, op, m,
                       compareLanes<uint16_t>(w, op, m, [](uint16_t x) { return H::load(x); }));
}

/// p for the low halves, q for the high ones.
template <class H> Step comparePairs(Warp &w, const Op &op, uint32_t m) {
  uint32_t low = compareLanes<uint32_t>(w, op, m, [](uint32_t x) { return H::load(uint16_t(x)); }),
           high = compareLanes<uint32_t>(w, op, m,
                                         [](uint32_t x) { return H::load(uint16_t(x >> 16)); });
  return setPredicates(w, op, m, low, high);
}

Execute compareOf(const std::string &type, bool ftz) {
  static const std::map<std::string, Execute> routines = {
      {"s16", compare<int16_t>}, {"u16", compare<uint16_t>},   {"b16", compare<uint16_t>},
      {"s32", compare<int32_t>}, {"u32", compare<uint32_t>},   {"b32", compare<uint32_t>},
      {"s64", compare<int64_t>}, {"u64", compare<uint64_t>},   {"b64", compare<uint64_t>},
      {"f32", compare<float>},   {"f64", compare<double>},     {"f16", compare16<F16>},
      {"bf16", compare16<BF16>}, {"f16x2", comparePairs<F16>}, {"bf16x2", comparePairs<BF16>}};
  if (ftz && type == "f32")
    return compareFlushed;
  auto found = routines.find(type);
  return found == routines.end() ? nullptr : found->second;
}

template <class T> Step select(Warp &w, const Op &op, uint32_t m) {
  uint32_t chosen = *w.at<uint32_t>(op.c);
  if (op.imm)
    chosen = ~chosen;
  T *d = w.at<T>(op.d);
  const T *a = w.at<T>(op.a), *b = w.at<T>(op.b);
  eachLane(m, [&](int i) { d[i] = chosen >> i & 1 ? a[i] : b[i]; });
  return Step::Next;
}

template <class T> Step move(Warp &w, const Op &op, uint32_t m) {
  return unary<T, T>(w, op, m, [](T a) { return a; });
}

/// Between a register and the parts of a vector: `list` has one side's parts of `bits` each, `a` or
/// `d` is the other side.
template <class Whole, class Part> Step pack(Warp &w, const Op &op, uint32_t m) {
  Whole *d = w.at<Whole>(op.d);
  eachLane(m, [&](int i) {
    Whole value = 0;
    for (uint32_t k = 0; k < op.count; ++k)
      value |= Whole(w.at<Part>(w.kernel->lists[op.list + k])[i]) << (k * sizeof(Part) * 8);
    d[i] = value;
  });
  return Step::Next;
}
template <class Whole, class Part> Step unpack(Warp &w, const Op &op, uint32_t m) {
  const Whole *a = w.at<Whole>(op.a);
  eachLane(m, [&](int i) {
    Whole value = a[i];
    for (uint32_t k = 0; k < op.count; ++k)
      w.at<Part>(w.kernel->lists[op.list + k])[i] = Part(value >> (k * sizeof(Part) * 8));
  });
  return Step::Next;
}

bool decodeVectorMove(Decoder &d, Op &op, unsigned bits) {
  bool packs = d.operand(1).kind == Operand::Vector;
  const Operand &vector = d.operand(packs ? 1 : 0);
  unsigned part = bits / unsigned(vector.parts.size());
  d.list(vector, part, !packs, op);
  if (packs)
    op.d = d.result(0, bits);
  else
    op.a = d.source(1, bits);
  if (bits == 32 && part == 16)
    op.run = packs ? pack<uint32_t, uint16_t> : unpack<uint32_t, uint16_t>;
  else if (bits == 64 && part == 32)
    op.run = packs ? pack<uint64_t, uint32_t> : unpack<uint64_t, uint32_t>;
  else if (bits == 64 && part == 16)
    op.run = packs ? pack<uint64_t, uint16_t> : unpack<uint64_t, uint16_t>;
  else if (bits == 128 && part == 64)
    op.run = packs ? pack<unsigned __int128, uint64_t> : unpack<unsigned __int128, uint64_t>;
  return op.run != nullptr;
}

Step movePredicate(Warp &w, const Op &op, uint32_t m) {
  uint32_t value = *w.at<uint32_t>(op.a), &to = *w.at<uint32_t>(op.d);
  to = (to & ~m) | ((op.imm ? ~value : value) & m);
  return Step::Next;
}

} // namespace

bool decodeCompare(Decoder &d, Op &op) {
  static const std::map<std::string, int> relations = {{"eq", Equal},
                                                       {"ne", Less | Greater},
                                                       {"lt", Less},
                                                       {"le", Less | Equal},
                                                       {"gt", Greater},
                                                       {"ge", Greater | Equal},
                                                       {"lo", Less},
                                                       {"ls", Less | Equal},
                                                       {"hi", Greater},
                                                       {"hs", Greater | Equal},
                                                       {"equ", Equal | Unordered},
                                                       {"neu", Less | Greater | Unordered},
                                                       {"ltu", Less | Unordered},
                                                       {"leu", Less | Equal | Unordered},
                                                       {"gtu", Greater | Unordered},
                                                       {"geu", Greater | Equal | Unordered},
                                                       {"num", Less | Equal | Greater},
                                                       {"nan", Unordered}};
  const std::string &type = d.last();
  unsigned bits = Decoder::bitsOf(type);
  if (d.name() == "selp") {
    bool negated = false;
    op.d = d.result(0, bits);
    op.a = d.source(1, bits);
    op.b = d.source(2, bits);
    op.c = d.predicate(d.operand(3), negated);
    op.imm = negated;
    op.run = bits == 16   ? select<uint16_t>
             : bits == 32 ? select<uint32_t>
             : bits == 64 ? select<uint64_t>
                          : nullptr;
    return op.run != nullptr;
  }
  if (d.name() != "setp")
    return false;
  auto relation = relations.find(d.current().words[1]);
  op.run = compareOf(type, d.has("ftz"));
  if (relation == relations.end() || !op.run)
    return false;
  op.imm = relation->second;
  const Operand &to = d.operand(0);
  if (to.kind == Operand::Pair) {
    op.d = d.result(to.parts[0], 1);
    op.e = d.result(to.parts[1], 1);
  } else
    op.d = d.result(to, 1);
  op.a = d.source(1, bits);
  op.b = d.source(2, bits);
  op.imm |= d.has("and") ? 16 : d.has("or") ? 32 : d.has("xor") ? 48 : 0;
  if (op.imm >> 4) {
    bool negated = false;
    op.c = d.predicate(d.operand(3), negated);
    op.imm |= negated ? 256 : 0;
  }
  return true;
}

bool decodeMove(Decoder &d, Op &op) {
  if (d.name() != "mov")
    return false;
  unsigned bits = Decoder::bitsOf(d.last());
  if (bits == 1) {
    bool negated = false;
    op.d = d.result(0, 1);
    op.a = d.predicate(d.operand(1), negated);
    op.imm = negated;
    op.run = movePredicate;
    return true;
  }
  if (d.operand(0).kind == Operand::Vector || d.operand(1).kind == Operand::Vector)
    return decodeVectorMove(d, op, bits);
  op.d = d.result(0, bits);
  const Operand &from = d.operand(1);
  if (from.kind == Operand::Special &&
      (from.name == "%globaltimer" || from.name == "%clock64" || from.name == "%clock")) {
    // Time that passes with the instructions executed.
    op.imm = bits;
    op.run = [](Warp &w, const Op &o, uint32_t m) {
      eachLane(m, [&](int i) {
        if (o.imm == 64)
          w.at<uint64_t>(o.d)[i] = w.block->grid->executed;
        else
          w.at<uint32_t>(o.d)[i] = uint32_t(w.block->grid->executed);
      });
      return Step::Next;
    };
    return true;
  }
  op.a = d.source(1, bits);
  op.isMove = true;
  op.run = bits == 16    ? move<uint16_t>
           : bits == 32  ? move<uint32_t>
           : bits == 64  ? move<uint64_t>
           : bits == 128 ? move<unsigned __int128>
                         : nullptr;
  return op.run != nullptr;
}

} // namespace emu
