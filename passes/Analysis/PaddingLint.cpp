// The padding lint: abstract values of clipped lanes, through element-wise work, loops and
// products.
#include "passes/Analysis/PaddingLint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tile;

namespace {

/// What the lanes hold that do not exist along one dimension.
struct Lanes {
  enum Kind { Exist, Constant, Unknown } kind = Exist; // Exist: there are none, or they do no harm
  double value = 0;                                    // of Constant
  Operation *load = nullptr;
  bool direct = false; // still the load's padding, moved or converted

  bool operator==(const Lanes &other) const {
    bool sameValue = value == other.value || (std::isnan(value) && std::isnan(other.value));
    return kind == other.kind && (kind != Constant || sameValue) && direct == other.direct &&
           load == other.load;
  }
};
using State = SmallVector<Lanes, 4>; // one for each dimension

/// One operand of an element-wise operation in the lanes at hand.
struct Operand {
  enum Kind { Real, Constant, Unknown } kind = Real;
  double value = 0;
  bool is(double v) const { return kind == Constant && value == v; }
};

/// The number that all elements of `value` are, if known.
std::optional<double> getUniform(Value value) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    value = splat.getInput();
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto elements = dyn_cast<SplatElementsAttr>(attr))
    attr = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return number.getType().isInteger(1) ? double(!number.getValue().isZero())
                                         : double(number.getValue().getSExtValue());
  return std::nullopt;
}

bool compare(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  default:
    return false;
  }
}

bool compare(arith::CmpIPredicate predicate, double a, double b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return a > b;
  default:
    return a >= b;
  }
}

/// Moves or converts without changing a number that it can hold.
bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
             arith::IndexCastOp, arith::IndexCastUIOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::FPToSIOp, arith::FPToUIOp>(op);
}

/// The operation on constants; none if unknown.
std::optional<double> fold(Operation *op, ArrayRef<double> x) {
  if (isConversion(op))
    return x[0];
  if (isa<arith::BitcastOp>(op) && x[0] == 0 && !std::signbit(x[0]))
    return 0.0;
  if (auto cmp = dyn_cast<arith::CmpFOp>(op))
    return compare(cmp.getPredicate(), x[0], x[1]);
  if (auto cmp = dyn_cast<arith::CmpIOp>(op))
    return compare(cmp.getPredicate(), x[0], x[1]);
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return x[0] + x[1];
  if (isa<arith::SubFOp, arith::SubIOp>(op))
    return x[0] - x[1];
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return x[0] * x[1];
  if (isa<arith::DivFOp>(op))
    return x[0] / x[1];
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return std::max(x[0], x[1]);
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
    return std::min(x[0], x[1]);
  if (isa<arith::AndIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return x[0] && x[1];
  if (isa<arith::OrIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return x[0] || x[1];
  if (isa<arith::XOrIOp>(op) && getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return (x[0] != 0) != (x[1] != 0);
  if (isa<arith::NegFOp>(op))
    return -x[0];
  if (isa<math::ExpOp>(op))
    return std::exp(x[0]);
  if (isa<math::Exp2Op>(op))
    return std::exp2(x[0]);
  if (isa<math::ExpM1Op>(op))
    return std::expm1(x[0]);
  if (isa<math::LogOp>(op))
    return std::log(x[0]);
  if (isa<math::Log2Op>(op))
    return std::log2(x[0]);
  if (isa<math::Log1pOp>(op))
    return std::log1p(x[0]);
  if (isa<math::SqrtOp>(op))
    return std::sqrt(x[0]);
  if (isa<math::AbsFOp, math::AbsIOp>(op))
    return std::fabs(x[0]);
  if (isa<math::TanhOp>(op))
    return std::tanh(x[0]);
  if (isa<math::ErfOp>(op))
    return std::erf(x[0]);
  if (isa<math::SinOp>(op))
    return std::sin(x[0]);
  if (isa<math::CosOp>(op))
    return std::cos(x[0]);
  if (isa<math::TanOp>(op))
    return std::tan(x[0]);
  if (isa<math::FloorOp>(op))
    return std::floor(x[0]);
  if (isa<math::CeilOp>(op))
    return std::ceil(x[0]);
  if (isa<math::TruncOp>(op))
    return std::trunc(x[0]);
  if (isa<math::RoundEvenOp>(op))
    return std::nearbyint(x[0]);
  if (isa<math::FmaOp>(op))
    return x[0] * x[1] + x[2];
  return std::nullopt;
}

/// True if no element is below 0.
bool isNonNegative(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > 6)
    return false;
  if (isa<math::AbsFOp, math::ExpOp, math::Exp2Op, math::SqrtOp>(op))
    return true;
  if (auto product = dyn_cast<arith::MulFOp>(op))
    return product.getLhs() == product.getRhs();
  if (auto largest = dyn_cast<arith::MaximumFOp>(op)) {
    std::optional<double> a = getUniform(largest.getLhs()), b = getUniform(largest.getRhs());
    return (a && *a >= 0) || (b && *b >= 0);
  }
  if (isConversion(op) || isa<BroadcastOp, ReshapeOp, PermuteOp>(op))
    return isNonNegative(op->getOperand(0), depth + 1);
  return false;
}

class Linter {
public:
  explicit Linter(function_ref<void(const PaddingFinding &)> report) : report(report) {}

  void run(KernelOp kernel) {
    // Loops first settle what they carry, in silence.
    for (unsigned round = 0; round < 4; ++round) {
      changed = false;
      visit(kernel.getBody().front());
      if (!changed)
        break;
    }
    speaks = true;
    visit(kernel.getBody().front());
  }

private:
  State get(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    State state = states.lookup(value);
    state.resize(type ? type.getRank() : 0);
    return state;
  }

  void set(Value value, const State &state) {
    State &old = states[value];
    changed |= old != state;
    old = state;
  }

  void visit(Block &block) {
    for (Operation &op : block)
      visit(&op);
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitLoop(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : branch->getRegions())
        if (!region.empty())
          visit(region.front());
      for (unsigned i = 0; i < branch.getNumResults(); ++i)
        set(branch.getResult(i),
            join(branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)));
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      visit(loop.getBefore().front());
      visit(loop.getAfter().front());
      return;
    }
    if (auto load = dyn_cast<LoadOp>(op))
      return visitLoad(load);
    if (auto inside = dyn_cast<InsideOp>(op))
      return visitInside(inside);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return visitReduce(reduce);
    if (auto reduce = dyn_cast<ArgReduceOp>(op))
      return visitArgReduce(reduce);
    if (auto dot = dyn_cast<DotOp>(op))
      return visitDot(dot);
    if (auto scan = dyn_cast<ScanOp>(op)) {
      for (auto [source, result] : llvm::zip(scan.getSources(), scan.getResults())) {
        State state = get(source);
        state[scan.getAxis()] = Lanes(); // what is clipped mostly comes last
        set(result, state);
      }
      return;
    }
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
      return;
    if (isa<BroadcastOp, ReshapeOp>(op))
      return set(op->getResult(0),
                 regroup(op->getOperand(0), cast<RankedTensorType>(op->getResult(0).getType())));
    if (auto permute = dyn_cast<PermuteOp>(op)) {
      State source = get(permute.getSource()), state;
      for (int64_t d : permute.getPermutation())
        state.push_back(source[d]);
      return set(permute.getResult(), state);
    }
    if (OpTrait::hasElementwiseMappableTraits(op))
      visitElementwise(op);
  }

  // --- where padding comes from
  // ------------------------------------------------------------------------------------

  void visitLoad(LoadOp load) {
    if (!isa<RankedTensorType>(load.getType()))
      return;
    std::optional<double> pad = getUniform(load.getPad());
    State state;
    for (auto [size, inBounds] : llvm::zip(load.getSizes(), load.getInBounds())) {
      if (size < 0)
        continue;
      Lanes lanes;
      if (!inBounds || load.getMask()) {
        lanes.kind = pad ? Lanes::Constant : Lanes::Unknown;
        lanes.value = pad.value_or(0);
        lanes.load = load;
        lanes.direct = true;
      }
      state.push_back(size == 1 ? Lanes() : lanes);
    }
    set(load.getResult(), state);
  }

  void visitInside(InsideOp inside) {
    if (!isa<RankedTensorType>(inside.getType()))
      return;
    State state;
    for (auto [size, inBounds] : llvm::zip(inside.getSizes(), inside.getInBounds())) {
      if (size < 0)
        continue;
      Lanes lanes;
      if (!inBounds)
        lanes.kind = Lanes::Constant; // false
      state.push_back(lanes);
    }
    set(inside.getResult(), state);
  }

  // --- how it moves
  // ------------------------------------------------------------------------------------------------

  static Lanes join(const Lanes &a, const Lanes &b) {
    if (a.kind == Lanes::Exist || b.kind == Lanes::Exist)
      return a.kind == Lanes::Exist ? b : a;
    Lanes result = a.load ? a : b;
    result.direct = a.direct && b.direct;
    if (a.kind == Lanes::Unknown || b.kind == Lanes::Unknown || a.value != b.value)
      result.kind = Lanes::Unknown;
    return result;
  }

  State join(Value a, Value b) {
    State result = get(a);
    for (auto [mine, theirs] : llvm::zip(result, get(b)))
      mine = join(mine, theirs);
    return result;
  }

  /// Through a broadcast or reshape: runs of dimensions that hold the same elements share what is
  /// said of any of them.
  State regroup(Value source, RankedTensorType type) {
    State from = get(source), to(type.getRank());
    auto sourceType = cast<RankedTensorType>(source.getType());
    ArrayRef<int64_t> a = sourceType.getShape(), b = type.getShape();
    if (sourceType.getNumElements() != type.getNumElements()) { // broadcast: aligned at the right
      for (size_t d = 0; d < a.size(); ++d)
        if (a[d] == b[b.size() - a.size() + d])
          to[b.size() - a.size() + d] = from[d];
      return to;
    }
    size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      size_t i0 = i, j0 = j;
      int64_t left = i < a.size() ? a[i++] : 1, right = j < b.size() ? b[j++] : 1;
      while (left != right) {
        if (left < right && i < a.size())
          left *= a[i++];
        else if (j < b.size())
          right *= b[j++];
        else
          break;
      }
      Lanes all;
      for (size_t d = i0; d < i; ++d)
        if (a[d] > 1)
          all = join(all, from[d]);
      for (size_t d = j0; d < j; ++d)
        if (b[d] > 1)
          to[d] = all;
    }
    return to;
  }

  void visitElementwise(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    State result(type.getRank());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      SmallVector<Operand> operands;
      Lanes padded;
      bool any = false, direct = op->getNumOperands() == 1 && isConversion(op);
      for (Value value : op->getOperands()) {
        Operand operand;
        State state = get(value);
        Lanes lanes = state.empty() ? Lanes() : state[d];
        if (lanes.kind == Lanes::Constant) {
          operand = {Operand::Constant, lanes.value};
        } else if (lanes.kind == Lanes::Unknown) {
          operand.kind = Operand::Unknown;
        } else if (std::optional<double> uniform = getUniform(value)) {
          operand = {Operand::Constant, *uniform};
        }
        if (lanes.kind != Lanes::Exist) {
          any = true;
          direct &= lanes.direct;
          if (!padded.load)
            padded = lanes;
        }
        operands.push_back(operand);
      }
      if (!any)
        continue;
      result[d] = evaluate(op, operands);
      result[d].load = padded.load;
      result[d].direct = direct && result[d].kind == Lanes::Constant;
      if (!result[d].load) // from `inside` alone: nothing to complain of
        result[d].kind = result[d].kind == Lanes::Constant ? Lanes::Constant : Lanes::Exist;
    }
    set(op->getResult(0), result);
  }

  static Lanes constant(double value) {
    Lanes lanes;
    lanes.kind = Lanes::Constant;
    lanes.value = value;
    return lanes;
  }

  Lanes evaluate(Operation *op, ArrayRef<Operand> x) {
    Lanes unknown;
    unknown.kind = Lanes::Unknown;
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      if (x[0].kind == Operand::Constant) {
        const Operand &taken = x[0].value != 0 ? x[1] : x[2];
        return taken.kind == Operand::Constant ? constant(taken.value)
               : taken.kind == Operand::Real   ? Lanes()
                                               : unknown;
      }
      // A constant branch is there to take the place of what does not count.
      if (std::optional<double> c = getUniform(select.getFalseValue()))
        return constant(*c);
      if (std::optional<double> c = getUniform(select.getTrueValue()))
        return constant(*c);
      bool same = x[1].kind == Operand::Constant && x[2].is(x[1].value);
      return same ? constant(x[1].value) : unknown;
    }
    if (llvm::all_of(x, [](const Operand &o) { return o.kind == Operand::Constant; })) {
      SmallVector<double> values;
      for (const Operand &operand : x)
        values.push_back(operand.value);
      std::optional<double> folded = fold(op, values);
      return folded ? constant(*folded) : unknown;
    }
    bool anyUnknown = llvm::any_of(x, [](const Operand &o) { return o.kind == Operand::Unknown; });
    if (isa<arith::CmpFOp, arith::CmpIOp>(op))
      return Lanes();
    if (isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op) && (x[0].is(0) || x[1].is(0)))
      return constant(0);
    if (isa<arith::DivFOp>(op) && x[0].is(0) && x[1].kind == Operand::Real)
      return constant(0);
    if (isa<arith::AddFOp, arith::SubFOp>(op) && !anyUnknown)
      for (unsigned i : {0, 1})
        if (x[i].kind == Operand::Constant && std::isinf(x[i].value))
          return constant(i == 1 && isa<arith::SubFOp>(op) ? -x[i].value : x[i].value);
    // Scaled, an infinity stays one; the sign of a factor is mostly known to who wrote it.
    if (isa<arith::MulFOp, arith::DivFOp>(op) && !anyUnknown)
      for (unsigned i = 0; i < (isa<arith::DivFOp>(op) ? 1u : 2u); ++i)
        if (x[i].kind == Operand::Constant && std::isinf(x[i].value))
          return constant(x[i].value);
    // What changes nothing leaves an accumulator's lanes as they are.
    for (unsigned i : {0, 1})
      if (op->getNumOperands() == 2 && isCarried(op->getOperand(i)) && x[i].kind == Operand::Real &&
          isNeutral(op, x[1 - i]))
        return Lanes();
    if (isa<math::FmaOp>(op) && (x[0].is(0) || x[1].is(0)) && isCarried(op->getOperand(2)))
      return Lanes();
    return unknown;
  }

  /// What a loop carries, scaled perhaps: an accumulator.
  static bool isCarried(Value value, unsigned depth = 0) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<scf::ForOp>(argument.getOwner()->getParentOp());
    auto product = value.getDefiningOp<arith::MulFOp>();
    return product && depth < 4 &&
           (isCarried(product.getLhs(), depth + 1) || isCarried(product.getRhs(), depth + 1));
  }

  static bool isNeutral(Operation *op, const Operand &x) {
    if (isa<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(op))
      return x.is(0);
    constexpr double far = 6.0e4; // below the lowest of any float
    if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
      return x.kind == Operand::Constant && x.value <= -far;
    if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
      return x.kind == Operand::Constant && x.value >= far;
    return false;
  }

  void visitLoop(scf::ForOp loop) {
    for (auto [init, argument, yielded] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues()))
      set(argument, join(init, yielded));
    visit(*loop.getBody());
    for (auto [argument, yielded, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults()))
      set(result, join(argument, yielded));
  }

  // --- where it matters
  // --------------------------------------------------------------------------------------------

  void complain(Operation *op, const Lanes &lanes, StringRef what, StringRef neutral) {
    if (!speaks || !lanes.load)
      return;
    std::string found = "what was computed from padding";
    if (lanes.kind == Lanes::Constant) {
      llvm::raw_string_ostream stream(found = "");
      if (lanes.value == std::trunc(lanes.value) && std::fabs(lanes.value) < 1e15)
        stream << int64_t(lanes.value);
      else
        stream << llvm::format("%g", lanes.value);
    }
    // Of integers: those of the load's dtype.
    auto load = cast<LoadOp>(lanes.load);
    std::string text = neutral.str();
    if (neutral.starts_with("the "))
      text = (neutral == "the lowest" ? "lowest(i" : "highest(i") +
             std::to_string(getElementTypeOrSelf(load.getType()).getIntOrFloatBitWidth()) + ")";
    report({op, load, what.str(), found, text, lanes.direct});
  }

  /// Does the padding leave a reduction as it is?
  static bool isHarmless(ReduceKind kind, const Lanes &lanes, Value source) {
    if (lanes.kind != Lanes::Constant)
      return lanes.kind == Lanes::Exist;
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(source));
    double far = isFloat ? 6.0e4 : 127;
    switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Or:
    case ReduceKind::MaxUnsigned:
      return lanes.value == 0;
    case ReduceKind::Prod:
      return lanes.value == 1;
    case ReduceKind::And:
    case ReduceKind::MinUnsigned:
      return lanes.value != 0;
    case ReduceKind::Max:
      return lanes.value <= -far || (lanes.value == 0 && isNonNegative(source));
    case ReduceKind::Min:
      return lanes.value >= far;
    }
    return true;
  }

  void visitReduce(ReduceOp reduce) {
    static const struct {
      const char *what, *onFloats, *onIntegers;
    } names[] = {{"the sum", "0", "0"},
                 {"the product", "1", "1"},
                 {"the maximum", "-inf", "the lowest"},
                 {"the minimum", "inf", "the highest"},
                 {"'all'", "", "true"},
                 {"'any'", "", "false"},
                 {"the maximum", "", "0"},
                 {"the minimum", "", "the highest"}};
    const auto &name = names[unsigned(reduce.getKind())];
    State state = get(reduce.getSource()), left;
    bool isFloat = isa<FloatType>(reduce.getSource().getType().getElementType());
    bool said = false;
    for (auto [d, lanes] : llvm::enumerate(state)) {
      if (reduce.getAxis() && *reduce.getAxis() != d) {
        // Along other dimensions whole lines of padding are reduced.
        bool keeps = lanes.kind != Lanes::Constant || reduce.getKind() != ReduceKind::Sum ||
                     lanes.value == 0;
        left.push_back(lanes);
        left.back().direct = false;
        if (!keeps)
          left.back().kind = Lanes::Unknown;
      } else if (!said && !isHarmless(reduce.getKind(), lanes, reduce.getSource())) {
        complain(reduce, lanes, name.what, isFloat ? name.onFloats : name.onIntegers);
        said = true;
      }
    }
    if (isa<RankedTensorType>(reduce.getType()))
      set(reduce.getResult(), left);
  }

  void visitArgReduce(ArgReduceOp reduce) {
    bool isMax = reduce.getKind() == ArgReduceKind::ArgMax;
    bool isFloat = isa<FloatType>(reduce.getSource().getType().getElementType());
    for (auto [d, lanes] : llvm::enumerate(get(reduce.getSource())))
      if ((!reduce.getAxis() || *reduce.getAxis() == d) &&
          !isHarmless(isMax ? ReduceKind::Max : ReduceKind::Min, lanes, reduce.getSource()))
        return complain(
            reduce, lanes, isMax ? "the position of the maximum" : "the position of the minimum",
            isFloat ? (isMax ? "-inf" : "inf") : (isMax ? "the lowest" : "the highest"));
  }

  void visitDot(DotOp dot) {
    State a = get(dot.getA()), b = get(dot.getB()), acc = get(dot.getAcc()), result(acc.size());
    size_t rank = result.size();
    Lanes left = a[rank - 1], right = b[rank - 2]; // along K
    auto isZero = [](const Lanes &lanes) {
      return lanes.kind == Lanes::Constant && lanes.value == 0;
    };
    bool padded = left.kind != Lanes::Exist || right.kind != Lanes::Exist;
    if (padded && !isZero(left) && !isZero(right))
      complain(dot, left.load ? left : right, "the sum of 'dot'", "0");
    for (size_t d = 0; d < rank; ++d) {
      Lanes lanes = d + 2 < rank ? join(a[d], b[d]) : d + 2 == rank ? a[d] : b[d];
      if (lanes.kind == Lanes::Exist)
        continue;
      bool staysZero = isZero(lanes) && (isZero(acc[d]) || getUniform(dot.getAcc()) == 0.0 ||
                                         isCarried(dot.getAcc()));
      lanes.kind = staysZero ? Lanes::Constant : Lanes::Unknown;
      lanes.direct = false;
      result[d] = lanes;
    }
    set(dot.getResult(), result);
  }

  function_ref<void(const PaddingFinding &)> report;
  DenseMap<Value, State> states; // looked up only
  bool changed = false, speaks = false;
};

} // namespace

void tile::findPaddingReductions(ModuleOp module,
                                 function_ref<void(const PaddingFinding &)> report) {
  for (KernelOp kernel : module.getOps<KernelOp>())
    Linter(report).run(kernel);
}
