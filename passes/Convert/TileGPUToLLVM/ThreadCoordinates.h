// Where the elements lie that the running thread holds: linear layouts evaluated at run time.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_THREADCOORDINATES_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_THREADCOORDINATES_H

#include "dialect/TileGPU/LinearLayout.h"
#include "mlir/IR/Builders.h"

namespace tile::gpu {

/// The thread's number among those that layouts know, its block's or its team's, an i32: the lane
/// in bits 0 to 4, the warp above.
mlir::Value getThreadId(mlir::OpBuilder &builder, mlir::Location loc);
/// Its number in the block.
mlir::Value getBlockThread(mlir::OpBuilder &builder, mlir::Location loc);
/// Where code of consumers is built that are several teams: threads of one, and the number of this
/// thread's team, an i32. Else 0 and null.
int64_t getTeamThreads(mlir::OpBuilder &builder);
mlir::Value getTeam(mlir::OpBuilder &builder, mlir::Location loc);

/// An i32 constant.
mlir::Value constantI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

/// Whether `value`, an i32, is `constant`: an i1.
mlir::Value equals(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                   int64_t constant);

/// XOR of images[i] over the set bits i of `index` (an i32): a linear map over F2. Costs a mask and
/// a shift for each run of bits that move together.
mlir::Value applyLinear(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value index,
                        llvm::ArrayRef<uint32_t> images);

/// The bits `bits` of `index`, an i32, side by side.
mlir::Value gatherBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index,
                       llvm::ArrayRef<unsigned> bits);
/// The reverse: bit i of `index` becomes bit bits[i].
mlir::Value spreadBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Value index,
                       llvm::ArrayRef<unsigned> bits);

/// A linear function of (register, thread): one number for each register of a thread, such as a
/// coordinate or an offset.
class ThreadNumber {
public:
  /// `registers` and `threads` are the images of the bits of a register's and a thread's number.
  ThreadNumber(llvm::ArrayRef<uint32_t> registers, llvm::ArrayRef<uint32_t> threads)
      : registers(registers.begin(), registers.end()), threads(threads.begin(), threads.end()) {
    for (uint32_t image : threads)
      mask |= image;
  }

  /// The part that all registers share: the number of register 0.
  mlir::Value getBase(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// The constant with which register `reg` is XORed.
  uint32_t getOffset(unsigned reg) const;
  /// Bits that the base may have set.
  uint32_t getMask() const { return mask; }
  /// True if offsets may be added to the base: they have no bit in common.
  bool isDisjoint() const;

  llvm::ArrayRef<uint32_t> getThreadImages() const { return threads; }

private:
  llvm::SmallVector<uint32_t> registers, threads;
  uint32_t mask = 0;
};

/// `base` combined with the constant `offset`: by addition where `mask` (the bits base may have)
/// allows it, so that the constant becomes an immediate of the access, by XOR elsewhere.
mlir::Value combineOffset(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base,
                          uint32_t mask, uint32_t offset);

/// The coordinates of the running thread's elements in a tile of layout `layout`.
class ThreadCoordinates {
public:
  ThreadCoordinates(mlir::OpBuilder &builder, mlir::Location loc, const LinearLayout &layout);

  /// Coordinate of register 0 along `dim`, an i32.
  mlir::Value getBase(unsigned dim) const { return bases[dim]; }
  /// The constant XORed into register `reg`'s coordinate along `dim`; may be added where
  /// isDisjoint(dim).
  int64_t getOffset(unsigned reg, unsigned dim) const { return numbers[dim].getOffset(reg); }
  bool isDisjoint(unsigned dim) const { return numbers[dim].isDisjoint(); }
  /// Coordinate of register `reg` along `dim`, an i32.
  mlir::Value get(mlir::OpBuilder &builder, mlir::Location loc, unsigned reg, unsigned dim) const;
  /// The coordinates of all registers along `dim`: a vector of i32.
  mlir::Value getVector(mlir::OpBuilder &builder, mlir::Location loc, unsigned dim) const;

private:
  unsigned numRegisters;
  llvm::SmallVector<ThreadNumber> numbers;
  llvm::SmallVector<mlir::Value> bases;
};

} // namespace tile::gpu

#endif
