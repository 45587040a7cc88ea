// tile_gpu.descriptor, tma_load, tma_store and clear_from: copies of boxes between tensors and
// shared memory.
//
// A tile is loaded as boxes, which lie in shared memory one behind the other; of a cluster's two
// blocks each copies half of them for both:
//
//   tile      | box 0 | box 1 | box 2 | box 3 |     a box has at most 256 positions along each
//   block 0     copy    copy                        dimension, and the swizzle's bytes in a row
//   block 1                     copy    copy
//
// A tile is stored in chunks of columns (StorePlan.cpp), each by the group of threads that owns it:
//
//   wait until the copy before has read the memory; the group meets
//   registers -> staging memory; fence of the asynchronous proxy; the group meets
//   the group's first thread copies its blocks and commits
//
// Where half of the columns fit twice, the halves take turns: the wait leaves one copy under way.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/StorePlan.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SharedTransfer.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/SharedLifetimes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Coordinates as the instructions take them.
/// Signed, 32 bits. They may be negative or behind the end: the hardware then reads zeros.
static SmallVector<Value> castCoordinates(OpBuilder &builder, Location loc,
                                          ValueRange coordinates) {
  SmallVector<Value> result;
  for (Value coordinate : coordinates)
    result.push_back(arith::IndexCastOp::create(builder, loc, builder.getI32Type(), coordinate));
  return result;
}

static Value addConstant(OpBuilder &builder, Location loc, Value value, int64_t constant) {
  return constant ? arith::AddIOp::create(builder, loc, value, constantI32(builder, loc, constant))
                        .getResult()
                  : value;
}

/// The block's shared memory at `offset`, for an instruction of one thread: in a loop as a register
/// that is set ahead of it. ptxas computes the address of a symbol where it is named; in code of
/// one thread that keeps all values that the loop carries out of uniform registers, and each
/// instruction of wgmma waits for its descriptors. `pointer` is the place as all threads have it.
static Value getPlaceForOne(OpBuilder &builder, Location loc, Value pointer, int64_t offset) {
  Operation *loop = nullptr;
  for (Operation *each = builder.getInsertionBlock()->getParentOp(); each;
       each = each->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(each))
      loop = each;
  if (!loop || getTeam(builder, loc))
    return pointer;
  OpBuilder ahead(loop);
  Value base = getSharedPointer(ahead, loc, 0);
  Value held =
      LLVM::InlineAsmOp::create(ahead, loc, ahead.getI32Type(), sharedAddress(ahead, loc, base),
                                "mov.b32 $0, $1;", "=r,r", /*has_side_effects=*/false,
                                /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  held = LLVM::IntToPtrOp::create(ahead, loc, pointer.getType(), held);
  return offset ? advance(builder, loc, held, int32_t(offset)) : held;
}

namespace {

/// Threads that synchronise with each other: a warp, a warpgroup, or all that compute.
class Group {
public:
  static constexpr int64_t size = 128; // of a warpgroup

  /// Of `threads` threads each, all if there is none.
  Group(OpBuilder &builder, Location loc, int64_t threads)
      : thread(getThreadId(builder, loc)), threads(threads) {
    if (!threads)
      return;
    // Groups have a power of two of threads.
    number = arith::ShRUIOp::create(builder, loc, thread,
                                    constantI32(builder, loc, llvm::Log2_64(threads)));
    team = getTeam(builder, loc);
    thread = arith::AndIOp::create(builder, loc, thread, constantI32(builder, loc, threads - 1));
  }

  /// The group's number; null for all threads.
  Value getNumber() const { return number; }
  /// The thread's number in the group.
  Value getThread() const { return thread; }

  void synchronize(OpBuilder &builder, Location loc) const {
    if (!number) {
      BarrierOp::create(builder, loc);
      return;
    }
    // Barrier 0 is the block's, the next the consumers'; each warpgroup has its own from
    // warpgroupBarrier on.
    if (threads < size) {
      NVVM::SyncWarpOp::create(builder, loc, constantI32(builder, loc, -1));
      return;
    }
    Value id = addConstant(builder, loc, number, warpgroupBarrier);
    if (team)
      id = arith::AddIOp::create(
          builder, loc, id,
          arith::MulIOp::create(builder, loc, team,
                                constantI32(builder, loc, getTeamThreads(builder) / size)));
    NVVM::BarrierOp::create(builder, loc, TypeRange(), id, constantI32(builder, loc, size),
                            NVVM::BarrierReductionAttr(), Value());
  }

private:
  Value number, thread, team;
  int64_t threads;
};

struct LowerDescriptor : OpConversionPattern<DescriptorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DescriptorOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto function = op->getParentOfType<func::FuncOp>();
    auto maps = function ? function->getAttrOfType<ArrayAttr>(tensorMapsName) : ArrayAttr();
    // Maps are the function's last arguments, in the order of the attribute.
    size_t index = maps ? llvm::find(maps, op.getMap()) - maps.begin() : 0;
    if (!maps || index == maps.size())
      return op.emitError("internal: expected the map among the function's " +
                          tensorMapsName.str());
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
  auto dims = matchTensorMap(map, type.getUsedShape(), type.getLayout().getOrder());
  if (!dims)
    return std::nullopt;
  SharedLayout shared = getSharedLayout(type);
  // How many boxes lie side by side along each of the map's dimensions, and how far they are apart
  // in the tile. Of dimensions that share one of the tile's, only the last has several.
  // With the innermost dimension first, as in a tensor map. Several of the map may make up one of
  // the tile.
  SmallVector<int64_t> pieces(dims->size(), 1), strides(dims->size(), 0);
  int64_t count = 1;
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t dim = (*dims)[i], covered = map.getBox()[i];
    if (dim < 0 || llvm::is_contained(ArrayRef(*dims).drop_front(i + 1), dim))
      continue;
    for (size_t inner = 0; inner < i; ++inner)
      if ((*dims)[inner] == dim)
        covered *= map.getBox()[inner];
    pieces[i] = type.getUsedShape()[dim] / covered;
    strides[i] = covered;
    count *= pieces[i];
  }
  SmallVector<Box> boxes;
  // Numbered with the map's first dimension fastest.
  for (int64_t n = 0; n < count; ++n) {
    Box box;
    SmallVector<int64_t> coordinates(type.getShape().size(), 0);
    int64_t rest = n;
    for (size_t i = 0; i < dims->size(); ++i) {
      int64_t &offset = box.offsets.emplace_back(0);
      if (pieces[i] == 1)
        continue;
      offset = rest % pieces[i] * map.getBox()[i] * map.getStep(i);
      coordinates[(*dims)[i]] = rest % pieces[i] * strides[i];
      rest /= pieces[i];
    }
    box.bytes = shared.getOffset(coordinates);
    boxes.push_back(std::move(box));
  }
  return boxes;
}

/// The policy for what `cache:` asks of a copy; null where nothing is asked.
Value getCachePolicy(OpBuilder &b, Location loc, Operation *op) {
  auto word = op->getAttrOfType<StringAttr>(cacheName);
  return word ? createCachePolicy(b, loc, word.getValue()) : Value();
}

struct LowerTmaLoad : OpConversionPattern<TmaLoadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TmaLoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    TensorMapAttr map = getTensorMap(op.getDescriptor());
    auto boxes = map ? getBoxes(map, op.getMemory().getType()) : std::nullopt;
    if (!boxes)
      return op.emitError("internal: expected a tile made of boxes of the map, found ")
             << op.getMemory().getType();
    SmallVector<Value> coordinates = castCoordinates(rewriter, loc, adaptor.getCoordinates());
    auto cluster =
        LLVM::LLVMPointerType::get(getContext(), unsigned(NVVM::NVVMMemorySpace::SharedCluster));
    // Of a tile for two blocks of a cluster, each copies one half of the boxes and counts all.
    size_t copies = boxes->size();
    Value second, mask;
    if (op.getMulticast()) {
      if (copies % 2)
        return op.emitError("internal: expected a tile made of an even number of boxes, found ")
               << copies;
      copies /= 2;
      auto across = int32_t(op.getAcross().value_or(1));
      Value rank = NVVM::BlockInClusterIdXOp::create(rewriter, loc, rewriter.getI32Type());
      Value place = arith::AndIOp::create(rewriter, loc, rank, constantI32(rewriter, loc, across));
      Value first = arith::XOrIOp::create(rewriter, loc, rank, place);
      second = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, place,
                                     constantI32(rewriter, loc, 0));
      // Bits of the two blocks that get the bytes, at the same offset of their shared memory, where
      // the barrier is signalled as well.
      mask =
          arith::ShLIOp::create(rewriter, loc, constantI32(rewriter, loc, 1 | 1 << across), first);
      mask = arith::TruncIOp::create(rewriter, loc, rewriter.getI16Type(), mask);
    }
    auto choose = [&](int64_t own, int64_t other) -> Value {
      return arith::SelectOp::create(rewriter, loc, second, constantI32(rewriter, loc, other),
                                     constantI32(rewriter, loc, own));
    };
    auto copyAll = [&](Value policy) {
      for (size_t i = 0; i < copies; ++i) {
        const Box &box = (*boxes)[i], &other = (*boxes)[second ? copies + i : i];
        SmallVector<Value> at;
        for (auto [coordinate, offset, otherOffset] :
             llvm::zip(coordinates, box.offsets, other.offsets)) {
          if (offset == otherOffset)
            at.push_back(addConstant(rewriter, loc, coordinate, offset));
          else
            at.push_back(
                arith::AddIOp::create(rewriter, loc, coordinate, choose(offset, otherOffset)));
        }
        Value to = adaptor.getMemory();
        if (box.bytes != other.bytes)
          to = advance(rewriter, loc, to, choose(box.bytes, other.bytes));
        else if (box.bytes)
          to = advance(rewriter, loc, to, int32_t(box.bytes));
        to = LLVM::AddrSpaceCastOp::create(rewriter, loc, cluster, to);
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            rewriter, loc, to, adaptor.getDescriptor(), at, adaptor.getBarrier(), ValueRange{},
            mask, policy, NVVM::TMALoadModeAttr::get(getContext(), NVVM::TMALoadMode::TILE),
            rewriter.getBoolAttr(false), NVVM::CTAGroupKindAttr(), Value());
      }
    };
    OpBuilder::InsertionGuard guard(rewriter);
    if (hasWideProducer(op))
      rewriter.setInsertionPointToStart(ifFirstOfProducer(rewriter, op).thenBlock());
    if (Value when = adaptor.getWhen())
      rewriter.setInsertionPointToStart(
          scf::IfOp::create(rewriter, loc, when, /*withElseRegion=*/false).thenBlock());
    if (!adaptor.getOnce()) {
      copyAll(getCachePolicy(rewriter, loc, op));
    } else {
      // A branch, since no policy is as good as none: `evict_normal` took 47 us where none took 37
      // (128x4096x14336, H200).
      auto choice = scf::IfOp::create(rewriter, loc, adaptor.getOnce(), /*withElseRegion=*/true);
      rewriter.setInsertionPointToStart(choice.thenBlock());
      copyAll(createCachePolicy(rewriter, loc, "stream"));
      rewriter.setInsertionPointToStart(choice.elseBlock());
      copyAll(Value());
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// The values in the registers where `swap` wants them.
/// Two registers trade places in lanes that have the bit set, so that a warp's stores meet
/// different banks; `swap.layout` says where elements are after it.
Value swapRegisters(OpBuilder &b, Location loc, Value vector, const LaneSwap &swap) {
  SmallVector<int64_t> registers;
  for (int64_t reg = 0; reg < cast<VectorType>(vector.getType()).getNumElements(); ++reg)
    registers.push_back(reg ^ int64_t(1) << swap.registerBit);
  Value bit =
      arith::AndIOp::create(b, loc, getThreadId(b, loc), constantI32(b, loc, 1 << swap.laneBit));
  Value swaps =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, constantI32(b, loc, 0));
  return arith::SelectOp::create(b, loc, swaps, takeElements(b, loc, vector, registers), vector);
}

/// Adds the place of a tile's row to coordinates of the dimensions that its rows are made of, whose
/// extents are powers of two.
void addFolded(OpBuilder &b, Location loc, MutableArrayRef<Value> coordinates,
               ArrayRef<int64_t> folded, Value row) {
  int64_t rows = 1; // of the dimensions before
  for (auto [coordinate, extent] : llvm::zip(coordinates.drop_front(), folded)) {
    Value place = arith::ShRUIOp::create(b, loc, row, constantI32(b, loc, llvm::Log2_64(rows)));
    place = arith::AndIOp::create(b, loc, place, constantI32(b, loc, extent - 1));
    coordinate = arith::AddIOp::create(b, loc, coordinate, place);
    rows *= extent;
  }
}

struct LowerTmaStore : OpConversionPattern<TmaStoreOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TmaStoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getValue().getType();
    TensorMapAttr map = getTensorMap(op.getDescriptor());
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    // Rows and columns of one chunk: memory is for [rows][columns] of the group that stores.
    int64_t columns = op.getColumns(), height = op.getRows().value_or(type.getDimSize(0));
    int64_t blockRows = 1, rowDim = -1;
    auto getPlan = [&](int64_t height, int64_t columns) -> std::optional<StorePlan> {
      auto dims = map && type.getRank() == 2 ? matchTensorMap(map, {height, columns}, {1, 0})
                                             : std::nullopt;
      if (!dims || columns <= 0 || type.getDimSize(1) % columns || height <= 0 ||
          type.getDimSize(0) % height)
        return std::nullopt;
      blockRows = 1;
      for (size_t i = 1; i < dims->size(); ++i)
        if ((*dims)[i] == 0) {
          rowDim = i;
          blockRows *= map.getBox()[i];
        }
      return StorePlan::get(getLayout(type), columns, blockRows, map.getBox()[0], op.getOrdered(),
                            /*byWarp=*/op.getAdd(), height);
    };
    auto plan = getPlan(height, columns);
    if (!plan)
      return op.emitError("internal: cannot stage ") << type << " in " << height << " rows by "
                                                     << columns << " columns for boxes of the map";
    bool cuts = cutsRows(map);
    if (cuts && rowDim != 1)
      return op.emitError("internal: expected a map that cuts rows of the tile, found ") << map;
    // Where there is no memory for all columns, its halves take turns: one is filled while the
    // other is copied. If the number of chunks is odd, the last one's half is the first one's of
    // the next time, which then waits for both.
    //
    //   chunk        0        1        2        3
    //   filled       half A   half B   half A   half B
    //   waits for    -        -        copy 0   copy 1      one copy may still be read
    bool takesTurns = false;
    int64_t stored = op.getStored().value_or(type.getDimSize(1));
    if (!op.getAdd() && height < type.getDimSize(0) && height / 2 % blockRows == 0) {
      if (auto halves = getPlan(height / 2, columns); halves && halves->registers.size() % 2 == 0) {
        takesTurns = true;
        height /= 2;
        plan = halves;
      }
    } else if (!op.getAdd() && columns < type.getDimSize(1) && columns / 2 % map.getBox()[0] == 0) {
      if (auto halves = getPlan(height, columns / 2); halves && halves->registers.size() % 2 == 0) {
        takesTurns = true;
        columns /= 2;
        plan = halves;
      }
    }

    // Chunks along a row, and of those the ones that are stored.
    int64_t across = type.getDimSize(1) / columns, storedAcross = llvm::divideCeil(stored, columns);
    int64_t chunks = storedAcross * (type.getDimSize(0) / height), done = 0;
    SharedLayout staging = getStagingLayout(op, columns, height);
    int64_t elementBytes = staging.getElementBytes(), rowBytes = columns * elementBytes;
    Value memory = getSharedPointer(rewriter, loc, *offset);
    constexpr int64_t warpThreads = 32;
    Group group(rewriter, loc, plan->isPrivate ? plan->groupWarps * warpThreads : 0);
    auto firstOf = [&](ArrayRef<uint32_t> images) {
      bool moves =
          plan->isPrivate && llvm::any_of(images, [](uint32_t image) { return image != 0; });
      return moves ? applyLinear(rewriter, loc, group.getNumber(), images) : Value();
    };
    Value firstRow = firstOf(plan->rowImages), firstColumn = firstOf(plan->columnImages);
    // A group's own place is in a register as it is.
    Value copied =
        firstRow || firstColumn ? memory : getPlaceForOne(rewriter, loc, memory, *offset);
    Value elected = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                          group.getThread(), constantI32(rewriter, loc, 0));
    SmallVector<Value> coordinates = castCoordinates(rewriter, loc, adaptor.getCoordinates());
    Value policy = getCachePolicy(rewriter, loc, op);
    if (op.getDescriptor().getDefiningOp<ViewDescriptorOp>()) {
      // Written, and fenced, by the producer's thread, for whose first slot this one has waited. It
      // is in the cache by the time that the tile is staged.
      auto branch = scf::IfOp::create(rewriter, loc, elected, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      inlinePTX(rewriter, loc, {}, {adaptor.getDescriptor()}, "prefetch.tensormap [$0];",
                "l,~{memory}");
    }

    // Each thread waits for its own groups: the elected thread has issued them, and the barrier
    // behind the wait tells the others.
    auto wait = [&](bool forReading, int pending) {
      // Threads that issued nothing pass.
      NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, rewriter.getI32IntegerAttr(pending),
                                           forReading ? rewriter.getUnitAttr() : UnitAttr());
    };
    for (auto [number, registers] : llvm::enumerate(plan->registers)) {
      int64_t firstOfChunk = int64_t(number) % across * columns,
              above = int64_t(number) / across * height; // its place in the tile
      if (int64_t(number) % across >= storedAcross)
        continue; // padding
      int64_t chunk = done++;
      // No copy has read there before.
      bool isFresh = isStoredOnce(op) && chunk < (takesTurns ? 2 : 1);
      if (!isFresh) {
        wait(/*forReading=*/true, /*pending=*/takesTurns && (chunk > 0 || chunks % 2 == 0));
        group.synchronize(rewriter, loc);
      }
      auto ofTurn = [&](Value pointer) {
        return takesTurns && chunk % 2
                   ? advance(rewriter, loc, pointer, int32_t(staging.getBytes()))
                   : pointer;
      };
      Value base = ofTurn(memory);
      Value values = takeElements(rewriter, loc, adaptor.getValue(), registers);
      // Worth its registers in a loop, where sums are; a result is stored once.
      auto swap = op.getAdd() ? findLaneSwap(plan->chunk, staging) : std::nullopt;
      // The swap is undone by the layout with which values are stored.
      if (swap)
        values = swapRegisters(rewriter, loc, values, *swap);
      storeTile(rewriter, loc, values, swap ? swap->layout : plan->chunk, staging, base,
                /*matrices=*/true, op->hasAttr(recomputesName));
      fenceAsyncProxy(rewriter, loc);
      // The fence stands ahead of the barrier: each thread's stores must be visible to the copy
      // engine before the one thread starts it.
      group.synchronize(rewriter, loc);
      auto branch = scf::IfOp::create(rewriter, loc, elected, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(branch.thenBlock());
      // The groups' rows and columns are multiples of what a block has, so XOR moves whole blocks.
      auto move = [&](int64_t position, Value first) -> Value {
        Value moved = constantI32(rewriter, loc, position);
        if (!first)
          return moved;
        return position ? arith::XOrIOp::create(rewriter, loc, first, moved).getResult() : first;
      };
      auto advanceBy = [&](Value pointer, Value moved, int64_t position, bool dynamic,
                           int64_t bytes) -> Value {
        if (dynamic)
          return advance(
              rewriter, loc, pointer,
              arith::MulIOp::create(rewriter, loc, moved, constantI32(rewriter, loc, bytes))
                  .getResult());
        return position ? advance(rewriter, loc, pointer, int32_t(position * bytes)) : pointer;
      };
      // A copy for each block of rows and columns of the chunk that the map's box covers.
      Value source = ofTurn(copied);
      auto mode = NVVM::TMAStoreModeAttr::get(getContext(), NVVM::TMAStoreMode::TILE);
      for (int64_t row : plan->rows) {
        Value movedRow = move(row, firstRow),
              rowStart = advanceBy(source, movedRow, row, firstRow != nullptr, rowBytes);
        if (above)
          movedRow = addConstant(rewriter, loc, movedRow, above);
        for (int64_t column : plan->columns) {
          // Columns of the chunk that are stored.
          int64_t behind = stored - firstOfChunk;
          if (!firstColumn && column >= behind)
            continue;
          Value movedColumn = move(column, firstColumn);
          OpBuilder::InsertionGuard guard(rewriter);
          if (firstColumn && behind < columns) {
            Value exists = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                                 movedColumn, constantI32(rewriter, loc, behind));
            auto branch = scf::IfOp::create(rewriter, loc, exists, /*withElseRegion=*/false);
            rewriter.setInsertionPointToStart(branch.thenBlock());
          }
          SmallVector<Value> at(coordinates);
          at[0] = addConstant(rewriter, loc, at[0], firstOfChunk + (firstColumn ? 0 : column));
          if (firstColumn)
            at[0] = arith::AddIOp::create(rewriter, loc, at[0], movedColumn);
          Value &rowAt = at[cuts ? 2 : std::max<int64_t>(rowDim, 0)];
          if (op.getFolded())
            addFolded(rewriter, loc, at, *op.getFolded(), movedRow);
          else if (rowDim >= 0 && (firstRow || row || above))
            rowAt = arith::AddIOp::create(rewriter, loc, rowAt, movedRow);
          if (cuts) {
            // So many rows of the block exist: the copy begins as far before the end of the map's
            // first dimension of the two.
            Value seen = arith::SubIOp::create(rewriter, loc, at[1], movedRow),
                  all = constantI32(rewriter, loc, blockRows);
            seen = arith::MaxSIOp::create(rewriter, loc, seen, constantI32(rewriter, loc, 0));
            seen = arith::MinSIOp::create(rewriter, loc, seen, all);
            at[1] = arith::SubIOp::create(rewriter, loc, all, seen);
            rowAt = arith::AddIOp::create(rewriter, loc, rowAt, seen);
          }
          Value from = advanceBy(rowStart, movedColumn, column, firstColumn != nullptr,
                                 elementBytes * blockRows);
          if (op.getAdd())
            NVVM::CpAsyncBulkTensorReduceOp::create(
                rewriter, loc, adaptor.getDescriptor(), from,
                NVVM::TMAReduxKindAttr::get(getContext(), NVVM::TMAReduxKind::ADD), mode, at,
                policy);
          else
            NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
                rewriter, loc, adaptor.getDescriptor(), from, at, policy, mode, Value());
        }
      }
      NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    }
    // Ordered: what follows in the program may be seen together with a release, so that the bytes
    // must have arrived, and not only have left shared memory.
    if (op.getOrdered())
      wait(/*forReading=*/false, /*pending=*/0);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Zeroes 16 bytes at a time, the threads in turn.
/// On entry the copies have arrived. Positions from the limit on hold what lies behind the part
/// that the program asked for, or zeros of the hardware.
struct LowerClearFrom : OpConversionPattern<ClearFromOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ClearFromOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    MemDescType type = op.getMemory().getType();
    int64_t dim = op.getDim(), extent = type.getUsedShape()[dim];
    Value all = constantIndex(rewriter, loc, extent);
    // Uniform, and false in all but the last trip of most loops: the branch costs one comparison.
    Value cuts =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, adaptor.getLimit(), all);
    auto branch = scf::IfOp::create(rewriter, loc, cuts, /*withElseRegion=*/false);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    Value limit =
        arith::MaxSIOp::create(rewriter, loc, adaptor.getLimit(), constantIndex(rewriter, loc, 0));
    limit = arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), limit);

    auto function = op->getParentOfType<func::FuncOp>();
    auto getCount = [&](StringRef name) {
      auto attr = function->getAttrOfType<IntegerAttr>(name);
      return attr ? attr.getInt() : 0;
    };
    int64_t threads = getCount(numThreadsName) - getCount(producerThreadsName);
    if (int64_t own = getTeamThreads(rewriter))
      threads = own;
    // Each warpgroup clears all for itself: it need not wait for others, who may wait for it
    // elsewhere.
    bool byWarpgroup = threads > Group::size && threads <= 4 * Group::size;
    Group group(rewriter, loc, byWarpgroup ? Group::size : 0);
    constexpr int64_t chunkBytes = 16;
    // Each warpgroup goes over all chunks where `byWarpgroup` is set: equal zeros go to equal
    // places.
    auto loop = scf::ForOp::create(
        rewriter, loc, group.getThread(),
        constantI32(rewriter, loc, getSharedLayout(type).getBytes() / chunkBytes),
        constantI32(rewriter, loc, byWarpgroup ? Group::size : threads));
    rewriter.setInsertionPointToStart(loop.getBody());
    clearChunk(rewriter, loc, type, dim, limit, adaptor.getMemory(),
               arith::MulIOp::create(rewriter, loc, loop.getInductionVar(),
                                     constantI32(rewriter, loc, chunkBytes)));
    rewriter.setInsertionPointAfter(loop);
    fenceAsyncProxy(rewriter, loc);
    group.synchronize(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }

  /// Zeroes what of the 16 bytes at `offset` lies behind the limit.
  ///
  ///   offset    | panel 0: row 0 | row 1 | .. | panel 1: row 0 | ..       panelBytes in a row
  ///   swizzled  piece c of 16 bytes lies at c ^ (offset / 128 % (swizzle / 16)) in its row
  ///
  /// Panels run along the fastest dimension; `rows` counts all others. 16 bytes never leave a row.
  static void clearChunk(OpBuilder &b, Location loc, MemDescType type, int64_t dim, Value limit,
                         Value memory, Value offset) {
    ArrayRef<int64_t> order = type.getLayout().getOrder(), shape = type.getShape();
    int64_t elementBytes = getSharedElementBytes(type.getElementType()),
            swizzle = type.getLayout().getSwizzle();
    int64_t panelBytes = swizzle ? swizzle : shape[order[0]] * elementBytes,
            rows = getSharedLayout(type).getPanelRows();
    auto constant = [&](int64_t value) { return constantI32(b, loc, value); };
    auto divide = [&](Value value, int64_t by) -> Value {
      return arith::DivUIOp::create(b, loc, value, constant(by));
    };
    auto modulo = [&](Value value, int64_t by) -> Value {
      return arith::RemUIOp::create(b, loc, value, constant(by));
    };
    auto multiply = [&](Value value, int64_t by) -> Value {
      return arith::MulIOp::create(b, loc, value, constant(by));
    };
    Value line = divide(offset, panelBytes), row = modulo(line, rows);
    Value pointer = advance(b, loc, memory, offset);
    int64_t elements = 16 / elementBytes;
    auto isBehind = [&](Value position) {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, position, limit);
    };
    // Stores alone, of what is cleared alone: other warpgroups may do the same meanwhile.
    auto clearIf = [&](Value condition, Type cells, Value at, bool orElse) {
      auto branch = scf::IfOp::create(b, loc, condition, orElse);
      OpBuilder inside = OpBuilder::atBlockBegin(branch.thenBlock());
      Value zero = arith::ConstantOp::create(inside, loc, inside.getZeroAttr(cells));
      LLVM::StoreOp::create(inside, loc, zero, at, isa<VectorType>(cells) ? 16 : elementBytes);
      return branch;
    };
    Type cell = b.getIntegerType(8 * elementBytes), cells = VectorType::get(elements, cell);
    // The limit is along another dimension: all 16 bytes are on one side of it.
    if (dim != order[0]) {
      for (int64_t d : order.drop_front()) {
        if (d == dim)
          break;
        row = divide(row, shape[d]);
      }
      clearIf(isBehind(modulo(row, shape[dim])), cells, pointer, /*orElse=*/false);
      return;
    }
    Value column = modulo(offset, panelBytes);
    if (swizzle)
      column = arith::XOrIOp::create(b, loc, column,
                                     multiply(modulo(divide(offset, 128), swizzle / 16), 16));
    column = arith::AddIOp::create(b, loc, multiply(divide(line, rows), panelBytes), column);
    // Whole if its first element is behind; else single elements of it may be.
    Value first = divide(column, elementBytes);
    auto whole = clearIf(isBehind(first), cells, pointer, /*orElse=*/true);
    b.setInsertionPointToStart(whole.elseBlock());
    for (int64_t i = 1; i < elements; ++i)
      clearIf(isBehind(arith::AddIOp::create(b, loc, first, constant(i))), cell,
              advance(b, loc, pointer, int32_t(i * elementBytes)),
              /*orElse=*/false);
    b.setInsertionPointAfter(whole);
  }
};

} // namespace

void tile::gpu::populateTmaPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerDescriptor, LowerTmaLoad, LowerTmaStore, LowerClearFrom>(converter,
                                                                             patterns.getContext());
}
