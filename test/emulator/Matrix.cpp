// mma.sync, and the loads and stores of its fragments. Products are exact, sums are rounded once
// for each instruction: the hardware rounds otherwise, within its documented freedom.
#include "test/emulator/Matrix.h"

namespace emu {

bool elementOf(const std::string &type, Element &element) {
  static const std::map<std::string, Element> names = {
      {"f16", Element::Half},  {"bf16", Element::Brain}, {"tf32", Element::Tf32},
      {"e4m3", Element::E4m3}, {"e5m2", Element::E5m2},  {"s8", Element::S8},
      {"u8", Element::U8},     {"f64", Element::Double}};
  auto found = names.find(type);
  if (found == names.end())
    return false;
  element = found->second;
  return true;
}
unsigned bitsOfElement(Element element) {
  switch (element) {
  case Element::Half:
  case Element::Brain:
    return 16;
  case Element::Tf32:
    return 32;
  case Element::Double:
    return 64;
  default:
    return 8;
  }
}

double elementValue(Element element, uint64_t bits) {
  switch (element) {
  case Element::Half:
    return halfToFloat(uint16_t(bits));
  case Element::Brain:
    return brainToFloat(uint16_t(bits));
  case Element::Tf32: // the lowest 13 bits are not read
    return bitsOf<float>(uint32_t(bits) & ~0x1FFFu);
  case Element::E4m3:
    return decodeFloat(uint32_t(bits & 255), e4m3);
  case Element::E5m2:
    return decodeFloat(uint32_t(bits & 255), e5m2);
  case Element::S8:
    return int8_t(bits);
  case Element::U8:
    return uint8_t(bits);
  case Element::Double:
    return bitsOf<double>(bits);
  }
  return 0;
}

namespace {

/// What an mma's op.imm holds.
struct Shape {
  unsigned m, n, k;
  Element a, b;
  enum { F32, F16, S32, F64 } sum;
  bool saturates;
};
Shape unpackShape(int64_t v) {
  return {unsigned(v & 255),     unsigned(v >> 8 & 255), unsigned(v >> 16 & 255),
          Element(v >> 24 & 15), Element(v >> 28 & 15),  decltype(Shape::sum)(v >> 32 & 15),
          (v >> 36 & 1) != 0};
}
int64_t packShape(const Shape &s) {
  return int64_t(s.m) | int64_t(s.n) << 8 | int64_t(s.k) << 16 | int64_t(s.a) << 24 |
         int64_t(s.b) << 28 | int64_t(s.sum) << 32 | int64_t(s.saturates) << 36;
}

/// Element `e` of 32 bits of a fragment; f64 has registers of its own.
uint64_t fragmentBits(Warp &w, uint32_t offset, int lane, Element element, unsigned e) {
  unsigned bits = bitsOfElement(element);
  if (bits == 64)
    return w.at<uint64_t>(offset)[lane];
  return w.at<uint32_t>(offset)[lane] >> (bits * e);
}

/// The lists hold d, a, b and c, one after another; op.vector and op.wide say how many of a and b.
Step multiply(Warp &w, const Op &op, uint32_t) {
  Shape s = unpackShape(op.imm);
  const uint32_t *d = &w.kernel->lists[op.list], *a = d + op.count, *b = a + op.vector,
                 *c = b + op.wide;
  static thread_local double left[16 * 64], right[64 * 8];
  unsigned each = std::max(1u, 32 / bitsOfElement(s.a));
  for (int lane = 0; lane < 32; ++lane) {
    unsigned group = unsigned(lane) / 4, t = unsigned(lane) % 4, rows = s.m / 8;
    for (unsigned r = 0; r < op.vector; ++r)
      for (unsigned e = 0; e < each; ++e)
        left[(group + 8 * (r % rows)) * s.k + each * t + r / rows * 4 * each + e] =
            elementValue(s.a, fragmentBits(w, a[r], lane, s.a, e));
    for (unsigned r = 0; r < op.wide; ++r)
      for (unsigned e = 0; e < each; ++e)
        right[(each * t + r * 4 * each + e) * s.n + group] =
            elementValue(s.b, fragmentBits(w, b[r], lane, s.b, e));
  }
  double sums[16][8] = {};
  for (unsigned i = 0; i < s.m; ++i)
    for (unsigned k = 0; k < s.k; ++k)
      for (unsigned j = 0; j < s.n; ++j)
        sums[i][j] += left[i * s.k + k] * right[k * s.n + j];
  for (int lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < op.count; ++r) {
      unsigned group = unsigned(lane) / 4, t = unsigned(lane) % 4;
      if (s.sum == Shape::F16) { // pairs of one row
        uint32_t pair = w.at<uint32_t>(c[r])[lane];
        uint32_t low = F16::store(sums[group + 8 * r][2 * t] + F16::load(uint16_t(pair))),
                 high =
                     F16::store(sums[group + 8 * r][2 * t + 1] + F16::load(uint16_t(pair >> 16)));
        w.at<uint32_t>(d[r])[lane] = low | high << 16;
        continue;
      }
      double sum = sums[group + 8 * (r / 2)][2 * t + r % 2];
      if (s.sum == Shape::F32) {
        w.at<float>(d[r])[lane] = canonical(float(sum + double(w.at<float>(c[r])[lane])));
      } else if (s.sum == Shape::F64) {
        w.at<double>(d[r])[lane] = sum + w.at<double>(c[r])[lane];
      } else {
        int64_t exact = int64_t(sum) + w.at<int32_t>(c[r])[lane];
        if (s.saturates)
          exact = std::min<int64_t>(std::max<int64_t>(exact, INT32_MIN), INT32_MAX);
        w.at<int32_t>(d[r])[lane] = int32_t(exact);
      }
    }
  return Step::Next;
}

bool decodeMma(Decoder &d, Op &op) {
  const auto &words = d.current().words;
  size_t types = words.size() - 4;
  Shape s{};
  for (const std::string &word : words)
    if (word[0] == 'm' && sscanf(word.c_str(), "m%un%uk%u", &s.m, &s.n, &s.k) == 3)
      break;
  const std::string &to = words[types], &from = words[types + 3];
  if (words.size() < 8 || s.n != 8 || (s.m != 16 && s.m != 8) || to != from ||
      !elementOf(words[types + 1], s.a) || !elementOf(words[types + 2], s.b) || !d.has("row") ||
      !d.has("col"))
    return false;
  for (size_t i = 1; i < types; ++i)
    if (words[i] != "sync" && words[i] != "aligned" && words[i] != "row" && words[i] != "col" &&
        words[i] != "satfinite" && words[i] != "kind::f8f6f4" && words[i][0] != 'm')
      d.fail("'." + words[i] + "' is not emulated");
  s.sum = to == "f32"   ? Shape::F32
          : to == "f16" ? Shape::F16
          : to == "s32" ? Shape::S32
                        : Shape::F64;
  s.saturates = d.has("satfinite");
  bool isDouble = s.a == Element::Double;
  if ((to != "f32" && to != "f16" && to != "s32" && to != "f64") || (to == "f64") != isDouble)
    return false;
  unsigned bits = isDouble ? 64 : 32;
  d.list(d.operand(0), bits, true, op);
  unsigned results = op.count;
  d.list(d.operand(1), bits, false, op);
  op.vector = uint8_t(op.count - results);
  d.list(d.operand(2), bits, false, op);
  op.wide = uint8_t(op.count - results - op.vector);
  d.list(d.operand(3), bits, false, op);
  unsigned each = isDouble ? 1 : 32 / bitsOfElement(s.a);
  if (op.vector * each * 32 != s.m * s.k || op.wide * each * 32 != s.n * s.k ||
      op.count != 2 * results + op.vector + op.wide ||
      results * 32 * (s.sum == Shape::F16 ? 2 : 1) != s.m * s.n || s.k > 64)
    d.fail("the fragments' registers do not fit the shape");
  op.count = results;
  op.imm = packShape(s);
  op.converge = true;
  op.run = multiply;
  return true;
}

//===--- ldmatrix, stmatrix -----------------------------------------------===//

uint64_t rowAddress(Warp &w, const Op &op, int lane) {
  uint64_t base = op.addressBits == 32 ? uint64_t(w.at<uint32_t>(op.a)[lane])
                                       : w.at<uint64_t>(op.a)[lane] & ~windowMask;
  return (base + uint64_t(op.imm)) & 0xFFFFFFFFu;
}

/// Matrices of 8 rows of 16 bytes; lanes 8i to 8i + 7 give the rows of matrix i.
template <bool loads> Step moveMatrices(Warp &w, const Op &op, uint32_t) {
  if (!loads)
    ++w.block->grid->events;
  for (unsigned matrix = 0; matrix < op.count; ++matrix) {
    uint32_t *registers = w.at<uint32_t>(w.kernel->lists[op.list + matrix]);
    uint16_t cells[8][8];
    uint8_t *rows[8];
    for (unsigned row = 0; row < 8; ++row) {
      int lane = int(matrix * 8 + row);
      uint64_t address = rowAddress(w, op, lane);
      if (address % 16)
        fault(Misaligned, w, op, lane,
              "the row's address " + hex(address) + " is no multiple of 16");
      rows[row] = sharedAt(w, op, lane, address, 16);
      if (!loads)
        checkNoBarrier(w, op, lane, *w.block, address, 16);
      if (loads)
        memcpy(cells[row], rows[row], 16);
      else // four threads hold the row; turned, all of a group
        markUnfenced(w, op.sign ? 0x11111111u << (row / 2) : 15u << (row * 4),
                     uint32_t(address) - sharedBase);
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned row = lane / 4, column = lane % 4 * 2;
      uint16_t *first = op.sign ? &cells[column][row] : &cells[row][column],
               *second = op.sign ? &cells[column + 1][row] : &cells[row][column + 1];
      if (loads) {
        registers[lane] = *first | uint32_t(*second) << 16;
      } else {
        *first = uint16_t(registers[lane]);
        *second = uint16_t(registers[lane] >> 16);
      }
    }
    if (!loads)
      for (unsigned row = 0; row < 8; ++row)
        memcpy(rows[row], cells[row], 16);
  }
  return Step::Next;
}

} // namespace

bool decodeMatrix(Decoder &d, Op &op) {
  if (d.name() == "mma")
    return decodeMma(d, op);
  bool loads = d.name() == "ldmatrix";
  if (!loads && d.name() != "stmatrix")
    return false;
  d.allow({"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"});
  d.list(d.operand(loads ? 0 : 1), 32, loads, op);
  d.address(d.operand(loads ? 1 : 0), op);
  op.sign = d.has("trans");
  if (op.count != (d.has("x4") ? 4u : d.has("x2") ? 2u : 1u))
    return false;
  op.converge = true;
  op.run = loads ? moveMatrices<true> : moveMatrices<false>;
  return true;
}

} // namespace emu
