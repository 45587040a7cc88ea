// tile.lookup and tile.random_bits on the registers of a thread.
#include "passes/Convert/Philox.h"
#include "passes/Convert/Table.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Tables lie in global memory: the few bytes of one stay in the L1 cache, which serves different
/// addresses of a line at once.
struct LowerLookup : OpConversionPattern<LookupOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(LookupOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto table = cast<DenseElementsAttr>(op.getTable());
    constexpr unsigned globalMemory = 1;
    Value address = getTableAddress(b, loc, op->getParentOfType<ModuleOp>(), table, globalMemory);
    auto positions = dyn_cast<VectorType>(adaptor.getPosition().getType());
    if (!positions) {
      b.replaceOp(op, readTable(b, loc, address, adaptor.getPosition(), table));
      return success();
    }
    SmallVector<Value> elements;
    for (int64_t r = 0; r < positions.getNumElements(); ++r) {
      Value position =
          vector::ExtractOp::create(b, loc, adaptor.getPosition(), ArrayRef<int64_t>{r});
      elements.push_back(readTable(b, loc, address, position, table));
    }
    b.replaceOpWithNewOp<vector::FromElementsOp>(
        op, cast<VectorType>(getTypeConverter()->convertType(op.getType())), elements);
    return success();
  }
};

struct LowerRandomBits : OpConversionPattern<RandomBitsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RandomBitsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    b.replaceOp(op, expandPhiloxOfThread(b, op.getLoc(), adaptor.getSeed(), adaptor.getPosition()));
    return success();
  }
};

} // namespace

void tile::gpu::populateElementPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  // Before the pattern that takes any element-wise operation as it is.
  patterns.add<LowerLookup, LowerRandomBits>(converter, patterns.getContext(), /*benefit=*/2);
}
