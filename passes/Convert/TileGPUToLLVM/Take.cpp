// Elements of a tile at positions of the run: the tile goes to shared memory row by row, and each
// thread reads what its positions name; where one warp holds the tile, one shuffle does.
#include "dialect/TileGPU/ScanPlan.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Stores the tile that is taken from; of a position known at compile time, the registers alone
/// that may hold it.
/// Known position: of the register bits that run along the axis alone, those that do not fit the
/// position are left out, and with them registers. Lanes and warps still hold other positions,
/// which are stored too.
void storeTaken(OpBuilder &b, TakeOp op, Value tile, const SharedLayout &shared, Value base) {
  RankedTensorType type = op.getSource().getType();
  LinearLayout layout = getLayout(type);
  unsigned axis = op.getAxis();
  APInt constant;
  if (!matchPattern(op.getPosition(), m_ConstantInt(&constant)))
    return storeTile(b, op.getLoc(), tile, layout, shared, base);
  int64_t position = std::clamp<int64_t>(constant.getSExtValue(), 0, type.getDimSize(axis) - 1);
  SmallVector<Coord> kept;
  SmallVector<int64_t> registers = {0};
  Coord corner(type.getRank(), 0); // of the registers that are kept
  for (auto [bit, basis] : llvm::enumerate(layout.getBases(InDim::Register))) {
    bool isAlong = basis[axis] && llvm::count_if(basis, [](int64_t x) { return x != 0; }) == 1;
    int64_t number = int64_t(1) << bit;
    if (!isAlong) {
      kept.push_back(basis);
      for (size_t i = 0, size = registers.size(); i < size; ++i)
        registers.push_back(registers[i] | number);
    } else if (position & basis[axis]) {
      corner[axis] |= basis[axis];
      for (int64_t &one : registers)
        one |= number;
    }
  }
  // Registers that are kept lie from `corner` on: the base moves there.
  base = LLVM::GEPOp::create(b, op.getLoc(), base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(shared.getOffset(corner))});
  storeTile(b, op.getLoc(), takeElements(b, op.getLoc(), tile, registers),
            LinearLayout(type.getShape(), kept, layout.getBases(InDim::Lane),
                         layout.getBases(InDim::Warp)),
            shared, base);
}

/// The element at a position that all threads agree on, of a tile that one warp holds: the register
/// is chosen first, then the lane.
/// Bits of the position choose the lane and the register: `steps` has one for each bit of the axis,
/// lowest first, as for a scan.
Value takeByShuffle(OpBuilder &b, Location loc, ArrayRef<ScanStep> steps, int64_t extent,
                    Value tile, Value position) {
  Type integer = position.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, value));
  };
  position = arith::MaxSIOp::create(b, loc, position, constant(0));
  position = arith::MinSIOp::create(b, loc, position, constant(extent - 1));
  if (integer.isIndex())
    position = arith::IndexCastOp::create(b, loc, b.getI32Type(), position);
  else if (integer.getIntOrFloatBitWidth() < 32)
    position = arith::ExtUIOp::create(b, loc, b.getI32Type(), position);
  else if (integer.getIntOrFloatBitWidth() > 32)
    position = arith::TruncIOp::create(b, loc, b.getI32Type(), position);
  Value lane = constantI32(b, loc, 0);
  for (const auto &[i, step] : llvm::enumerate(steps)) {
    Value bit = arith::ShRUIOp::create(b, loc, position, constantI32(b, loc, i));
    bit = arith::AndIOp::create(b, loc, bit, constantI32(b, loc, 1));
    if (step.dim == InDim::Lane) {
      bit = arith::ShLIOp::create(b, loc, bit, constantI32(b, loc, step.bits[0]));
      lane = arith::OrIOp::create(b, loc, lane, bit);
    }
  }
  // From the highest bit of the register's number: halves of what is left.
  SmallVector<std::pair<unsigned, unsigned>> registers; // bit of the register, bit of the position
  for (const auto &[i, step] : llvm::enumerate(steps))
    if (step.dim == InDim::Register)
      registers.push_back({step.bits[0], unsigned(i)});
  llvm::sort(registers, std::greater<>());
  // From the top bit down: each selection halves the vector, n - 1 selections in all for n
  // registers.
  for (auto [number, at] : registers) {
    Value bit = arith::ShRUIOp::create(b, loc, position, constantI32(b, loc, at));
    bit = arith::TruncIOp::create(b, loc, b.getI1Type(), bit);
    int64_t half = int64_t(1) << number;
    auto part = [&](int64_t from) {
      return takeElements(b, loc, tile, llvm::to_vector(llvm::seq(from, from + half)));
    };
    tile = arith::SelectOp::create(b, loc, bit, part(half), part(0));
  }
  return vector::ExtractOp::create(b, loc, readLane(b, loc, tile, lane), ArrayRef<int64_t>{0});
}

/// The tile goes to shared memory row by row; each thread reads what its positions name.
struct LowerTake : OpConversionPattern<TakeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TakeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (auto steps = planTake(op); steps && !offset) {
      b.replaceOp(op, takeByShuffle(b, loc, *steps, op.getSource().getType().getDimSize(0),
                                    adaptor.getSource(), adaptor.getPosition()));
      return success();
    }
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    RankedTensorType source = op.getSource().getType();
    SharedLayout shared = getTakeScratch(source);
    Value base = getSharedPointer(b, loc, *offset);
    // tile-gpu-insert-barriers has put a barrier ahead of these stores where the memory was in use;
    // the one behind them lets all threads read.
    storeTaken(b, op, adaptor.getSource(), shared, base);
    BarrierOp::create(b, loc);

    auto result = dyn_cast<RankedTensorType>(op.getType());
    int64_t axis = op.getAxis(), added = result ? result.getRank() - (source.getRank() - 1) : 0;
    unsigned count = result ? getLayout(result).getNumRegisters() : 1;
    auto lanes = VectorType::get(count, b.getI32Type());
    auto splat = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(lanes, b.getI32IntegerAttr(value)));
    };
    // The position, clamped in its own width, as one number for each register.
    Value at = adaptor.getPosition();
    if (!isa<VectorType>(at.getType()))
      at = vector::BroadcastOp::create(b, loc, VectorType::get(count, at.getType()), at);
    auto limit = [&](int64_t value) -> Value {
      auto type = cast<VectorType>(at.getType());
      return arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(type, Attribute(b.getIntegerAttr(type.getElementType(), value))));
    };
    at = arith::MaxSIOp::create(b, loc, at, limit(0));
    at = arith::MinSIOp::create(b, loc, at, limit(source.getDimSize(axis) - 1));
    if (getElementTypeOrSelf(at.getType()).isIndex())
      at = arith::IndexCastOp::create(b, loc, lanes, at);
    std::optional<ThreadCoordinates> thread;
    if (result)
      thread.emplace(b, loc, getLayout(result));
    Value element; // row-major number of the element
    // Coordinates of the result that are not along the axis are the source's; `added` dimensions of
    // the position take the axis's place.
    for (int64_t d = 0; d < source.getRank(); ++d) {
      Value coordinate = d == axis ? at : thread->getVector(b, loc, d < axis ? d : d - 1 + added);
      if (element) {
        element = arith::MulIOp::create(b, loc, element, splat(source.getDimSize(d)));
        element = arith::AddIOp::create(b, loc, element, coordinate);
      } else {
        element = coordinate;
      }
    }
    Type wanted = result ? result.getElementType() : op.getType();
    auto none = cast<VectorType>(toStoredVector(b, loc, adaptor.getSource()).getType());
    Type stored = none.getElementType();
    SmallVector<Value> loaded;
    for (int64_t r = 0; r < count; ++r) {
      Value number = vector::ExtractOp::create(b, loc, element, ArrayRef<int64_t>{r});
      Value pointer =
          LLVM::GEPOp::create(b, loc, base.getType(), stored, base, ArrayRef<LLVM::GEPArg>{number});
      loaded.push_back(LLVM::LoadOp::create(b, loc, stored, pointer));
    }
    Value all = vector::FromElementsOp::create(b, loc, VectorType::get(count, stored), loaded);
    all = fromStoredVector(b, loc, all, wanted);
    b.replaceOp(op,
                result ? all : Value(vector::ExtractOp::create(b, loc, all, ArrayRef<int64_t>{0})));
    return success();
  }
};

} // namespace

void tile::gpu::populateTakePatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerTake>(converter, patterns.getContext());
}
