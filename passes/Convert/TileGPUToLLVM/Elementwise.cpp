// Operations that treat each register of a thread alike, and those that only rename registers.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/RotatedRows.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// A vector whose register i is register sources[i] of `source`.
/// A vector in the order asked for; nothing at all where the order is as it was, so that LLVM sees
/// no shuffle of 1:1.
static Value takeRegisters(OpBuilder &builder, Location loc, Value source,
                           ArrayRef<unsigned> sources) {
  auto type = cast<VectorType>(source.getType());
  bool identity = int64_t(sources.size()) == type.getNumElements();
  for (auto [i, s] : llvm::enumerate(sources))
    identity = identity && i == s;
  if (identity)
    return source;
  SmallVector<int64_t> mask(sources.begin(), sources.end());
  return vector::ShuffleOp::create(builder, loc, source, source, mask);
}

namespace {

/// Any element-wise operation: the same on vectors.
struct LowerElementwise : ConversionPattern {
  LowerElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 ||
        !isa<RankedTensorType>(op->getResult(0).getType()))
      return rewriter.notifyMatchFailure(op, "not element-wise on tiles");
    auto type = cast<VectorType>(getTypeConverter()->convertType(op->getResult(0).getType()));
    SmallVector<Value> vectors;
    for (Value operand : operands) {
      // arith.select may have a scalar condition beside tiles; it stays as it is.
      vectors.push_back(operand);
    }
    // Properties and attributes go along unchanged: fast-math flags, predicates of comparisons.
    OperationState state(op->getLoc(), op->getName(), vectors, {type}, op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

struct LowerConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements || !isa<RankedTensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a tile");
    if (!elements.isSplat())
      return op.emitError(
          "constant tiles of several values are not supported on GPU targets so far");
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
    return success();
  }
};

/// A tile that nothing reads before it is written.
struct LowerPoison : OpConversionPattern<ub::PoisonOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ub::PoisonOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<ub::PoisonOp>(op, getTypeConverter()->convertType(op.getType()));
    return success();
  }
};

struct LowerSplat : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getTypeConverter()->convertType(op.getType()), adaptor.getInput());
    return success();
  }
};

struct LowerIota : OpConversionPattern<IotaOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(IotaOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LinearLayout layout = getLayout(op.getType());
    auto type = cast<VectorType>(getTypeConverter()->convertType(op.getType()));
    // Coordinates are computed in 32 bits, positions in 64: the start is a number of the program.
    ThreadCoordinates thread(rewriter, loc, layout);
    Value positions = thread.getVector(rewriter, loc, 0);
    if (op->hasAttr(rotatedName))
      positions = rotatePositions(rewriter, op, thread, positions);
    Value value = arith::IndexCastOp::create(rewriter, loc, type, positions);
    auto splat = [&](Value v) -> Value {
      return vector::BroadcastOp::create(rewriter, loc, type, v);
    };
    if (op.getStep() != 1)
      value = arith::MulIOp::create(rewriter, loc, value,
                                    splat(constantIndex(rewriter, loc, op.getStep())));
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, value, splat(adaptor.getStart()));
    return success();
  }
};

struct LowerBroadcast : OpConversionPattern<BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LinearLayout source = getLayout(op.getSource().getType()), result = getLayout(op.getType());
    ArrayRef<int64_t> shape = op.getSource().getType().getShape();
    // Lanes and warps agree by this condition, so that every element is found in a register of the
    // same thread.
    if (source != result.broadcastSource(shape))
      return op.emitError("internal: broadcast from a layout that does not match its result");
    unsigned lead = result.getRank() - source.getRank();
    SmallVector<unsigned> sources;
    // Register r of thread 0 has the element that it has in any thread, moved by the thread's part;
    // comparing thread 0's is enough, since layouts are linear.
    for (unsigned r = 0; r < result.getNumRegisters(); ++r) {
      Coord at = result.apply(r, 0, 0), wanted(at.begin() + lead, at.end());
      for (unsigned d = 0; d < shape.size(); ++d)
        if (shape[d] == 1)
          wanted[d] = 0;
      unsigned s = 0;
      while (s < source.getNumRegisters() && source.apply(s, 0, 0) != wanted)
        ++s;
      if (s == source.getNumRegisters())
        return op.emitError("internal: broadcast finds no register for an element");
      sources.push_back(s);
    }
    rewriter.replaceOp(op, takeRegisters(rewriter, op.getLoc(), adaptor.getSource(), sources));
    return success();
  }
};

/// Reshape and permute: each thread keeps its registers; only names of elements change.
template <typename Op> struct LowerRename : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    // tile-gpu-assign-layouts gives the result the source's layout, seen through the new shape.
    if (adaptor.getSource().getType() != this->getTypeConverter()->convertType(op.getType()))
      return op.emitError("internal: source and result hold different numbers of registers");
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

/// Each thread's own elements, then a vote.
struct LowerWarpAll : OpConversionPattern<WarpAllOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WarpAllOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value mine;
    for (int64_t i = 0; i < cast<VectorType>(adaptor.getMask().getType()).getNumElements(); ++i) {
      Value element =
          vector::ExtractOp::create(rewriter, loc, adaptor.getMask(), ArrayRef<int64_t>{i});
      mine = mine ? arith::AndIOp::create(rewriter, loc, mine, element).getResult() : element;
    }
    // All 32 lanes take part: the operation stands where warps are whole.
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(
        op, rewriter.getI1Type(), constantI32(rewriter, loc, -1), mine, NVVM::VoteSyncKind::all);
    return success();
  }
};

} // namespace

void tile::gpu::populateElementwisePatterns(const TypeConverter &converter,
                                            RewritePatternSet &patterns) {
  patterns.add<LowerElementwise, LowerConstant, LowerPoison, LowerSplat, LowerIota, LowerBroadcast,
               LowerRename<ReshapeOp>, LowerRename<PermuteOp>, LowerWarpAll>(converter,
                                                                             patterns.getContext());
}
