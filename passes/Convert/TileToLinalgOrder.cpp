// convert-tile-to-linalg, order: sorting by a network and counting, as loops that update a tile in
// place.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Convert/TileToLinalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Loops over `extents` around `body`, which gets the positions and the tile so far and returns it
/// anew.
static Value nest(OpBuilder &b, Location loc, ArrayRef<int64_t> extents, Value carried,
                  SmallVectorImpl<Value> &positions, function_ref<Value(OpBuilder &, Value)> body) {
  if (positions.size() == extents.size())
    return body(b, carried);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0),
        one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = arith::ConstantIndexOp::create(b, loc, extents[positions.size()]);
  auto loop = scf::ForOp::create(
      b, loc, zero, end, one, carried, [&](OpBuilder &b, Location loc, Value at, ValueRange inner) {
        positions.push_back(at);
        scf::YieldOp::create(b, loc, nest(b, loc, extents, inner[0], positions, body));
        positions.pop_back();
      });
  return loop.getResult(0);
}

// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M), which
// takes any number of elements: of n = 2^t or fewer, round e = 0 ... t - 1 has the distance p =
// 2^(t - 1 - e) and e + 1 steps. Step 0 compares i and i + p where i & p is 0; step s > 0 compares
// i and i + 2^(t - s) - p where i & p is p.
// The network on 8 elements, one column for each step; i -> i + distance:
//
//    round 0    p = 4    step 0: distance 4, i & 4 == 0    0-4 1-5 2-6 3-7
//    round 1    p = 2    step 0: distance 2, i & 2 == 0    0-2 1-3 4-6 5-7
//                        step 1: distance 2, i & 2 == 2    2-4 3-5
//    round 2    p = 1    step 0: distance 1, i & 1 == 0    0-1 2-3 4-5 6-7
//                        step 1: distance 3, i & 1 == 1    1-4 3-6
//                        step 2: distance 1, i & 1 == 1    1-2 3-4 5-6
//
// Pairs of one step share no element, so that the order within a step does not matter.
Value KernelLowering::lowerSort(SortOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  int64_t axis = op.getAxis(), extent = type.getDimSize(axis), rounds = llvm::Log2_64_Ceil(extent);
  SmallVector<int64_t> lines(type.getShape());
  lines.erase(lines.begin() + axis);
  SmallVector<Value> line;
  return nest(b, loc, lines, op.getSource(), line, [&](OpBuilder &b, Value carried) -> Value {
    auto constant = [&](OpBuilder &b, int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    Value zero = constant(b, 0), one = constant(b, 1), n = constant(b, extent),
          half = constant(b, (int64_t(1) << rounds) / 2), whole = constant(b, int64_t(1) << rounds);
    auto loopOver = [&](OpBuilder &b, Value end, Value carried,
                        function_ref<Value(OpBuilder &, Value, Value)> body) -> Value {
      return scf::ForOp::create(b, loc, zero, end, one, carried,
                                [&](OpBuilder &b, Location loc, Value at, ValueRange inner) {
                                  scf::YieldOp::create(b, loc, body(b, at, inner[0]));
                                })
          .getResult(0);
    };
    return loopOver(
        b, constant(b, rounds), carried, [&](OpBuilder &b, Value round, Value carried) -> Value {
          Value p = arith::ShRUIOp::create(b, loc, half, round),
                steps = arith::AddIOp::create(b, loc, round, one);
          return loopOver(b, steps, carried, [&](OpBuilder &b, Value step, Value carried) -> Value {
            Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, step, zero);
            Value reach =
                arith::SubIOp::create(b, loc, arith::ShRUIOp::create(b, loc, whole, step), p);
            Value distance = arith::SelectOp::create(b, loc, isFirst, p, reach);
            Value bit = arith::SelectOp::create(b, loc, isFirst, zero, p);
            Value end = arith::SubIOp::create(b, loc, n, distance);
            return loopOver(b, end, carried, [&](OpBuilder &b, Value i, Value carried) -> Value {
              SmallVector<Value> low(line), high(line);
              low.insert(low.begin() + axis, i);
              high.insert(high.begin() + axis, arith::AddIOp::create(b, loc, i, distance));
              Value x = tensor::ExtractOp::create(b, loc, carried, low),
                    y = tensor::ExtractOp::create(b, loc, carried, high);
              Value compares = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                     arith::AndIOp::create(b, loc, i, p), bit);
              // Strict, so that equal elements stay; which of them is first cannot be told, as only
              // values move.
              Value above = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x, y);
              Value swaps = arith::AndIOp::create(b, loc, compares, above);
              carried = tensor::InsertOp::create(
                  b, loc, arith::SelectOp::create(b, loc, swaps, y, x), carried, low);
              return tensor::InsertOp::create(b, loc, arith::SelectOp::create(b, loc, swaps, x, y),
                                              carried, high);
            });
          });
        });
  });
}

Value KernelLowering::lowerHistogram(HistogramOp op) {
  Location loc = op.getLoc();
  auto source = cast<RankedTensorType>(op.getSource().getType()),
       result = cast<RankedTensorType>(op.getType());
  Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  Value empty = tensor::EmptyOp::create(b, loc, result.getShape(), result.getElementType());
  Value counts = linalg::FillOp::create(b, loc, none, empty).getResult(0);
  SmallVector<Value> position;
  return nest(
      b, loc, source.getShape(), counts, position, [&](OpBuilder &b, Value carried) -> Value {
        // A value of no bin adds 0 to the first.
        Value x = tensor::ExtractOp::create(b, loc, op.getSource(), position);
        Value bins = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(result.getDimSize(0)));
        Value isBin = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, bins);
        Value bin = arith::SelectOp::create(b, loc, isBin, x, none);
        bin = arith::IndexCastOp::create(b, loc, b.getIndexType(), bin);
        Value count = tensor::ExtractOp::create(b, loc, carried, bin);
        Value more = arith::AddIOp::create(b, loc, count,
                                           arith::ExtUIOp::create(b, loc, b.getI32Type(), isBin));
        return tensor::InsertOp::create(b, loc, more, carried, bin);
      });
}
