// What of a widening is beside its values: programs and trips that the source does not have, writes
// that must not be made by them, and the rewriting.
//
// An odd grid leaves the last program a half that no program of the source stands for. What it
// loads beside its tensors is padding; what it stores must not exist, which is proven: its blocks
// begin at or behind the tensor's end.
#include "dialect/JoinedNames.h"
#include "dialect/ProgramNames.h"
#include "passes/Tile/Widening.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

using State = InstanceState;

//===--- Instances that the source does not have --------------------------===//

bool Widening::hasRest() {
  if (axis) {
    Value extent = kernel.getGrid().front().getTerminator()->getOperand(*axis);
    return getDivisors().getDivisor(extent) % factor != 0;
  }
  APInt step;
  (void)matchPattern(loop.getStep(), m_ConstantInt(&step));
  return std::gcd(getDivisors().getDivisor(loop.getLowerBound()),
                  getDivisors().getDivisor(loop.getUpperBound())) %
             (step.getSExtValue() * factor) !=
         0;
}

/// Whether blocks of instances behind the last one begin at or behind the end of what exists.
template <typename Access> bool Widening::endsBefore(Access access) {
  for (auto [d, start] : llvm::enumerate(access.getStarts())) {
    if (isUniform(start))
      continue;
    std::optional<Linear> extent = getBounds().extent(access.getView(), d);
    if (!extent)
      return false;
    Linear first = getBounds().linear(start), behind = first;
    for (const auto &[symbol, coefficient] : first.terms) {
      auto id = symbol.value ? symbol.value.template getDefiningOp<ProgramIdOp>() : ProgramIdOp();
      Value end;
      if (axis && id && id.getAxis() == *axis)
        end = kernel.getGrid().front().getTerminator()->getOperand(*axis);
      else if (loop && symbol.value == loop.getInductionVar())
        end = loop.getUpperBound();
      if (end)
        behind += (getBounds().linear(end) - Linear(symbol)) * coefficient;
    }
    Value own = access.getEnd(d);
    return getBounds().isNonNegative(behind - *extent) ||
           (own && getBounds().isNonNegative(behind - getBounds().linear(own)));
  }
  return false;
}

/// Only writes count: what is loaded for nobody does no harm.
std::string Widening::checkWrites() {
  bool rest = hasRest();
  std::string why;
  kernel.getBody().walk([&](Operation *op) {
    if (isMemoryEffectFree(op) || isa<LoadOp, GatherOp>(op) || op->getNumRegions())
      return WalkResult::advance();
    auto isWide = [&](auto access) {
      return llvm::any_of(access->getOperands(),
                          [&](Value operand) { return !isUniform(operand); });
    };
    if (auto store = dyn_cast<StoreOp>(op)) {
      if (!isWide(store))
        why = "neighbours store to one place";
      else if (rest && !endsBefore(store))
        why = "it is not proven that the grid ends where the tensors do";
    } else if (isa<AtomicOp, ScatterOp>(op)) {
      if (!llvm::any_of(op->getOperands(), [&](Value operand) { return !isUniform(operand); }))
        why = "neighbours write to one place";
      else if (rest)
        why = "it is not proven that all programs exist that would write at positions of the run";
    } else {
      why = "'" + op->getName().getStringRef().str() + "' is done by each program for itself";
    }
    return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return why;
}

/// Whether a tile that is wide in each trip has only zeros where no trip of the source is.
bool Widening::isZeroBehind(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (auto load = dyn_cast_or_null<LoadOp>(op))
    return matchPattern(load.getPad(), m_AnyZeroFloat()) && endsBefore(load);
  if (auto gather = dyn_cast_or_null<GatherOp>(op))
    return matchPattern(gather.getPad(), m_AnyZeroFloat()) && endsBefore(gather);
  return isa_and_nonnull<PermuteOp, ReshapeOp, arith::ExtFOp, arith::TruncFOp>(op) &&
         isZeroBehind(op->getOperand(0));
}

std::string Widening::checkCarried() {
  bool rest = hasRest(), adds = false;
  for (unsigned i = 0; i < loop.getInitArgs().size(); ++i) {
    Value carried = loop.getRegionIterArg(i), next = loop.getYieldedValues()[i];
    if (carried == next)
      continue;
    auto dot = next.getDefiningOp<DotOp>();
    if (!dot || dot.getAcc() != carried || get(dot.getA()).kind != State::Wide ||
        get(dot.getB()).kind != State::Wide)
      return "it carries more than sums of products";
    if (rest && !(isZeroBehind(dot.getA()) && isZeroBehind(dot.getB())))
      return "its trips are not known to be a multiple, and terms behind them not to be zero";
    adds = true;
  }
  if (!adds)
    return "it adds up no products";
  bool writes =
      loop.getBody()
          ->walk([&](Operation *op) {
            return isMemoryEffectFree(op) || isa<LoadOp, GatherOp>(op) || op->getNumRegions()
                       ? WalkResult::advance()
                       : WalkResult::interrupt();
          })
          .wasInterrupted();
  return writes ? "it writes memory" : "";
}

//===--- Rewriting --------------------------------------------------------===//

/// Repeats operands that all instances share, where the operation wants them wide.
void Widening::repeatOperands(Operation *op) {
  OpBuilder builder(op);
  auto want = [&](OpOperand &operand, int64_t dim) {
    if (dim >= 0 && isa<RankedTensorType>(operand.get().getType()) && isUniform(operand.get()))
      operand.set(repeat(operand.get(), dim, &builder));
  };
  auto wantAs = [&](MutableArrayRef<OpOperand> operands, auto &&values) {
    for (auto [operand, value] : llvm::zip(operands, values))
      want(operand, get(value).dim);
  };
  if (auto inner = dyn_cast<scf::ForOp>(op)) {
    if (op != loop)
      wantAs(inner.getInitArgsMutable(), inner.getRegionIterArgs());
    return;
  }
  if (isa<scf::YieldOp>(op)) {
    if (op->getParentOp() != loop)
      wantAs(op->getOpOperands(), op->getParentOp()->getResults());
    return;
  }
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<scf::IfOp>(op))
    return;
  // Scalars stay as they are.
  if (llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
      !isa<LoadOp, InsideOp, GatherOp>(op))
    return;
  std::optional<Rule> rule = getRule(op);
  for (OpOperand &operand : op->getOpOperands())
    want(operand, rule->each.empty() ? rule->operands : rule->each[operand.getOperandNumber()]);
  auto resize = [&](auto access) {
    if (rule->operands < 0)
      return;
    SmallVector<int64_t> sizes(access.getSizes()), dims = access.getTileDims();
    SmallVector<bool> inBounds(access.getInBounds());
    for (unsigned d = 0; d < sizes.size(); ++d)
      if (sizes[d] > 0 && dims[d] == rule->operands) {
        sizes[d] *= factor;
        if (rest)
          inBounds[d] = false;
      }
    access.setSizes(sizes);
    access.setInBounds(inBounds);
  };
  TypeSwitch<Operation *>(op)
      .Case<LoadOp, StoreOp, InsideOp, GatherOp, ScatterOp, AtomicOp>(
          [&](auto access) { resize(access); })
      .Case([&](tensor::ExtractSliceOp slice) {
        SmallVector<int64_t> sizes(slice.getStaticSizes());
        sizes[rule->operands] *= factor;
        slice.setStaticSizes(sizes);
      });
}

bool Widening::apply() {
  rest = hasRest();
  // What is made on the way is wide already, and has no state.
  SmallVector<Operation *> ops;
  SmallVector<std::pair<Value, int64_t>> wide;
  auto collect = [&](ValueRange values) {
    for (Value value : values)
      if (State state = get(value); state.kind == State::Wide)
        wide.push_back({value, state.dim});
  };
  Operation *root = loop ? loop.getOperation() : kernel.getOperation();
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == root)
      return;
    ops.push_back(op);
    collect(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        collect(block.getArguments());
  });
  for (Operation *op : ops)
    if (kernel.getBody().isAncestor(op->getParentRegion()))
      repeatOperands(op);
  for (auto [value, dim] : wide)
    value.setType(widen(value.getType(), dim));
  OpBuilder builder(kernel.getContext());
  if (loop) {
    builder.setInsertionPoint(loop);
    APInt step;
    (void)matchPattern(loop.getStep(), m_ConstantInt(&step));
    if (auto trips = loop->getAttrOfType<IntegerAttr>(tripsName))
      loop->setAttr(tripsName,
                    builder.getI64IntegerAttr(llvm::divideCeil(trips.getInt(), int64_t(factor))));
    loop.setStep(
        arith::ConstantIndexOp::create(builder, loop.getLoc(), step.getSExtValue() * factor));
  } else {
    widenGrid();
  }
  return rest;
}

void Widening::widenGrid() {
  OpBuilder builder(kernel.getContext());
  kernel.getBody().walk([&](ProgramIdOp id) {
    if (id.getAxis() != *axis)
      return;
    builder.setInsertionPointAfter(id);
    Value count = arith::ConstantIndexOp::create(builder, id.getLoc(), factor);
    Value first = arith::MulIOp::create(builder, id.getLoc(), id.getResult(), count);
    id.getResult().replaceAllUsesExcept(first, first.getDefiningOp());
  });
  Operation *grid = kernel.getGrid().front().getTerminator();
  Value extent = grid->getOperand(*axis);
  int64_t count = factor;
  builder.setInsertionPoint(grid);
  // Blocks of blocks are blocks as long as both: provers know one division better than two.
  APInt block;
  if (auto blocks = extent.getDefiningOp<arith::CeilDivSIOp>();
      blocks && matchPattern(blocks.getRhs(), m_ConstantInt(&block)) &&
      block.isStrictlyPositive()) {
    count *= block.getSExtValue();
    extent = blocks.getLhs();
  }
  Value number = arith::ConstantIndexOp::create(builder, grid->getLoc(), count);
  grid->setOperand(*axis, arith::CeilDivSIOp::create(builder, grid->getLoc(), extent, number));
  SmallVector<int64_t> joined(kernel.getNumAxes(), 1);
  if (auto before = kernel->getAttrOfType<DenseI64ArrayAttr>(joinedProgramsName))
    joined.assign(before.asArrayRef().begin(), before.asArrayRef().end());
  joined[*axis] *= factor;
  kernel->setAttr(joinedProgramsName, builder.getDenseI64ArrayAttr(joined));
}

void Widening::proveAgain(KernelOp kernel) {
  DivisibilityAnalysis now(kernel);
  IndexBounds anew(kernel, now);
  auto prove = [&](auto access) {
    SmallVector<bool> proven(access.getInBounds());
    for (unsigned d = 0; d < proven.size(); ++d)
      if (!proven[d] && !access.isIndexed(d))
        proven[d] = anew.isInBounds(access, d);
    access.setInBounds(proven);
  };
  kernel.getBody().walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<LoadOp, StoreOp, InsideOp, GatherOp, ScatterOp, AtomicOp>(
        [&](auto access) { prove(access); });
  });
}
