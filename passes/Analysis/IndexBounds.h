// Proves inequalities between index values of a kernel, from its grid, loops, contracts and
// arithmetic.
#ifndef TILE_PASSES_ANALYSIS_INDEXBOUNDS_H
#define TILE_PASSES_ANALYSIS_INDEXBOUNDS_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Analysis/Presburger/Fraction.h"
#include "passes/Analysis/Divisibility.h"
#include <map>
#include <memory>
#include <optional>

namespace tile {

/// constant + sum of coefficient * symbol, exact. A symbol is an index value, or a named dimension
/// wherever it is read.
class Linear {
public:
  using Number = mlir::presburger::Fraction;
  /// A dimension has a name and no value; another symbol has a value. `order` grows along the
  /// kernel.
  struct Symbol {
    unsigned order = 0;
    mlir::Value value;
    DimAttr dim;
    bool operator<(const Symbol &other) const { return order < other.order; }
  };

  Linear(int64_t constant = 0) : constant(constant) {}
  explicit Linear(Symbol symbol) { terms[symbol] = Number(1); }

  Linear &operator+=(const Linear &other);
  Linear &operator*=(Number factor);
  friend Linear operator+(Linear a, const Linear &b) { return a += b; }
  friend Linear operator-(Linear a, Linear b) { return a += (b *= Number(-1)); }
  friend Linear operator*(Linear a, Number factor) { return a *= factor; }

  Number constant;
  std::map<Symbol, Number> terms; ///< no zero coefficients
};

/// Facts of one kernel. Build it anew after the kernel changed.
class IndexBounds {
public:
  IndexBounds(KernelOp kernel, const DivisibilityAnalysis &divisibility);

  /// The value as a linear form of symbols; anything else than a sum or multiple is a symbol
  /// itself.
  Linear linear(mlir::Value value);

  /// Whether the expression is >= 0 for certain. It must be integral, so that > -1 suffices.
  bool isNonNegative(const Linear &expression);
  /// The same of a value, of which its range may tell more than its form.
  bool isNonNegative(mlir::Value value);

  /// The view's extent along `dim`; null if it has no linear form, as where the view may turn out
  /// to be empty.
  std::optional<Linear> extent(mlir::Value view, unsigned dim);

  /// Whether every position of dimension `dim` of an access exists (see TileMemoryOps.td).
  template <typename Access> bool isInBounds(Access access, unsigned dim) {
    int64_t size = access.getSizes()[dim];
    return isInBounds(access.getView(), dim, access.getStarts()[dim], size < 0 ? 1 : size,
                      access.getSteps()[dim], access.getEnd(dim));
  }

  /// Assumes, until called again, that dimension `name` is a multiple of `number`: to find which
  /// contract would help.
  void suppose(llvm::StringRef name, int64_t number);

private:
  bool isInBounds(mlir::Value view, unsigned dim, mlir::Value start, int64_t size, int64_t step,
                  mlir::Value end);
  bool isPositive(Linear expression, unsigned budget);
  llvm::SmallVector<Linear> boundsOf(Linear::Symbol symbol, bool upper);
  llvm::SmallVector<Linear> boundsOfQuotient(mlir::Value dividend, int64_t divisor, bool roundsUp,
                                             bool upper);
  llvm::SmallVector<Linear> lastBefore(mlir::Value limit, mlir::Value lower, int64_t step);
  Linear dimBound(DimAttr dim, bool upper) const;
  std::optional<int64_t> rangeBound(mlir::Value value, bool upper);
  Linear::Symbol symbolOf(mlir::Value value);
  int64_t getDivisor(mlir::Value value);

  KernelOp kernel;
  const DivisibilityAnalysis &divisibility;
  std::unique_ptr<mlir::DataFlowSolver> ranges;
  llvm::DenseMap<mlir::Value, unsigned> orders;
  std::map<std::string, unsigned> dimOrders;
  std::string supposedName;
  int64_t supposedNumber = 1;
};

} // namespace tile

#endif
