// What follows a split loop, dealt out among the loop's parts: each has a slice of the merged
// state.
#ifndef TILE_PASSES_TILEGPU_SPLITSLICES_H
#define TILE_PASSES_TILEGPU_SPLITSLICES_H

#include "dialect/Tile/TileDialect.h"
#include "target/Target.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace tile::gpu {

/// A dimension for each tile that is to be cut into as many slices as a split loop has parts, such
/// that a part can compute its slice of everything from its slices of the loop's state.
class SplitSlices {
public:
  /// For the operations `rest` that follow `loop`, in their order, and `merge`, if there is one.
  /// None if a part would need more than its slice, or if it mattered that several parts run the
  /// operations.
  static std::optional<SplitSlices> plan(mlir::scf::ForOp loop, MergePartsOp merge,
                                         llvm::ArrayRef<mlir::Operation *> rest, int64_t parts);

  /// The same for parts that are to be the blocks of a cluster: none either where the target has no
  /// such clusters, or where they have no room for the states.
  static std::optional<SplitSlices> planCluster(mlir::scf::ForOp loop, MergePartsOp merge,
                                                int64_t parts, const GPUTarget *target);

  /// The dimension along which a tile is cut; -1 if each part has the whole tile.
  int64_t getDim(mlir::Value value) const;
  /// The type of a part's slice of `value`.
  mlir::Type getType(mlir::Value value) const;
  /// Operation `op` for the slices of part number `part` at the builder's place, with operands from
  /// `values`, which learns the results. Operands from before the loop are computed once more.
  void clone(mlir::OpBuilder &b, mlir::Operation *op, mlir::Value part, mlir::IRMapping &values);

private:
  SplitSlices(int64_t parts) : parts(parts) {}
  bool mark(mlir::Value value, int64_t dim);
  bool visit(mlir::Operation *op);
  bool visitMerge();
  bool follow();
  bool markStores(llvm::ArrayRef<mlir::Operation *> rest);
  bool isHarmless(llvm::ArrayRef<mlir::Operation *> rest) const;
  mlir::Value getOperand(mlir::OpBuilder &b, mlir::Operation *op, mlir::Value operand,
                         mlir::Value part, mlir::IRMapping &values);
  mlir::Value makeAnew(mlir::OpBuilder &b, mlir::Value value, int64_t dim, mlir::Value part,
                       const mlir::IRMapping &values) const;
  template <typename Op>
  void narrow(mlir::OpBuilder &b, Op access, int64_t dim, mlir::Value part) const;

  int64_t parts;
  mlir::scf::ForOp loop;
  MergePartsOp merge;
  llvm::DenseMap<mlir::Value, int64_t> dims; // looked up only
  llvm::DenseSet<mlir::Operation *> scope;   // looked up only
  llvm::SmallVector<mlir::Value> pending;    // marked, not yet followed
};

/// The merge that takes the results of a split loop; null if its state are sums.
MergePartsOp getMerge(mlir::scf::ForOp loop);
/// Bytes of shared memory that a part's state takes, of tiles as layouts round them up.
int64_t getStateBytes(mlir::scf::ForOp loop);

} // namespace tile::gpu

#endif
