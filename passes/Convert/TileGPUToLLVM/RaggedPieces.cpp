// Rows whose beginning or length is not a multiple of 16 bytes: a thread's neighbours lie across
// two windows of 16 aligned bytes.
//
//   windows       |       w0        |       w1        |    what is loaded
//   the piece          | e0 e1 .. e7 ..  |                 w0 and w1, shifted by r bytes
//                 <-r->
//
// A load takes both windows and shifts them. Each holds an element of the piece or lies before the
// end of the view; pieces whose windows end behind it are loaded element by element. A store
// exchanges words with the lane before: the window that ends in its own piece begins with the last
// elements of that lane's.
//
//   pieces      |  lane l - 1  |    lane l    |  lane l + 1  |
//   windows        |  of lane l   | of lane l + 1|
//
// What no window of its lanes holds whole, as the first and the last elements of a row, is stored
// in pieces of 8, 4, 2 bytes and one, words one by one. A copy to shared memory takes parts of 8 or
// 4 bytes where rows allow them, else it loads windows, at the tensor's edges elements, and stores
// whole words.
//
// Beside the one instruction that an aligned row takes all of this is most of a kernel's code and
// of the time that it takes to compile, for a case that few launches meet. So the pieces of a line
// share an address and a number of elements, and LLVM sees one statement. Loads of single elements
// are a loop over the words of several pieces at once, a third of the code for ptxas. A word enters
// at the end of its piece's registers while the others move up, since registers have no index; a
// piece's elements lie in the same sector of the cache, so that only the first trip waits for
// memory. Single stores are written out all the same: one right behind the other, those to one
// sector become one on their way to the cache. So are words, of which a loop would save little.
#include "passes/Convert/TileGPUToLLVM/RaggedPieces.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Pieces of one statement: enough loads on their way at once, few enough registers.
static constexpr unsigned mostPieces = 4;

static std::string name(const std::string &prefix, unsigned number) {
  return prefix + std::to_string(number);
}
static std::string list(const std::string &prefix, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + name(prefix, first + i);
  return text + "}";
}
static std::string getType(unsigned bits) {
  return bits == 32 ? "b32 " : bits == 16 ? "u16 " : "u8 ";
}

namespace {

/// PTX that goes through pieces, and its operands.
/// PTX is written in two parts: `head` declares registers and copies operands, `body` goes through
/// pieces.
///
///   a<line>, n<line>   address and number of elements left, of each line of pieces
///   w<line>, r<line>   of a line's first piece: its first window, and where in it the piece begins
///   v<line>            bytes from w<line> on that may be read
///   q                  whether an element exists
///   e0 .. e3           elements of the word that is being made; i counts the loop's trips
struct Statement {
  unsigned bits, words, results, lines = 0;
  std::string head = "{ .reg .pred q; ", body, constraints;
  std::string late; ///< what windows alone need: behind the way of aligned pieces
  SmallVector<Value> operands;
  bool windows = false;
  std::string behind; ///< operand: nothing there or behind it is read; empty: nothing is asked

  Statement(unsigned bits, unsigned words, unsigned results)
      : bits(bits), words(words), results(results) {}

  unsigned getWidth() const { return words * 32 / bits; }
  unsigned getWindowBytes() const { return words * 4; }

  std::string take(Value operand, const char *constraint) {
    constraints += (constraints.empty() ? "" : ",") + std::string(constraint);
    operands.push_back(operand);
    return name("$", results + operands.size() - 1);
  }

  /// Takes the address and the count of a piece that is not on the line of the one before.
  /// Copies of address and count: the loop moves them on, and operands must not change.
  void begin(ArrayRef<RaggedPiece> pieces, unsigned piece) {
    if (piece && pieces[piece].pointer == pieces[piece - 1].pointer)
      return;
    std::string l = std::to_string(lines);
    head += ".reg .b64 a" + l + "; .reg .b32 n" + l + "; mov.b64 a" + l + ", " +
            take(pieces[piece].pointer, "l") + "; mov.b32 n" + l + ", " +
            take(pieces[piece].count, "r") + "; ";
    if (windows)
      late += ".reg .b64 w" + l + "; .reg .b32 r" + l + "; and.b64 w" + l + ", a" + l +
              name(", -", getWindowBytes()) + "; cvt.u32.u64 r" + l + ", a" + l + "; and.b32 r" +
              l + ", r" + l + name(", ", getWindowBytes() - 1) + "; ";
    // No more than a tile has matters.
    if (windows && !behind.empty())
      late += ".reg .b64 u" + l + "; .reg .b32 v" + l + "; sub.s64 u" + l + ", " + behind + ", w" +
              l + "; max.s64 u" + l + ", u" + l + ", 0; min.s64 u" + l + ", u" + l +
              ", 1073741824; cvt.u32.u64 v" + l + ", u" + l + "; ";
    ++lines;
  }

  /// Sets q to whether an element of the piece that was begun last exists, and returns its place.
  /// An element exists if more than `distance` are left.
  std::string test(unsigned distance) {
    body += name("setp.gt.s32 q, n", lines - 1) + name(", ", distance) + "; ";
    return place(lines - 1, distance);
  }

  std::string place(unsigned line, unsigned distance) const {
    return name("[a", line) + name("+", distance * bits / 8) + "]";
  }

  /// Declares what shift() needs for windows that begin `by`, a register, bytes into the first:
  /// whole words move by masks, the rest by funnel shifts. Masks, not predicates: a thread has
  /// seven of these, and where they are short ptxas waits for each load before it issues the next.
  void declareShift(const std::string &by) {
    for (unsigned half = words / 2; half; half /= 2)
      body += name(".reg .b32 h", half) + "; " + name("bfe.s32 h", half) + ", " + by +
              name(", ", llvm::Log2_32(4 * half)) + ", 1; ";
    body += ".reg .b32 s; and.b32 s, " + by + ", 3; shl.b32 s, s, 3; ";
  }

  /// The words from the shift on of x0 .. x<2 words - 1>, left in x0 ...
  void shift(const std::string &x) {
    unsigned count = 2 * words;
    for (unsigned half = words / 2; half; half /= 2) {
      count -= half;
      // 0xCA: where the mask has ones the second operand, else the third.
      for (unsigned i = 0; i < count; ++i)
        body += "lop3.b32 " + name(x, i) + name(", h", half) + ", " + name(x, i + half) + ", " +
                name(x, i) + ", 0xCA; ";
    }
    for (unsigned i = 0; bits < 32 && i < words; ++i)
      body += "shf.r.wrap.b32 " + name(x, i) + ", " + name(x, i) + ", " + name(x, i + 1) + ", s; ";
  }
};

//===--- Loads ------------------------------------------------------------===//

/// The low bits of `count` registers from number `first` on, side by side.
/// prmt picks bytes: 0x0040 is byte 0 of the first and byte 0 of the second operand, 0x5410 the
/// lower halves of both.
std::string packWord(const std::string &to, const std::string &prefix, unsigned first,
                     unsigned count) {
  auto element = [&](unsigned i) { return name(prefix, first + i); };
  if (count == 1)
    return "mov.b32 " + to + ", " + element(0) + "; ";
  std::string text, low = element(0), high = element(1);
  if (count == 4)
    text = "prmt.b32 " + low + ", " + low + ", " + high + ", 0x0040; prmt.b32 " + high + ", " +
           element(2) + ", " + element(3) + ", 0x0040; ";
  return text + "prmt.b32 " + to + ", " + low + ", " + high + ", 0x5410; ";
}

/// The statement, and the words that it loads.
SmallVector<Value> finishLoad(OpBuilder &builder, Location loc, Statement &text, unsigned results,
                              bool readOnly) {
  if (!readOnly)
    text.constraints += ",~{memory}";
  Type word = builder.getI32Type();
  Type type = results == 1 ? word
                           : Type(LLVM::LLVMStructType::getLiteral(
                                 builder.getContext(), SmallVector<Type>(results, word)));
  Value all =
      LLVM::InlineAsmOp::create(builder, loc, TypeRange(type), text.operands,
                                text.head + text.body + "}", text.constraints,
                                /*has_side_effects=*/!readOnly, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  SmallVector<Value> loaded;
  for (unsigned i = 0; i < results; ++i)
    loaded.push_back(results == 1 ? all
                                  : Value(LLVM::ExtractValueOp::create(builder, loc, all, i)));
  return loaded;
}

/// Pieces `from` to `to` - 1 element by element, into registers `word`0, `word`1, ...
void loadElements(Statement &text, ArrayRef<RaggedPiece> pieces, ArrayRef<unsigned> lines,
                  unsigned from, unsigned to, const std::string &instruction,
                  const std::string &fill, const char *word) {
  unsigned perWord = 32 / text.bits, words = text.words;
  bool loop = perWord > 1;
  if (loop)
    text.body += name("mov.b32 i, ", words) + "; ";
  std::string before, label = name("NEXT", from);
  std::swap(before, text.body);
  auto load = [&](const std::string &element, unsigned line, unsigned distance) {
    text.body += "mov.b32 " + element + ", " + fill + "; " + name("setp.gt.s32 q, n", line) +
                 name(", ", distance) + "; " + instruction + getType(text.bits) + element + ", " +
                 text.place(line, distance) + "; ";
  };
  for (unsigned p = from; p < to; ++p) {
    unsigned first = p * words, last = first + words - 1;
    if (!loop) {
      for (unsigned w = 0; w < words; ++w)
        load(name(word, first + w), lines[p], pieces[p].distance + w);
      continue;
    }
    // The registers of a piece are a queue: each trip reads one word of every piece.
    //
    //   trip 0   $0 $1 $2 $3 <- w0        each word moves up by one,
    //   trip 3   w0 w1 w2 w3              the first ends up first
    for (unsigned w = first; w < last; ++w)
      text.body += "mov.b32 " + name(word, w) + ", " + name(word, w + 1) + "; ";
    for (unsigned e = 0; e < perWord; ++e)
      load(name("e", e), lines[p], pieces[p].distance + e);
    text.body += packWord(name(word, last), "e", 0, perWord);
  }
  if (loop) {
    auto move = [&](unsigned line, unsigned bytes, unsigned elements, bool back) {
      text.body += name(back ? "sub.s64 a" : "add.s64 a", line) + name(", a", line) +
                   name(", ", bytes) + name(back ? "; add.s32 n" : "; sub.s32 n", line) +
                   name(", n", line) + name(", ", elements) + "; ";
    };
    for (unsigned line = lines[from]; line <= lines[to - 1]; ++line)
      move(line, 4, perWord, /*back=*/false);
    // Labels are local to the braces. The count of trips is the number of words of a piece.
    text.body = label + ": .pragma \"nounroll\"; " + text.body +
                "sub.s32 i, i, 1; setp.ne.s32 q, i, 0; @q bra " + label + "; ";
    if (to < pieces.size() && lines[to] == lines[to - 1])
      move(lines[to], 4 * words, perWord * words, /*back=*/true);
  }
  text.body = before + text.body;
}

/// One piece by its windows, if they may be read: else to SLOW.
void loadWindows(Statement &text, const RaggedPiece &piece, const std::string &instruction,
                 const std::string &fill) {
  unsigned words = text.words, width = text.getWidth(), window = text.getWindowBytes(),
           offset = piece.distance * text.bits / 8;
  text.head +=
      ".reg .pred g, b; .reg .b32 m, l, z; .reg .b32 x<" + std::to_string(2 * words) + ">; ";
  text.body +=
      name("setp.lt.s32 b, v0, ", offset + 2 * window) + "; @b bra SLOW; mov.b32 z, " + fill + "; ";
  // What does not exist: `fill` in each element.
  for (unsigned step = text.bits; step < 32; step *= 2)
    text.body += name("shl.b32 m, z, ", step) + "; or.b32 z, z, m; ";
  text.body += name("setp.gt.s32 g, n0, ", piece.distance) + "; ";
  std::string vector = words == 4 ? "v4.b32 " : "v2.b32 ";
  for (unsigned half : {0, 1})
    text.body += "@g" + instruction + vector + list("x", half * words, words) +
                 name(", [w0+", offset + half * window) + "]; ";
  text.declareShift("r0");
  text.shift("x");
  for (unsigned w = 0; w < words; ++w)
    text.body += name("mov.b32 $", w) + name(", x", w) + "; ";
  // A mask of as many bits as a word has of the row.
  text.body += name("setp.ge.s32 b, n0, ", piece.distance + width) +
               name("; @b bra DONE; sub.s32 l, n0, ", piece.distance) +
               name("; max.s32 l, l, 0; shl.b32 l, l, ", llvm::Log2_32(text.bits)) + "; ";
  for (unsigned w = 0; w < words; ++w)
    text.body += "shl.b32 m, 1, l; sub.s32 m, m, 1; " + name("lop3.b32 $", w) + name(", $", w) +
                 ", z, m, 0xE4; sub.s32 l, l, 32; max.s32 l, l, 0; ";
  text.body += "bra DONE; ";
}

/// All pieces by one instruction each.
void loadAligned(Statement &text, ArrayRef<RaggedPiece> pieces, ArrayRef<unsigned> lines,
                 const RaggedAccess &access, const std::string &instruction,
                 const std::string &policy) {
  std::string selections;
  for (unsigned p = 0; p < pieces.size(); ++p) {
    unsigned first = p * text.words;
    std::string exists = name("g", p), guard;
    if (!access.exist) {
      text.head += ".reg .pred " + exists + "; ";
      text.body +=
          "setp.gt.s32 " + exists + name(", n", lines[p]) + name(", ", pieces[p].distance) + "; ";
      guard = "@" + exists + " ";
    }
    for (unsigned w = first; !access.exist && w < first + text.words; ++w)
      (access.selects ? selections : text.body) +=
          access.selects ? name("selp.b32 $", w) + name(", $", w) + ", f, " + exists + "; "
                         : name("mov.b32 $", w) + ", f; ";
    text.body += guard + instruction + name("v", text.words) + ".b32 " +
                 list("$", first, text.words) + ", " + text.place(lines[p], pieces[p].distance) +
                 policy + "; ";
  }
  text.body += selections;
}

/// All pieces by the windows around them, which may be read where a piece exists, into registers
/// `word`0, `word`1, ...: pieces `from` to `to`. All loads stand before all shifts: ptxas keeps
/// that order, and gives a load whose result is used at once the registers of the one before.
void loadInside(Statement &text, ArrayRef<RaggedPiece> pieces, ArrayRef<unsigned> lines,
                unsigned from, unsigned to, const std::string &instruction,
                const std::string &policy, const std::string &fill, const char *word) {
  unsigned words = text.words, window = text.getWindowBytes();
  auto windows = [](unsigned piece) { return name("y", piece) + "_"; };
  text.body += "{ .reg .b32 o<" + std::to_string(pieces.size()) + ">; .reg .b64 w; ";
  for (unsigned p = from; p < to; ++p) {
    std::string y = windows(p);
    text.body += ".reg .b32 " + y + "<" + std::to_string(2 * words) + ">; " +
                 name("add.s64 w, a", lines[p]) + name(", ", pieces[p].distance * text.bits / 8) +
                 name("; cvt.u32.u64 o", p) + name(", w; and.b64 w, w, -", window) + "; " +
                 name("setp.gt.s32 q, n", lines[p]) + name(", ", pieces[p].distance) + "; ";
    for (unsigned w = 0; w < 2 * words; ++w)
      text.body += "mov.b32 " + name(y, w) + ", " + fill + "; ";
    for (unsigned half : {0, 1})
      text.body += "@q " + instruction + name("v", words) + ".b32 " + list(y, half * words, words) +
                   name(", [w+", half * window) + "]" + policy + "; ";
  }
  for (unsigned p = from; p < to; ++p) {
    text.body += "{ ";
    text.declareShift(name("o", p));
    text.shift(windows(p));
    for (unsigned w = 0; w < words; ++w)
      text.body += "mov.b32 " + name(word, p * words + w) + ", " + name(windows(p), w) + "; ";
    text.body += "} ";
  }
  text.body += "} ";
}

} // namespace

SmallVector<Value> tile::gpu::loadRagged(OpBuilder &builder, Location loc,
                                         ArrayRef<RaggedPiece> pieces, const RaggedAccess &access,
                                         Value fill, bool readOnly) {
  SmallVector<Value> loaded;
  // So many at a time; the rest is another statement, ahead of which nothing waits. Where all are
  // aligned, they share a branch.
  unsigned most = access.aligned || access.inside ? pieces.size() : access.behind ? 1 : mostPieces;
  while (pieces.size() > most) {
    loaded.append(loadRagged(builder, loc, pieces.take_front(most), access, fill, readOnly));
    pieces = pieces.drop_front(most);
  }
  unsigned perWord = 32 / access.bits, results = pieces.size() * access.words;
  Statement text(access.bits, access.words, results);
  for (unsigned i = 0; i < results;
       ++i) // early: results are written while operands are still needed
    text.constraints += i ? ",=&r" : "=&r";
  std::string fillName = text.take(fill, "r");
  text.windows = bool(access.behind);
  if (access.behind)
    text.behind = text.take(access.behind, "l");
  SmallVector<unsigned> lines;
  for (unsigned p = 0; p < pieces.size(); ++p) {
    text.begin(pieces, p);
    lines.push_back(text.lines - 1);
  }
  if (perWord > 1)
    text.head += ".reg .b32 i; ";
  for (unsigned e = 0; perWord > 1 && e < perWord; ++e)
    text.head += name(".reg .b32 e", e) + "; ";
  std::string instruction = std::string("ld.global.") + (readOnly ? "nc." : "") + access.cache;
  bool isWhole = access.aligned || access.inside;
  if (isWhole) {
    text.head += ".reg .b32 f, h; mov.b32 f, " + fillName + "; ";
    for (unsigned step = text.bits; step < 32; step *= 2)
      text.head += name("shl.b32 h, f, ", step) + "; or.b32 f, f, h; ";
    std::string policy = access.policy ? ", " + text.take(access.policy, "l") : "",
                whole = instruction + (access.policy ? "L2::cache_hint." : "");
    if (access.aligned) {
      text.body += "@!" + text.take(access.aligned, "b") + " bra NARROW; ";
      loadAligned(text, pieces, lines, access, whole, policy);
      text.body += "bra LOADED; NARROW: ";
    }
    if (access.inside) {
      text.body += "@!" + text.take(access.inside, "b") + " bra SINGLE; ";
      unsigned count = pieces.size(), step = std::min(count, access.together);
      for (unsigned from = 0; from < count; from += step)
        loadInside(text, pieces, lines, from, std::min(from + step, count), whole, policy, "f",
                   "$");
      text.body += "bra LOADED; SINGLE: ";
    }
  }
  text.body += text.late;
  if (access.behind) {
    loadWindows(text, pieces[0], " " + instruction, fillName);
    text.body += "SLOW: ";
  }
  for (unsigned from = 0; from < pieces.size(); from += mostPieces)
    loadElements(text, pieces, lines, from, std::min<size_t>(from + mostPieces, pieces.size()),
                 "@q " + instruction, fillName, "$");
  if (access.behind)
    text.body += "DONE: ";
  if (isWhole)
    text.body += "LOADED: ";
  loaded.append(finishLoad(builder, loc, text, results, readOnly));
  return loaded;
}

SmallVector<Value> tile::gpu::loadWrapped(OpBuilder &builder, Location loc,
                                          const WrappedPiece &piece, const RaggedAccess &access,
                                          Value fill, bool readOnly) {
  unsigned perWord = 32 / access.bits, size = access.bits / 8;
  Statement text(access.bits, access.words, access.words);
  for (unsigned i = 0; i < access.words; ++i)
    text.constraints += i ? ",=&r" : "=&r";
  std::string from = text.take(fill, "r"), end = text.take(piece.end, "l"),
              begin = text.take(piece.begin, "l"), turn = text.take(piece.turn, "r"),
              endCount = text.take(piece.endCount, "r"),
              beginCount = text.take(piece.beginCount, "r");
  unsigned elements = access.words * perWord;
  text.head += ".reg .b32 e<" + std::to_string(elements) + ">; ";
  std::string load =
      std::string("@q ld.global.") + (readOnly ? "nc." : "") + access.cache + getType(access.bits);
  for (unsigned i = 0; i < elements; ++i) {
    std::string element = name("e", i), number = std::to_string(i),
                place = "+" + std::to_string(i * size) + "]; ";
    text.body += "mov.b32 " + element + ", " + from + "; setp.gt.s32 q, " + turn + ", " + number +
                 "; setp.gt.and.s32 q, " + endCount + ", " + number + ", q; " + load + element +
                 ", [" + end + place + "setp.le.s32 q, " + turn + ", " + number +
                 "; setp.gt.and.s32 q, " + beginCount + ", " + number + ", q; " + load + element +
                 ", [" + begin + place;
  }
  for (unsigned w = 0; w < access.words; ++w)
    text.body += packWord(name("$", w), "e", w * perWord, perWord);
  return finishLoad(builder, loc, text, access.words, readOnly);
}

//===--- Stores -----------------------------------------------------------===//

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

//===--- Copies to shared memory ------------------------------------------===//

/// Words of each piece to shared memory.
static void storeWords(OpBuilder &builder, Location loc, ArrayRef<Value> words,
                       const SharedPlace &target, Value when) {
  SmallVector<Value> operands{target.address};
  std::string constraints = "r", guard;
  for (Value word : words) {
    operands.push_back(word);
    constraints += ",r";
  }
  if (when) {
    operands.push_back(when);
    constraints += ",b";
    guard = name("@$", operands.size() - 1) + " ";
  }
  inlinePTX(builder, loc, {}, operands,
            guard + name("st.shared.v", words.size()) + name(".b32 [$0+", target.added) + "], " +
                list("$", 1, words.size()) + ";",
            constraints + ",~{memory}");
}

bool tile::gpu::canShareOperands(size_t pieces) { return pieces <= mostPieces; }

void tile::gpu::copyRagged(OpBuilder &builder, Location loc, ArrayRef<RaggedPiece> pieces,
                           const RaggedAccess &access, ArrayRef<SharedPlace> targets,
                           const RaggedCopy &copy) {
  if (copy.ways.size() == 1 && !copy.ways[0].bytes) {
    // All loads before all stores, so that their latencies overlap.
    Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    SmallVector<Value> words = loadRagged(builder, loc, pieces, access, zero, /*readOnly=*/false);
    for (auto [i, target] : llvm::enumerate(targets))
      storeWords(builder, loc, ArrayRef(words).slice(i * access.words, access.words), target,
                 copy.when);
    return;
  }
  while (pieces.size() > mostPieces) {
    copyRagged(builder, loc, pieces.take_front(mostPieces), access, targets.take_front(mostPieces),
               copy);
    pieces = pieces.drop_front(mostPieces);
    targets = targets.drop_front(mostPieces);
  }
  Statement text(access.bits, access.words, 0);
  std::string guard = copy.when ? "@" + text.take(copy.when, "b") + " " : "",
              policy = copy.policy ? ", " + text.take(copy.policy, "l") : "";
  llvm::SmallDenseMap<Value, std::string> addresses; // looked up only
  SmallVector<unsigned> lines;
  for (unsigned p = 0; p < pieces.size(); ++p) {
    text.begin(pieces, p);
    lines.push_back(text.lines - 1);
    std::string &address = addresses[targets[p].address];
    if (address.empty())
      address = text.take(targets[p].address, "r");
  }
  auto place = [&](unsigned piece, unsigned at) {
    const SharedPlace &target = targets[piece];
    return "[" + addresses.lookup(target.address) + name("+", target.added + at) + "], ";
  };
  auto copyBytes = [&](const RaggedWay &way) {
    for (unsigned p = 0; p < pieces.size(); ++p)
      for (unsigned at = 0; at < 4 * access.words; at += way.bytes) {
        unsigned distance = pieces[p].distance + 8 * at / access.bits;
        std::string size;
        if (!copy.exist) {
          text.body += name("setp.gt.s32 q, n", lines[p]) + name(", ", distance) +
                       name("; selp.b32 z, ", way.bytes) + ", 0, q; ";
          size = ", z";
        }
        text.body += guard + way.instruction + " " + place(p, at) + text.place(lines[p], distance) +
                     name(", ", way.bytes) + size + policy + "; ";
      }
  };
  // Windows are a quarter of the loads of single elements, and each of them is whole sectors.
  auto copyElements = [&] {
    if (access.inside) {
      text.body += "@!" + text.take(access.inside, "b") + " bra SINGLE; ";
      loadInside(text, pieces, lines, 0, pieces.size(), "ld.global.", "", "0", "x");
      text.body += "bra LOADED; SINGLE: ";
    }
    loadElements(text, pieces, lines, 0, pieces.size(), "@q ld.global.", "0", "x");
    if (access.inside)
      text.body += "LOADED: ";
    for (unsigned p = 0; p < pieces.size(); ++p)
      text.body += guard + name("st.shared.v", access.words) + ".b32 " + place(p, 0) +
                   list("x", p * access.words, access.words) + "; ";
  };
  text.head += ".reg .b32 z, x<" + std::to_string(pieces.size() * access.words) + ">; ";
  for (unsigned e = 0; access.bits < 32 && e < 32 / access.bits; ++e)
    text.head += name(".reg .b32 e", e) + "; ";
  if (access.bits < 32)
    text.head += ".reg .b32 i; ";
  for (auto [i, way] : llvm::enumerate(copy.ways))
    if (way.fits)
      text.body += "@" + text.take(way.fits, "b") + name(" bra WAY", i) + "; ";
  for (unsigned i = copy.ways.size(); i-- > 0;) {
    const RaggedWay &way = copy.ways[i];
    if (way.fits)
      text.body += name("WAY", i) + ": ";
    if (way.bytes)
      copyBytes(way);
    else
      copyElements();
    if (i)
      text.body += "bra COPIED; ";
  }
  if (copy.ways.size() > 1)
    text.body += "COPIED: ";
  inlinePTX(builder, loc, {}, text.operands, text.head + text.body + "}",
            text.constraints + ",~{memory}");
}
