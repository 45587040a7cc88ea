// tile-gpu-overlap-dots: in loops of two dependent products, runs one iteration's first beside the
// other's second.
//
// The loop of iterations n with s = first(n); p = f(s); acc = second(p, b(n), g(acc)) becomes
//
//   s = first(0); p = f(s)
//   for n from 1:
//     s = first(n) in flight
//     acc = second(p, b(n-1), g(acc)) in flight
//     wait for s; f(s) but for what ends in p
//     wait for acc; p
//   acc = second(p, b(last), g(acc))
//
//   tensor cores  | first(n) | second(n-1)        | first(n+1) | second(n)          | ...
//   registers                | f of trip n        | p          | f of trip n+1      | ...
//
// so that f and g, which tensor cores have no part in, run under a product. g stands at the
// iteration's end instead where one warpgroup is alone (its second product would wait for g, and
// nothing else keep the tensor cores busy), and where what g needs of its iteration is too much to
// keep. Source: FlashAttention-3, arXiv 2407.08608.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Report/Declined.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUOVERLAPDOTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

using OpSet = llvm::SmallSetVector<Operation *, 16>;

/// A loop that can be turned.
struct Candidate {
  scf::ForOp loop;
  WgmmaOp first, second;
  unsigned carried = 0;       ///< the loop's variable that the second product is added to
  OpSet scaling;              ///< what happens to that variable before it is added to
  SmallVector<Value> factors; ///< what of its iteration that needs, if it is left to the next
  bool scalesLate = false;    ///< if it is
  OpSet late;                 ///< what ends in the second product's a: placed after both products
  TmaFetchOp fetch;           ///< the second product's b
  SmallVector<Operation *>
      path; ///< from the fetch to the product, in order: clearing, permutations
};

/// The fetch in `block` that `memory` comes from by clearing and permutations alone, none of which
/// anything else reads; null if there is none.
TmaFetchOp findFetch(Value memory, Block *block, SmallVectorImpl<Operation *> &path) {
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>()) {
    if (!permute->hasOneUse() || permute->getBlock() != block)
      return {};
    path.insert(path.begin(), permute);
    memory = permute.getSource();
  }
  auto fetch = memory.getDefiningOp<TmaFetchOp>();
  if (!fetch || fetch->getBlock() != block)
    return {};
  unsigned readers = 0;
  SmallVector<Operation *> clears;
  for (Operation *user : fetch->getUsers()) {
    if (isa<ClearFromOp>(user) && user->getBlock() == block)
      clears.push_back(user);
    else
      ++readers;
  }
  if (readers != 1)
    return {};
  llvm::sort(clears, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  path.insert(path.begin(), clears.begin(), clears.end());
  return fetch;
}

/// True if the product may be left in flight beside another: its operands stay as they are
/// meanwhile.
bool hasLastingOperands(WgmmaOp product, scf::ForOp loop) {
  for (Value operand : product->getOperands()) {
    if (loop.isDefinedOutsideOfLoop(operand))
      continue;
    SmallVector<Operation *> path;
    if (!isa<MemDescType>(operand.getType()) || !findFetch(operand, loop.getBody(), path))
      return false;
  }
  return true;
}

/// Collects what in the loop's body depends on `value`; false if that is more than pure operations
/// that end in `end`'s acc.
bool collectScaling(Value value, WgmmaOp end, OpSet &scaling) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user == end) {
      if (use.get() != end.getAcc() || use.getOperandNumber() != 2)
        return false;
      continue;
    }
    if (user->getBlock() != end->getBlock() || user->getNumRegions() || !isMemoryEffectFree(user) ||
        user->hasTrait<OpTrait::IsTerminator>())
      return false;
    if (scaling.insert(user))
      for (Value result : user->getResults())
        if (!collectScaling(result, end, scaling))
          return false;
  }
  return true;
}

/// True if `op` needs the result of `source`, within the loop's body.
bool dependsOn(Operation *op, Operation *source, DenseSet<Operation *> &seen) {
  if (op == source)
    return true;
  if (op->getBlock() != source->getBlock() || !seen.insert(op).second)
    return false;
  bool found = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (Operation *here = source->getBlock()->findAncestorOpInBlock(*def); here && here != op)
          found |= dependsOn(here, source, seen);
  });
  return found;
}

/// Decides whether the scaling is left to the next iteration. What it needs of its own is then kept
/// in registers.
void chooseScaling(Candidate &found) {
  constexpr unsigned maxRegisters = 16;
  constexpr int64_t warpsOfOne = 4; // of one warpgroup
  Block *body = found.loop.getBody();
  BlockArgument variable = found.loop.getRegionIterArg(found.carried);
  OpSet renaming; // changes shape alone, for the scaling alone: repeated rather than kept
  auto isForScaling = [&](Operation *user) {
    return found.scaling.contains(user) || renaming.contains(user);
  };
  unsigned registers = 0;
  SmallVector<Operation *> pending(found.scaling.begin(), found.scaling.end());
  while (!pending.empty()) {
    for (Value operand : pending.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (found.loop.isDefinedOutsideOfLoop(operand) || operand == variable ||
          (def && found.scaling.contains(def)))
        continue;
      if (isa_and_nonnull<BroadcastOp, ReshapeOp>(def) && def->getBlock() == body &&
          llvm::all_of(def->getUsers(), isForScaling)) {
        if (renaming.insert(def))
          pending.push_back(def);
      } else if (!llvm::is_contained(found.factors, operand)) {
        auto type = dyn_cast<RankedTensorType>(operand.getType());
        registers += type ? getLayout(type).getNumRegisters() : 1;
        found.factors.push_back(operand);
      }
    }
  }
  auto warps = found.loop->getParentOfType<KernelOp>()->getAttrOfType<IntegerAttr>(numWarpsName);
  found.scalesLate = registers <= maxRegisters && warps && warps.getInt() > warpsOfOne;
  if (found.scalesLate)
    found.scaling.insert(renaming.begin(), renaming.end());
  else
    found.factors.clear();
}

std::optional<Candidate> match(scf::ForOp loop) {
  auto refuse = [&](StringRef reason) {
    declined(loop) << reason;
    return std::nullopt;
  };
  // Tiles that threads copy themselves are there for one trip alone.
  if (!loop.getBody()->getOps<AsyncWaitOp>().empty())
    return refuse("operands that threads copy by cp.async are there for one trip alone");
  Candidate found;
  found.loop = loop;
  SmallVector<WgmmaOp> products;
  loop.getBody()->walk([&](WgmmaOp product) { products.push_back(product); });
  if (products.size() != 2) {
    declined(loop) << "it takes loops of two products by wgmma, and this one has " +
                          std::to_string(products.size());
    return std::nullopt;
  }
  if (products[0]->getBlock() != loop.getBody() || products[1]->getBlock() != loop.getBody())
    return refuse("a product stands in a branch or in a loop of its own");
  if (products[0].getAsync() || products[1].getAsync())
    return refuse("a product is in flight already");
  found.first = products[0];
  found.second = products[1];
  Operation *a = found.second.getA().getDefiningOp();
  DenseSet<Operation *> seen;
  if (!isa<RankedTensorType>(found.second.getA().getType()) || !a ||
      !dependsOn(a, found.first, seen))
    return refuse("the second product's first operand does not come from the first product's "
                  "result through registers");

  // The second product is carried to the next iteration, and only that.
  if (!found.second->hasOneUse() || !isa<scf::YieldOp>(*found.second->user_begin()))
    return refuse("the second product's result is used within the same trip");
  found.carried = found.second->use_begin()->getOperandNumber();
  BlockArgument variable = loop.getRegionIterArg(found.carried);
  if (!collectScaling(variable, found.second, found.scaling) ||
      (variable != found.second.getAcc() &&
       !found.scaling.contains(found.second.getAcc().getDefiningOp())))
    return refuse("the second product is not added to a variable of the loop that is only scaled");

  found.fetch = findFetch(found.second.getB(), loop.getBody(), found.path);
  if (!found.fetch || !hasLastingOperands(found.first, loop))
    return refuse("an operand is not copied by TMA for this product alone");
  for (Value result : found.first->getResults())
    for (Operation *user : result.getUsers())
      if (user == loop.getBody()->getTerminator())
        return refuse("the loop carries on the first product's result");

  // The last steps to a make a second copy of it: better once the first copy's product is done.
  while (a && a->getBlock() == loop.getBody() && a->hasOneUse() && !a->getNumRegions() &&
         a->getNumOperands() == 1 && isa<arith::TruncFOp, RoundFloat8Op, ConvertLayoutOp>(a)) {
    found.late.insert(a);
    a = a->getOperand(0).getDefiningOp();
  }
  chooseScaling(found);
  return found;
}

/// Writes the turned loop behind the old one.
class Turner {
public:
  Turner(Candidate &candidate, int64_t &rings)
      : c(candidate), loop(candidate.loop), builder(loop), rings(rings) {}

  void run() {
    Location loc = loop.getLoc();
    numberFetches();
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), some,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    builder.setInsertionPointToEnd(&branch.getElseRegion().front());
    scf::YieldOp::create(builder, loc, loop.getInitArgs());
    builder.setInsertionPointToEnd(&branch.getThenRegion().front());
    scf::YieldOp::create(builder, loc, runSome());
    loop.replaceAllUsesWith(branch.getResults());
    loop.erase();
  }

private:
  /// Copies of a fetch before, in and behind the loop fill one ring.
  void numberFetches() {
    loop.getBody()->walk(
        [&](TmaFetchOp fetch) { fetch->setAttr(ringName, builder.getI64IntegerAttr(rings++)); });
  }

  /// True for what is not at its place in the turned loop.
  bool isMoved(Operation *op) const {
    return op == c.second || op == c.fetch || c.scaling.contains(op) || c.late.contains(op) ||
           llvm::is_contained(c.path, op);
  }

  /// The scalars of the loop that the fetch of the second product's operand b uses: its
  /// coordinates, and the first row that is cleared.
  SmallVector<Value> getMovedNumbers() {
    SmallVector<Value> used(c.fetch.getCoordinates()), moved;
    for (Operation *op : c.path)
      if (auto clear = dyn_cast<ClearFromOp>(op))
        used.push_back(clear.getLimit());
    for (Value number : used)
      if (!loop.isDefinedOutsideOfLoop(number) && !llvm::is_contained(moved, number))
        moved.push_back(number);
    return moved;
  }

  void clone(const OpSet &ops, IRMapping &mapping) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (ops.contains(&op))
        builder.clone(op, mapping);
  }

  /// The values that one iteration hands to the next: the loop's variables (of the accumulator what
  /// the second product is added to, or will be once it is scaled), a, numbers for b, factors.
  SmallVector<Value> getState(IRMapping &mapping) {
    SmallVector<Value> state;
    Value sum = c.scalesLate ? Value(loop.getRegionIterArg(c.carried)) : c.second.getAcc();
    for (auto [i, value] : llvm::enumerate(loop.getYieldedValues()))
      state.push_back(mapping.lookupOrDefault(i == c.carried ? sum : value));
    state.push_back(mapping.lookupOrDefault(c.second.getA()));
    for (Value number : getMovedNumbers())
      state.push_back(mapping.lookupOrDefault(number));
    for (Value factor : c.factors)
      state.push_back(mapping.lookupOrDefault(factor));
    return state;
  }

  /// The second product's b for the iteration that left `state`.
  Value fetch(ValueRange state) {
    IRMapping mapping;
    Value descriptor = c.fetch.getDescriptor();
    if (!loop.isDefinedOutsideOfLoop(descriptor))
      builder.clone(*descriptor.getDefiningOp(), mapping);
    for (auto [old, value] :
         llvm::zip_first(getMovedNumbers(), state.drop_front(loop.getNumRegionIterArgs() + 1)))
      mapping.map(old, value);
    builder.clone(*c.fetch, mapping);
    for (Operation *op : c.path)
      builder.clone(*op, mapping);
    return mapping.lookup(c.second.getB());
  }

  /// The second product of the iteration that left `state`.
  WgmmaOp multiply(ValueRange state, Value b, bool async) {
    Value sum = state[c.carried];
    if (c.scalesLate) {
      IRMapping mapping;
      mapping.map(loop.getRegionIterArg(c.carried), sum);
      for (auto [old, factor] : llvm::zip(c.factors, state.take_back(c.factors.size()))) {
        // Behind the first product, not before the branch that the scaling after the loop shares.
        bool isTile = isa<RankedTensorType>(factor.getType());
        mapping.map(old, async && isTile ? OptimizationBarrierOp::create(builder, c.second.getLoc(),
                                                                         factor.getType(), factor)
                                         : factor);
      }
      clone(c.scaling, mapping);
      sum = mapping.lookupOrDefault(c.second.getAcc());
    }
    return WgmmaOp::create(builder, c.second.getLoc(), c.second.getType(),
                           state[loop.getNumRegionIterArgs()], b, sum, async,
                           c.second.getIsUnsigned(), c.second.getValidAttr());
  }

  /// All iterations, of which there is one at least; gives the loop's results.
  SmallVector<Value> runSome() {
    Location loc = loop.getLoc();
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), loop.getLowerBound());
    mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isMoved(&op))
        builder.clone(op, mapping);
    if (!c.scalesLate)
      clone(c.scaling, mapping);
    clone(c.late, mapping);
    SmallVector<Value> state = getState(mapping);

    Value second = arith::AddIOp::create(builder, loc, loop.getLowerBound(), loop.getStep());
    auto turned =
        scf::ForOp::create(builder, loc, second, loop.getUpperBound(), loop.getStep(), state);
    turned->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    builder.setInsertionPointToStart(turned.getBody());
    runIteration(turned);
    builder.setInsertionPointAfter(turned);

    SmallVector<Value> results(turned.getResults().take_front(loop.getNumRegionIterArgs()));
    Value b = fetch(turned.getResults());
    results[c.carried] = multiply(turned.getResults(), b, /*async=*/false).getResult();
    return results;
  }

  void runIteration(scf::ForOp turned) {
    ValueRange state = turned.getRegionIterArgs();
    unsigned variables = loop.getNumRegionIterArgs();
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), turned.getInductionVar());
    mapping.map(loop.getRegionIterArgs(), state.take_front(variables));
    // Clearing waits for all consumers, so it may not stand between products that these issue in
    // turns.
    Value b = fetch(state);
    WgmmaOp acc;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (isMoved(&op))
        continue;
      Operation *copy = builder.clone(op, mapping);
      if (&op != c.first)
        continue;
      auto scores = cast<WgmmaOp>(copy);
      scores.setAsync(true);
      acc = multiply(state, b, /*async=*/true);
      mapping.map(op.getResult(0), wait(scores, 1));
    }
    mapping.map(loop.getRegionIterArg(c.carried), wait(acc, 0));
    if (!c.scalesLate)
      clone(c.scaling, mapping);
    clone(c.late, mapping);
    scf::YieldOp::create(builder, loop.getLoc(), getState(mapping));
  }

  Value wait(WgmmaOp product, int64_t pending) {
    return WgmmaWaitOp::create(builder, product.getLoc(), product.getType(), product.getResult(),
                               pending);
  }

  Candidate &c;
  scf::ForOp loop;
  OpBuilder builder;
  int64_t &rings;
};

struct TileGPUOverlapDots : tile::impl::TileGPUOverlapDotsBase<TileGPUOverlapDots> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      int64_t rings = 0;
      SmallVector<scf::ForOp> loops;
      kernel.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
      for (scf::ForOp loop : loops)
        if (auto candidate = match(loop))
          Turner(*candidate, rings).run();
    }
  }
};

} // namespace
