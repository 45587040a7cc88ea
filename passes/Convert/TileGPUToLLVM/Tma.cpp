// tile_gpu.descriptor, tma_load and tma_store: tensor maps as parameters, copies of boxes between tensors and shared memory.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/SharedMemory.h"
#include "dialect/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Coordinates as the instructions take them.
static SmallVector<Value> castCoordinates(OpBuilder &builder, Location loc, ValueRange coordinates) {
  SmallVector<Value> result;
  for (Value coordinate : coordinates)
    result.push_back(arith::IndexCastOp::create(builder, loc, builder.getI32Type(), coordinate));
  return result;
}

static Value addConstant(OpBuilder &builder, Location loc, Value value, int64_t constant) {
  return constant ? arith::AddIOp::create(builder, loc, value, constantI32(builder, loc, constant)).getResult() : value;
}

/// `pointer` moved by `offset` bytes, a constant or an i32.
static Value advance(OpBuilder &builder, Location loc, Value pointer, LLVM::GEPArg offset) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{offset});
}

namespace {

struct LowerDescriptor : OpConversionPattern<DescriptorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DescriptorOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<func::FuncOp>();
    auto maps = function ? function->getAttrOfType<ArrayAttr>(tensorMapsName) : ArrayAttr();
    size_t index = maps ? llvm::find(maps, op.getMap()) - maps.begin() : 0;
    if (!maps || index == maps.size())
      return op.emitError("internal: expected the map among the function's " + tensorMapsName.str());
    rewriter.replaceOp(op, function.getArgument(function.getNumArguments() - maps.size() + index));
    return success();
  }
};

/// One box of a tile: where it starts in the tile, and where it lies in shared memory.
struct Box {
  SmallVector<int64_t> offsets; // in the map's order
  int64_t bytes;
};

/// The boxes that make up a tile in shared memory.
std::optional<SmallVector<Box>> getBoxes(TensorMapAttr map, MemDescType type) {
  auto dims = matchTensorMap(map, type.getShape(), type.getLayout().getOrder());
  if (!dims)
    return std::nullopt;
  SharedLayout shared = getSharedLayout(type);
  int64_t count = 1;
  for (size_t i = 0; i < dims->size(); ++i)
    if ((*dims)[i] >= 0)
      count *= type.getShape()[(*dims)[i]] / map.getBox()[i];
  SmallVector<Box> boxes;
  for (int64_t n = 0; n < count; ++n) {
    Box box;
    SmallVector<int64_t> coordinates(type.getShape().size(), 0);
    int64_t rest = n;
    for (size_t i = 0; i < dims->size(); ++i) {
      int64_t &offset = box.offsets.emplace_back(0);
      if ((*dims)[i] < 0)
        continue;
      int64_t pieces = type.getShape()[(*dims)[i]] / map.getBox()[i];
      offset = rest % pieces * map.getBox()[i];
      coordinates[(*dims)[i]] = offset;
      rest /= pieces;
    }
    box.bytes = shared.getOffset(coordinates);
    boxes.push_back(std::move(box));
  }
  return boxes;
}

struct LowerTmaLoad : OpConversionPattern<TmaLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TmaLoadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TensorMapAttr map = getTensorMap(op.getDescriptor());
    auto boxes = map ? getBoxes(map, op.getMemory().getType()) : std::nullopt;
    if (!boxes)
      return op.emitError("internal: expected a tile made of boxes of the map, found ") << op.getMemory().getType();
    SmallVector<Value> coordinates = castCoordinates(rewriter, loc, adaptor.getCoordinates());
    auto cluster = LLVM::LLVMPointerType::get(getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
    // Of a tile for both blocks of a cluster, the second one copies the second half of the boxes.
    size_t copies = boxes->size();
    Value second, mask;
    if (op.getMulticast()) {
      if (copies % 2)
        return op.emitError("internal: expected a tile made of an even number of boxes, found ") << copies;
      copies /= 2;
      Value rank = NVVM::BlockInClusterIdXOp::create(rewriter, loc, rewriter.getI32Type());
      second = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, rank, constantI32(rewriter, loc, 0));
      mask = arith::ConstantIntOp::create(rewriter, loc, 3, 16);
    }
    auto choose = [&](int64_t own, int64_t other) -> Value {
      return arith::SelectOp::create(rewriter, loc, second, constantI32(rewriter, loc, other), constantI32(rewriter, loc, own));
    };
    for (size_t i = 0; i < copies; ++i) {
      const Box &box = (*boxes)[i], &other = (*boxes)[second ? copies + i : i];
      SmallVector<Value> at;
      for (auto [coordinate, offset, otherOffset] : llvm::zip(coordinates, box.offsets, other.offsets)) {
        if (offset == otherOffset)
          at.push_back(addConstant(rewriter, loc, coordinate, offset));
        else
          at.push_back(arith::AddIOp::create(rewriter, loc, coordinate, choose(offset, otherOffset)));
      }
      Value to = adaptor.getMemory();
      if (box.bytes != other.bytes)
        to = advance(rewriter, loc, to, choose(box.bytes, other.bytes));
      else if (box.bytes)
        to = advance(rewriter, loc, to, int32_t(box.bytes));
      to = LLVM::AddrSpaceCastOp::create(rewriter, loc, cluster, to);
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          rewriter, loc, to, adaptor.getDescriptor(), at, adaptor.getBarrier(), ValueRange{}, mask, Value(),
          NVVM::TMALoadModeAttr::get(getContext(), NVVM::TMALoadMode::TILE), rewriter.getBoolAttr(false),
          NVVM::CTAGroupKindAttr(), Value());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// How a tile goes out: which threads work together, which blocks of rows are theirs, and which registers hold each
/// chunk of columns.
struct StorePlan {
  LinearLayout chunk;
  SmallVector<SmallVector<int64_t>> registers;
  bool isPrivate = false;         // each warpgroup has blocks of its own
  SmallVector<int64_t> rows;      // where the blocks of the first group start
  SmallVector<uint32_t> rowImages; // what the bits of the warpgroup's number add to that, by XOR
};

/// Adds what XOR with `image` makes of the numbers so far, unless they hold it already.
void span(SmallVectorImpl<int64_t> &numbers, int64_t image) {
  if (llvm::is_contained(numbers, image))
    return;
  for (size_t i = 0, count = numbers.size(); i < count; ++i)
    numbers.push_back(numbers[i] ^ image);
}

std::optional<StorePlan> planStore(const LinearLayout &layout, int64_t columns, int64_t blockRows, bool ordered) {
  constexpr unsigned groupWarpBits = 2; // warps of a warpgroup
  StorePlan plan;
  SmallVector<Coord> kept;
  SmallVector<unsigned> keptBits, chunkBits; // of a register's number
  ArrayRef<Coord> registers = layout.getBases(InDim::Register);
  for (unsigned bit = 0; bit < registers.size(); ++bit) {
    if (registers[bit][1] < columns) {
      kept.push_back(registers[bit]);
      keptBits.push_back(bit);
    } else if (registers[bit][0] || registers[bit][1] % columns || registers[bit][1] & (registers[bit][1] - 1)) {
      return std::nullopt;
    }
  }
  for (int64_t column = columns; column < layout.getShape()[1]; column *= 2) {
    auto found = llvm::find(registers, Coord{0, column});
    if (found == registers.end())
      return std::nullopt;
    chunkBits.push_back(found - registers.begin());
  }
  for (InDim dim : {InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(dim))
      if (basis[1] >= columns)
        return std::nullopt;
  plan.chunk = LinearLayout({layout.getShape()[0], columns}, kept, layout.getBases(InDim::Lane), layout.getBases(InDim::Warp));
  auto deposit = [](unsigned value, ArrayRef<unsigned> bits) {
    int64_t number = 0;
    for (auto [position, bit] : llvm::enumerate(bits))
      number |= int64_t(value >> position & 1) << bit;
    return number;
  };
  for (unsigned chunk = 0; chunk < 1u << chunkBits.size(); ++chunk) {
    auto &list = plan.registers.emplace_back();
    for (unsigned reg = 0; reg < 1u << keptBits.size(); ++reg)
      list.push_back(deposit(chunk, chunkBits) | deposit(reg, keptBits));
  }

  // Rows of the first warpgroup; a further one has its own if its bits lead out of them.
  plan.rows.push_back(0);
  ArrayRef<Coord> warps = layout.getBases(InDim::Warp);
  auto spanBlock = [&](const Coord &basis) { span(plan.rows, basis[0] / blockRows * blockRows); };
  llvm::for_each(registers, spanBlock);
  llvm::for_each(layout.getBases(InDim::Lane), spanBlock);
  llvm::for_each(warps.take_front(groupWarpBits), spanBlock);
  plan.isPrivate = !ordered && warps.size() > groupWarpBits && warps.size() <= groupWarpBits + 2;
  SmallVector<int64_t> all = plan.rows;
  for (const Coord &basis : warps.drop_front(std::min<size_t>(groupWarpBits, warps.size()))) {
    plan.isPrivate &= basis[1] == 0 && basis[0] % blockRows == 0 && !llvm::is_contained(all, basis[0]);
    plan.rowImages.push_back(basis[0]);
    span(all, basis[0]);
  }
  if (!plan.isPrivate) {
    plan.rows.clear();
    for (int64_t row = 0; row < layout.getShape()[0]; row += blockRows)
      plan.rows.push_back(row);
  }
  llvm::sort(plan.rows);
  return plan;
}

struct LowerTmaStore : OpConversionPattern<TmaStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TmaStoreOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getValue().getType();
    TensorMapAttr map = getTensorMap(op.getDescriptor());
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() + " from tile-gpu-allocate-shared, found none");
    int64_t columns = op.getColumns(), blockRows = 1, rowDim = -1;
    auto dims = map && type.getRank() == 2 ? matchTensorMap(map, {type.getDimSize(0), columns}, {1, 0}) : std::nullopt;
    for (size_t i = 1; dims && i < dims->size(); ++i)
      if ((*dims)[i] == 0) {
        rowDim = i;
        blockRows = map.getBox()[i];
      }
    auto plan = dims && columns > 0 && type.getDimSize(1) % columns == 0
                    ? planStore(getLayout(type), columns, blockRows, op.getOrdered())
                    : std::nullopt;
    if (!plan)
      return op.emitError("internal: cannot stage ") << type << " in " << columns << " columns for boxes of the map";

    SharedLayout staging = getStagingLayout(op);
    int64_t width = map.getBox()[0], elementBytes = staging.getElementBytes(), rowBytes = columns * elementBytes;
    Value base = getSharedPointer(rewriter, loc, *offset);
    Value thread = getThreadId(rewriter, loc), group, firstRow, member = thread;
    if (plan->isPrivate) {
      group = arith::ShRUIOp::create(rewriter, loc, thread, constantI32(rewriter, loc, 7));
      member = arith::AndIOp::create(rewriter, loc, thread, constantI32(rewriter, loc, 127));
      firstRow = applyLinear(rewriter, loc, group, plan->rowImages);
    }
    Value elected = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, member, constantI32(rewriter, loc, 0));
    SmallVector<Value> coordinates = castCoordinates(rewriter, loc, adaptor.getCoordinates());

    auto wait = [&](bool forReading) {
      // Threads that issued nothing pass.
      NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0),
                                           forReading ? rewriter.getUnitAttr() : UnitAttr());
    };
    auto synchronize = [&] {
      if (!plan->isPrivate) {
        BarrierOp::create(rewriter, loc);
        return;
      }
      constexpr int64_t firstGroupBarrier = 2; // docs/Hopper.md, "Threads"
      Value id = addConstant(rewriter, loc, group, firstGroupBarrier);
      NVVM::BarrierOp::create(rewriter, loc, TypeRange(), id, constantI32(rewriter, loc, 128),
                              NVVM::BarrierReductionAttr(), Value());
    };
    for (auto [chunk, registers] : llvm::enumerate(plan->registers)) {
      wait(/*forReading=*/true);
      synchronize();
      storeTile(rewriter, loc, takeElements(rewriter, loc, adaptor.getValue(), registers), plan->chunk, staging, base,
                /*matrices=*/true);
      NVVM::FenceProxyOp::create(rewriter, loc, NVVM::ProxyKindAttr::get(getContext(), NVVM::ProxyKind::async_shared),
                                 NVVM::SharedSpaceAttr::get(getContext(), NVVM::SharedSpace::shared_cta));
      synchronize();
      auto branch = scf::IfOp::create(rewriter, loc, elected, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      for (int64_t row : plan->rows) {
        // The groups' rows are multiples of what a block has, so XOR moves whole blocks.
        Value moved = constantI32(rewriter, loc, row), bytes;
        if (firstRow) {
          moved = row ? arith::XOrIOp::create(rewriter, loc, firstRow, moved).getResult() : firstRow;
          bytes = arith::MulIOp::create(rewriter, loc, moved, constantI32(rewriter, loc, rowBytes));
        }
        for (int64_t column = 0; column < columns; column += width) {
          SmallVector<Value> at(coordinates);
          at[0] = addConstant(rewriter, loc, at[0], int64_t(chunk) * columns + column);
          if (rowDim >= 0 && (firstRow || row))
            at[rowDim] = arith::AddIOp::create(rewriter, loc, at[rowDim], moved);
          int64_t panel = column * elementBytes * blockRows + (firstRow ? 0 : row * rowBytes);
          Value from = firstRow ? advance(rewriter, loc, base, bytes) : base;
          from = panel ? advance(rewriter, loc, from, int32_t(panel)) : from;
          NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
              rewriter, loc, adaptor.getDescriptor(), from, at, Value(),
              NVVM::TMAStoreModeAttr::get(getContext(), NVVM::TMAStoreMode::TILE), Value());
        }
      }
      NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    }
    if (op.getOrdered())
      wait(/*forReading=*/false);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::gpu::populateTmaPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerDescriptor, LowerTmaLoad, LowerTmaStore>(converter, patterns.getContext());
}
