// Finds what moves to the next trip with a product.
#include "passes/TileGPU/Schedule/Staging.h"
#include "passes/TileGPU/ProducerSlice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Through operands in the body, nested regions included, as far as the block.
static bool needs(Operation *op, Operation *source, DenseSet<Operation *> &seen) {
  if (op == source)
    return true;
  if (op->getBlock() != source->getBlock() || !seen.insert(op).second)
    return false;
  bool found = false;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Operation *def = operand.getDefiningOp())
        if (Operation *here = source->getBlock()->findAncestorOpInBlock(*def); here && here != op)
          found |= needs(here, source, seen);
  });
  return found;
}

bool tile::gpu::needs(Operation *op, Operation *source) {
  DenseSet<Operation *> seen; // looked up only
  return ::needs(op, source, seen);
}

/// The fetch in `block` that `memory` comes from by clearing, filling and permutations alone, none
/// of which anything else reads; null if there is none.
/// Clears (ClearFromOp) and branches that fill (isFill) write the memory in place and count as part
/// of the path; one reader may remain.
static TmaFetchOp findFetch(Value memory, Block *block, SmallVectorImpl<Operation *> &path) {
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>()) {
    if (!permute->hasOneUse() || permute->getBlock() != block)
      return {};
    path.insert(path.begin(), permute);
    memory = permute.getSource();
  }
  auto fetch = memory.getDefiningOp<TmaFetchOp>();
  if (!fetch || fetch->getBlock() != block)
    return {};
  SmallVector<Operation *> clears, readers;
  for (Operation *user : fetch->getUsers()) {
    auto copy = dyn_cast<AsyncCopyOp>(user);
    Operation *writer = copy && isFill(copy) ? copy->getParentOp() : user;
    bool inPlace = (copy || isa<ClearFromOp>(user)) && writer->getBlock() == block;
    (inPlace ? clears : readers).push_back(writer);
  }
  if (!llvm::hasSingleElement(readers))
    return {};
  llvm::sort(clears, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  path.insert(path.begin(), clears.begin(), clears.end());
  return fetch;
}

/// True if the product may be left in flight beside one of another trip: its operands stay as they
/// are meanwhile.
/// Memory of a ring stays till it is released; registers may be overwritten by the next trip.
static bool hasLastingOperands(WgmmaOp product, scf::ForOp loop) {
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
/// Everything between the variable and the product's accumulator must be able to move a trip later
/// with the product.
static bool collectScaling(Value value, WgmmaOp end, OpSet &scaling) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user == end) {
      if (use.get() != end.getAcc() || &use != &end.getAccMutable())
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

/// Collects what of its own trip the scaling needs, which is kept in registers if the scaling is
/// left to the next.
/// What the scaling reads of its own trip must survive into the next: registers that are counted,
/// so that the pass can tell if they are too many.
static void collectFactors(Staging &found) {
  Block *body = found.loop.getBody();
  auto isVariable = [&](Value value) {
    return llvm::any_of(found.staged, [&](const StagedProduct &each) {
      return value == found.loop.getRegionIterArg(each.carried);
    });
  };
  auto isForScaling = [&](Operation *user) {
    return found.scaling.contains(user) || found.renaming.contains(user);
  };
  SmallVector<Operation *> pending(found.scaling.begin(), found.scaling.end());
  while (!pending.empty()) {
    for (Value operand : pending.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (found.loop.isDefinedOutsideOfLoop(operand) || isVariable(operand) ||
          (def && found.scaling.contains(def)))
        continue;
      // Broadcasts and reshapes cost nothing to repeat: their sources are kept instead.
      if (isa_and_nonnull<BroadcastOp, ReshapeOp>(def) && def->getBlock() == body &&
          llvm::all_of(def->getUsers(), isForScaling)) {
        if (found.renaming.insert(def))
          pending.push_back(def);
      } else if (!llvm::is_contained(found.factors, operand)) {
        auto type = dyn_cast<RankedTensorType>(operand.getType());
        found.factorRegisters += type && hasLayout(type) ? getLayout(type).getNumRegisters() : 1;
        found.factors.push_back(operand);
      }
    }
  }
}

/// Adds `product` to those of stage 1; returns why it cannot be, empty if it is.
/// The form: s = a b; p = f(s) in registers; o = o * factors of the trip + p v.
static std::string addStaged(WgmmaOp product, Staging &found) {
  scf::ForOp loop = found.loop;
  Operation *a = product.getA().getDefiningOp();
  if (!isa<RankedTensorType>(product.getA().getType()) || !a || !needs(a, found.head))
    return "a product's first operand does not come from the first product's result through "
           "registers";
  // It is carried to the next trip, and only that.
  if (!product->hasOneUse() || !isa<scf::YieldOp>(*product->user_begin()))
    return "a later product's result is used within the same trip";
  StagedProduct staged;
  staged.product = product;
  staged.carried = product->use_begin()->getOperandNumber();
  // The variable may be scaled on its way, and nothing else.
  BlockArgument variable = loop.getRegionIterArg(staged.carried);
  if (!collectScaling(variable, product, found.scaling) ||
      (variable != product.getAcc() && !found.scaling.contains(product.getAcc().getDefiningOp())))
    return "a later product is not added to a variable of the loop that is only scaled";
  staged.fetch = findFetch(product.getB(), loop.getBody(), staged.path);
  if (!staged.fetch)
    return "an operand is not copied by TMA for this product alone";
  found.staged.push_back(staged);
  // The last steps to a make a second copy of it: better once the first copy's product is done.
  // Conversions of a to the operand's type are done late: both copies of a are in registers for as
  // short as can be.
  while (a && a->getBlock() == loop.getBody() && a->hasOneUse() && !a->getNumRegions() &&
         a->getNumOperands() == 1 && isa<arith::TruncFOp, RoundFloat8Op, ConvertLayoutOp>(a)) {
    found.late.insert(a);
    a = a->getOperand(0).getDefiningOp();
  }
  return "";
}

/// All reasons are in words for the remark; the first one counts.
std::optional<Staging> tile::gpu::findStaging(scf::ForOp loop, WgmmaOp head,
                                              ArrayRef<WgmmaOp> staged, std::string &reason) {
  Staging found;
  found.loop = loop;
  found.head = head;
  loop.getBody()->walk([&](WgmmaOp product) {
    if (product->getBlock() != loop.getBody())
      reason = "a product stands in a branch or in a loop of its own";
  });
  for (WgmmaOp product : staged)
    if (reason.empty())
      reason = addStaged(product, found);
  if (reason.empty() && !hasLastingOperands(head, loop))
    reason = "an operand is not copied by TMA for this product alone";
  if (reason.empty() && llvm::is_contained(head->getUsers(), loop.getBody()->getTerminator()))
    reason = "the loop carries on the first product's result";
  if (!reason.empty())
    return std::nullopt;
  collectFactors(found);
  return found;
}
