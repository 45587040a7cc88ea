// What scans and reductions by a function share: totals of blocks of neighbours along the axis,
// which double with each bit of a register's, lane's or warp's number.
//
//   elements   a    b     c      d        blocks of 1: each total is the element itself
//   bit 0      ab   ab    cd     cd
//   bit 1      abcd abcd  abcd   abcd
//
// Order matters, since the function need not commute: "lower" and "upper" are along the axis, and
// change places in a reversed scan.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_SCANSTEPS_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_SCANSTEPS_H

#include "dialect/TileGPU/ScanPlan.h"
#include "passes/Convert/TileGPUToLLVM/Reduce.h"

#include "mlir/Transforms/DialectConversion.h"

namespace tile::gpu {

/// A scan, or a reduction by a function, while it is lowered.
class ScanSteps {
public:
  ScanSteps(mlir::Operation *op, mlir::Block &body, bool isReverse,
            mlir::ConversionPatternRewriter &b, const LinearLayout &layout,
            mlir::ValueRange sources);

protected:
  /// The function of the scan on vectors: `left` and `right` in the order of the axis.
  State combine(const State &left, const State &right);
  /// In the order of the scan: `first` comes before `second` along the axis unless it is reversed.
  State combineAlong(const State &first, const State &second) {
    return isReverse ? combine(second, first) : combine(first, second);
  }

  /// The operation's result, or the constant that it is.
  mlir::Value fold(mlir::Operation *op);
  State take(const State &state, llvm::ArrayRef<int64_t> registers);
  /// `condition` is one truth value, or one for each element.
  State select(mlir::Value condition, const State &yes, const State &no);

  /// Which total stands for each register: one stands for all whose numbers differ from its own in
  /// collapsed bits alone.
  llvm::SmallVector<int64_t> totalOf(llvm::ArrayRef<int64_t> registers) const;
  llvm::SmallVector<int64_t> allRegisters() const;

  /// Both halves' totals become one, by the order of the axis, not of the scan.
  void joinTotals(unsigned registerBit);

  /// What a warp finds of those that come first along the scan.
  struct Earlier {
    State before;        ///< their totals; none in the first warp, where this means nothing
    mlir::Value isFirst; ///< an i1
  };
  /// Each warp leaves its totals for each lane; then all read those of the warps that differ from
  /// theirs along the axis.
  mlir::FailureOr<Earlier> joinWarps(const ScanStep &step, bool wantsEarlier);

  /// Where the next array of a tile begins in the scratch of this operation: `count` elements of
  /// the stored type of `total`, a vector. None without scratch, which is an internal error.
  std::optional<mlir::Value> getScratch(mlir::Value stored, int64_t count);

  mlir::Operation *op;
  mlir::Block &body;
  bool isReverse;
  mlir::ConversionPatternRewriter &b;
  mlir::Location loc;
  const LinearLayout &layout;
  State totals;
  llvm::SmallVector<int64_t> kept; ///< the register of each total: bits already joined are 0
  int64_t collapsed = 0;           ///< register bits already joined
  int64_t used = 0;                ///< bytes of scratch
};

} // namespace tile::gpu

#endif
