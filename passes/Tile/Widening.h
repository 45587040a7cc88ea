// Tiles of neighbouring instances as one: what programs, or trips of a loop, that follow each other
// compute becomes one program, or trip, whose tiles are theirs side by side.
//
//   program p:  x = load a[64 p .. 64 p + 63]      p = 2 q, 2 q + 1:  x = load a[128 q .. 128 q +
//   127]
//
// A value of all instances is one of
//   uniform  the same in each instance
//   step     an index that grows by a constant from instance to instance
//   wide     a tile whose instances stand side by side along one dimension
// and what an operation makes of these follows from what it is: docs/rationale/Scheduling.md.
#ifndef TILE_PASSES_TILE_WIDENING_H
#define TILE_PASSES_TILE_WIDENING_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "passes/Analysis/Divisibility.h"
#include "passes/Analysis/IndexBounds.h"

#include <memory>
#include <numeric>
#include <optional>
#include <string>

namespace tile::gpu {

/// How the values of instances 0 to factor - 1 differ.
struct InstanceState {
  enum Kind { Uniform, Step, Wide, Unknown } kind = Uniform;
  int64_t step = 0;    ///< of Step: from one instance to the next
  int64_t divisor = 0; ///< of Step: known to divide the first instance's value; 0: it is 0
  int64_t dim = -1;    ///< of Wide

  static InstanceState unknown() { return {Unknown}; }
  static InstanceState wide(int64_t dim) { return {Wide, 0, 0, dim}; }
  bool operator==(const InstanceState &other) const {
    return kind == other.kind && step == other.step && dim == other.dim;
  }
  /// Of a value that is either: what divides both.
  static InstanceState join(const InstanceState &a, const InstanceState &b) {
    InstanceState both = a == b ? a : unknown();
    if (both.kind == Step)
      both.divisor = std::gcd(a.divisor, b.divisor);
    return both;
  }
};

/// Widens one kernel by one factor: analyse first, apply then. The kernel is as the optimiser left
/// it, without layouts.
class Widening {
public:
  Widening(KernelOp kernel, int64_t factor) : kernel(kernel), factor(factor) {}

  /// Each program does what `factor` neighbours along `axis` do. Empty, or why it cannot.
  std::string analyzePrograms(unsigned axis);
  /// Each trip of the loop does what `factor` of its trips do. Empty, or why it cannot.
  std::string analyzeTrips(mlir::scf::ForOp loop);
  /// Rewrites the kernel. The analysis that was made last has found no reason against it. True if
  /// accesses are no longer known to be in bounds: proveAgain, when the kernel is kept.
  bool apply();
  /// What was proven of short blocks is proven anew of long ones.
  static void proveAgain(KernelOp kernel);

private:
  /// What an operation asks of its operands and makes of them.
  struct Rule {
    int64_t operands = -1; ///< the dimension along which tiles of all operands are wide; -1: as
                           ///< they are, or by `each`
    llvm::SmallVector<int64_t> each; ///< of single operands, by their numbers; -1: as they are
    llvm::SmallVector<InstanceState> results;
  };

  std::string analyze(mlir::Block &block);
  std::string visit(mlir::Block &block);
  std::string visitLoop(mlir::scf::ForOp loop);
  std::string visitBranch(mlir::scf::IfOp branch);
  std::optional<Rule> getRule(mlir::Operation *op);
  std::optional<Rule> getArithmeticRule(mlir::Operation *op);
  std::optional<Rule> getElementwiseRule(mlir::Operation *op);
  std::optional<Rule> getDotRule(DotOp dot);
  std::optional<Rule> getTakeRule(TakeOp take);
  template <typename Access> std::optional<Rule> getAccessRule(Access access);
  InstanceState getQuotient(mlir::Operation *op);
  /// Whether the last program or trip may stand for more instances than the source has.
  bool hasRest();
  template <typename Access> bool endsBefore(Access access);
  bool isZeroBehind(mlir::Value tile);
  std::string checkWrites();
  std::string checkCarried();

  const DivisibilityAnalysis &getDivisors() {
    if (!divisors)
      divisors = std::make_unique<DivisibilityAnalysis>(kernel);
    return *divisors;
  }
  IndexBounds &getBounds() {
    if (!facts)
      facts = std::make_unique<IndexBounds>(kernel, getDivisors());
    return *facts;
  }

  InstanceState get(mlir::Value value) const { return states.lookup(value); }
  bool isUniform(mlir::Value value) const { return get(value).kind == InstanceState::Uniform; }
  /// The wide tile of which all instances are `value`; null where there is none, and where
  /// `builder` is null a value that says that there is one.
  mlir::Value repeat(mlir::Value value, int64_t dim, mlir::OpBuilder *builder);
  /// Whether the tile can be wide along `dim`: it is, or the same in all instances and repeated.
  bool canBeWide(mlir::Value value, int64_t dim);
  std::optional<Rule> fail(mlir::Operation *op, const llvm::Twine &why);
  mlir::RankedTensorType widen(mlir::Type type, int64_t dim) const;
  void repeatOperands(mlir::Operation *op);
  void widenGrid();

  KernelOp kernel;
  int64_t factor;
  // Made when first asked for: most kernels that cannot be widened show it before.
  std::unique_ptr<DivisibilityAnalysis> divisors;
  std::unique_ptr<IndexBounds> facts;
  std::optional<unsigned> axis;
  mlir::scf::ForOp loop;
  llvm::DenseMap<mlir::Value, InstanceState> states; // looked up only
  /// What inner loops carry, and where it is to be wide as others meet it.
  llvm::DenseMap<mlir::Value, int64_t> asked; // looked up only
  std::string problem;
  bool rest = false; ///< of the widening that is applied: hasRest()
};

} // namespace tile::gpu

#endif
