// local_alloc, local_load and memdesc_permute: tiles in shared memory.
#include "dialect/AttributeNames.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/TileGPU/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

void tile::gpu::fenceAsyncProxy(OpBuilder &builder, Location loc) {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKindAttr::get(builder.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta));
}

namespace {

struct LowerLocalAlloc : OpConversionPattern<LocalAllocOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LocalAllocOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    Value base = getSharedPointer(rewriter, op.getLoc(), *offset);
    bool forWgmma = isReadByWgmma(op.getResult()); // then the target has stmatrix
    storeTile(rewriter, op.getLoc(), adaptor.getSource(), getLayout(op.getSource().getType()),
              getSharedLayout(op.getType()), base, /*matrices=*/forWgmma,
              op->hasAttr(recomputesName));
    // Ordinary stores and wgmma reach shared memory by different ways; the block's barrier alone
    // does not order them.
    if (forWgmma)
      fenceAsyncProxy(rewriter, op.getLoc());
    rewriter.replaceOp(op, base);
    return success();
  }
};

struct LowerLocalLoad : OpConversionPattern<LocalLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LocalLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       loadTile(rewriter, op.getLoc(), op.getType().getElementType(),
                                getLayout(op.getType()), getSharedLayout(op.getSource().getType()),
                                adaptor.getSource(), /*matrices=*/true));
    return success();
  }
};

/// The bytes stay; only the names of dimensions change, which the result's type says.
struct LowerMemDescPermute : OpConversionPattern<MemDescPermuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(MemDescPermuteOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getSource());
    return success();
  }
};

} // namespace

void tile::gpu::populateSharedPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<LowerLocalAlloc, LowerLocalLoad, LowerMemDescPermute>(converter,
                                                                     patterns.getContext());
}
