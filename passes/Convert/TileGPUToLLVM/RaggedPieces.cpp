// Rows whose beginning or length is not a multiple of 16 bytes: a thread's neighbours are moved one
// by one, under one test each.
//
// Beside the one instruction that an aligned row takes this is most of a kernel's code and of the
// time that it takes to compile, for a case that few launches meet. So the pieces of a line share
// an address and a number of elements, and LLVM sees one statement. Loads of narrow elements are a
// loop over the words of several pieces at once, a third of the code for ptxas. A word enters at
// the end of its piece's registers while the others move up, since registers have no index; a
// piece's elements lie in the same sector of the cache, so that only the first trip waits for
// memory. Stores are written out all the same: one right behind the other, those to one sector
// become one on their way to the cache. So are words, of which a loop would save little.
#include "passes/Convert/TileGPUToLLVM/RaggedPieces.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Pieces of one statement: enough loads on their way at once, few enough registers.
static constexpr unsigned mostPieces = 4;

static std::string name(const char *prefix, unsigned number) {
  return prefix + std::to_string(number);
}

namespace {

/// PTX that goes through pieces, and its operands.
/// PTX is written in two parts: `head` declares registers and copies operands, `body` goes through
/// pieces.
///
///   a<line>, n<line>   address and number of elements left, of each line of pieces
///   q                  whether an element exists
///   e0 .. e3           elements of the word that is being made; i counts the loop's trips
struct Statement {
  unsigned bits, results, lines = 0;
  std::string head = "{ .reg .pred q; ", body, constraints;
  SmallVector<Value> operands;

  Statement(unsigned bits, unsigned results) : bits(bits), results(results) {}

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
    head += name(".reg .b64 a", lines) + name("; .reg .b32 n", lines);
    head += name("; mov.b64 a", lines) + ", " + take(pieces[piece].pointer, "l");
    head += name("; mov.b32 n", lines) + ", " + take(pieces[piece].count, "r") + "; ";
    ++lines;
  }

  /// Sets q to whether an element of the piece that was begun last exists, and returns its place.
  /// An element exists if more than `distance` are left.
  std::string test(unsigned distance) {
    body += name("setp.gt.s32 q, n", lines - 1) + name(", ", distance) + "; ";
    return name("[a", lines - 1) + name("+", distance * bits / 8) + "]";
  }
};

} // namespace

static std::string getType(unsigned bits) {
  return bits == 32 ? "b32 " : bits == 16 ? "u16 " : "u8 ";
}

SmallVector<Value> tile::gpu::loadRagged(OpBuilder &builder, Location loc,
                                         ArrayRef<RaggedPiece> pieces, unsigned bits,
                                         unsigned words, Value fill, bool readOnly,
                                         StringRef cache) {
  SmallVector<Value> loaded;
  // So many at a time; the rest is another statement, ahead of which nothing waits.
  while (pieces.size() > mostPieces) {
    loaded.append(loadRagged(builder, loc, pieces.take_front(mostPieces), bits, words, fill,
                             readOnly, cache));
    pieces = pieces.drop_front(mostPieces);
  }
  unsigned perWord = 32 / bits, results = pieces.size() * words;
  bool loop = perWord > 1;
  Statement text(bits, results);
  for (unsigned i = 0; i < results;
       ++i) // early: results are written while operands are still needed
    text.constraints += i ? ",=&r" : "=&r";
  std::string instruction =
      std::string("@q ld.global.") + (readOnly ? "nc." : "") + cache.str() + getType(bits);
  std::string fillName = text.take(fill, "r");
  if (loop)
    text.head += name(".reg .b32 i; mov.b32 i, ", words) + "; ";
  for (unsigned e = 0; loop && e < perWord; ++e)
    text.head += name(".reg .b32 e", e) + "; ";
  auto load = [&](const std::string &to, unsigned distance) {
    text.body += "mov.b32 " + to + ", " + fillName + "; ";
    std::string place = text.test(distance);
    text.body += instruction + to + ", " + place + "; ";
  };
  for (unsigned p = 0; p < pieces.size(); ++p) {
    text.begin(pieces, p);
    unsigned first = p * words, last = first + words - 1;
    if (!loop) {
      for (unsigned w = 0; w < words; ++w)
        load(name("$", first + w), pieces[p].distance + w);
      continue;
    }
    // The registers of a piece are a queue: each trip reads one word of every piece.
    //
    //   trip 0   $0 $1 $2 $3 <- w0        each word moves up by one,
    //   trip 3   w0 w1 w2 w3              the first ends up first
    for (unsigned w = first; w < last; ++w)
      text.body += name("mov.b32 $", w) + name(", $", w + 1) + "; ";
    for (unsigned e = 0; e < perWord; ++e)
      load(name("e", e), pieces[p].distance + e);
    // The low bits of each, side by side.
    // prmt picks bytes: 0x0040 is byte 0 of the first and byte 0 of the second operand, 0x5410 the
    // lower halves of both.
    if (perWord == 4)
      text.body += "prmt.b32 e0, e0, e1, 0x0040; prmt.b32 e1, e2, e3, 0x0040; ";
    text.body += name("prmt.b32 $", last) + ", e0, e1, 0x5410; ";
  }
  if (loop) {
    for (unsigned line = 0; line < text.lines; ++line)
      text.body += name("add.s64 a", line) + name(", a", line) + name(", 4; sub.s32 n", line) +
                   name(", n", line) + name(", ", perWord) + "; ";
    // Labels are local to the braces. The count of trips is the number of words of a piece.
    text.body = "NEXT: .pragma \"nounroll\"; " + text.body +
                "sub.s32 i, i, 1; setp.ne.s32 q, i, 0; @q bra NEXT; ";
  }
  if (!readOnly)
    text.constraints += ",~{memory}";
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               SmallVector<Type>(results, builder.getI32Type()));
  Value all =
      LLVM::InlineAsmOp::create(builder, loc, TypeRange(type), text.operands,
                                text.head + text.body + "}", text.constraints,
                                /*has_side_effects=*/!readOnly, /*is_align_stack=*/false,
                                LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  for (unsigned i = 0; i < results; ++i)
    loaded.push_back(LLVM::ExtractValueOp::create(builder, loc, all, i));
  return loaded;
}

void tile::gpu::storeRagged(OpBuilder &builder, Location loc, ArrayRef<RaggedPiece> pieces,
                            unsigned bits, unsigned words, ArrayRef<Value> values,
                            StringRef cache) {
  while (pieces.size() > mostPieces) {
    storeRagged(builder, loc, pieces.take_front(mostPieces), bits, words,
                values.take_front(mostPieces * words), cache);
    pieces = pieces.drop_front(mostPieces);
    values = values.drop_front(mostPieces * words);
  }
  Statement text(bits, 0);
  std::string instruction = "@q st.global." + cache.str() + getType(bits);
  for (unsigned p = 0; p < pieces.size(); ++p) {
    text.begin(pieces, p);
    for (unsigned w = 0; w < words; ++w) {
      std::string word = text.take(values[p * words + w], "r");
      for (unsigned e = 0; e < 32 / bits; ++e) {
        std::string value = word;
        // Elements above the first are shifted down, as PTX stores the low bits of a register.
        if (e) {
          if (!p && !w)
            text.head += name(".reg .b32 e", e) + "; ";
          value = name("e", e);
          text.body += "shr.u32 " + value + ", " + word + name(", ", e * bits) + "; ";
        }
        std::string place = text.test(pieces[p].distance + w * (32 / bits) + e);
        text.body += instruction + place + ", " + value + "; ";
      }
    }
  }
  inlinePTX(builder, loc, {}, text.operands, text.head + text.body + "}",
            text.constraints + ",~{memory}");
}
