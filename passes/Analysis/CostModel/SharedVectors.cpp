// Follows vectors through a kernel of the tile dialect by the axis along which threads hold them:
//
//   z = cumsum(dt[t])        as memory has them
//   m = max(s, axis: 1)      as rows of s
//   s * exp(z)[:, None]      wants exp(z) as rows of s: it goes between threads
//   s - m[:, None]           has m as that
//
// What depends on no anchor (positions, what only feeds broadcasts) each tile has in its own way.
#include "passes/Analysis/CostModel/SharedVectors.h"
#include "passes/Analysis/CostModel/ElementCost.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tile::cost {

namespace {

/// The axis of a larger tile along which a vector is held.
enum Side : int {
  Anyhow = -4,
  AsLoaded = -3,
  AsScanned = -2, ///< by a scan of what is held as loaded, which stays there
  AsLeft = -1,    ///< by a scan, a sort, or what takes elements: a warp may hold all of it
  Axis = 0
};

RankedTensorType getVector(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 1 && type.getNumElements() > 1 ? type : RankedTensorType();
}

/// The rule of isRematerializable() in LayoutInference.cpp for loads.
bool feedsOnlyBroadcasts(Value value, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  return depth < deepest && !value.use_empty() &&
         llvm::all_of(
             value.getUsers(),
             [&](Operation *user) {
               if (isa<BroadcastOp>(user))
                 return true;
               return (isa<ReshapeOp>(user) || user->hasTrait<OpTrait::Elementwise>()) &&
                      user->getNumResults() == 1 &&
                      feedsOnlyBroadcasts(user->getResult(0), depth + 1);
             });
}

/// Behind dimensions of one element.
std::pair<Value, int> getBroadcastVector(BroadcastOp op) {
  Value source = op.getSource();
  auto type = dyn_cast<RankedTensorType>(source.getType());
  if (!type)
    return {};
  int axis = -1;
  int64_t missing = op.getType().getRank() - type.getRank();
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    if (extent > 1) {
      if (axis >= 0)
        return {};
      axis = int(d) + int(missing);
    }
  while (Operation *op = source.getDefiningOp()) {
    bool renames =
        isa<ReshapeOp>(op) || (op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() == 1);
    if (getVector(source) || !renames)
      break;
    source = op->getOperand(0);
  }
  return axis >= 0 && getVector(source) ? std::pair(source, axis) : std::pair(Value(), -1);
}

class Finder {
public:
  std::vector<TurnedVector> run(KernelOp kernel) {
    // Loops' variables have what the trip before has left.
    for (bool last : {false, true})
      kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op, last); });
    return std::move(found);
  }

private:
  int getSide(Value value) const {
    auto known = sides.find(value);
    return known == sides.end() ? int(Anyhow) : known->second;
  }
  void setSide(Value value, int side) {
    if (getVector(value))
      sides[value] = side;
  }

  /// `vector` is wanted along `side`.
  void want(Operation *op, Value vector, int side) {
    auto getPlace = [](int side) { return side == AsScanned ? int(AsLoaded) : side; };
    int held = getSide(vector);
    if (held != Anyhow && getPlace(held) != getPlace(side) &&
        wanted.insert({vector, getPlace(side)}).second)
      found.push_back({op, vector, /*isInWarps=*/held == AsLeft || held == AsScanned});
  }

  void visit(Operation *op, bool last) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [argument, init, yielded, result] :
           llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(),
                     loop.getResults())) {
        int side = getSide(yielded) == Anyhow ? getSide(init) : getSide(yielded);
        setSide(argument, side == Anyhow && last ? int(AsLoaded) : side);
        setSide(result, getSide(argument));
      }
      return;
    }
    if (auto merge = dyn_cast<MergePartsOp>(op)) {
      for (auto [own, merged] : llvm::zip(op->getOperands(), op->getResults()))
        setSide(merged, getSide(own));
      return;
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      if (auto [vector, axis] = getBroadcastVector(broadcast); vector && last)
        want(op, vector, axis);
      return;
    }
    if (op->getNumResults() != 1 || !getVector(op->getResult(0)))
      return;
    Value result = op->getResult(0);
    if (isFree(result))
      return;
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      auto source = dyn_cast<RankedTensorType>(reduce.getSource().getType());
      // Of two axes the one that is left.
      if (source && source.getRank() == 2 && reduce.getAxis())
        setSide(result, 1 - int(*reduce.getAxis()));
      return;
    }
    if (isa<LoadOp>(op)) {
      if (!feedsOnlyBroadcasts(result))
        setSide(result, AsLoaded);
      return;
    }
    if (isa<GatherOp>(op))
      return setSide(result, AsLoaded);
    if (auto scan = dyn_cast<ScanOp>(op))
      return setSide(result, getSide(scan.getSources()[0]) == AsLoaded ? AsScanned : AsLeft);
    if (isa<TakeOp, SortOp, ReshapeOp, tensor::ExtractSliceOp>(op))
      return setSide(result, AsLeft);
    if (!op->hasTrait<OpTrait::Elementwise>())
      return;
    // What meets rows of a product's result comes there; else the first that has a place decides.
    int side = Anyhow;
    for (Value operand : op->getOperands())
      if (int other = getSide(operand); side == Anyhow || (side < Axis && other >= Axis))
        side = other;
    setSide(result, side);
    if (side != Anyhow && last)
      for (Value operand : op->getOperands())
        want(op, operand, side);
  }

  llvm::DenseMap<Value, int> sides;             // looked up only
  llvm::DenseSet<std::pair<Value, int>> wanted; // looked up only
  std::vector<TurnedVector> found;
};

} // namespace

bool repeatsElements(Value tile) {
  auto repeats = [](auto &self, Value value) -> bool {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      auto broadcast = dyn_cast<BroadcastOp>(user);
      if (!broadcast)
        return self(self, user->getResult(0));
      auto type = dyn_cast<RankedTensorType>(broadcast.getSource().getType());
      return type && type.getRank() > 1 && type.getShape().back() == 1 &&
             broadcast.getType().getShape().back() > 1;
    });
  };
  return feedsOnlyBroadcasts(tile) && repeats(repeats, tile);
}

std::vector<TurnedVector> findTurnedVectors(KernelOp kernel) { return Finder().run(kernel); }

} // namespace tile::cost
