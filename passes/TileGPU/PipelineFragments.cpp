// Fragments of mma.sync a step of K ahead, within a trip and from one trip to the next.
#include "passes/TileGPU/PipelineFragments.h"
#include "dialect/TileGPU/MatrixOperands.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/PartTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::gpu {

//===--- Steps ------------------------------------------------------------===//

/// The load of an operand from shared memory, if it can be made later, right before `product`.
/// Later is right only if nothing in between writes memory, and if nobody else reads the load.
static LocalLoadOp getMovableLoad(Value operand, MmaOp product) {
  auto load = operand.getDefiningOp<LocalLoadOp>();
  if (!load || !load->hasOneUse() || load->getBlock() != product->getBlock() ||
      !load.getOffsets().empty())
    return {};
  for (Operation *op = load->getNextNode(); op != product; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<LocalLoadOp>(op))
      return {};
  return load;
}

namespace {
/// An operand of a product, in steps along K.
struct SteppedOperand {
  Value value;
  LocalLoadOp load; // null where threads hold it
  unsigned dim;     // K
  RankedTensorType type;

  // Step n lies at n * extent along K, by the place in the whole.
  Value get(OpBuilder &builder, int64_t step) {
    SmallVector<int64_t> offsets(2, 0);
    offsets[dim] = step * type.getDimSize(dim);
    if (load)
      return LocalLoadOp::create(builder, load.getLoc(), type, load.getSource(), offsets);
    return ExtractPartOp::create(builder, value.getLoc(), type, value, offsets);
  }
};
} // namespace

/// The product becomes a chain over steps of a fragment's K, in which loads of step n + 1 stand
/// ahead of the product of step n:
///
///     load 0;  load 1, mma 0;  load 2, mma 1;  ..  mma n
///
/// Two fragments are live at a time, where the whole operand would be n.
static void splitProduct(MmaOp product) {
  RankedTensorType typeA = product.getA().getType();
  // Promoted products sum several steps in one: they keep their form.
  if (typeA.getRank() != 2 || product.getPromote())
    return;
  int64_t depth = typeA.getDimSize(1),
          extent = getFragmentDepth(getElementBits(typeA.getElementType()), depth);
  if (depth < 2 * extent)
    return;
  auto makeOperand = [&](Value value, unsigned dim) {
    return SteppedOperand{value, getMovableLoad(value, product), dim,
                          getPartType(cast<RankedTensorType>(value.getType()), dim, extent)};
  };
  SteppedOperand a = makeOperand(product.getA(), 1), b = makeOperand(product.getB(), 0);
  if ((!a.load && !b.load) || !a.type || !b.type)
    return;
  OpBuilder builder(product);
  Value acc = product.getAcc(), nextA = a.get(builder, 0), nextB = b.get(builder, 0);
  // Steps behind the valid part of K add nothing.
  DenseI64ArrayAttr valid = product.getValidAttr();
  if (valid)
    depth = std::min(depth, int64_t(llvm::alignTo(valid[2], extent)));
  for (int64_t step = 0, steps = depth / extent; step < steps; ++step) {
    Value stepA = nextA, stepB = nextB;
    if (step + 1 < steps) {
      // Before the product in the text, hence in flight while it runs.
      nextA = a.get(builder, step + 1);
      nextB = b.get(builder, step + 1);
    }
    DenseI64ArrayAttr stepValid;
    // A step's own K is whole: `depth` has been cut to steps that are needed.
    if (valid)
      stepValid = builder.getDenseI64ArrayAttr({valid[0], valid[1], extent});
    acc = MmaOp::create(builder, product.getLoc(), acc.getType(), stepA, stepB, acc,
                        product.getUnsignedA(), product.getUnsignedB(), IntegerAttr(), stepValid);
  }
  product.getResult().replaceAllUsesWith(acc);
  product.erase();
  for (LocalLoadOp load : {a.load, b.load})
    if (load)
      load.erase();
}

/// Products are collected first: splitting erases them.
void splitProducts(scf::ForOp loop) {
  SmallVector<MmaOp> products;
  loop.getBody()->walk([&](MmaOp product) { products.push_back(product); });
  for (MmaOp product : products)
    splitProduct(product);
}

//===--- Values carried between iterations --------------------------------===//

/// All readers of a slot; false if one is no local_load of the block.
/// Also through permutations, which name the same bytes.
static bool collectReads(Value memory, Block *block, SmallVectorImpl<LocalLoadOp> &reads) {
  for (Operation *user : memory.getUsers()) {
    if (auto permute = dyn_cast<MemDescPermuteOp>(user)) {
      if (!collectReads(permute.getResult(), block, reads))
        return false;
    } else if (auto read = dyn_cast<LocalLoadOp>(user); read && read->getBlock() == block) {
      reads.push_back(read);
    } else if (!isa<AsyncCopyOp>(user)) {
      return false;
    }
  }
  return true;
}

/// The memory that `read` reads, of the slot `index` instead of its own.
/// The permutations of the own read, applied to the other slot.
static Value readAgain(OpBuilder &builder, LocalLoadOp read, Value index) {
  SmallVector<MemDescPermuteOp> permutes;
  Value memory = read.getSource();
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>()) {
    permutes.push_back(permute);
    memory = permute.getSource();
  }
  Location loc = read.getLoc();
  Value tile = SlotOp::create(builder, loc, memory.getDefiningOp<SlotOp>().getSlots(), index);
  for (MemDescPermuteOp permute : llvm::reverse(permutes))
    tile =
        MemDescPermuteOp::create(builder, loc, permute.getType(), tile, permute.getPermutation());
  return LocalLoadOp::create(builder, loc, read.getType(), tile, read.getOffsets());
}

/// The first step's fragments of the next trip are read behind the last step's product of this one,
/// and carried. So the trip begins with a product, and not with a wait:
///
///     before   wait, barrier | read 0, read 1, mma 0, .., mma n
///     after    mma 0 (carried), read 1, .., | wait, barrier | read 0 of the next slot, mma n
///
/// The barrier still stands between the reads of a slot and the copy that fills it again: all reads
/// of this trip's slot come before it.
scf::ForOp loadFragmentsAhead(scf::ForOp loop) {
  Block *body = loop.getBody();
  // The form that tile-gpu-pipeline-copies leaves; anything else is left as it is.
  auto wait = dyn_cast<AsyncWaitOp>(body->front());
  auto barrier = wait ? dyn_cast<BarrierOp>(wait->getNextNode()) : BarrierOp();
  if (!barrier)
    return loop;
  SmallVector<LocalLoadOp> reads;
  // The slot that is read is carried by the loop; that which copies fill is not.
  Value slot;
  for (SlotOp op : body->getOps<SlotOp>()) {
    bool filled = llvm::any_of(op->getUsers(), llvm::IsaPred<AsyncCopyOp>);
    if (!collectReads(op.getResult(), body, reads))
      return loop;
    if (!filled)
      slot = op.getIndex();
  }
  auto argument = dyn_cast_if_present<BlockArgument>(slot);
  if (!argument || argument.getOwner() != body || reads.empty())
    return loop;
  llvm::sort(reads, [](LocalLoadOp a, LocalLoadOp b) { return a->isBeforeInBlock(b); });
  // The last step's product, behind all reads, and the first step's reads.
  auto getProduct = [](LocalLoadOp read) {
    return read->hasOneUse() ? dyn_cast<MmaOp>(*read->user_begin()) : MmaOp();
  };
  // What operands are computed from is read when its trip comes.
  MmaOp last, first;
  for (LocalLoadOp read : reads) {
    MmaOp product = getProduct(read);
    if (llvm::any_of(read->getUsers(), llvm::IsaPred<MmaOp>) &&
        (!product || product->getBlock() != body))
      return loop;
    if (product && !first)
      first = product;
    if (product && (!last || last->isBeforeInBlock(product)))
      last = product;
  }
  // With one step there is nothing to hide behind, and reads behind the last product would read the
  // slot too late.
  if (!first || first == last || last->isBeforeInBlock(reads.back()))
    return loop;
  SmallVector<LocalLoadOp> ahead;
  for (LocalLoadOp read : reads)
    if (getProduct(read) == first)
      ahead.push_back(read);

  // The next trip's slot is what the loop yields.
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  Value next = yield.getOperand(argument.getArgNumber() - loop.getNumInductionVars());
  // The next slot's number is computed where the yield needs it: its operations move up ahead of
  // the wait.
  llvm::SmallSetVector<Operation *, 4> computes;
  SmallVector<Value> wanted{next};
  while (!wanted.empty()) {
    Operation *op = wanted.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == body && computes.insert(op))
      llvm::append_range(wanted, op->getOperands());
  }
  // In program order, since one may use another.
  OpBuilder builder(last);
  for (Operation &op : llvm::make_early_inc_range(*body))
    if (computes.contains(&op))
      op.moveBefore(last);
  wait->moveBefore(last);
  barrier->moveBefore(last);
  SmallVector<Value> yielded, inits;
  for (LocalLoadOp read : ahead)
    yielded.push_back(readAgain(builder, read, next));
  // Ahead of the loop the first slot is waited for and read; a loop without trips reads it in vain,
  // from memory that exists.
  builder.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  // As many copies may be pending as in the loop.
  AsyncWaitOp::create(builder, loc, wait.getPending(), wait.getFence());
  BarrierOp::create(builder, loc);
  for (LocalLoadOp read : ahead)
    inits.push_back(readAgain(builder, read, zero));
  IRRewriter rewriter(builder);
  SmallVector<BlockArgument> carried;
  auto wider =
      loop.replaceWithAdditionalYields(rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
                                       [&](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
                                         carried.assign(added.begin(), added.end());
                                         return yielded;
                                       });
  for (auto [read, argument] : llvm::zip(ahead, carried)) {
    read.getResult().replaceAllUsesWith(argument);
    read.erase();
  }
  return cast<scf::ForOp>(wider->getOperation());
}

//===--- Copies between the steps -----------------------------------------===//

/// The steps of the first product behind `from`, each of which adds to the one before, if nothing
/// but its fragments is wanted until then: what else a trip computes first would hold up copies
/// that stood behind it. Steps behind a wait are left out: the copies that are waited for next must
/// be committed there.
static SmallVector<MmaOp> getFirstSteps(Operation *from) {
  SmallVector<MmaOp> steps;
  for (Operation *op = from; op && !isa<AsyncWaitOp>(op); op = op->getNextNode()) {
    if (auto step = dyn_cast<MmaOp>(op)) {
      if (!steps.empty() && step.getAcc() != steps.back().getResult())
        break;
      steps.push_back(step);
    } else if (!isa<LocalLoadOp, ExtractPartOp>(op) &&
               (!isMemoryEffectFree(op) ||
                llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))) {
      break;
    }
  }
  return steps;
}

void spreadCopies(scf::ForOp loop, const llvm::MapVector<AsyncCopyOp, int64_t> &pieces) {
  auto commits = loop.getBody()->getOps<AsyncCommitOp>();
  if (!llvm::hasSingleElement(commits))
    return;
  AsyncCommitOp commit = *commits.begin();
  SmallVector<MmaOp> steps = getFirstSteps(commit->getNextNode());
  if (steps.empty())
    return;
  for (auto [copy, count] : pieces) {
    int64_t parts = std::min<int64_t>(count, steps.size());
    OpBuilder builder(copy);
    for (int64_t part = 1; part < parts; ++part) {
      builder.setInsertionPoint(steps[part]);
      auto made = cast<AsyncCopyOp>(builder.clone(*copy));
      made.setPart(ArrayRef<int64_t>{part, parts});
    }
    if (parts > 1)
      copy.setPart(ArrayRef<int64_t>{0, parts});
    copy->moveBefore(steps.front());
  }
  commit->moveBefore(steps.back());
}

} // namespace tile::gpu
