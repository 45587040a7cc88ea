// wgmma: products of a warpgroup from shared memory. Each warp does its 16 rows. Operands are read
// and sums written when the warp waits, as late as is allowed, or at once.
//
// Sums of f32 in a warp's registers, lane l = 4 g + t, for each 8 columns from column 8 c:
//
//               column 8c + 2t    8c + 2t + 1
//   row g       register 4c       4c + 1
//   row g + 8   register 4c + 2   4c + 3
//
// Sums of f16 take half as many, two columns in a register.
#include "test/emulator/Matrix.h"

namespace emu {
namespace {

/// How op.imm describes an instruction.
struct Form {
  unsigned n, k;
  Element a, b;
  enum Sum : uint8_t { F32, F16, S32 } sum;
  bool aInRegisters, aTransposed, bTransposed, negatesA, negatesB;
};
int64_t packForm(const Form &f) {
  return int64_t(f.n) | int64_t(f.k) << 16 | int64_t(f.a) << 24 | int64_t(f.b) << 28 |
         int64_t(f.sum) << 32 | int64_t(f.aInRegisters) << 36 | int64_t(f.aTransposed) << 37 |
         int64_t(f.bTransposed) << 38 | int64_t(f.negatesA) << 39 | int64_t(f.negatesB) << 40;
}
Form unpackForm(int64_t v) {
  auto bit = [v](int i) { return (v >> i & 1) != 0; };
  return {unsigned(v & 0xFFFF),
          unsigned(v >> 16 & 255),
          Element(v >> 24 & 15),
          Element(v >> 28 & 15),
          Form::Sum(v >> 32 & 15),
          bit(36),
          bit(37),
          bit(38),
          bit(39),
          bit(40)};
}

/// A matrix in shared memory, by its descriptor.
class SharedMatrix {
public:
  SharedMatrix(uint64_t descriptor, bool transposed, unsigned bytes)
      : start(int64_t(descriptor & 0x3FFF) * 16), leading(int64_t(descriptor >> 16 & 0x3FFF) * 16),
        stride(int64_t(descriptor >> 32 & 0x3FFF) * 16), mode(unsigned(descriptor >> 62)),
        transposed(transposed), bytes(bytes) {}

  /// Where the element of row `row` (along M or N) and depth `k` lies.
  int64_t address(int64_t row, int64_t k) const {
    int64_t width = mode == 1 ? 128 : mode == 2 ? 64 : mode == 3 ? 32 : 16, offset;
    if (!transposed && mode) // rows of the swizzle's width, eight to a group
      offset = row % 8 * width + row / 8 * stride + k * bytes;
    else if (!transposed) // blocks of 8 rows by 16 bytes
      offset = row % 8 * 16 + row / 8 * stride + k * bytes / 16 * leading + k * bytes % 16;
    else if (mode)
      offset = row * bytes % width + row * bytes / width * leading + k % 8 * width + k / 8 * stride;
    else
      offset = row * bytes % 16 + row * bytes / 16 * stride + k % 8 * 16 + k / 8 * leading;
    int64_t linear = start + offset;
    return linear ^ (linear / 128 & (width / 16 - 1)) * 16;
  }

private:
  int64_t start, leading, stride;
  unsigned mode;
  bool transposed;
  unsigned bytes;
};

double sharedElement(Warp &w, const Op &op, const SharedMatrix &matrix, Element element,
                     int64_t row, int64_t k) {
  unsigned bytes = bitsOfElement(element) / 8;
  uint64_t bits = 0;
  uint64_t address = uint64_t(matrix.address(row, k));
  const uint8_t *from = sharedAt(w, op, 0, address, bytes);
  if (address % 16 < bytes || k == 0)
    checkFenced(w, op, *w.block, uint32_t(address) - sharedBase, bytes);
  memcpy(&bits, from, bytes);
  return elementValue(element, bits);
}

/// The lists hold the sums, then a's registers if it has some.
void multiply(Warp &w, const Wgmma &product) {
  const Op &op = *product.op;
  Form f = unpackForm(op.imm);
  const uint32_t *d = &w.kernel->lists[op.list], *a = d + op.count;
  unsigned group16 = w.number % 4 * 16;
  static thread_local std::vector<float> left, right, sums;
  static thread_local std::vector<int32_t> wholeSums;
  left.assign(16 * f.k, 0);
  right.assign(size_t(f.n) * f.k, 0);
  unsigned each = 32 / bitsOfElement(f.a);
  if (f.aInRegisters) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned e = 0; e < each; ++e)
          left[(lane / 4 + 8 * (r % 2)) * f.k + each * (lane % 4) + r / 2 * 4 * each + e] = float(
              elementValue(f.a, uint64_t(w.at<uint32_t>(a[r])[lane]) >> (bitsOfElement(f.a) * e)));
  } else {
    SharedMatrix matrix(product.a, f.aTransposed, bitsOfElement(f.a) / 8);
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned k = 0; k < f.k; ++k)
        left[i * f.k + k] = float(sharedElement(w, op, matrix, f.a, group16 + i, k));
  }
  SharedMatrix matrix(product.b, f.bTransposed, bitsOfElement(f.b) / 8);
  for (unsigned j = 0; j < f.n; ++j)
    for (unsigned k = 0; k < f.k; ++k)
      right[size_t(k) * f.n + j] = float(sharedElement(w, op, matrix, f.b, j, k));
  // Sums of f32 products in double would be exact; f32 is near enough to what the hardware does.
  std::vector<double> exact(16 * f.n, 0);
  double sign = f.negatesA != f.negatesB ? -1 : 1;
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned k = 0; k < f.k; ++k) {
      double x = sign * left[i * f.k + k];
      const float *row = &right[size_t(k) * f.n];
      double *to = &exact[i * f.n];
      for (unsigned j = 0; j < f.n; ++j)
        to[j] += x * row[j];
    }
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < op.count; ++r) {
      unsigned pairs = f.sum == Form::F16 ? 1 : 2; // registers of one row's two columns
      unsigned row = lane / 4 + 8 * (r / pairs % 2), column = r / (2 * pairs) * 8 + lane % 4 * 2;
      const double *from = &exact[row * f.n + column];
      if (f.sum == Form::F16) {
        uint32_t &to = w.at<uint32_t>(d[r])[lane];
        double low = from[0], high = from[1];
        if (product.adds) {
          low += F16::load(uint16_t(to));
          high += F16::load(uint16_t(to >> 16));
        }
        to = F16::store(low) | uint32_t(F16::store(high)) << 16;
      } else if (f.sum == Form::F32) {
        float &to = w.at<float>(d[r])[lane];
        to = canonical(float(from[r % 2] + (product.adds ? double(to) : 0)));
      } else {
        int32_t &to = w.at<int32_t>(d[r])[lane];
        to = int32_t(uint32_t(int32_t(from[r % 2])) + (product.adds ? uint32_t(to) : 0));
      }
    }
}

void finish(Warp &w, uint32_t leave) {
  std::vector<Wgmma> all;
  all.swap(w.products); // moves are executed by the way that keeps them
  for (const Wgmma &one : all)
    if (one.group + leave >= w.productGroups)
      w.products.push_back(one);
    else if (one.moves)
      one.op->run(w, *one.op, one.moves);
    else
      multiply(w, one);
  for (auto i = w.inFlight.begin(); i != w.inFlight.end();)
    i = i->second + leave < w.productGroups ? w.inFlight.erase(i) : std::next(i);
}

Step issue(Warp &w, const Op &op, uint32_t m) {
  Wgmma product{&op, w.productGroups, 0, 0, true, 0};
  int lane = __builtin_ctz(m);
  if (op.a != none)
    product.a = w.at<uint64_t>(op.a)[lane];
  product.b = w.at<uint64_t>(op.b)[lane];
  product.adds = *w.at<uint32_t>(op.c) >> lane & 1;
  for (uint32_t i = uint32_t(lane) + 1; i < 32; ++i)
    if ((op.a != none && w.at<uint64_t>(op.a)[i] != product.a) ||
        w.at<uint64_t>(op.b)[i] != product.b || (*w.at<uint32_t>(op.c) >> i & 1) != product.adds)
      fault(IllegalInstruction, w, op, int(i),
            "the descriptors and the predicate must be the same in all threads");
  for (uint64_t part : {uint64_t(op.line), product.a, product.b, uint64_t(product.adds)})
    w.productsIssued = (w.productsIssued ^ part) * 0x100000001B3u + 1;
  if (!w.block->grid->options.late) {
    multiply(w, product);
    return Step::Next;
  }
  w.products.push_back(product);
  for (uint32_t i = 0; i < op.count; ++i)
    w.inFlight[w.kernel->lists[op.list + i]] = w.productGroups;
  return Step::Next;
}

} // namespace

void checkWarpgroups(Block &block) {
  for (size_t i = 0; i < block.warps.size(); ++i) {
    Warp &first = block.warps[i / 4 * 4], &w = block.warps[i];
    bool isWhole = i / 4 * 4 + 4 <= block.warps.size();
    if (w.productsIssued != first.productsIssued || (w.productsIssued && !isWhole)) {
      Op op;
      fault(IllegalInstruction, w, op, -1,
            "the four warps of its warpgroup have not issued the same products by wgmma");
    }
  }
}

bool passOn(Warp &w, const Op &op, uint32_t m) {
  if (op.run == issue)
    return false;
  // A move is a name for the same sum, which the assembler gives no instruction of its own.
  if (op.isMove)
    if (auto source = w.inFlight.find(op.a); source != w.inFlight.end()) {
      uint32_t group = source->second;
      w.products.push_back({&op, group, 0, 0, false, m});
      w.inFlight[op.d] = group;
      ++w.block->grid->passedOn;
      return true;
    }
  auto check = [&](uint32_t offset) {
    if (offset != none && w.inFlight.count(offset))
      fault(LaunchFailed, w, op, -1,
            "it accesses a register that a product by wgmma in flight writes");
  };
  check(op.d);
  check(op.a);
  check(op.b);
  check(op.c);
  if (op.hasList)
    for (uint32_t i = 0; i < op.count; ++i)
      check(w.kernel->lists[op.list + i]);
  return false;
}

bool decodeWgmma(Decoder &d, Op &op) {
  if (d.name() != "wgmma")
    return false;
  op.converge = true;
  if (d.has("fence")) {
    op.run = [](Warp &, const Op &, uint32_t) { return Step::Next; };
    return true;
  }
  if (d.has("commit_group")) {
    op.run = [](Warp &w, const Op &, uint32_t) {
      ++w.productGroups;
      return Step::Next;
    };
    return true;
  }
  if (d.has("wait_group")) {
    op.imm = d.operand(0).value;
    op.run = [](Warp &w, const Op &o, uint32_t) {
      finish(w, uint32_t(o.imm));
      return Step::Next;
    };
    return true;
  }
  const auto &words = d.current().words;
  Form f{};
  unsigned m = 0;
  size_t last = words.size();
  if (last < 7 || words[1] != "mma_async" || words[2] != "sync" || words[3] != "aligned" ||
      sscanf(words[4].c_str(), "m%un%uk%u", &m, &f.n, &f.k) != 3 || m != 64 || f.n % 8 || f.n > 256)
    return false;
  if (!elementOf(words[6], f.a) || !elementOf(words[7], f.b) || last != 8 ||
      f.k * bitsOfElement(f.a) != 256)
    return false;
  const std::string &sum = words[5];
  f.sum = sum == "f32" ? Form::F32 : sum == "f16" ? Form::F16 : Form::S32;
  if (sum != "f32" && sum != "f16" && sum != "s32")
    return false;
  d.list(d.operand(0), 32, true, op);
  unsigned sums = op.count;
  if (sums * (f.sum == Form::F16 ? 2 : 1) != f.n / 2)
    d.fail("the sums' registers do not fit the shape");
  f.aInRegisters = d.operand(1).kind == Operand::Vector;
  if (f.aInRegisters)
    d.list(d.operand(1), 32, false, op);
  else
    op.a = d.source(1, 64);
  if (f.aInRegisters && op.count != sums + 4)
    d.fail("a has four registers");
  op.count = sums;
  op.b = d.source(2, 64);
  bool negated = false;
  op.c = d.predicate(d.operand(3), negated);
  if (negated)
    return false;
  size_t next = 4;
  auto flag = [&](int64_t of) { return next < d.operands() && d.operand(next++).value == of; };
  if (f.sum != Form::S32) {
    f.negatesA = flag(-1);
    f.negatesB = flag(-1);
  }
  if (bitsOfElement(f.a) == 16) {
    f.aTransposed = !f.aInRegisters && flag(1);
    f.bTransposed = flag(1);
  }
  if (next != d.operands())
    d.fail("it has too many or too few operands");
  op.imm = packForm(f);
  op.run = issue;
  return true;
}

} // namespace emu
