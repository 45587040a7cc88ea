// What each operation makes of instances side by side, and the rewriting of a kernel by it.
#include "passes/Tile/Widening.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

using State = InstanceState;

static int64_t getExtent(Value tile, int64_t dim) {
  return cast<RankedTensorType>(tile.getType()).getDimSize(dim);
}

static std::optional<int64_t> getConstant(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)) || number.getSignificantBits() > 62)
    return std::nullopt;
  return number.getSExtValue();
}

RankedTensorType Widening::widen(Type type, int64_t dim) const {
  auto tile = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tile.getShape());
  shape[dim] *= factor;
  return tile.clone(shape);
}

std::optional<Widening::Rule> Widening::fail(Operation *op, const Twine &why) {
  if (problem.empty())
    problem = why.str();
  (void)op;
  return std::nullopt;
}

/// The dimension of `to` of which blocks lie side by side where blocks of dimension `dim` of `from`
/// do, of the same elements in row-major order; -1 if there is none.
static int64_t mapReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t dim) {
  auto product = [](ArrayRef<int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  };
  int64_t before = product(from.take_front(dim)), found = -1;
  for (int64_t d = 0; d < int64_t(to.size()); ++d)
    if (product(to.take_front(d)) == before && (found < 0 || to[found] == 1))
      found = d;
  return found;
}

//===--- Analysis ---------------------------------------------------------===//

std::string Widening::analyzePrograms(unsigned which) {
  axis = which;
  loop = {};
  if (std::string why = analyze(kernel.getBody().front()); !why.empty())
    return why;
  return checkWrites();
}

std::string Widening::analyzeTrips(scf::ForOp which) {
  axis.reset();
  asked.clear();
  loop = which;
  std::optional<int64_t> step = getConstant(loop.getStep());
  if (!step || *step <= 0)
    return "its step is not known";
  states.clear();
  State counter{State::Step, *step,
                std::gcd(getDivisors().getDivisor(loop.getLowerBound()), *step * factor)};
  states[loop.getInductionVar()] = counter;
  problem.clear();
  if (std::string why = visit(*loop.getBody()); !why.empty())
    return why;
  return checkCarried();
}

std::string Widening::analyze(Block &block) {
  states.clear();
  asked.clear();
  problem.clear();
  return visit(block);
}

/// Whether the operation, or one inside of it, sees what differs between instances.
static bool seesDifference(Operation *op, llvm::function_ref<bool(Value)> differs,
                           std::optional<unsigned> axis) {
  return op
      ->walk([&](Operation *inner) {
        auto id = dyn_cast<ProgramIdOp>(inner);
        return (axis && id && id.getAxis() == *axis) || llvm::any_of(inner->getOperands(), differs)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

std::string Widening::visit(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      if (std::string why = visitLoop(inner); !why.empty())
        return why;
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (std::string why = visitBranch(branch); !why.empty())
        return why;
      continue;
    }
    std::optional<Rule> rule = getRule(&op);
    if (!rule)
      return problem;
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      states[result] = i < rule->results.size() ? rule->results[i] : State();
  }
  return "";
}

std::string Widening::visitLoop(scf::ForOp inner) {
  for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!isUniform(bound))
      return "a loop's trips are not the same in neighbours";
  unsigned count = inner.getInitArgs().size();
  states[inner.getInductionVar()] = State();
  for (unsigned i = 0; i < count; ++i)
    states[inner.getRegionIterArg(i)] = get(inner.getInitArgs()[i]);
  // A carried value only moves from uniform to wide to unknown, its divisor to one of that, so this
  // ends.
  for (bool changed = true; changed;) {
    changed = false;
    if (std::string why = visit(*inner.getBody()); !why.empty())
      return why;
    for (unsigned i = 0; i < count; ++i) {
      State &carried = states[inner.getRegionIterArg(i)];
      State next = get(inner.getYieldedValues()[i]);
      if (auto wanted = asked.find(inner.getRegionIterArg(i));
          wanted != asked.end() && next.kind == State::Uniform)
        next = State::wide(wanted->second);
      if (carried.kind == State::Unknown ||
          (carried.kind == State::Wide && next.kind == State::Uniform))
        continue;
      State both = carried.kind == State::Uniform && next.kind == State::Wide
                       ? next
                       : State::join(carried, next);
      if (both == carried && both.divisor == carried.divisor)
        continue;
      carried = both;
      changed = true;
    }
  }
  for (unsigned i = 0; i < count; ++i) {
    State carried = get(inner.getRegionIterArg(i));
    if (carried.kind == State::Wide && (!canBeWide(inner.getInitArgs()[i], carried.dim) ||
                                        !canBeWide(inner.getYieldedValues()[i], carried.dim)))
      return "a tile that a loop carries is not the neighbours' side by side";
    states[inner.getResult(i)] = carried;
  }
  return "";
}

std::string Widening::visitBranch(scf::IfOp branch) {
  if (!isUniform(branch.getCondition()))
    return "a branch is not the same in neighbours";
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty())
      if (std::string why = visit(region->front()); !why.empty())
        return why;
  for (unsigned i = 0; i < branch.getNumResults(); ++i) {
    Value yes = branch.thenYield().getOperand(i), no = branch.elseYield().getOperand(i);
    State joined = get(yes).kind == State::Uniform ? get(no) : get(yes);
    if (joined.kind != State::Wide)
      joined = State::join(get(yes), get(no));
    else if (!canBeWide(yes, joined.dim) || !canBeWide(no, joined.dim))
      return "a branch's tile is not the neighbours' side by side";
    states[branch.getResult(i)] = joined;
  }
  return "";
}

bool Widening::canBeWide(Value value, int64_t dim) {
  State state = get(value);
  if (state.kind == State::Wide)
    return state.dim == dim;
  return state.kind == State::Uniform && repeat(value, dim, nullptr);
}

Value Widening::repeat(Value value, int64_t dim, OpBuilder *builder) {
  // What an inner loop carries is wide if it is asked for, and what comes in and is handed on can
  // be.
  if (auto carried = dyn_cast<BlockArgument>(value)) {
    auto inner = dyn_cast<scf::ForOp>(carried.getOwner()->getParentOp());
    if (builder || !inner || inner == loop || carried == inner.getInductionVar())
      return {};
    asked.insert({value, dim});
    return value;
  }
  Operation *op = value.getDefiningOp();
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType wide = widen(type, dim);
  Location loc = op->getLoc();
  if (DenseElementsAttr elements; matchPattern(value, m_Constant(&elements))) {
    if (!elements.isSplat() || !builder)
      return elements.isSplat() ? value : Value();
    auto repeated = DenseElementsAttr::get(wide, elements.getSplatValue<Attribute>());
    return arith::ConstantOp::create(*builder, loc, repeated);
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return builder ? tensor::SplatOp::create(*builder, loc, wide, splat.getInput()).getResult()
                   : value;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    auto source = broadcast.getSource();
    int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
    int64_t inner = dim - (type.getRank() - rank);
    if (inner >= 0 && getExtent(source, inner) != 1) {
      Value repeated = repeat(source, inner, builder);
      if (!repeated || !builder)
        return repeated;
      return BroadcastOp::create(*builder, loc, wide, repeated);
    }
    return builder ? BroadcastOp::create(*builder, loc, wide, source).getResult() : value;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    auto source = cast<RankedTensorType>(reshape.getSource().getType());
    int64_t inner = mapReshape(type.getShape(), source.getShape(), dim);
    Value repeated = inner < 0 ? Value() : repeat(reshape.getSource(), inner, builder);
    return repeated && builder ? ReshapeOp::create(*builder, loc, wide, repeated).getResult()
                               : repeated;
  }
  if (auto permute = dyn_cast<PermuteOp>(op)) {
    Value repeated = repeat(permute.getSource(), permute.getPermutation()[dim], builder);
    return repeated && builder
               ? PermuteOp::create(*builder, loc, wide, repeated, permute.getPermutation())
                     .getResult()
               : repeated;
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    std::optional<int64_t> start = getConstant(iota.getStart());
    if (start != 0 || iota.getStep() != 1)
      return {};
    if (!builder)
      return value;
    Value line = IotaOp::create(*builder, loc, wide, iota.getStart(), iota.getStepAttr());
    Value extent = arith::ConstantOp::create(
        *builder, loc,
        DenseElementsAttr::get(wide, Attribute(builder->getIndexAttr(type.getDimSize(0)))));
    return arith::RemUIOp::create(*builder, loc, line, extent);
  }
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() || op->getNumResults() != 1)
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    Value repeated = repeat(operand, dim, builder);
    if (!repeated)
      return {};
    mapping.map(operand, repeated);
  }
  if (!builder)
    return value;
  Operation *clone = builder->clone(*op, mapping);
  clone->getResult(0).setType(wide);
  return clone->getResult(0);
}

//===--- Rules ------------------------------------------------------------===//

std::optional<Widening::Rule> Widening::getRule(Operation *op) {
  if (auto id = dyn_cast<ProgramIdOp>(op); id && axis && id.getAxis() == *axis) {
    Rule rule;
    rule.results = {State{State::Step, 1, factor}};
    return rule;
  }
  auto differs = [&](Value value) { return !isUniform(value); };
  bool isClosed = isa<ScanOp, ReduceByOp>(op);
  if (!seesDifference(op, differs, axis))
    return Rule();
  if (op->getNumRegions() && !isClosed)
    return fail(op, "'" + op->getName().getStringRef() + "' depends on what differs in neighbours");
  if (isClosed && op->getRegion(0)
                      .walk([&](Operation *inner) {
                        return llvm::any_of(inner->getOperands(), differs) ? WalkResult::interrupt()
                                                                           : WalkResult::advance();
                      })
                      .wasInterrupted())
    return fail(op, "a function of a reduction depends on what differs in neighbours");
  if (op->getNumResults() == 1 && !isa<RankedTensorType>(op->getResult(0).getType()) &&
      isPure(op) && llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return getArithmeticRule(op);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && get(operand).kind == State::Unknown)
      return fail(op, "a tile differs in neighbours by more than where it stands");
  if (auto load = dyn_cast<LoadOp>(op))
    return getAccessRule(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return getAccessRule(store);
  if (auto inside = dyn_cast<InsideOp>(op))
    return getAccessRule(inside);
  if (auto gather = dyn_cast<GatherOp>(op))
    return getAccessRule(gather);
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return getAccessRule(scatter);
  if (auto atomic = dyn_cast<AtomicOp>(op))
    return getAccessRule(atomic);
  if (auto dot = dyn_cast<DotOp>(op))
    return getDotRule(dot);
  if (auto take = dyn_cast<TakeOp>(op))
    return getTakeRule(take);
  if (OpTrait::hasElementwiseMappableTraits(op))
    return getElementwiseRule(op);
  Rule rule;
  if (auto iota = dyn_cast<IotaOp>(op)) {
    State start = get(iota.getStart());
    bool follows =
        start.kind == State::Step && start.step == int64_t(iota.getStep()) * getExtent(iota, 0);
    rule.results = {follows ? State::wide(0) : State::unknown()};
    return rule;
  }
  if (isa<tensor::SplatOp>(op)) {
    rule.results = {State::unknown()};
    return rule;
  }
  // From here on one tile, or several of one shape, of which one at least is wide.
  int64_t dim = -1;
  for (Value operand : op->getOperands())
    if (get(operand).kind == State::Wide) {
      if (dim >= 0 && dim != get(operand).dim)
        return fail(op, "tiles that meet are side by side along different dimensions");
      dim = get(operand).dim;
    }
  if (dim < 0)
    return fail(op, "'" + op->getName().getStringRef() + "' depends on what differs in neighbours");
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !canBeWide(operand, dim))
      return fail(op, "a tile that all neighbours share is not repeated");
  rule.operands = dim;
  auto resultOf = [&](int64_t at) {
    rule.results.assign(op->getNumResults(), State::wide(at));
    return rule;
  };
  auto without = [&](int64_t dropped) { return dim - (dropped < dim); };
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    auto from = cast<RankedTensorType>(broadcast.getSource().getType());
    auto to = cast<RankedTensorType>(broadcast.getType());
    int64_t at = dim + to.getRank() - from.getRank();
    if (from.getDimSize(dim) == to.getDimSize(at))
      return resultOf(at);
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    auto from = cast<RankedTensorType>(reshape.getSource().getType());
    int64_t at =
        mapReshape(from.getShape(), cast<RankedTensorType>(reshape.getType()).getShape(), dim);
    if (at >= 0)
      return resultOf(at);
  } else if (auto permute = dyn_cast<PermuteOp>(op)) {
    return resultOf(llvm::find(permute.getPermutation(), dim) - permute.getPermutation().begin());
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (reduce.getAxis() && int64_t(*reduce.getAxis()) != dim)
      return resultOf(without(*reduce.getAxis()));
  } else if (auto reduce = dyn_cast<ArgReduceOp>(op)) {
    if (reduce.getAxis() && int64_t(*reduce.getAxis()) != dim)
      return resultOf(without(*reduce.getAxis()));
  } else if (auto reduce = dyn_cast<ReduceByOp>(op)) {
    if (int64_t(reduce.getAxis()) != dim)
      return resultOf(without(reduce.getAxis()));
  } else if (auto scan = dyn_cast<ScanOp>(op)) {
    if (int64_t(scan.getAxis()) != dim)
      return resultOf(dim);
  } else if (auto sort = dyn_cast<SortOp>(op)) {
    if (int64_t(sort.getAxis()) != dim)
      return resultOf(dim);
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    if (int64_t(concat.getDim()) != dim)
      return resultOf(dim);
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    // All of the dimension, and no dimension is dropped.
    if (slice.getSourceType().getRank() == slice.getType().getRank() &&
        slice.getSourceType().getDimSize(dim) == slice.getType().getDimSize(dim))
      return resultOf(dim);
  }
  return fail(op, "'" + op->getName().getStringRef() + "' joins what neighbours have");
}

/// Integers: sums and multiples of what grows evenly do so, too.
std::optional<Widening::Rule> Widening::getArithmeticRule(Operation *op) {
  Rule rule;
  rule.results = {State::unknown()};
  State &result = rule.results.front();
  // Narrower integers may wrap around.
  if (!op->getResult(0).getType().isIndex() || llvm::any_of(op->getOperands(), [&](Value value) {
        return get(value).kind == State::Unknown || !value.getType().isIndex();
      }))
    return rule;
  auto divisorOf = [&](Value value) {
    State state = get(value);
    return state.kind == State::Step ? state.divisor : getDivisors().getDivisor(value);
  };
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    Value a = op->getOperand(0), b = op->getOperand(1);
    int64_t step = get(a).step + (isa<arith::AddIOp>(op) ? 1 : -1) * get(b).step;
    result = step ? State{State::Step, step, std::gcd(divisorOf(a), divisorOf(b))} : State();
  } else if (auto mul = dyn_cast<arith::MulIOp>(op)) {
    for (auto [value, other] :
         {std::pair(mul.getLhs(), mul.getRhs()), {mul.getRhs(), mul.getLhs()}})
      if (auto number = getConstant(other); number && get(value).kind == State::Step)
        result = *number ? State{State::Step, get(value).step * *number,
                                 get(value).divisor * std::abs(*number)}
                         : State();
  } else if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
                 arith::RemUIOp>(op)) {
    result = getQuotient(op);
  }
  return rule;
}

/// Of a multiple of D, divided by m: what is left is a multiple of gcd(D, m), so that instances
/// that grow by less than that in all have one quotient.
State Widening::getQuotient(Operation *op) {
  State dividend = get(op->getOperand(0));
  std::optional<int64_t> number = getConstant(op->getOperand(1));
  if (dividend.kind != State::Step || dividend.step < 0 || !number || *number <= 0 ||
      !getBounds().isNonNegative(op->getOperand(0)))
    return State::unknown();
  bool isRest = isa<arith::RemSIOp, arith::RemUIOp>(op);
  int64_t step = dividend.step, granule = std::gcd(dividend.divisor, *number);
  if (step % *number == 0)
    return isRest ? State()
                  : State{State::Step, step / *number,
                          dividend.divisor % *number == 0 ? dividend.divisor / *number : 1};
  if (step * (factor - 1) < granule)
    return isRest ? State{State::Step, step, granule} : State();
  return State::unknown();
}

std::optional<Widening::Rule> Widening::getElementwiseRule(Operation *op) {
  Rule rule;
  for (Value operand : op->getOperands()) {
    State state = get(operand);
    if (state.kind == State::Uniform)
      continue;
    if (state.kind != State::Wide)
      return fail(op, "a tile differs in neighbours by more than where it stands");
    if (rule.operands >= 0 && rule.operands != state.dim)
      return fail(op, "tiles that meet are side by side along different dimensions");
    rule.operands = state.dim;
  }
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !canBeWide(operand, rule.operands))
      return fail(op, "a tile that all neighbours share is not repeated");
  rule.results.assign(op->getNumResults(), State::wide(rule.operands));
  return rule;
}

template <typename Access> std::optional<Widening::Rule> Widening::getAccessRule(Access access) {
  Operation *op = access;
  Rule rule;
  if (!isUniform(access.getView()))
    return fail(op, "a view is not the same in neighbours");
  for (Value end : access.getEnds())
    if (!isUniform(end))
      return fail(op, "an end of a block is not the same in neighbours");
  // A scalar beside where blocks begin, as padding, is one number for all that stand side by side.
  for (Value operand : op->getOperands())
    if (!isa<RankedTensorType>(operand.getType()) && !isUniform(operand) &&
        !llvm::is_contained(access.getStarts(), operand))
      return fail(op, "a number beside a tile is not the same in neighbours");
  SmallVector<int64_t> dims = access.getTileDims();
  for (auto [d, start] : llvm::enumerate(access.getStarts())) {
    State state = get(start);
    if (state.kind == State::Uniform)
      continue;
    int64_t size = access.getSizes()[d], step = access.getSteps()[d];
    if (state.kind != State::Step || size < 1 || step < 1 || state.step != size * step)
      return fail(op, "the blocks of neighbours do not follow each other in memory");
    if (rule.operands >= 0)
      return fail(op, "neighbours differ along two dimensions of a tile");
    rule.operands = dims[d];
  }
  for (Value operand : op->getOperands())
    if (State state = get(operand); state.kind == State::Wide) {
      if (rule.operands >= 0 && rule.operands != state.dim)
        return fail(op, "tiles that meet are side by side along different dimensions");
      rule.operands = state.dim;
    } else if (state.kind != State::Uniform && isa<RankedTensorType>(operand.getType())) {
      return fail(op, "a tile differs in neighbours by more than where it stands");
    }
  if (rule.operands < 0)
    return fail(op, "a number that differs in neighbours is written");
  bool isRange = llvm::any_of(llvm::enumerate(access.getStarts()), [&](auto each) {
    return dims[each.index()] == rule.operands && access.getSizes()[each.index()] > 0;
  });
  bool moves = llvm::any_of(access.getStarts(), [&](Value start) { return !isUniform(start); });
  if (isRange && !moves)
    return fail(op, "neighbours access one place");
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !canBeWide(operand, rule.operands))
      return fail(op, "a tile that all neighbours share is not repeated");
  rule.results.assign(op->getNumResults(), State::wide(rule.operands));
  return rule;
}

std::optional<Widening::Rule> Widening::getDotRule(DotOp dot) {
  int64_t rank = cast<RankedTensorType>(dot.getType()).getRank();
  int64_t rows = rank - 2, columns = rank - 1;
  State a = get(dot.getA()), b = get(dot.getB());
  bool wideA = a.kind == State::Wide, wideB = b.kind == State::Wide;
  Rule rule;
  if (dot.getValid())
    return fail(dot, "a product has padding");
  if (loop && wideA && wideB && a.dim == columns && b.dim == rows) {
    // One sum of all trips' terms; checkCarried() sees to it that nothing else touches the sum.
    auto carried = dyn_cast<BlockArgument>(dot.getAcc());
    if (!carried || carried.getOwner() != loop.getBody() || !carried.hasOneUse() ||
        !dot->hasOneUse() || !isa<scf::YieldOp>(*dot->user_begin()) ||
        dot->getBlock() != loop.getBody())
      return fail(dot, "a sum is used in each trip");
    rule.results = {State()};
    return rule;
  }
  int64_t dim = -1;
  if (wideA && wideB)
    dim = a.dim == b.dim && a.dim < rows ? a.dim : -1;
  else if (wideA)
    dim = a.dim == rows ? rows : -1;
  else if (wideB)
    dim = b.dim == columns ? columns : -1;
  if (dim < 0)
    return fail(dot, "a product adds up what neighbours have");
  if (!canBeWide(dot.getAcc(), dim))
    return fail(dot, "a tile that all neighbours share is not repeated");
  rule.each.assign(3, -1);
  rule.each[2] = dim;
  rule.results = {State::wide(dim)};
  return rule;
}

std::optional<Widening::Rule> Widening::getTakeRule(TakeOp take) {
  State source = get(take.getSource());
  int64_t axisOf = int64_t(take.getAxis());
  auto result = dyn_cast<RankedTensorType>(take.getType());
  Rule rule;
  if (!result || source.kind != State::Wide || source.dim == axisOf)
    return fail(take, "'tile.take' joins what neighbours have");
  int64_t rank = cast<RankedTensorType>(take.getSource().getType()).getRank();
  int64_t dim = source.dim < axisOf ? source.dim : source.dim + result.getRank() - rank;
  rule.each.assign(2, -1);
  if (isa<RankedTensorType>(take.getPosition().getType())) {
    if (!canBeWide(take.getPosition(), dim))
      return fail(take, "a tile that all neighbours share is not repeated");
    rule.each[1] = dim;
  } else if (!isUniform(take.getPosition())) {
    return fail(take, "a position in a tile is not the same in neighbours");
  }
  rule.results = {State::wide(dim)};
  return rule;
}
