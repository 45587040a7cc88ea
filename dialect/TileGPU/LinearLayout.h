// Linear layouts over F2: which elements of a tile each thread holds, and where.
//
// A layout is a linear map from the bits of (register, lane, warp) to the bits of tensor
// coordinates, given by the image of each single input bit, its basis vector. Coordinates combine
// by XOR. A zero basis means that this input bit does not matter: the element is held by several
// threads. Source: "Linear Layouts", arXiv 2505.23819. Extents are powers of 2.
#ifndef TILE_DIALECT_TILEGPU_LINEARLAYOUT_H
#define TILE_DIALECT_TILEGPU_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tile::gpu {

/// The hardware indices a layout maps from.
enum class InDim : unsigned { Register = 0, Lane = 1, Warp = 2 };
constexpr unsigned numInDims = 3;

/// One coordinate for each dimension of the tensor.
using Coord = llvm::SmallVector<int64_t, 4>;

class LinearLayout {
public:
  LinearLayout() = default;
  /// A layout of a tensor of shape `shape` (powers of two), one basis for each bit of each input.
  LinearLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Coord> registers,
               llvm::ArrayRef<Coord> lanes, llvm::ArrayRef<Coord> warps);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  unsigned getRank() const { return shape.size(); }
  llvm::ArrayRef<Coord> getBases(InDim dim) const { return bases[unsigned(dim)]; }
  unsigned getNumBits(InDim dim) const { return bases[unsigned(dim)].size(); }
  unsigned getNumRegisters() const { return 1u << getNumBits(InDim::Register); }
  unsigned getNumWarps() const { return 1u << getNumBits(InDim::Warp); }

  /// The element that register `reg` of thread (`lane`, `warp`) holds.
  Coord apply(unsigned reg, unsigned lane, unsigned warp) const;

  /// The base-2 logarithm of how many different elements are held.
  unsigned getDimension() const;
  /// True if every element of the tensor is held by some thread.
  bool isSurjective() const;
  /// True if no element is held twice.
  bool isInjective() const;

  bool operator==(const LinearLayout &other) const;
  bool operator!=(const LinearLayout &other) const { return !(*this == other); }

  /// Rows of contiguous elements: each thread holds `vector` neighbours along order[0], lanes and
  /// warps go along order[0] first until it is covered, then order[1] and so on; what is left
  /// becomes registers; inputs left over get zero bases.
  static LinearLayout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                              unsigned vector, unsigned numWarps, unsigned numLanes = 32);
  /// The same with whole rows in a warp: warps go along the slowest dimension first, so that what
  /// is reduced along order[0] meets in as few warps as possible.
  static LinearLayout blockedRows(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order,
                                  unsigned vector, unsigned numWarps);

  /// Accumulator of mma.sync m16n8 (also one warp of wgmma): shape [M, N], `warpsM` x `warpsN`
  /// warps. Warps that find no further rows or columns hold duplicates, and so do lanes where M is
  /// less than 8; N >= 8. Register order: the 4 of a fragment, then along N, then M. Of up to 8
  /// rows a thread holds the upper half of a fragment, 2 registers.
  static LinearLayout mmaAccumulator(int64_t m, int64_t n, unsigned warpsM, unsigned warpsN);
  /// Operand A [M, K] (`operand` 0) or B [K, N] (`operand` 1) of mma.sync with 32 bytes of K a
  /// step, elements of `bits` bits, matching the accumulator above. Register order: a fragment's,
  /// then along K, then along M or N. Of up to 8 rows of A a thread holds half of each fragment.
  static LinearLayout mmaOperand(unsigned operand, int64_t rows, int64_t columns, unsigned bits,
                                 unsigned warpsM, unsigned warpsN);

  /// The layout of this tensor reduced along `axis`: the dimension is dropped, registers along it
  /// alone are removed, lanes and warps along it get zero bases (they hold duplicates).
  LinearLayout dropDim(unsigned axis) const;
  /// The layout of what each warp has come to when it has reduced its part along `axis`: that
  /// dimension counts the warps along it, registers along it are removed, its lanes hold the same.
  LinearLayout reduceWithinWarps(unsigned axis) const;
  /// The layout with a dimension of extent 1 inserted at `axis`.
  LinearLayout insertUnitDim(unsigned axis) const;
  /// This layout once for each position in `leading`, dimensions before the others: registers of
  /// one follow those of the one before, the last of `leading` fastest.
  LinearLayout withBatches(llvm::ArrayRef<int64_t> leading) const;
  /// The layout a tile of shape `source` needs so that broadcasting it (right-aligned) into this
  /// layout moves nothing between threads: dimensions that are repeated get zero bases; registers
  /// that then hold duplicates are removed.
  LinearLayout broadcastSource(llvm::ArrayRef<int64_t> source) const;
  /// The layout where each element has become two neighbours along the last dimension, in
  /// neighbouring registers.
  LinearLayout splitElements() const;
  /// The layout on which splitElements was called to give this one.
  LinearLayout joinElements() const;
  /// The layout of the same registers for a row-major reshape to `shape`.
  LinearLayout reshape(llvm::ArrayRef<int64_t> shape) const;
  /// Dimension i of the result is dimension permutation[i] of this.
  LinearLayout permute(llvm::ArrayRef<int64_t> permutation) const;

  /// How many consecutive registers (a power of two, from register 0 and its multiples) hold
  /// neighbours along `dim`.
  unsigned getContiguousRegisters(unsigned dim) const;

  /// If each thread of `this` already holds all that it needs in `target`: for each register of
  /// `target`, the register of `this` to take. None where elements must move between threads.
  std::optional<llvm::SmallVector<unsigned>> getRegisterSources(const LinearLayout &target) const;

  /// The bits of lane and warp along which the tensor is duplicated (zero basis, or dependent on
  /// earlier ones), as masks: a thread whose (lane & lanes) | (warp & warps) is 0 owns its
  /// elements.
  void getDuplicateMasks(unsigned &lanes, unsigned &warps) const;

  /// `register = [[0, 1], [8, 0]], lane = [...], warp = [...]`
  std::string str() const;

private:
  llvm::SmallVector<int64_t, 4> shape;
  llvm::SmallVector<Coord> bases[numInDims];
};

} // namespace tile::gpu

#endif
