// Views of memory as pointers, extents and strides.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

///   rank 2   (pointer, extent 0, extent 1, stride 0, stride 1)
///   rank 0   (pointer, exists)
///
/// A view of higher rank needs no flag: where an index lies outside, its extents are 0.
ViewParts::ViewParts(ValueRange values, int64_t rank) : pointer(values[0]) {
  extents.assign(values.begin() + 1, values.begin() + 1 + rank);
  strides.assign(values.begin() + 1 + rank, values.begin() + 1 + 2 * rank);
  if (rank == 0)
    exists = values[1];
}

Value tile::gpu::advance(OpBuilder &builder, Location loc, Value pointer, Value offset,
                         Type elementType) {
  // In 64 bits; codegen/NarrowIndices.cpp makes 32 of them where that provably fits.
  Value offset64 = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
  if (isNibble(elementType))
    return arith::AddIOp::create(builder, loc, pointer, offset64);
  Type stored = getStoredType(elementType);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), stored, pointer,
                             ArrayRef<LLVM::GEPArg>{offset64});
}

namespace {

struct LowerView : OpConversionPattern<ViewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ViewOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value base = adaptor.getBase().front();
    if (isNibble(op.getType().getElementType())) {
      base = LLVM::PtrToIntOp::create(rewriter, op.getLoc(), rewriter.getI64Type(), base);
      // Twice the address: bit 0 is then free to say which half of the byte is meant.
      base = arith::ShLIOp::create(rewriter, op.getLoc(), base,
                                   arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 64));
    }
    SmallVector<Value> parts{base};
    for (ValueRange extent : adaptor.getExtents())
      parts.push_back(extent.front());
    for (ValueRange stride : adaptor.getStrides())
      parts.push_back(stride.front());
    if (op.getType().getRank() == 0)
      parts.push_back(arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 1));
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

struct LowerPermuteView : OpConversionPattern<PermuteViewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PermuteViewOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    // The pointer stays. Only the names of dimensions change places, so nothing is computed.
    ViewParts source(adaptor.getSource(), op.getType().getRank());
    SmallVector<Value> parts{source.pointer};
    for (int64_t d : op.getPermutation())
      parts.push_back(source.extents[d]);
    for (int64_t d : op.getPermutation())
      parts.push_back(source.strides[d]);
    if (source.exists)
      parts.push_back(source.exists);
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

struct LowerSubview : OpConversionPattern<SubviewOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SubviewOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ViewParts source(adaptor.getSource(), op.getSource().getType().getRank());
    // Positions that are out of bounds may make the pointer leave the tensor; it is not read
    // through, as `exists` is false then.
    Value zero = constantIndex(rewriter, loc, 0), offset = zero, exists = source.exists;
    SmallVector<Value> extents, strides;
    unsigned index = 0, slice = 0;
    auto addOffset = [&](Value position, Value stride) {
      Value step = arith::MulIOp::create(rewriter, loc, position, stride);
      offset = arith::AddIOp::create(rewriter, loc, offset, step);
    };
    for (unsigned d = 0; d < op.getKinds().size(); ++d) {
      Value extent = source.extents[d], stride = source.strides[d];
      switch (op.getKind(d)) {
      case SubscriptKind::Index: {
        Value position = adaptor.getIndices()[index++].front();
        // Unsigned comparison: a negative position is out of bounds too.
        Value inside =
            arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, position, extent);
        exists = exists ? arith::AndIOp::create(rewriter, loc, exists, inside) : inside;
        addOffset(position, stride);
        break;
      }
      case SubscriptKind::All:
        extents.push_back(extent);
        strides.push_back(stride);
        break;
      case SubscriptKind::Slice: {
        Value low = adaptor.getLows()[slice].front(), high = adaptor.getHighs()[slice].front();
        ++slice;
        // Both ends are clamped to the tensor and the length is cut at 0, so that an empty slice
        // may lie anywhere.
        auto clamp = [&](Value v) -> Value {
          v = arith::MaxSIOp::create(rewriter, loc, v, zero);
          return arith::MinSIOp::create(rewriter, loc, v, extent);
        };
        low = clamp(low);
        high = clamp(high);
        Value length = arith::SubIOp::create(rewriter, loc, high, low);
        extents.push_back(arith::MaxSIOp::create(rewriter, loc, length, zero));
        strides.push_back(stride);
        addOffset(low, stride);
        break;
      }
      }
    }
    if (exists && !extents.empty())
      for (Value &extent : extents)
        extent = arith::SelectOp::create(rewriter, loc, exists, extent, zero);
    SmallVector<Value> parts{
        advance(rewriter, loc, source.pointer, offset, op.getType().getElementType())};
    llvm::append_range(parts, extents);
    llvm::append_range(parts, strides);
    if (extents.empty())
      parts.push_back(exists ? exists : Value(arith::ConstantIntOp::create(rewriter, loc, 1, 1)));
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

struct LowerExtent : OpConversionPattern<ExtentOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ExtentOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op,
        ViewParts(adaptor.getSource(), op.getSource().getType().getRank()).extents[op.getDim()]);
    return success();
  }
};

} // namespace

void tile::gpu::populateViewPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerView, LowerPermuteView, LowerSubview, LowerExtent>(converter,
                                                                       patterns.getContext());
}
