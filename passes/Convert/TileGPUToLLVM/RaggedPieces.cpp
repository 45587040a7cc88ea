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
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/RaggedStatement.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;
using namespace tile::gpu::ragged;

//===--- Loads ------------------------------------------------------------===//

namespace {

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
