// tile_gpu.fma_dot: a loop over K of scalar multiply-adds, operands read from shared memory.
//
//   acc registers of a thread          for each step of 4 positions of K:
//        columns                         x = a[its rows, 4]      y = b[4, its columns]
//   rows | c c c c |                     for each position: acc += x * y, an outer product
//        | c c c c |
//
// A thread reads the rows and columns of its own accumulators alone; operands that several threads
// read at once come from the same address, which shared memory hands to all of them. Where a thread
// has the registers, x and y of the next step are read ahead of this step's products, which then
// wait for nothing.
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

/// The slice of an operand that a thread needs for `positions` of K: the rows (or columns) of
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
    // Two parts take turns: one is multiplied while the other is read. Both together are as much
    // code as one step of many accumulators.
    constexpr int64_t mostProducts = 256;
    int64_t parts = 1, positions = unroll;
    for (int64_t each : {unroll, unroll / 2})
      if (each && depth % (2 * each) == 0 && readsAhead(op, typeA, typeB, each) &&
          2 * each * accumulator.getNumRegisters() <= mostProducts) {
        parts = 2;
        positions = each;
        break;
      }
    OperandSlice a(typeA, accumulator, /*kDim=*/rank - 1, positions),
        b(typeB, accumulator, /*kDim=*/rank - 2, positions);
    auto load = [&](OpBuilder &builder, Value part) -> SmallVector<Value> {
      return {a.load(builder, loc, adaptor.getA(), part, elementType, op.getUnsignedA()),
              b.load(builder, loc, adaptor.getB(), part, elementType, op.getUnsignedB())};
    };
    auto multiply = [&](OpBuilder &builder, ArrayRef<Value> slices, Value sum) {
      for (int64_t k = 0; k < positions; ++k)
        sum = multiplyAdd(builder, loc,
                          takeElements(builder, loc, slices[0], a.getSources(accumulator, k)),
                          takeElements(builder, loc, slices[1], b.getSources(accumulator, k)), sum);
      return sum;
    };
    Value zero = constantI32(rewriter, loc, 0), one = constantI32(rewriter, loc, 1),
          count = constantI32(rewriter, loc, depth / positions);
    auto step = [&](OpBuilder &builder, Location loc, Value part, ValueRange values) {
      if (parts == 1) {
        scf::YieldOp::create(builder, loc, multiply(builder, load(builder, part), values[0]));
        return;
      }
      SmallVector<Value> first(values.drop_front()),
          second = load(builder, arith::AddIOp::create(builder, loc, part, one));
      Value sum = multiply(builder, first, values[0]);
      // Behind the last part the first one is read again, which is there.
      Value next = arith::AddIOp::create(builder, loc, part, constantI32(builder, loc, parts));
      Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, next, count);
      first = load(builder, arith::SelectOp::create(builder, loc, exists, next, zero));
      sum = multiply(builder, second, sum);
      scf::YieldOp::create(builder, loc, ValueRange{sum, first[0], first[1]});
    };
    SmallVector<Value> carried = {adaptor.getAcc()};
    if (parts > 1)
      llvm::append_range(carried, load(rewriter, zero));
    auto loop = scf::ForOp::create(rewriter, loc, zero, count, constantI32(rewriter, loc, parts),
                                   carried, step);
    rewriter.replaceOp(op, loop.getResult(0));
    return success();
  }

  /// True if a thread has registers for its accumulators and `positions` of both operands twice,
  /// beside what addresses and the loop around take.
  static bool readsAhead(FmaDotOp op, MemDescType typeA, MemDescType typeB, int64_t positions) {
    constexpr int64_t others = 48;
    const GPUTarget *target = getTarget(op);
    if (!target)
      return false;
    LinearLayout accumulator = getLayout(op.getType());
    unsigned rank = typeA.getShape().size();
    int64_t elements = accumulator.getNumRegisters();
    for (unsigned kDim : {rank - 1, rank - 2})
      elements += 2 * positions * accumulator.dropDim(kDim).getNumRegisters();
    int64_t registers = llvm::divideCeil(elements * op.getType().getElementTypeBitWidth(), 32);
    int64_t threads = accumulator.getNumWarps() * target->limits.warpThreads;
    return registers + others <= target->limits.registersFor(threads, /*blocks=*/1);
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
