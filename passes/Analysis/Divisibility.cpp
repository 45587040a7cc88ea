// The divisibility lattice (numbers ordered by division, joined by the greatest common divisor) and
// its transfer functions.
//
//   value                          known divisor
//   N, of a contract N % 8 == 0    8
//   i, a program's number          1
//   i * 64 + 8                     gcd(64, 8) = 8
//   i * 64 * N                     512
//   k, for k = lo to hi step s     gcd(of lo, of s): lo + n * s
//   i32 sums and products          the powers of two of these: others do not survive wrapping
//   0                              0, which every number divides: gcd(0, n) = n
#include "passes/Analysis/Divisibility.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tile {

namespace {

/// A known divisor; 0 stands for the value 0. Nothing at all is known of an uninitialised one: no
/// value reached it yet.
struct Divisor {
  std::optional<int64_t> number;

  bool operator==(const Divisor &other) const { return number == other.number; }
  static Divisor join(const Divisor &a, const Divisor &b) {
    if (!a.number || !b.number)
      return a.number ? a : b;
    return {std::gcd(*a.number, *b.number)};
  }
  void print(raw_ostream &os) const {
    if (number)
      os << *number;
    else
      os << "none";
  }
};

using DivisorLattice = dataflow::Lattice<Divisor>;

/// The constant's magnitude, if it has one.
/// Divisors are positive; the sign does not matter for division.
std::optional<int64_t> magnitude(const APInt &constant) {
  if (constant.getSignificantBits() > 63)
    return std::nullopt;
  return std::abs(constant.getSExtValue());
}

/// Where the product does not fit, either factor is a divisor still.
int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::max(a, b) : product;
}

/// The largest power of two that divides n; for 0, the largest there is.
/// Every power divides 0; 2^62 is the largest that fits with room.
int64_t powerOfTwoIn(int64_t n) { return n ? n & -n : int64_t(1) << 62; }

/// The divisor of a quotient by a positive constant: exact only where the constant divides the
/// dividend.
int64_t divide(int64_t dividend, std::optional<int64_t> constant) {
  return constant && *constant > 0 && dividend % *constant == 0
             ? (dividend ? dividend / *constant : 0)
             : 1;
}

class DivisorPropagation : public dataflow::SparseForwardDataFlowAnalysis<DivisorLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *op, ArrayRef<const DivisorLattice *> operands,
                               ArrayRef<DivisorLattice *> results) override {
    // Optimistic: an operand that no value has reached yet does not pull the result down to 1.
    for (const DivisorLattice *operand : operands)
      if (!operand->getValue().number)
        return success(); // visited again once the operand is known
    if (results.size() != 1) {
      setAllToEntryStates(results);
      return success();
    }
    auto in = [&](unsigned i) { return *operands[i]->getValue().number; };
    propagateIfChanged(results[0], results[0]->join(Divisor{transfer(op, in)}));
    return success();
  }

  void visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                                    ArrayRef<DivisorLattice *> arguments,
                                    unsigned firstIndex) override {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return setAllToEntryStates(arguments);
    // An induction variable is lower + i * step.
    auto lower = getLatticeElementFor(getProgramPointBefore(loop.getBody()), loop.getLowerBound())
                     ->getValue();
    auto step =
        getLatticeElementFor(getProgramPointBefore(loop.getBody()), loop.getStep())->getValue();
    if (lower.number && step.number)
      propagateIfChanged(arguments[0], arguments[0]->join(Divisor::join(lower, step)));
  }

  void setToEntryState(DivisorLattice *lattice) override {
    propagateIfChanged(lattice, lattice->join(Divisor{1}));
  }

private:
  /// Of integers that wrap around at their width, or whose sign is read as a digit, only powers of
  /// two divide the result still.
  /// 2^w is a multiple of every smaller power of two, so that a sum modulo 2^w keeps these divisors
  /// and no others.
  template <typename Operands> int64_t transfer(Operation *op, Operands in) {
    int64_t divisor = transferExact(op, in);
    bool isIndex =
        op->getNumResults() == 1 && getElementTypeOrSelf(op->getResult(0).getType()).isIndex();
    bool mayWrap = !isIndex && isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op);
    bool dropsSign =
        isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) ||
        (!isIndex && isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::ShRUIOp>(op));
    return (mayWrap || dropsSign) && divisor ? powerOfTwoIn(divisor) : divisor;
  }

  template <typename Operands> int64_t transferExact(Operation *op, Operands in) {
    std::optional<int64_t> constant; // the right operand's value
    if (APInt number;
        op->getNumOperands() == 2 && matchPattern(op->getOperand(1), m_ConstantInt(&number)))
      constant = magnitude(number);
    return llvm::TypeSwitch<Operation *, int64_t>(op)
        .Case([&](arith::ConstantOp op) {
          auto attr = dyn_cast<IntegerAttr>(op.getValue());
          return attr ? magnitude(attr.getValue()).value_or(1) : 1;
        })
        .Case([&](DimOp op) {
          return op.getDim().getMin() == op.getDim().getMax() ? std::abs(op.getDim().getMin())
                                                              : op.getDim().getMultipleOf();
        })
        .template Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
                       arith::MaxUIOp, arith::RemSIOp, arith::RemUIOp>(
            [&](Operation *) { return std::gcd(in(0), in(1)); })
        .Case([&](arith::MulIOp) { return multiply(in(0), in(1)); })
        .template Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                       arith::CeilDivUIOp>([&](Operation *) { return divide(in(0), constant); })
        .Case([&](arith::ShLIOp) {
          return constant && *constant < 62 ? multiply(in(0), int64_t(1) << *constant) : 1;
        })
        .template Case<arith::ShRSIOp, arith::ShRUIOp>([&](Operation *) {
          return constant && *constant < 62 ? divide(in(0), int64_t(1) << *constant) : 1;
        })
        .Case([&](arith::AndIOp) { return std::max(powerOfTwoIn(in(0)), powerOfTwoIn(in(1))); })
        .Case([&](arith::SelectOp) { return std::gcd(in(1), in(2)); })
        .template Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(
            [&](Operation *) { return in(0); })
        .Case([&](arith::TruncIOp op) {
          unsigned width = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
          return in(0) ? std::gcd(in(0), int64_t(1) << std::min(width, 62u)) : 0;
        })
        .Default([&](Operation *) { return 1; });
  }
};

} // namespace

DivisibilityAnalysis::DivisibilityAnalysis(Operation *root) {
  dataflow::loadBaselineAnalyses(solver);
  solver.load<DivisorPropagation>();
  // A failure leaves no facts, which is right if weak.
  // Each value then has divisor 1.
  (void)solver.initializeAndRun(root);
}

int64_t DivisibilityAnalysis::getDivisor(Value value) const {
  // Known also where the solver found the code dead.
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return magnitude(number).value_or(1);
  const auto *lattice = solver.lookupState<DivisorLattice>(value);
  return lattice ? lattice->getValue().number.value_or(1) : 1;
}

} // namespace tile
