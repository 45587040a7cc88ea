// The statement of PTX that moves pieces of rows that are not aligned, as RaggedPieces.cpp and
// RaggedStores.cpp write it.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_RAGGEDSTATEMENT_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_RAGGEDSTATEMENT_H

#include "passes/Convert/TileGPUToLLVM/RaggedPieces.h"

#include "llvm/Support/MathExtras.h"

namespace tile::gpu::ragged {

/// Pieces of one statement: enough loads on their way at once, few enough registers.
inline constexpr unsigned mostPieces = 4;

inline std::string name(const std::string &prefix, unsigned number) {
  return prefix + std::to_string(number);
}
inline std::string list(const std::string &prefix, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + name(prefix, first + i);
  return text + "}";
}
inline std::string getType(unsigned bits) {
  return bits == 32 ? "b32 " : bits == 16 ? "u16 " : "u8 ";
}

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
  llvm::SmallVector<mlir::Value> operands;
  bool windows = false;
  std::string behind; ///< operand: nothing there or behind it is read; empty: nothing is asked

  Statement(unsigned bits, unsigned words, unsigned results)
      : bits(bits), words(words), results(results) {}

  unsigned getWidth() const { return words * 32 / bits; }
  unsigned getWindowBytes() const { return words * 4; }

  std::string take(mlir::Value operand, const char *constraint) {
    constraints += (constraints.empty() ? "" : ",") + std::string(constraint);
    operands.push_back(operand);
    return name("$", results + operands.size() - 1);
  }

  /// Takes the address and the count of a piece that is not on the line of the one before.
  /// Copies of address and count: the loop moves them on, and operands must not change.
  void begin(llvm::ArrayRef<RaggedPiece> pieces, unsigned piece) {
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

} // namespace tile::gpu::ragged

#endif
