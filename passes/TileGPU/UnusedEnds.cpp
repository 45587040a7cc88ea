// Follows the rows, columns or terms behind an end from a product's operand to the stores.
//
//   a, 64 rows         c = a · b            store of c that ends at the same row
//   rows 0 .. n    ->  rows 0 .. n      ->  written
//   rows n .. 64   ->  rows n .. 64     ->  not written: it does not matter what they hold
//
// A scatter leaves them out where its positions come from a load with the same end, padded with a
// negative number: such a position does not exist.
//
// Along K all terms meet in each sum, unless the product leaves out those behind its valid part. A
// reduction along the dimension, or a store with another end, ends the search: it matters.
#include "passes/TileGPU/UnusedEnds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// `length` is known if the end is a constant distance behind the start.
class Follower {
public:
  Follower(Value start, Value end) : start(start), end(end) {
    APInt first, behind;
    auto sum = end.getDefiningOp<arith::AddIOp>();
    if (matchPattern(start, m_ConstantInt(&first)) && matchPattern(end, m_ConstantInt(&behind)))
      length = behind.getSExtValue() - first.getSExtValue();
    else if (sum && sum.getLhs() == start && matchPattern(sum.getRhs(), m_ConstantInt(&behind)))
      length = behind.getSExtValue();
  }

  /// True if all uses of `value`, a tile in registers or shared memory, keep what lies behind the
  /// end along `dim` apart.
  /// Sound for loops since a value is taken for fine while it is being visited: any use that
  /// matters ends the search.
  bool follow(Value value, int64_t dim) {
    if (!visited.insert({value, dim}).second)
      return true;
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return followUse(use, dim); });
  }

private:
  bool followUse(OpOperand &use, int64_t dim) {
    Operation *user = use.getOwner();
    if (auto permute = dyn_cast<MemDescPermuteOp>(user))
      return follow(permute.getResult(),
                    llvm::find(permute.getPermutation(), dim) - permute.getPermutation().begin());
    if (auto permute = dyn_cast<PermuteOp>(user))
      return follow(permute.getResult(),
                    llvm::find(permute.getPermutation(), dim) - permute.getPermutation().begin());
    if (auto reshape = dyn_cast<ReshapeOp>(user))
      return followReshape(reshape, dim);
    if (auto product = dyn_cast<WgmmaOp>(user))
      return followProduct(product, use.getOperandNumber(), dim);
    if (auto product = dyn_cast<MmaOp>(user))
      return followProduct(product, use.getOperandNumber(), dim);
    if (auto product = dyn_cast<FmaDotOp>(user))
      return followProduct(product, use.getOperandNumber(), dim);
    // Operations that keep rows, columns and their order.
    if (isa<LocalLoadOp, ConvertLayoutOp, WgmmaWaitOp>(user))
      return follow(user->getResult(0), dim);
    // A reduction along `dim` itself mixes what is behind the end with the rest.
    if (auto reduce = dyn_cast<ReduceOp>(user)) {
      std::optional<int64_t> axis = reduce.getAxis();
      return axis && *axis != dim && follow(reduce.getResult(), dim - (*axis < dim));
    }
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      unsigned number = use.getOperandNumber() - loop.getNumControlOperands();
      return followCarried(loop, number, dim);
    }
    if (isa<scf::YieldOp>(user)) {
      if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
        return followCarried(loop, use.getOperandNumber(), dim);
      if (auto branch = dyn_cast<scf::IfOp>(user->getParentOp()))
        return follow(branch.getResult(use.getOperandNumber()), dim);
      return false;
    }
    if (auto store = dyn_cast<StoreOp>(user))
      return &use == &store.getValueMutable() && endsAlike(store, dim);
    if (auto scatter = dyn_cast<ScatterOp>(user))
      return &use == &scatter.getValueMutable() && leavesOut(scatter, dim);
    // What a part leaves in scratch memory is read at the same positions, by these alone.
    if (isa<PartArriveOp>(user))
      return true;
    if (isa<PartCombineOp, PartLoadOp>(user))
      return follow(user->getResult(use.getOperandNumber()), dim);
    // Element by element nothing moves along `dim`.
    if (OpTrait::hasElementwiseMappableTraits(user) && isMemoryEffectFree(user))
      return llvm::all_of(user->getResults(), [&](Value result) { return follow(result, dim); });
    return false;
  }

  /// A dimension of the same extent with as many elements behind each position is the same one.
  bool followReshape(ReshapeOp reshape, int64_t dim) {
    ArrayRef<int64_t> from = reshape.getSource().getType().getShape(),
                      to = reshape.getType().getShape();
    auto behind = [](ArrayRef<int64_t> shape, int64_t d) {
      return ShapedType::getNumElements(shape.drop_front(d + 1));
    };
    for (int64_t d = 0; d < int64_t(to.size()); ++d)
      if (to[d] == from[dim] && behind(to, d) == behind(from, dim))
        return follow(reshape.getResult(), d);
    return false;
  }

  /// Rows of a and columns of b are rows and columns of the product. Along K all would mix, but
  /// that terms behind the valid part are not added.
  template <typename Op> bool followProduct(Op product, unsigned number, int64_t dim) {
    int64_t rank = product.getType().getRank();
    if (number == 2 || dim != rank - 1 - int64_t(number))
      return follow(product.getResult(), dim);
    DenseI64ArrayAttr valid = product.getValidAttr();
    // Terms from valid[2] on are not added: the end must not lie before.
    return valid && length && *length >= valid[2];
  }

  bool followCarried(scf::ForOp loop, unsigned number, int64_t dim) {
    return follow(loop.getRegionIterArg(number), dim) && follow(loop.getResult(number), dim);
  }

  // The store must drop exactly what lies behind the same end.
  bool endsAlike(StoreOp store, int64_t dim) {
    int64_t tileDim = 0;
    for (unsigned d = 0; d < store.getSizes().size(); ++d)
      if (!store.isDropped(d) && tileDim++ == dim)
        return store.getStarts()[d] == start && store.getEnd(d) == end && store.getSteps()[d] == 1;
    return false;
  }

  /// True if behind the end one of the scatter's positions does not exist.
  bool leavesOut(ScatterOp scatter, int64_t dim) {
    unsigned number = 0;
    for (unsigned d = 0; d < scatter.getSizes().size(); ++d)
      if (scatter.isIndexed(d))
        if (Value position = scatter.getPositions()[number++];
            !scatter.getInBounds()[d] && isNegativeBehindEnd(position, dim))
          return true;
    return false;
  }

  /// True if the position is loaded along `dim` alone, and is a negative padding behind the end.
  bool isNegativeBehindEnd(Value position, int64_t dim) {
    int64_t length = cast<RankedTensorType>(position.getType()).getDimSize(dim);
    while (Operation *op = position.getDefiningOp()) {
      auto type = cast<RankedTensorType>(position.getType());
      if (auto load = dyn_cast<LoadOp>(op)) {
        APInt pad;
        bool negative = matchPattern(load.getPad(), m_ConstantInt(&pad)) && pad.isNegative();
        for (unsigned d = 0; d < load.getSizes().size(); ++d)
          if (!load.isDropped(d))
            return negative && type.getRank() == 1 && load.getStarts()[d] == start &&
                   load.getEnd(d) == end && load.getSteps()[d] == 1;
        return false;
      }
      // The vector's own dimension has to be this one.
      if (isa<ReshapeOp>(op) && (dim >= type.getRank() || type.getDimSize(dim) != length ||
                                 type.getNumElements() != length))
        return false;
      if (!isa<ReshapeOp, BroadcastOp, ConvertLayoutOp, arith::IndexCastOp, arith::ExtSIOp>(op) ||
          !isa<RankedTensorType>(op->getOperand(0).getType()))
        return false;
      if (isa<BroadcastOp>(op) &&
          cast<RankedTensorType>(op->getOperand(0).getType()).getRank() != type.getRank())
        return false;
      position = op->getOperand(0);
    }
    return false;
  }

  Value start, end;
  std::optional<int64_t> length; // from the start to the end, if it is constant
  DenseSet<std::pair<Value, int64_t>> visited;
};

} // namespace

bool tile::gpu::isEndUnused(Value memory, int64_t dim, Value start, Value end) {
  return Follower(start, end).follow(memory, dim);
}
