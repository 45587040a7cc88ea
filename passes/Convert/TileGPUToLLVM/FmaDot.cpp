// tile_gpu.fma_dot: a loop over K of scalar multiply-adds, operands read from shared memory.
//
//   acc registers of a thread          for each step of 4 positions of K:
//        columns                         x = a[its rows, 4]      y = b[4, its columns]
//   rows | c c c c |                     for each position: acc += x * y, an outer product
//        | c c c c |
//
// A thread reads the rows and columns of its own accumulators alone; operands that several threads
// read at once come from the same address, which shared memory hands to all of them.
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// The slice of an operand that a thread needs for `unroll` steps of K: the rows (or columns) of
/// its accumulators, of each batch.
/// Its registers run along K first, so that a vector load takes neighbours of K where they lie
/// together in shared memory.
class OperandSlice {
public:
  /// `kDim`: the operand's dimension along K; the others are dimensions of the accumulator too.
  OperandSlice(MemDescType type, const LinearLayout &accumulator, unsigned kDim, int64_t unroll)
      : elementType(type.getElementType()), shared(getSharedLayout(type)), kDim(kDim) {
    // Lanes and warps that differ in the other operand's dimension alone read the same address.
    LinearLayout rows = accumulator.dropDim(kDim).insertUnitDim(kDim);
    SmallVector<Coord> registers;
    for (int64_t bit = 1; bit < unroll; bit *= 2)
      registers.push_back(alongK(bit));
    llvm::append_range(registers, rows.getBases(InDim::Register));
    layout = LinearLayout(type.getShape(), registers, rows.getBases(InDim::Lane),
                          rows.getBases(InDim::Warp));
    // A step's bits are XORed into the offset at run time: shared layouts are linear over F2, and
    // swizzled ones are no sums.
    for (int64_t bit = unroll; bit < type.getShape()[kDim]; bit *= 2)
      images.push_back(shared.getOffset(alongK(bit)));
  }

  /// The slice at step `step` (of `unroll` positions each), converted to `wanted`.
  Value load(OpBuilder &builder, Location loc, Value base, Value step, Type wanted,
             bool isUnsigned) const {
    Value vector = loadTile(builder, loc, elementType, layout, shared, base, /*matrices=*/false,
                            {step, images});
    auto type = cast<VectorType>(vector.getType()).clone(wanted);
    if (elementType == wanted)
      return vector;
    if (isa<FloatType>(wanted))
      return arith::ExtFOp::create(builder, loc, type, vector);
    return isUnsigned ? Value(arith::ExtUIOp::create(builder, loc, type, vector))
                      : arith::ExtSIOp::create(builder, loc, type, vector);
  }

  /// For each register of `accumulator`, the register of the slice that it takes at position `k` of
  /// a step.
  SmallVector<int64_t> getSources(const LinearLayout &accumulator, int64_t k) const {
    SmallVector<int64_t> sources;
    for (unsigned reg = 0; reg < accumulator.getNumRegisters(); ++reg) {
      Coord wanted = alongK(k);
      Coord held = accumulator.apply(reg, 0, 0);
      for (unsigned d = 0; d < held.size(); ++d)
        if (d != kDim)
          wanted[d] = held[d];
      unsigned source = 0;
      while (layout.apply(source, 0, 0) != wanted)
        ++source;
      sources.push_back(source);
    }
    return sources;
  }

private:
  Coord alongK(int64_t position) const {
    Coord coord(shared.getShape().size(), 0);
    coord[kDim] = position;
    return coord;
  }

  Type elementType;
  SharedLayout shared;
  unsigned kDim;
  LinearLayout layout;
  SmallVector<uint32_t> images; // of the bits of a step's number
};

struct LowerFmaDot : OpConversionPattern<FmaDotOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(FmaDotOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemDescType typeA = op.getA().getType(), typeB = op.getB().getType();
    LinearLayout accumulator = getLayout(op.getType());
    Type elementType = op.getType().getElementType();
    // So that each product is rounded once, in the sum's type.
    auto isExact = [&](Type from) {
      return from == elementType ||
             (isa<FloatType>(from) == isa<FloatType>(elementType) &&
              from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth());
    };
    if (!isExact(typeA.getElementType()) || !isExact(typeB.getElementType()))
      return op.emitError("expected operands that convert exactly to ")
             << elementType << ", found " << typeA.getElementType() << " and "
             << typeB.getElementType();

    unsigned rank = typeA.getShape().size();
    int64_t extent = typeA.getShape().back(), unroll = std::min<int64_t>(extent, 4);
    // Terms behind the valid part of K are not added.
    int64_t depth = extent;
    if (DenseI64ArrayAttr valid = op.getValidAttr())
      depth = std::min<int64_t>(extent, llvm::alignTo(valid[2], unroll));
    OperandSlice a(typeA, accumulator, /*kDim=*/rank - 1, unroll),
        b(typeB, accumulator, /*kDim=*/rank - 2, unroll);
    auto body = [&](OpBuilder &builder, Location loc, Value step, ValueRange acc) {
      Value sum = acc[0];
      Value x = a.load(builder, loc, adaptor.getA(), step, elementType, op.getIsUnsigned()),
            y = b.load(builder, loc, adaptor.getB(), step, elementType, op.getIsUnsigned());
      for (int64_t k = 0; k < unroll; ++k)
        sum = multiplyAdd(builder, loc, takeElements(builder, loc, x, a.getSources(accumulator, k)),
                          takeElements(builder, loc, y, b.getSources(accumulator, k)), sum);
      scf::YieldOp::create(builder, loc, sum);
    };
    auto loop = scf::ForOp::create(rewriter, loc, constantI32(rewriter, loc, 0),
                                   constantI32(rewriter, loc, depth / unroll),
                                   constantI32(rewriter, loc, 1), adaptor.getAcc(), body);
    rewriter.replaceOp(op, loop.getResult(0));
    return success();
  }

  static Value multiplyAdd(OpBuilder &builder, Location loc, Value x, Value y, Value sum) {
    if (isa<FloatType>(cast<VectorType>(sum.getType()).getElementType()))
      return LLVM::FMAOp::create(builder, loc, x, y, sum);
    return arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, x, y), sum);
  }
};

} // namespace

void tile::gpu::populateFmaDotPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<LowerFmaDot>(converter, patterns.getContext());
}
