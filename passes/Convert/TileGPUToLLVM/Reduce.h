// The steps of a reduction, for those that reduce values and those that reduce positions.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_REDUCE_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_REDUCE_H

#include "dialect/TileGPU/TileGPUDialect.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tile::gpu {

/// Sums that a thread keeps going at a time: as many as hide how long an addition takes.
constexpr unsigned leastChains = 8;

/// The operands of a reduction: one vector of registers, or for positions two (value, position).
using State = llvm::SmallVector<mlir::Value, 2>;
using Combine = llvm::function_ref<State(mlir::OpBuilder &, const State &, const State &)>;

/// The vector of the registers that `registers` lists.
inline mlir::Value selectRegisters(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source,
                                   llvm::ArrayRef<int64_t> registers) {
  return mlir::vector::ShuffleOp::create(b, loc, source, source, registers);
}

/// True for a basis that moves along `axes` alone.
bool isAlong(const Coord &basis, llvm::ArrayRef<unsigned> axes);

/// Reduces within each thread; `chained`: as sums of products want it.
State reduceRegisters(mlir::OpBuilder &b, mlir::Location loc, State state,
                      const LinearLayout &layout, llvm::ArrayRef<unsigned> axes, Combine combine,
                      bool chained = false);
/// Integers over all lanes of a warp, for each register; none where lanes hold different elements
/// of the result, or for kinds that no instruction knows.
mlir::Value reduceWarpIntegers(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                               const LinearLayout &layout, llvm::ArrayRef<unsigned> axes,
                               ReduceKind kind);
/// Reduces across the lanes of each warp; of a `kind` that one instruction knows, by that.
State reduceLanes(mlir::OpBuilder &b, mlir::Location loc, State state, const LinearLayout &layout,
                  llvm::ArrayRef<unsigned> axes, Combine combine,
                  std::optional<ReduceKind> kind = std::nullopt);
/// Reduces across warps what each has come to, through the shared memory of `op`; fails where it
/// has none.
mlir::FailureOr<State> reduceWarps(mlir::Operation *op, mlir::OpBuilder &b, State state,
                                   const LinearLayout &layout, llvm::ArrayRef<unsigned> axes,
                                   Combine combine);
/// All three, as above. On return every thread holds the result, in the layout with these axes
/// dropped.
mlir::FailureOr<State> reduceAxes(mlir::Operation *op, mlir::OpBuilder &b, State state,
                                  const LinearLayout &layout, llvm::ArrayRef<unsigned> axes,
                                  Combine combine, bool chained = false,
                                  std::optional<ReduceKind> kind = std::nullopt);

/// The axes that a reduction covers: all where none is named.
llvm::SmallVector<unsigned> getReducedAxes(std::optional<int64_t> axis, unsigned rank);

/// True if the result is held as what reducing `layout` leaves: with as many registers of other
/// elements the kernel would be wrong.
template <typename Op> bool fitsResult(Op op, const LinearLayout &layout) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(op.getType());
  return !type || getLayout(type) == layout.dropDim(*op.getAxis());
}

/// Those of tile.arg_reduce.
void populateArgReducePatterns(const mlir::TypeConverter &converter,
                               mlir::RewritePatternSet &patterns);

} // namespace tile::gpu

#endif
