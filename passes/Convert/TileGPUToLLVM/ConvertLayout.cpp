// convert_layout: a renaming of registers where that is enough, else a trip through shared memory.
//
//   registers -> scratch, by the source's layout
//   warp or block synchronises, whichever has to (getExchange)
//   scratch -> registers, by the target's layout
//
// Where the scratch of a whole tile does not fit, part by part (tile-gpu-allocate-shared).
//
// Warps that hold the same elements have a copy of the scratch each where only lanes exchange: they
// do not wait for each other, and one could still be reading what another writes.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/SharedLifetimes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// The copy of the scratch memory that a warp has: its number among those that hold the same.
/// Bits of the warp's number that move no element of the source, put together: 0 .. 2^n - 1.
Value getReplicaOffset(OpBuilder &builder, Location loc, ArrayRef<unsigned> bits, int64_t bytes) {
  Value warp = getWarp(builder, loc), offset = constantI32(builder, loc, 0);
  for (auto [place, bit] : llvm::enumerate(bits)) {
    Value one = arith::AndIOp::create(
        builder, loc, arith::ShRUIOp::create(builder, loc, warp, constantI32(builder, loc, bit)),
        constantI32(builder, loc, 1));
    offset = arith::AddIOp::create(
        builder, loc, offset,
        arith::MulIOp::create(builder, loc, one, constantI32(builder, loc, bytes << place)));
  }
  return offset;
}

struct LowerConvertLayout : OpConversionPattern<ConvertLayoutOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    LinearLayout source = getLayout(op.getSource().getType()), target = getLayout(op.getType());
    // Each thread has all it needs: nothing is moved between threads.
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
    if (auto rounds = op->getAttrOfType<IntegerAttr>(roundsName))
      if (auto parts = getConversionRounds(source, target, rounds.getInt())) {
        rewriter.replaceOp(op, convertInRounds(rewriter, op, adaptor.getSource(), *parts, *offset));
        return success();
      }
    ConversionScratch scratch = getConversionScratch(source, target, elementType, getTarget(op));
    Value base = getSharedPointer(rewriter, loc, *offset);
    bool withinWarp = getExchange(source, target) == Exchange::Warp;
    SmallVector<unsigned> replicas = getReplicaBits(source);
    if (withinWarp && !replicas.empty()) {
      Value distance =
          getReplicaOffset(rewriter, loc, replicas, llvm::alignTo(scratch.layout.getBytes(), 128));
      // Copies of the scratch begin at multiples of 128 bytes.
      base = LLVM::GEPOp::create(rewriter, loc, base.getType(), rewriter.getI8Type(), base,
                                 ValueRange{distance});
    }
    // The warp's reads of the trip before end here, where no barrier orders them (keepsScratch).
    if (withinWarp)
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    bool recomputes = op->hasAttr(recomputesName);
    storeTile(rewriter, loc, adaptor.getSource(), source, scratch.layout, base,
              scratch.storesMatrices, recomputes);
    // Warps exchange with no one else: the barrier would make them wait for each other.
    if (withinWarp)
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    else
      BarrierOp::create(rewriter, loc);
    rewriter.replaceOp(op, loadTile(rewriter, loc, elementType, target, scratch.layout, base,
                                    scratch.loadsMatrices, {}, recomputes));
    return success();
  }

private:
  /// Each part through the same bytes, when all that share them have read the part before.
  static Value convertInRounds(ConversionPatternRewriter &rewriter, ConvertLayoutOp op,
                               Value vector, const ConversionRounds &rounds, int64_t offset) {
    Location loc = op.getLoc();
    Type elementType = op.getType().getElementType();
    bool withinWarp =
        getExchange(getLayout(op.getSource().getType()), getLayout(op.getType())) == Exchange::Warp;
    auto meet = [&] {
      if (withinWarp)
        NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
      else
        BarrierOp::create(rewriter, loc);
    };
    ConversionScratch scratch =
        getConversionScratch(rounds.source, rounds.target, elementType, getTarget(op));
    bool recomputes = op->hasAttr(recomputesName);
    Value base = getSharedPointer(rewriter, loc, offset);
    SmallVector<Value> pieces;
    SmallVector<unsigned> positions;
    if (withinWarp)
      meet();
    for (auto [from, to] : llvm::zip(rounds.sourceRegisters, rounds.targetRegisters)) {
      if (!pieces.empty())
        meet();
      storeTile(rewriter, loc, takeElements(rewriter, loc, vector, from), rounds.source,
                scratch.layout, base, scratch.storesMatrices, recomputes);
      meet();
      pieces.push_back(loadTile(rewriter, loc, elementType, rounds.target, scratch.layout, base,
                                scratch.loadsMatrices, {}, recomputes));
      positions.append(to.begin(), to.end());
    }
    return joinPieces(rewriter, loc, pieces, positions);
  }
};

} // namespace

void tile::gpu::populateConvertLayoutPatterns(const TypeConverter &converter,
                                              RewritePatternSet &patterns) {
  patterns.add<LowerConvertLayout>(converter, patterns.getContext());
}
