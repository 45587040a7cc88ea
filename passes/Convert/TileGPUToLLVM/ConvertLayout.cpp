// convert_layout: a renaming of registers where that is enough, else a trip through shared memory.
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

struct LowerConvertLayout : OpConversionPattern<ConvertLayoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LinearLayout source = getLayout(op.getSource().getType()), target = getLayout(op.getType());
    if (auto sources = source.getRegisterSources(target)) {
      SmallVector<int64_t> registers(sources->begin(), sources->end());
      rewriter.replaceOp(op, takeElements(rewriter, loc, adaptor.getSource(), registers));
      return success();
    }
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");

    Type elementType = op.getType().getElementType();
    SharedLayout scratch = getConversionScratch(source, target, elementType);
    Value base = getSharedPointer(rewriter, loc, *offset);
    storeTile(rewriter, loc, adaptor.getSource(), source, scratch, base);
    if (getExchange(source, target) == Exchange::Warp)
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    else
      BarrierOp::create(rewriter, loc);
    rewriter.replaceOp(
        op, loadTile(rewriter, loc, elementType, target, scratch, base, /*matrices=*/false));
    return success();
  }
};

} // namespace

void tile::gpu::populateConvertLayoutPatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<LowerConvertLayout>(converter, patterns.getContext());
}
