// local_alloc, local_load and memdesc_permute: tiles in shared memory.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/TileGPU/SharedMemory.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

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
    storeTile(rewriter, op.getLoc(), adaptor.getSource(), getLayout(op.getSource().getType()),
              getSharedLayout(op.getType()), base);
    rewriter.replaceOp(op, base);
    return success();
  }
};

struct LowerLocalLoad : OpConversionPattern<LocalLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LocalLoadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, loadTile(rewriter, op.getLoc(), op.getType().getElementType(), getLayout(op.getType()),
                                    getSharedLayout(op.getSource().getType()), adaptor.getSource(), /*matrices=*/true));
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

void tile::gpu::populateSharedPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerLocalAlloc, LowerLocalLoad, LowerMemDescPermute>(converter, patterns.getContext());
}
