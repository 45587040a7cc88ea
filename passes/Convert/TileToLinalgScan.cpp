// convert-tile-to-linalg, along an axis: scans as loops that update a tile in place, reductions by
// a function as loops over scalars, take as reads at computed positions.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Convert/TileToLinalg.h"

using namespace mlir;
using namespace tile;

/// A scan updates its tile in place, element by element; the loops' order along the axis is the
/// order of the scan, since each element reads its finished neighbour.
///
///    forward   here = i,             neighbour = i - 1      i = 1 .. extent - 1
///    reverse   here = last - i,      neighbour = here + 1   i = 1 .. extent - 1
///
/// The function gets its arguments in the order of the axis both ways, as it need not commute.
SmallVector<Value> KernelLowering::lowerScan(ScanOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  int64_t rank = type.getRank(), axis = op.getAxis();
  Block &combiner = op.getCombiner().front();
  unsigned tiles = op.getSources().size();
  Value zero = index(loc, 0), one = index(loc, 1), extent = index(loc, type.getDimSize(axis));
  SmallVector<Value> position(rank);

  // One loop for each dimension, around the update of one element by its neighbour along the axis.
  std::function<SmallVector<Value>(OpBuilder &, int64_t, ValueRange)> nest =
      [&](OpBuilder &b, int64_t dim, ValueRange carried) {
        if (dim == rank) {
          SmallVector<Value> neighbour(position), here(position);
          if (op.getReverse()) {
            Value last = arith::ConstantIndexOp::create(b, loc, type.getDimSize(axis) - 1);
            here[axis] = arith::SubIOp::create(b, loc, last, position[axis]);
            neighbour[axis] = arith::AddIOp::create(b, loc, here[axis], one);
          } else {
            neighbour[axis] = arith::SubIOp::create(b, loc, position[axis], one);
          }
          IRMapping mapping;
          for (unsigned i = 0; i < tiles; ++i) {
            Value done = tensor::ExtractOp::create(b, loc, carried[i], neighbour);
            Value next = tensor::ExtractOp::create(b, loc, carried[i], here);
            mapping.map(combiner.getArgument(i), op.getReverse() ? next : done);
            mapping.map(combiner.getArgument(tiles + i), op.getReverse() ? done : next);
          }
          for (Operation &inner : combiner.without_terminator())
            b.clone(inner, mapping);
          SmallVector<Value> results;
          for (auto [i, value] : llvm::enumerate(combiner.getTerminator()->getOperands()))
            results.push_back(
                tensor::InsertOp::create(b, loc, mapping.lookupOrDefault(value), carried[i], here));
          return results;
        }
        Value end = dim == axis
                        ? extent
                        : Value(arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim)));
        auto loop = scf::ForOp::create(b, loc, dim == axis ? one : zero, end, one, carried,
                                       [&](OpBuilder &b, Location loc, Value at, ValueRange inner) {
                                         position[dim] = at;
                                         scf::YieldOp::create(b, loc, nest(b, dim + 1, inner));
                                       });
        return SmallVector<Value>(loop.getResults());
      };
  return nest(b, 0, op.getSources());
}

/// From the first element to the last, without an identity: a function of the user's has none.
SmallVector<Value> KernelLowering::lowerReduceBy(ReduceByOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getSources()[0].getType());
  int64_t rank = type.getRank(), axis = op.getAxis();
  Block &combiner = op.getCombiner().front();
  unsigned tiles = op.getSources().size();
  Value zero = index(loc, 0), one = index(loc, 1), extent = index(loc, type.getDimSize(axis));
  SmallVector<Value> position(rank);

  auto readAt = [&](OpBuilder &b, Value at) {
    SmallVector<Value> here(position), elements;
    here[axis] = at;
    for (Value source : op.getSources())
      elements.push_back(tensor::ExtractOp::create(b, loc, source, here));
    return elements;
  };
  /// The scan of one line along the axis: scalars carried by a loop.
  auto reduceLine = [&](OpBuilder &b) {
    auto loop = scf::ForOp::create(
        b, loc, one, extent, one, readAt(b, zero),
        [&](OpBuilder &b, Location loc, Value at, ValueRange left) {
          IRMapping mapping;
          for (auto [i, value] :
               llvm::enumerate(llvm::concat<const Value>(SmallVector<Value>(left), readAt(b, at))))
            mapping.map(combiner.getArgument(i), value);
          for (Operation &inner : combiner.without_terminator())
            b.clone(inner, mapping);
          scf::YieldOp::create(
              b, loc,
              llvm::map_to_vector(combiner.getTerminator()->getOperands(),
                                  [&](Value value) { return mapping.lookupOrDefault(value); }));
        });
    return SmallVector<Value>(loop.getResults());
  };
  if (rank == 1)
    return reduceLine(b);

  // One loop for each dimension that is kept.
  std::function<SmallVector<Value>(OpBuilder &, int64_t, ValueRange)> nest =
      [&](OpBuilder &b, int64_t dim, ValueRange carried) {
        if (dim == axis)
          return nest(b, dim + 1, carried);
        if (dim == rank) {
          SmallVector<Value> results, here(position);
          here.erase(here.begin() + axis);
          for (auto [i, value] : llvm::enumerate(reduceLine(b)))
            results.push_back(tensor::InsertOp::create(b, loc, value, carried[i], here));
          return results;
        }
        Value end = arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
        auto loop = scf::ForOp::create(b, loc, zero, end, one, carried,
                                       [&](OpBuilder &b, Location loc, Value at, ValueRange inner) {
                                         position[dim] = at;
                                         scf::YieldOp::create(b, loc, nest(b, dim + 1, inner));
                                       });
        return SmallVector<Value>(loop.getResults());
      };
  // Contents do not matter: the nest writes every element of its results.
  SmallVector<Value> empty;
  for (unsigned i = 0; i < tiles; ++i) {
    auto result = cast<RankedTensorType>(op.getResult(i).getType());
    empty.push_back(tensor::EmptyOp::create(b, loc, result.getShape(), result.getElementType()));
  }
  return nest(b, 0, empty);
}

/// Positions are clamped before they are used, so that no element outside the tile is read,
/// whatever the program computed.
Value KernelLowering::lowerTake(TakeOp op) {
  Location loc = op.getLoc();
  RankedTensorType source = op.getSource().getType();
  int64_t axis = op.getAxis();
  Value zero = index(loc, 0), last = index(loc, source.getDimSize(axis) - 1);
  auto clamped = [&](OpBuilder &b, Value at) -> Value {
    if (!at.getType().isIndex())
      at = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
    return arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, at, zero), last);
  };
  auto result = dyn_cast<RankedTensorType>(op.getType());
  bool scalarPosition = !isa<RankedTensorType>(op.getPosition().getType());
  Value at = scalarPosition ? clamped(b, op.getPosition()) : Value();
  // A tile of one dimension at a scalar position gives a scalar.
  if (!result)
    return tensor::ExtractOp::create(b, loc, op.getSource(), ValueRange{at});
  // The dimensions of the position take the place of the axis; a scalar position takes the axis
  // away (added is 0 then).
  int64_t added = result.getRank() - (source.getRank() - 1);
  return generate(loc, result, [&](OpBuilder &b, ArrayRef<Value> position) -> Value {
    SmallVector<Value> from(position.take_front(axis));
    from.push_back(scalarPosition
                       ? at
                       : clamped(b, tensor::ExtractOp::create(b, loc, op.getPosition(), position)));
    llvm::append_range(from, position.drop_front(axis + added));
    return tensor::ExtractOp::create(b, loc, op.getSource(), from);
  });
}
