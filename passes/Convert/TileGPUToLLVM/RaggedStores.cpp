// Stores of pieces of rows that are not aligned: RaggedPieces.cpp has the picture.
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/RaggedStatement.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;
using namespace tile::gpu::ragged;

/// Stores elements of a piece one by one: all that exist, or words `low` to `high`, registers.
static void storeElements(Statement &text, const RaggedPiece &piece, unsigned line,
                          ArrayRef<std::string> words, const std::string &instruction,
                          bool ranged) {
  for (unsigned w = 0; w < words.size(); ++w)
    for (unsigned e = 0; e < 32 / text.bits; ++e) {
      std::string value = words[w];
      // Elements above the first are shifted down, as PTX stores the low bits of a register.
      if (e) {
        value = "e";
        text.body += "shr.u32 e, " + words[w] + name(", ", e * text.bits) + "; ";
      }
      unsigned number = w * (32 / text.bits) + e;
      if (ranged)
        text.body += name("setp.le.s32 q, low, ", number) +
                     name("; setp.gt.and.s32 q, high, ", number) + ", q; ";
      else
        text.body += name("setp.gt.s32 q, n", line) + name(", ", piece.distance + number) + "; ";
      text.body += "@q " + instruction + getType(text.bits) +
                   text.place(line, piece.distance + number) + ", " + value + "; ";
    }
}

namespace {

/// What the lanes of a store by windows hold: lane l the window that ends in its own piece, in x0,
/// x1, ...; lane 0 also the window behind those of all lanes, as it has the last lane's words for
/// those of a lane before. Parts of windows are stored in pieces of 8, 4, 2 bytes and one, words
/// one by one.
struct WindowStore {
  Statement &text;
  const RaggedPiece &piece;
  unsigned number, line, lanes;
  ArrayRef<std::string> words;
  const std::string &instruction;

  unsigned offset() const { return piece.distance * text.bits / 8; }
  std::string at(const std::string &base, unsigned bytes) const {
    return "[" + base + name("+", bytes) + "], ";
  }
  std::string own(unsigned bytes) const { return at(name("a", line), offset() + bytes); }
  std::string window(unsigned bytes) const { return at(name("w", line), offset() + bytes); }
  void store(const std::string &type, const std::string &place, const std::string &value) {
    text.body += "@q " + instruction + type + place + value + "; ";
  }
  /// Sets q to whether bits `mask` of a register are `value`: one instruction for one bit.
  void testBits(const char *of, unsigned mask, unsigned value) {
    text.body += std::string("and.b32 t, ") + of + name(", ", mask);
    bool isBit = value == mask && llvm::isPowerOf2_32(mask);
    text.body += (isBit ? "; setp.ne.s32 q, t, 0" : name("; setp.eq.s32 q, t, ", value)) + "; ";
  }

  void storeWhole();
  void countEnds();
  void storeEnd();
  void storeBegin();
  void storeWithin();
  void storeWords();
};

} // namespace

/// Makes the windows and stores those that exist as a whole, where q holds.
void WindowStore::storeWhole() {
  unsigned count = words.size(), width = text.getWidth();
  std::string r = name("r", line), x = "x";
  // Of an aligned row a lane's window is its piece: it exchanges with itself.
  text.body += "setp.eq.s32 even, " + r + ", 0; selp.b32 t, self, before, even; ";
  for (unsigned i = 0; i < count; ++i)
    text.body += name("shfl.sync.idx.b32 x", i) + ", " + words[i] + ", t, 31, 0xffffffff; " +
                 name("mov.b32 x", count + i) + ", " + words[i] + "; ";
  text.body += "sub.s32 y, " + std::to_string(text.getWindowBytes()) + ", " + r + "; ";
  text.declareShift("y");
  text.shift(x);
  // c: how many elements exist from the window's beginning on.
  text.body += "shr.u32 j, " + r + name(", ", llvm::Log2_32(text.bits / 8)) + "; add.s32 c, " +
               name("n", line) + ", j; " + name("sub.s32 c, c, ", piece.distance) + "; " +
               name("setp.ge.s32 full, c, ", width) +
               "; setp.ne.or.s32 q, lane, 0, even; and.pred q, q, full; ";
  store(name("v", count) + ".b32 ", window(0), list(x, 0, count));
}

/// Counts `b`, the bytes that lane 0's own window ends with and that are to be stored, and `p`, the
/// bytes from `d` on that a window begins with, where it does not exist as a whole or is the one
/// behind all lanes'. Lanes that have nothing else to store go to the end.
void WindowStore::countEnds() {
  unsigned width = text.getWidth(), bytes = text.getWindowBytes(),
           shift = llvm::Log2_32(text.bits / 8);
  text.body += "selp.b32 b, y, 0, full; selp.b32 b, b, 0, first; " +
               name("sub.s32 p, c, ", width * lanes) + "; min.s32 p, p, j; selp.b32 t, 0, c, " +
               "full; selp.b32 p, p, t, first; max.s32 p, p, 0; " + name("shl.b32 p, p, ", shift) +
               "; add.s64 d, " + name("w", line) + name(", ", offset()) + "; add.s64 z, d, " +
               std::to_string(bytes * lanes) + "; selp.b64 d, z, d, first; ";
  // Most lanes have whole windows alone, and so have warps of aligned rows.
  text.body += "not.pred within, full; and.pred within, within, first; " +
               name("setp.gt.and.s32 within, n", line) + name(", ", piece.distance) +
               ", within; or.b32 t, b, p; setp.ne.or.s32 q, t, 0, within; " +
               name("@!q bra STORED", number) + "; ";
}

/// The last `b` bytes of a window: from its end down, the least piece is the row's first elements.
void WindowStore::storeEnd() {
  if (words.size() == 4) {
    testBits("b", 8, 8);
    store("v2.b32 ", window(8), "{x2, x3}");
    testBits("b", 12, 12);
    store("b32 ", window(4), "x1");
    testBits("b", 12, 4);
    store("b32 ", window(12), "x3");
  } else {
    testBits("b", 4, 4);
    store("b32 ", window(4), "x1");
  }
  if (text.bits == 16) {
    testBits("b", 2, 2);
    return store("u16 ", own(0), words[0]);
  }
  testBits("b", 1, 1);
  store("u8 ", own(0), words[0]);
  testBits("b", 3, 2);
  store("u16 ", own(0), words[0]);
  testBits("b", 3, 3);
  text.body += "shr.u32 t, " + words[0] + ", 8; ";
  store("u16 ", own(1), "t");
}

/// The first `p` bytes of a window, at `d`.
void WindowStore::storeBegin() {
  if (words.size() == 4) {
    testBits("p", 12, 12);
    store("b32 ", at("d", 8), "x2");
    testBits("p", 12, 4);
    store("b32 ", at("d", 0), "x0");
    testBits("p", 8, 8);
    store("v2.b32 ", at("d", 0), "{x0, x1}");
    text.body += "selp.b32 x0, x2, x0, q; selp.b32 x1, x3, x1, q; ";
  } else {
    testBits("p", 4, 4);
    store("b32 ", at("d", 0), "x0");
  }
  text.body += "and.b32 t, p, 4; setp.ne.s32 q, t, 0; selp.b32 x0, x1, x0, q; and.b32 t, p, 12; "
               "cvt.u64.u32 z, t; add.s64 d, d, z; ";
  testBits("p", 2, 2);
  store("u16 ", at("d", 0), "x0");
  if (text.bits == 16)
    return;
  text.body += "and.b32 t, p, 2; cvt.u64.u32 z, t; add.s64 d, d, z; shl.b32 t, t, 3; "
               "shr.u32 x0, x0, t; ";
  testBits("p", 1, 1);
  store("u8 ", at("d", 0), "x0");
}

/// A row that ends within lane 0's window: one element after the other.
void WindowStore::storeWithin() {
  std::string label = name("STORED", number), next = name("REST", number);
  text.body += "@!within bra " + label + "; " + name("sub.s32 t, n", line) +
               name(", ", piece.distance) + name("; add.s64 d, a", line) + name(", ", offset()) +
               "; ";
  for (auto [i, word] : llvm::enumerate(words))
    text.body += name("mov.b32 x", i) + ", " + word + "; ";
  text.body += next + ": .pragma \"nounroll\"; " + instruction + getType(text.bits) + "[d], x0; " +
               name("add.s64 d, d, ", text.bits / 8) + "; ";
  for (unsigned i = 0; i + 1 < words.size(); ++i)
    text.body += name("shf.r.wrap.b32 x", i) + name(", x", i) + name(", x", i + 1) +
                 name(", ", text.bits) + "; ";
  text.body += name("shr.u32 x", words.size() - 1) + name(", x", words.size() - 1) +
               name(", ", text.bits) + "; ";
  text.body += "sub.s32 t, t, 1; setp.gt.s32 q, t, 0; @q bra " + next + "; " + label + ": ";
}

/// Words that no window holds: of a lane's own, those behind its window, or all, up to the next
/// lane's window. They are four instructions at most, of which lane 0 and the last one share each;
/// counting the ends' bytes took longer (0.95 to 0.98 of the speed on an H200).
void WindowStore::storeWords() {
  unsigned width = text.getWidth();
  text.body += name("sub.s32 t, ", width) + ", j; selp.b32 low, t, 0, q; " +
               name("setp.ge.s32 q, c, ", 2 * width) +
               name("; setp.ne.and.s32 q, lane, ", lanes - 1) +
               name(", q; selp.b32 high, t, ", width) + name(", q; sub.s32 t, n", line) +
               name(", ", piece.distance) + "; min.s32 high, high, t; setp.ge.s32 q, low, high; " +
               name("@q bra STORED", number) + "; ";
  storeElements(text, piece, line, words, instruction, /*ranged=*/true);
  text.body += name("STORED", number) + ": ";
}

/// The windows of a piece's lanes, and what of them does not exist as a whole.
static void storeWindow(WindowStore store) {
  store.text.body += "{ .reg .b32 x<" + std::to_string(2 * store.words.size()) +
                     ">, j, t, c, y; .reg .pred full, even; ";
  store.storeWhole();
  if (store.text.bits == 32) {
    store.text.body += ".reg .b32 low, high; ";
    store.storeWords();
  } else {
    store.text.body += ".reg .b32 b, p; .reg .b64 d, z; .reg .pred within; ";
    store.countEnds();
    store.storeEnd();
    store.storeBegin();
    store.storeWithin();
  }
  store.text.body += "} ";
}

void tile::gpu::storeRagged(OpBuilder &builder, Location loc, ArrayRef<RaggedPiece> pieces,
                            const RaggedAccess &access, ArrayRef<Value> values) {
  while (pieces.size() > mostPieces) {
    storeRagged(builder, loc, pieces.take_front(mostPieces), access,
                values.take_front(mostPieces * access.words));
    pieces = pieces.drop_front(mostPieces);
    values = values.drop_front(mostPieces * access.words);
  }
  Statement text(access.bits, access.words, 0);
  text.windows = access.windows;
  std::string instruction = "st.global." + access.cache;
  if (access.windows) {
    // 0xE4: where the last operand has ones the first, else the second. The lane before the first
    // of a row's lanes is the last of these.
    std::string last = std::to_string(access.lanes - 1);
    text.head +=
        ".reg .b32 lane, self, before; .reg .pred first; mov.b32 self, " +
        text.take(access.lane, "r") + "; and.b32 lane, self, " + last +
        "; setp.eq.s32 first, lane, 0; sub.s32 before, self, 1; lop3.b32 before, before, " +
        "self, " + last + ", 0xE4; ";
  } else if (access.bits < 32) {
    text.head += ".reg .b32 e; ";
  }
  SmallVector<SmallVector<std::string>> words(pieces.size());
  SmallVector<unsigned> lines;
  for (unsigned p = 0; p < pieces.size(); ++p) {
    text.begin(pieces, p);
    lines.push_back(text.lines - 1);
    for (unsigned w = 0; w < access.words; ++w) {
      Value word = values[p * access.words + w];
      words[p].push_back(text.take(word, word.getType().isF32() ? "f" : "r"));
    }
  }
  text.body += text.late;
  for (unsigned p = 0; p < pieces.size(); ++p) {
    if (access.windows)
      storeWindow({text, pieces[p], p, lines[p], access.lanes, words[p], instruction});
    else
      storeElements(text, pieces[p], lines[p], words[p], instruction, /*ranged=*/false);
  }
  inlinePTX(builder, loc, {}, text.operands, text.head + text.body + "}",
            text.constraints + ",~{memory}");
}
