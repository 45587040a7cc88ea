// convert-tile-to-linalg, computation: shape operations, reductions and dot as linalg on tensors.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineMap.h"
#include "passes/Convert/Reduction.h"
#include "passes/Convert/TileToLinalg.h"

using namespace mlir;
using namespace tile;
using utils::IteratorType;

/// All loops are parallel and the destination is never read, so that fusion may put the body
/// anywhere.
Value TileEmission::generate(Location loc, RankedTensorType type,
                             function_ref<Value(OpBuilder &, ArrayRef<Value>)> body) {
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(type.getRank())};
  SmallVector<IteratorType> iterators(type.getRank(), IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, TypeRange(type), ValueRange(), ValueRange(empty), maps,
                                   iterators,
                                   [&](OpBuilder &b, Location loc, ValueRange) {
                                     SmallVector<Value> position;
                                     for (int64_t d = 0; d < type.getRank(); ++d)
                                       position.push_back(linalg::IndexOp::create(b, loc, d));
                                     linalg::YieldOp::create(b, loc, body(b, position));
                                   })
      .getResult(0);
}

Value TileEmission::splat(Location loc, Value scalar, RankedTensorType type) {
  return generate(loc, type, [&](OpBuilder &, ArrayRef<Value>) { return scalar; });
}

/// In 64 bits: start and step are index values.
Value KernelLowering::lowerIota(IotaOp op) {
  Location loc = op.getLoc();
  Value step = index(loc, op.getStep());
  return generate(loc, cast<RankedTensorType>(op.getResult().getType()),
                  [&](OpBuilder &b, ArrayRef<Value> position) {
                    Value distance = b.createOrFold<arith::MulIOp>(loc, position[0], step);
                    return b.createOrFold<arith::AddIOp>(loc, op.getStart(), distance);
                  });
}

/// A tile whose element at a position is that of `source` where `map` says.
static Value readThrough(OpBuilder &b, Location loc, Value source, AffineMap map,
                         RankedTensorType type) {
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps{map, b.getMultiDimIdentityMap(type.getRank())};
  SmallVector<IteratorType> iterators(type.getRank(), IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, TypeRange(type), ValueRange(source), ValueRange(empty),
                                   maps, iterators,
                                   [](OpBuilder &b, Location loc, ValueRange args) {
                                     linalg::YieldOp::create(b, loc, args[0]);
                                   })
      .getResult(0);
}

Value KernelLowering::lowerBroadcast(BroadcastOp op) {
  // Extents of 1 that are repeated are left out of the source first. A map with a constant 0 in
  // their place would be no projected permutation.
  auto source = cast<RankedTensorType>(op.getSource().getType()),
       result = cast<RankedTensorType>(op.getResult().getType());
  int64_t added = result.getRank() - source.getRank();
  SmallVector<AffineExpr> position;
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < source.getRank(); ++d) {
    if (source.getDimSize(d) == 1 && result.getDimSize(d + added) != 1)
      continue;
    kept.push_back(source.getDimSize(d));
    position.push_back(b.getAffineDimExpr(d + added));
  }
  // Without the dimensions that are repeated the map is a projected permutation, which fuses
  // everywhere.
  Value tile = reshape(op.getLoc(), op.getSource(), kept);
  return readThrough(b, op.getLoc(), tile,
                     AffineMap::get(result.getRank(), 0, position, b.getContext()), result);
}

Value KernelLowering::lowerPermute(PermuteOp op) {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<AffineExpr> position(result.getRank());
  for (auto [i, d] : llvm::enumerate(op.getPermutation()))
    position[d] = b.getAffineDimExpr(i);
  return readThrough(b, op.getLoc(), op.getSource(),
                     AffineMap::get(result.getRank(), 0, position, b.getContext()), result);
}

/// Which dimensions of the finer shape make up each of the coarser one, if the coarser only merges
/// neighbours.
/// Greedy from the left: each group takes extents till their product reaches the coarser extent.
/// Extents of 1 at the end go to the last group. {2, 3, 4} to {6, 4} gives {0, 1}, {2}; {2, 3} to
/// {3, 2} gives nothing.
static std::optional<SmallVector<ReassociationIndices>> grouping(ArrayRef<int64_t> fine,
                                                                 ArrayRef<int64_t> coarse) {
  SmallVector<ReassociationIndices> groups;
  unsigned d = 0;
  for (int64_t size : coarse) {
    ReassociationIndices &group = groups.emplace_back();
    int64_t product = 1;
    do {
      if (d == fine.size())
        return std::nullopt;
      product *= fine[d];
      group.push_back(d++);
    } while (product < size);
    if (product != size)
      return std::nullopt;
  }
  // A scalar tile is made of extents of 1 alone; MLIR writes that with no group at all.
  if (groups.empty() && !llvm::all_of(fine, [](int64_t n) { return n == 1; }))
    return std::nullopt;
  for (; d < fine.size(); ++d) {
    if (fine[d] != 1)
      return std::nullopt;
    if (!groups.empty())
      groups.back().push_back(d);
  }
  return groups;
}

/// Where neither side only merges neighbours of the other, elements go by way of one dimension.
/// Recursion ends there: a flat tile merges all, and a flat tile splits into any shape.
Value TileEmission::reshape(Location loc, Value tile, ArrayRef<int64_t> shape) {
  auto source = cast<RankedTensorType>(tile.getType());
  auto result = RankedTensorType::get(shape, source.getElementType());
  if (source == result)
    return tile;
  if (source.getRank() >= result.getRank())
    if (auto groups = grouping(source.getShape(), shape);
        groups && source.getRank() > result.getRank())
      return tensor::CollapseShapeOp::create(b, loc, result, tile, *groups);
  if (source.getRank() < result.getRank())
    if (auto groups = grouping(shape, source.getShape()))
      return tensor::ExpandShapeOp::create(b, loc, result, tile, *groups);
  Value flat = reshape(loc, tile, {source.getNumElements()});
  return reshape(loc, flat, shape);
}

/// The loops of a reduction: over the source in its own order, to the source's position without the
/// reduced ones.
struct ReductionLoops {
  SmallVector<AffineMap> maps;
  SmallVector<IteratorType> iterators;
  SmallVector<int64_t> shape;
};

/// `results` counts outputs, which all have one map: arg_reduce has two, the value and its
/// position.
static ReductionLoops reductionLoops(OpBuilder &b, RankedTensorType source,
                                     std::optional<int64_t> axis, unsigned results) {
  ReductionLoops loops;
  SmallVector<AffineExpr> kept;
  for (int64_t d = 0; d < source.getRank(); ++d) {
    bool reduced = !axis || *axis == d;
    loops.iterators.push_back(reduced ? IteratorType::reduction : IteratorType::parallel);
    if (reduced)
      continue;
    kept.push_back(b.getAffineDimExpr(d));
    loops.shape.push_back(source.getDimSize(d));
  }
  loops.maps.push_back(b.getMultiDimIdentityMap(source.getRank()));
  loops.maps.append(results, AffineMap::get(source.getRank(), 0, kept, b.getContext()));
  return loops;
}

static Value filled(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, TypedAttr value) {
  Value empty = tensor::EmptyOp::create(b, loc, shape, value.getType());
  return linalg::FillOp::create(b, loc, arith::ConstantOp::create(b, loc, value).getResult(), empty)
      .getResult(0);
}

Value KernelLowering::lowerReduce(ReduceOp op) {
  Location loc = op.getLoc();
  auto source = cast<RankedTensorType>(op.getSource().getType());
  std::optional<int64_t> axis = op.getAxis();
  ReductionLoops loops = reductionLoops(b, source, axis, 1);
  Value init = filled(b, loc, loops.shape, getIdentity(b, op.getKind(), source.getElementType()));
  Value result = linalg::GenericOp::create(
                     b, loc, TypeRange(init.getType()), ValueRange(op.getSource()),
                     ValueRange(init), loops.maps, loops.iterators,
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       // Only here may operands be regrouped: it is what lets LLVM vectorise the
                       // reduction.
                       auto regroup = arith::FastMathFlags::reassoc;
                       linalg::YieldOp::create(
                           b, loc, combine(b, loc, op.getKind(), args[1], args[0], regroup));
                     })
                     .getResult(0);
  if (isa<RankedTensorType>(op.getResult().getType()))
    return result;
  return tensor::ExtractOp::create(b, loc, result, ValueRange());
}

Value KernelLowering::lowerArgReduce(ArgReduceOp op) {
  Location loc = op.getLoc();
  Value tile = op.getSource();
  std::optional<int64_t> axis = op.getAxis();
  if (!axis) {
    tile = reshape(loc, tile, {cast<RankedTensorType>(tile.getType()).getNumElements()});
    axis = 0;
  }
  auto source = cast<RankedTensorType>(tile.getType());
  bool largest = op.getKind() == ArgReduceKind::ArgMax;
  // O3.6: a NaN beats every number and is beaten by none, so that the first NaN wins; of equal
  // values the first stays, since positions go up and `>` is strict.
  ReductionLoops loops = reductionLoops(b, source, axis, 2);
  // Every comparison with the identity is false for equal values, so position 0 stands unless
  // something beats it.
  Value best =
      filled(b, loc, loops.shape,
             getIdentity(b, largest ? ReduceKind::Max : ReduceKind::Min, source.getElementType()));
  Value at = filled(b, loc, loops.shape, b.getIndexAttr(0));
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value x = args[0], y = args[1], better;
    if (isa<FloatType>(x.getType())) {
      better = arith::CmpFOp::create(
          b, loc, largest ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, x, y);
      Value number = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, y, y);
      better = arith::AndIOp::create(b, loc, better, number);
    } else {
      better = arith::CmpIOp::create(
          b, loc, largest ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, y);
    }
    Value position = linalg::IndexOp::create(b, loc, *axis);
    // args: the element, the best so far, and its position.
    Value value = arith::SelectOp::create(b, loc, better, x, y);
    position = arith::SelectOp::create(b, loc, better, position, args[2]);
    linalg::YieldOp::create(b, loc, ValueRange{value, position});
  };
  Value result =
      linalg::GenericOp::create(b, loc, TypeRange{best.getType(), at.getType()}, ValueRange(tile),
                                ValueRange{best, at}, loops.maps, loops.iterators, body)
          .getResult(1);
  if (isa<RankedTensorType>(op.getResult().getType()))
    return result;
  return tensor::ExtractOp::create(b, loc, result, ValueRange());
}

/// The tile with elements of the wider type `element`.
Value TileEmission::extend(Location loc, Value tile, Type element, bool isUnsigned) {
  auto source = cast<RankedTensorType>(tile.getType());
  if (source.getElementType() == element)
    return tile;
  auto type = source.clone(element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b, loc, type, tile);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, loc, type, tile);
  return arith::ExtSIOp::create(b, loc, type, tile);
}

Value KernelLowering::lowerDot(DotOp op) {
  // Operands are widened first and once: the product's loops then see one type. Half accumulators
  // are kept in f32 and rounded at the end.
  Location loc = op.getLoc();
  auto result = cast<RankedTensorType>(op.getAcc().getType());
  Type element = result.getElementType();
  Type wide = element.isF16() || element.isBF16() ? b.getF32Type() : element;
  Value x = extend(loc, op.getA(), wide, op.getUnsignedA()),
        y = extend(loc, op.getB(), wide, op.getUnsignedB()), acc = extend(loc, op.getAcc(), wide);
  auto flatten = [&](Value tile) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(tile.getType()).getShape();
    int64_t batches = ShapedType::getNumElements(shape.drop_back(2));
    return reshape(loc, tile, {batches, shape[shape.size() - 2], shape.back()});
  };
  Value product;
  if (result.getRank() == 2) {
    product = linalg::MatmulOp::create(b, loc, acc.getType(), ValueRange{x, y}, acc).getResult(0);
  } else {
    Value into = flatten(acc);
    product = linalg::BatchMatmulOp::create(b, loc, into.getType(),
                                            ValueRange{flatten(x), flatten(y)}, into)
                  .getResult(0);
    product = reshape(loc, product, result.getShape());
  }
  if (wide != element)
    product = arith::TruncFOp::create(b, loc, result, product);
  return product;
}
