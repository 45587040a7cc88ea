// The divisibility lattice (numbers ordered by division, joined by the greatest common divisor),
// its transfer functions, and how they spread.
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
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tile {

namespace {

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

/// Finds the divisors of scalars: one walk, and again what a loop's later trips make worse. MLIR's
/// solver of dataflow equations gives the same for five times the work, since it keeps a state of
/// every value and of every point between two operations.
class DivisorPropagation {
public:
  explicit DivisorPropagation(DenseMap<Value, int64_t> &divisors) : divisors(divisors) {}

  void run(Operation *root) {
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      visited.insert(op);
      enter(op);
      visit(op);
    });
    while (!pending.empty())
      visit(pending.pop_back_val());
  }

private:
  /// Values that control flow hands on become known with their sources; others that an operation or
  /// a block brings into being are not known to have a divisor.
  void enter(Operation *op) {
    llvm::DenseSet<Value> inputs;
    if (auto branching = dyn_cast<RegionBranchOpInterface>(op)) {
      RegionBranchInverseSuccessorMapping sources;
      branching.getSuccessorInputOperandMapping(sources);
      for (auto &[input, operands] : sources)
        if (isNumber(input) && inputs.insert(input).second)
          for (OpOperand *operand : operands)
            handOn(operand->get(), input);
      for (Value result : op->getResults())
        if (!inputs.contains(result))
          join(result, 1);
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments()) {
          bool isIndex = loop && argument == loop.getInductionVar();
          if (!isIndex && !inputs.contains(argument) && !enterBlock(argument))
            join(argument, 1);
        }
  }

  /// False unless the argument is what all branches to its block hand on.
  bool enterBlock(BlockArgument argument) {
    if (!isNumber(argument) || argument.getOwner()->isEntryBlock())
      return false;
    SmallVector<Value> sources;
    Block *block = argument.getOwner();
    for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
      auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
      Value source =
          branch ? branch.getSuccessorOperands(it.getSuccessorIndex())[argument.getArgNumber()]
                 : Value();
      if (!source) // made by the branch itself
        return false;
      sources.push_back(source);
    }
    for (Value source : sources)
      handOn(source, argument);
    return true;
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) { // an index is lower + i * step
      std::optional<int64_t> lower = find(loop.getLowerBound()), step = find(loop.getStep());
      if (lower && step)
        join(loop.getInductionVar(), std::gcd(*lower, *step));
    }
    if (isa<RegionBranchOpInterface>(op) || llvm::none_of(op->getResults(), isNumber))
      return;
    // Optimistic: an operand that no value has reached yet does not pull the result down to 1.
    for (Value operand : op->getOperands())
      if (isNumber(operand) && !find(operand))
        return; // visited again once the operand is known
    if (op->getNumResults() == 1)
      return join(op->getResult(0),
                  transfer(op, [&](unsigned i) { return find(op->getOperand(i)).value_or(1); }));
    for (Value result : op->getResults())
      join(result, 1);
  }

  static bool isNumber(Value value) { return value.getType().isIntOrIndex(); }

  /// Nothing at all is known of a value that no other has reached yet.
  std::optional<int64_t> find(Value value) const {
    auto it = divisors.find(value);
    return it == divisors.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }

  void handOn(Value source, Value input) {
    handedOn[source].push_back(input);
    if (std::optional<int64_t> divisor = find(source))
      join(input, *divisor);
  }

  /// A value divides by what all that reach it divide by. Each change is to a proper divisor, or
  /// from 0, so that the changes end.
  void join(Value value, int64_t divisor) {
    if (!isNumber(value))
      return;
    auto [it, isNew] = divisors.try_emplace(value, divisor);
    if (!isNew) {
      divisor = std::gcd(it->second, divisor);
      if (divisor == it->second)
        return;
      it->second = divisor;
    }
    for (Operation *user : value.getUsers())
      if (visited.contains(user))
        pending.insert(user);
    if (auto inputs = handedOn.find(value); inputs != handedOn.end())
      for (Value input : SmallVector<Value, 1>(inputs->second))
        join(input, divisor);
  }

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

  DenseMap<Value, int64_t> &divisors;
  /// What control flow makes of a value: arguments of blocks and results of operations with
  /// regions.
  DenseMap<Value, SmallVector<Value, 1>> handedOn;
  llvm::DenseSet<Operation *> visited;
  llvm::SmallSetVector<Operation *, 8> pending;
};

} // namespace

DivisibilityAnalysis::DivisibilityAnalysis(Operation *root) {
  DivisorPropagation(divisors).run(root);
}

int64_t DivisibilityAnalysis::getDivisor(Value value) const {
  // Known also of what was made since.
  if (APInt number; matchPattern(value, m_ConstantInt(&number)))
    return magnitude(number).value_or(1);
  auto it = divisors.find(value);
  return it == divisors.end() ? 1 : it->second;
}

} // namespace tile
