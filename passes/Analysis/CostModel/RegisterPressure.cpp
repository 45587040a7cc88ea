// How many registers tiles take at once: MLIR's liveness, with what registers do not hold left out.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "dialect/VersionNames.h"
#include "passes/Analysis/CostModel/ElementCost.h"
#include "passes/Analysis/CostModel/KernelWork.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/RotatedRows.h"

#include "mlir/Analysis/Liveness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <functional>

using namespace mlir;

namespace tile::cost {

namespace {

class PressureCounter {
public:
  PressureCounter(KernelOp kernel, ArrayRef<DotWork> dots, bool hasLayouts)
      : liveness(kernel), kernel(kernel), dots(dots), hasLayouts(hasLayouts) {}

  LiveRegisters run() { return measure(kernel.getBody().front(), {}); }

private:
  /// A value that stands for another's registers: what only renames, repeats or widens it, or is a
  /// part of it.
  static Value getHolder(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<BroadcastOp, ReshapeOp, PermuteOp, arith::ExtFOp, gpu::ExtractPartOp>(op))
        break;
      value = op->getOperand(0);
    }
    return value;
  }

  /// Computed element by element for one use in the same block: no more than a few elements exist
  /// at a time, but what they come from has to stay.
  static bool isStreamed(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasTrait<OpTrait::Elementwise>() || !value.hasOneUse() || isFree(value))
      return false;
    // Of elements that share a byte, a register's worth is taken apart at once.
    if (llvm::any_of(op->getOperandTypes(), [](Type type) {
          return isa<RankedTensorType>(type) &&
                 gpu::getElementBits(getElementTypeOrSelf(type)) < 8 &&
                 !getElementTypeOrSelf(type).isInteger(1);
        }))
      return false;
    Operation *user = *value.user_begin();
    while (isa<BroadcastOp, ReshapeOp>(user) && user->getResult(0).hasOneUse())
      user = *user->getResult(0).user_begin();
    return user->getBlock() == op->getBlock() &&
           (user->hasTrait<OpTrait::Elementwise>() || isa<ReduceOp, StoreOp>(user));
  }

  /// Goes to products straight from memory.
  static bool isFetched(Value value) {
    auto feedsDots = [](Operation *user) {
      auto reshape = dyn_cast<ReshapeOp>(user);
      if (isa<PermuteOp>(user) || (reshape && gpu::joinsRows(reshape)))
        return llvm::all_of(user->getUsers(), [](Operation *each) {
          return isa<DotOp>(each) ||
                 (isa<PermuteOp>(each) && llvm::all_of(each->getUsers(), llvm::IsaPred<DotOp>));
        });
      return isa<DotOp>(user);
    };
    return value.getDefiningOp<LoadOp>() && llvm::all_of(value.getUsers(), feedsDots);
  }

  static DotOp findDotBefore(DotOp dot) {
    for (Operation *op = dot->getPrevNode(); op; op = op->getPrevNode())
      if (auto before = dyn_cast<DotOp>(op))
        return before;
    return {};
  }

  /// How often a tile is repeated where it is broadcast to a larger one.
  static int64_t getRepetition(Value value, int64_t elements) {
    int64_t most = 1;
    for (Operation *user : value.getUsers())
      if (isa<BroadcastOp, ReshapeOp>(user) ||
          (user->getNumResults() == 1 && isStreamed(user->getResult(0))))
        if (auto type = dyn_cast<RankedTensorType>(user->getResult(0).getType()))
          most = std::max({most, type.getNumElements() / std::max<int64_t>(elements, 1),
                           isa<BroadcastOp, ReshapeOp>(user) || type.getNumElements() == elements
                               ? getRepetition(user->getResult(0), elements)
                               : 1});
    return most;
  }

  /// True if nothing in the block meets the tile, and what is computed from it, but arithmetic by
  /// elements of tiles of the same extents.
  static bool meetsArithmeticAlone(Value tile, Block *block) {
    llvm::SetVector<Value> found;
    found.insert(tile);
    for (size_t i = 0; i < found.size(); ++i)
      for (Operation *user : found[i].getUsers()) {
        if (user->getBlock() != block)
          return false;
        if (user->hasTrait<OpTrait::IsTerminator>())
          continue;
        auto type = user->getNumResults() == 1
                        ? dyn_cast<RankedTensorType>(user->getResult(0).getType())
                        : RankedTensorType();
        if (!user->hasTrait<OpTrait::Elementwise>() || !type ||
            type.getShape() != cast<RankedTensorType>(tile.getType()).getShape())
          return false;
        found.insert(user->getResult(0));
      }
    return true;
  }

  /// A product that begins a sum, and whose result meets nothing but arithmetic by elements:
  /// tile-gpu-cut-products issues so many columns of it at a time where registers hold no more.
  static bool isCut(Value value) {
    auto dot = value.getDefiningOp<DotOp>();
    return dot && isa<scf::ForOp>(dot->getParentOp()) &&
           (matchPattern(dot.getAcc(), m_PosZeroFloat()) || matchPattern(dot.getAcc(), m_Zero())) &&
           meetsArithmeticAlone(value, dot->getBlock());
  }

  LiveRegisters getRegisters(Value value) const {
    LiveRegisters result{};
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || isFree(value) || isFetched(value))
      return result;
    if (auto layout = dyn_cast_if_present<gpu::LinearAttr>(type.getEncoding())) {
      unsigned bits = type.getElementType().isIndex()
                          ? 32
                          : gpu::getElementBits(type.getElementType()); // masks take predicates
      int64_t registers =
          llvm::divideCeil(layout.getLayout().getNumRegisters() * int64_t(bits), 32);
      result.fill(double(registers));
      return result;
    }
    int64_t elements = 1;
    SmallVector<int64_t> shape;
    for (int64_t extent : type.getShape())
      elements *= shape.emplace_back(int64_t(llvm::PowerOf2Ceil(extent)));
    unsigned bits = type.getElementType().isIndex()
                        ? 32
                        : std::max(8u, gpu::getElementBits(type.getElementType()));
    const DotWork *dot =
        shape.size() < 2 ? nullptr
                         : llvm::find_if(
                               dots,
                               [&](const DotWork &each) {
                                 return each.m == shape[shape.size() - 2] && each.n == shape.back();
                               });
    constexpr int64_t warpsOfWgmma = 4;
    int64_t repetition = getRepetition(value, elements);
    if (dot && dot != dots.end() && dot->wgmma && !dot->swapped && shape.size() == 2)
      elements = int64_t(std::ceil(double(elements) * dot->usedColumns));
    if (dot && dot != dots.end() && dot->wgmma && !dot->swapped && shape.size() == 2 &&
        shape.back() > gpu::cutColumns && isCut(value))
      elements = elements / shape.back() * gpu::cutColumns;
    for (size_t i = 0; i < result.size(); ++i) {
      int64_t warps = int64_t(1) << i, distinct = warps;
      double used = 1; // wgmma touches no registers of padded columns, nor does what ends a product
      if (dot && dot != dots.end()) {
        distinct = countDistinctWarps(*dot, warps);
        used = dots.size() == 1 && warps >= warpsOfWgmma ? dot->usedColumns : 1;
      } else if (repetition > 1) // warps that share out the rows have the same of a column
        distinct = std::max<int64_t>(1, warps / repetition);
      result[i] =
          std::ceil(std::max(used * double(elements) / double(32 * distinct), 1.0) * bits / 32);
    }
    return result;
  }

  /// The most that is alive between two operations of a block; `through` is alive all the time,
  /// beside what the block uses.
  LiveRegisters measure(Block &block, LiveRegisters through) {
    const LivenessBlockInfo *info = liveness.getLiveness(&block);
    llvm::SetVector<Value> live;
    LiveRegisters now = through, most{};
    auto change = [&](LiveRegisters &sum, Value value, double sign) {
      LiveRegisters own = getRegisters(value);
      for (size_t i = 0; i < sum.size(); ++i)
        sum[i] = std::max(0.0, sum[i] + sign * own[i]);
    };
    auto raise = [&](const LiveRegisters &other) {
      for (size_t i = 0; i < most.size(); ++i)
        most[i] = std::max(most[i], other[i]);
    };
    std::function<void(Value)> add = [&](Value value) {
      value = getHolder(value);
      if (isStreamed(value)) {
        for (Value operand : value.getDefiningOp()->getOperands())
          add(operand);
        return;
      }
      if (live.insert(value))
        change(now, value, 1);
    };
    auto remove = [&](Value value) {
      if (live.remove(value))
        change(now, value, -1);
    };
    if (info)
      for (Value value : info->out())
        add(value);
    for (Operation &op : llvm::reverse(block)) {
      // A product runs on while what follows is computed: what it reads from registers stays beside
      // its result, up to the next product.
      if (auto dot = dyn_cast<DotOp>(op)) {
        for (DotOp each : {dot, findDotBefore(dot)})
          if (each && !each.getA().getDefiningOp<PermuteOp>())
            add(each.getA());
        raise(now);
      }
      for (Value result : op.getResults())
        remove(result);
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          // Values that the inner block uses are counted there.
          LiveRegisters others = now;
          if (const LivenessBlockInfo *used = liveness.getLiveness(&inner))
            for (Value value : used->in())
              if (Value holder = getHolder(value); live.contains(holder))
                change(others, holder, -1);
          raise(addStreams(op, inner, measure(inner, others)));
          if (const LivenessBlockInfo *used = liveness.getLiveness(&inner))
            for (Value value : used->in())
              add(value);
        }
      for (Value operand : op.getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          add(operand);
      raise(now);
    }
    raise(now);
    return most;
  }

  /// In a loop over tiles that are loaded, what is computed of a tile stands beside it, as far as a
  /// thread has many elements: all are begun before the first is done.
  LiveRegisters addStreams(Operation &loop, Block &block, LiveRegisters sum) const {
    constexpr double atOnce = 16, share = 0.75;
    if (hasLayouts || !isa<scf::ForOp>(loop) || !dots.empty())
      return sum;
    double elements = 0;
    for (LoadOp load : block.getOps<LoadOp>())
      if (auto type = dyn_cast<RankedTensorType>(load.getType()))
        elements = std::max(elements, double(type.getNumElements()) *
                                          gpu::getElementBits(type.getElementType()) / 32);
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += std::max(0.0, share * (elements / double(32 << i) - atOnce));
    return sum;
  }

  Liveness liveness;
  KernelOp kernel;
  ArrayRef<DotWork> dots;
  bool hasLayouts;
};

} // namespace

LiveRegisters countLiveRegisters(KernelOp kernel, ArrayRef<DotWork> dots) {
  return PressureCounter(kernel, dots, /*hasLayouts=*/false).run();
}
} // namespace tile::cost

int64_t tile::countLiveRegisters(KernelOp kernel) {
  return int64_t(std::ceil(cost::PressureCounter(kernel, {}, /*hasLayouts=*/true).run().front()));
}

SmallVector<int64_t> tile::countPlainRegisters(KernelOp kernel) {
  return llvm::map_to_vector(cost::countLiveRegisters(kernel, {}),
                             [](double registers) { return int64_t(registers); });
}

int64_t tile::countUnevenRegisters(KernelOp kernel, int64_t warps) {
  // Of a rotated load that is shifted, both windows of each piece, and what selects from them.
  constexpr int64_t conditions = 12, ofShifts = 4, word = 32, warpThreads = 32;
  if (!kernel->hasAttr(unevenName))
    return 0;
  bool rotates = kernel->hasAttr(gpu::rotationName) || gpu::findRotation(kernel);
  int64_t most = 0; // bits that the largest tile leaves free of one register an element
  kernel.getBody().walk([&](LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || (rotates && gpu::isAlignedByRotation(load)))
      return;
    int64_t bits = rotates ? 0 : gpu::getElementBits(type.getElementType());
    most = std::max(most, type.getNumElements() * std::max<int64_t>(0, word - bits));
  });
  return most ? most / (word * warpThreads * std::max<int64_t>(warps, 1)) +
                    (rotates ? ofShifts : conditions)
              : 0;
}
