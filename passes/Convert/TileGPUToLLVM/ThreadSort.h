// PTX that puts elements that a thread holds in order.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_THREADSORT_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_THREADSORT_H

#include "mlir/IR/Builders.h"

#include <string>

namespace tile::gpu {

/// The steps of a sorting network on elements that a thread holds, as one statement: a comparison
/// is up to five instructions that LLVM can do nothing with, and a phase of 16 elements has eighty.
/// Elements are signed integers; those of less than 32 bits are widened.
///
///   { .reg .b32 v<4>, t; mov.b32 v0, $4; ...                 the elements
///     min.s32 t, v0, v1; max.s32 v1, v0, v1; mov.b32 v0, t;     putInOrder(0, 1)
///     mov.b32 $0, v0; ... }                                  and what became of them
class ThreadSort {
public:
  /// `count` elements of a type, numbered from 0; none of them has a value yet.
  ThreadSort(mlir::Type type, unsigned count);

  /// Gives all elements values, in their order.
  void take(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<mlir::Value> values);
  /// Takes all elements from shared memory, and back there in the end: element i lies at `base`, an
  /// address (i32), plus `offset` XORed with the images of the bits of i.
  void takeFrom(mlir::Value base, mlir::Value offset, llvm::ArrayRef<mlir::Value> images);
  /// A condition (i1) or a number (i32); returns its name in the statement.
  std::string take(mlir::Value operand);

  /// The smaller one becomes `x`, the larger one `y`; the other way around with `reverses`, and
  /// again where `down`, the name of a condition, holds.
  void putInOrder(unsigned x, unsigned y, bool reverses, llvm::StringRef down);
  /// The smaller one becomes `x`; `y` is no more.
  void keepSmaller(unsigned x, unsigned y);
  /// Turns the order of all elements around where `condition` holds, by negating them bit by bit.
  void flipWhere(llvm::StringRef condition);
  /// Whether a minimum is one instruction: that of wider elements is a comparison and selections.
  bool isNarrow() const { return bits == 32; }
  /// What follows, up to end(), is done where the number is larger than `least`.
  void beginWhereAbove(llvm::StringRef number, unsigned least);
  void end();
  bool has(unsigned element) const { return left[element]; }

  /// Writes the statement. The elements in the end, null for those that are no more; nothing where
  /// they go back to memory.
  llvm::SmallVector<mlir::Value> write(mlir::OpBuilder &builder, mlir::Location loc);

private:
  mlir::Type type;
  unsigned bits; ///< of a register
  llvm::SmallVector<bool> left;
  bool isInMemory = false;
  std::string head, body;
  /// Each with the register that it is copied to.
  llvm::SmallVector<std::pair<mlir::Value, std::string>> operands;
  unsigned branches = 0;
};

} // namespace tile::gpu

#endif
