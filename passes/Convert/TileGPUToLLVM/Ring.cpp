// Rings between producer and consumers, warp specialisation, and the block's number.
//
// A ring's position is a slot and a phase in local variables, which LLVM turns into registers. The phase of an mbarrier flips
// each time the ring has gone round: who waits for a full slot starts at phase 0, who waits for an empty one at 1, so that
// the first round waits for nothing.
#include "dialect/AttributeNames.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// What a ring becomes: its address, and the local variables of its two sides.
enum RingPart : unsigned { Address, FillSlot, FillPhase, DrainSlot, DrainPhase, ReleaseSlot, numRingParts };

constexpr unsigned warpgroupThreads = 128;
constexpr unsigned blocksOfCluster = 2;

/// Threads that run the tile program.
int64_t getConsumerThreads(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  int64_t threads = function->getAttrOfType<IntegerAttr>(numThreadsName).getInt();
  if (auto producer = function->getAttrOfType<IntegerAttr>(producerThreadsName))
    threads -= producer.getInt();
  return threads;
}

Value equals(OpBuilder &b, Location loc, Value value, int64_t constant) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, constantI32(b, loc, constant));
}

/// The address of `base` + offset + slot * stride, an i32.
Value addressOf(OpBuilder &b, Location loc, Value base, int64_t offset, Value slot, int64_t stride) {
  Value address = arith::AddIOp::create(b, loc, sharedAddress(b, loc, base), constantI32(b, loc, offset));
  return arith::AddIOp::create(b, loc, address, arith::MulIOp::create(b, loc, slot, constantI32(b, loc, stride)));
}

Value pointerTo(OpBuilder &b, Location loc, Value base, int64_t offset, Value slot, int64_t stride) {
  Value bytes = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, slot, constantI32(b, loc, stride)), constantI32(b, loc, offset));
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

void waitForPhase(OpBuilder &b, Location loc, Value barrier, Value phase) {
  // Labels in braces are local, so that the statement may be duplicated.
  inlinePTX(b, loc, {}, {barrier, phase},
            "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @p bra DONE; bra WAIT; DONE: }", "r,r,~{memory}");
}

/// Arrives at the barrier of that address in block `rank` of the cluster. The form without `.release.cluster`: that one
/// costs a fence of all memory in the main loop, and who only read a slot has nothing to release.
void arriveAt(OpBuilder &b, Location loc, Value barrier, Value rank) {
  inlinePTX(b, loc, {}, {barrier, rank},
            "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; mbarrier.arrive.shared::cluster.b64 _, [a]; }", "r,r,~{memory}");
}

void arrive(OpBuilder &b, Location loc, Value barrier) {
  inlinePTX(b, loc, {}, {barrier}, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}");
}

/// Moves a position on: the slot, and the phase where the ring starts again.
void moveOn(OpBuilder &b, Location loc, Value slotVariable, Value phaseVariable, Value slot, Value phase, int64_t stages) {
  if (stages == 1) {
    if (phaseVariable)
      LLVM::StoreOp::create(b, loc, arith::XOrIOp::create(b, loc, phase, constantI32(b, loc, 1)), phaseVariable);
    return;
  }
  Value next = arith::AddIOp::create(b, loc, slot, constantI32(b, loc, 1)), wraps = equals(b, loc, next, stages);
  LLVM::StoreOp::create(b, loc, arith::SelectOp::create(b, loc, wraps, constantI32(b, loc, 0), next), slotVariable);
  if (phaseVariable) {
    Value flipped = arith::XOrIOp::create(b, loc, phase, constantI32(b, loc, 1));
    LLVM::StoreOp::create(b, loc, arith::SelectOp::create(b, loc, wraps, flipped, phase), phaseVariable);
  }
}

Value read(OpBuilder &b, Location loc, Value variable) { return LLVM::LoadOp::create(b, loc, b.getI32Type(), variable); }

/// The slot at a position; the constant 0 in a ring of one.
Value readSlot(OpBuilder &b, Location loc, Value variable, int64_t stages) {
  return stages == 1 ? constantI32(b, loc, 0) : read(b, loc, variable);
}

/// One side of a ring, where it stands when this is made.
class RingSide {
public:
  /// `part` is the side's slot, FillSlot or DrainSlot; its phase follows.
  RingSide(OpBuilder &b, Location loc, RingType type, ValueRange ring, RingPart part)
      : b(b), loc(loc), layout(type), stages(type.getStages()), base(ring[Address]), slotVariable(ring[part]),
        phaseVariable(ring[part + 1]), slot(readSlot(b, loc, slotVariable, stages)), phase(read(b, loc, phaseVariable)) {}

  const RingLayout &getLayout() const { return layout; }
  /// Addresses of the slot's barriers, i32.
  Value getFullBarrier() { return addressOf(b, loc, base, layout.getFullBarriers(), slot, 8); }
  Value getEmptyBarrier() { return addressOf(b, loc, base, layout.getEmptyBarriers(), slot, 8); }
  Value getFullBarrierPointer() { return pointerTo(b, loc, base, layout.getFullBarriers(), slot, 8); }
  Value getScalarPointer() { return pointerTo(b, loc, base, layout.getScalars(), slot, 8); }
  SmallVector<Value> getTiles(unsigned count) {
    SmallVector<Value> tiles;
    for (unsigned i = 0; i < count; ++i)
      tiles.push_back(pointerTo(b, loc, base, layout.getTileOffset(i), slot, layout.getTileStride(i)));
    return tiles;
  }
  void waitUntilFull() { waitForPhase(b, loc, getFullBarrier(), phase); }
  void waitUntilEmpty() { waitForPhase(b, loc, getEmptyBarrier(), phase); }
  /// Moves the side on to the next slot.
  void advance() { moveOn(b, loc, slotVariable, phaseVariable, slot, phase, stages); }

private:
  OpBuilder &b;
  Location loc;
  RingLayout layout;
  int64_t stages;
  Value base, slotVariable, phaseVariable, slot, phase;
};

struct LowerRing : OpConversionPattern<RingOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() + " from tile-gpu-allocate-shared, found none");
    RingLayout layout(op.getType());
    int64_t stages = op.getType().getStages();
    SmallVector<Value> parts(numRingParts);
    parts[Address] = getSharedPointer(rewriter, loc, *offset);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
      auto pointer = LLVM::LLVMPointerType::get(getContext());
      for (unsigned i = FillSlot; i < numRingParts; ++i)
        parts[i] = LLVM::AllocaOp::create(rewriter, loc, pointer, rewriter.getI32Type(), constantI32(rewriter, loc, 1));
    }
    for (unsigned i = FillSlot; i < numRingParts; ++i)
      LLVM::StoreOp::create(rewriter, loc, constantI32(rewriter, loc, i == FillPhase), parts[i]);

    // A scalar has one sender and one receiver, a program all warps of the consumers.
    int64_t consumers = op.getPerWarp() ? getConsumerThreads(op) / 32 : std::max<int64_t>(1, getConsumerThreads(op) / warpgroupThreads);
    if (op.getType().getTiles().empty() && !op.getPerWarp())
      consumers = 1;
    if (op.getClustered())
      consumers *= blocksOfCluster;
    auto first = scf::IfOp::create(rewriter, loc, equals(rewriter, loc, getThreadId(rewriter, loc), 0), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(first.thenBlock());
    for (int64_t stage = 0; stage < stages; ++stage) {
      auto init = [&](int64_t barriers, int64_t count) {
        Value address = addressOf(rewriter, loc, parts[Address], barriers, constantI32(rewriter, loc, stage), 8);
        inlinePTX(rewriter, loc, {}, {address, constantI32(rewriter, loc, count)}, "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}");
      };
      init(layout.getFullBarriers(), 1);
      init(layout.getEmptyBarriers(), consumers);
    }
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

struct LowerRingAcquire : OpConversionPattern<RingAcquireOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingAcquireOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), FillSlot);
    side.waitUntilEmpty();
    Value full = side.getFullBarrier();
    inlinePTX(rewriter, loc, {}, {full, constantI32(rewriter, loc, side.getLayout().getTransferredBytes())},
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}");
    SmallVector<Value> results = side.getTiles(op.getTiles().size());
    results.push_back(side.getFullBarrierPointer());
    side.advance();
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerRingWait : OpConversionPattern<RingWaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingWaitOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    RingSide side(rewriter, op.getLoc(), op.getRing().getType(), adaptor.getRing(), DrainSlot);
    side.waitUntilFull();
    SmallVector<Value> results = side.getTiles(op.getTiles().size());
    side.advance();
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerRingRelease : OpConversionPattern<RingReleaseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingReleaseOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange ring = adaptor.getRing();
    RingType type = op.getRing().getType();
    RingLayout layout(type);
    auto source = op.getRing().getDefiningOp<RingOp>();
    if (!source)
      return op.emitError("internal: expected the ring's definition");
    bool perWarp = source.getPerWarp(), clustered = source.getClustered();
    Value slot = readSlot(rewriter, loc, ring[ReleaseSlot], type.getStages());
    if (perWarp) {
      // Ordinary loads have read the slot, the copy engine will write it: another proxy.
      if (!op->hasAttr(fencedName))
        fenceAsyncProxy(rewriter, loc);
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    }
    unsigned group = perWarp ? 32 : std::min<int64_t>(warpgroupThreads, getConsumerThreads(op));
    Value number = arith::AndIOp::create(rewriter, loc, getThreadId(rewriter, loc), constantI32(rewriter, loc, group - 1));
    Value signals = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, number,
                                          constantI32(rewriter, loc, clustered ? blocksOfCluster : 1));
    auto first = scf::IfOp::create(rewriter, loc, signals, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      Value empty = addressOf(rewriter, loc, ring[Address], layout.getEmptyBarriers(), slot, 8);
      if (clustered)
        arriveAt(rewriter, loc, empty, number);
      else
        arrive(rewriter, loc, empty);
    }
    moveOn(rewriter, loc, ring[ReleaseSlot], {}, slot, {}, type.getStages());
    rewriter.eraseOp(op);
    return success();
  }
};

//===--- Scalars ---------------------------------------------------------------------------------------------------===//

struct LowerScalarSend : OpConversionPattern<ScalarSendOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ScalarSendOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), FillSlot);
    auto first = scf::IfOp::create(rewriter, loc, equals(rewriter, loc, getThreadId(rewriter, loc), 0), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      side.waitUntilEmpty();
      Value value = adaptor.getValue().front();
      if (value.getType().isIndex())
        value = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), value);
      else if (value.getType().isInteger(1))
        value = arith::ExtUIOp::create(rewriter, loc, rewriter.getI8Type(), value);
      LLVM::StoreOp::create(rewriter, loc, value, side.getScalarPointer());
      arrive(rewriter, loc, side.getFullBarrier());
    }
    side.advance();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerScalarReceive : OpConversionPattern<ScalarReceiveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ScalarReceiveOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), DrainSlot);
    side.waitUntilFull();
    Type wanted = op.getValue().getType();
    Type stored = wanted.isIndex() ? rewriter.getI64Type() : wanted.isInteger(1) ? rewriter.getI8Type() : wanted;
    // Volatile: another thread writes it.
    Value value = LLVM::LoadOp::create(rewriter, loc, stored, side.getScalarPointer(), /*alignment=*/0, /*isVolatile=*/true);
    arrive(rewriter, loc, side.getEmptyBarrier());
    side.advance();
    if (wanted.isIndex())
      value = arith::IndexCastOp::create(rewriter, loc, wanted, value);
    else if (wanted.isInteger(1))
      value = arith::TruncIOp::create(rewriter, loc, wanted, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

//===--- Programs --------------------------------------------------------------------------------------------------===//

struct LowerProgramTake : OpConversionPattern<ProgramTakeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ProgramTakeOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto function = op->getParentOfType<func::FuncOp>();
    Value count = function.getArgument(function->getAttrOfType<IntegerAttr>(scratchArgumentName).getInt());
    Value total = arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), adaptor.getTotal().front());
    Value last = arith::SubIOp::create(rewriter, loc, total, constantI32(rewriter, loc, 1));
    // In all, `total` numbers are taken: the programs beyond each block's first, and for each block one that does not exist. With
    // the last the count wraps to 0, for the next launch.
    Value taken = inlinePTX(rewriter, loc, rewriter.getI32Type(), {count, last}, "atom.relaxed.gpu.global.inc.u32 $0, [$1], $2;",
                            "=r,l,r,~{memory}");
    Value blocks = NVVM::GridDimXOp::create(rewriter, loc, rewriter.getI32Type());
    Value program = arith::AddIOp::create(rewriter, loc, taken, blocks); // below 2^32: both are below 2^31
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), FillSlot);
    side.waitUntilEmpty();
    LLVM::StoreOp::create(rewriter, loc, program, side.getScalarPointer(), /*alignment=*/0, /*isVolatile=*/true);
    arrive(rewriter, loc, side.getFullBarrier());
    side.advance();
    rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, rewriter.getIndexType(), program);
    return success();
  }
};

struct LowerProgramReceive : OpConversionPattern<ProgramReceiveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ProgramReceiveOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), DrainSlot);
    side.waitUntilFull();
    // Volatile: another thread writes it.
    Value read = LLVM::LoadOp::create(rewriter, loc, rewriter.getI32Type(), side.getScalarPointer(), /*alignment=*/0, /*isVolatile=*/true);
    // A shuffle, by which ptxas knows that all lanes have the same, and after which all have read it: one gives the slot back.
    Value program = NVVM::ShflOp::create(rewriter, loc, rewriter.getI32Type(), constantI32(rewriter, loc, -1), read,
                                         constantI32(rewriter, loc, 0), constantI32(rewriter, loc, 31), NVVM::ShflKind::idx, UnitAttr());
    Value lane = arith::AndIOp::create(rewriter, loc, getThreadId(rewriter, loc), constantI32(rewriter, loc, 31));
    auto first = scf::IfOp::create(rewriter, loc, equals(rewriter, loc, lane, 0), /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      arrive(rewriter, loc, side.getEmptyBarrier());
    }
    side.advance();
    rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, rewriter.getIndexType(), program);
    return success();
  }
};

//===--- Who runs what ---------------------------------------------------------------------------------------------===//

/// Registers of a thread: on entry all warps have the same share of the block's; the producer gives most of its own to the
/// consumers. More than the block got on entry is never to be had: asking for it waits for ever.
void setRegisters(OpBuilder &b, Location loc, int64_t consumerThreads, int64_t blocks, int64_t producerRegisters, bool producer) {
  constexpr int64_t registers = 65536, granule = 8, most = 240;
  int64_t consumers = consumerThreads / warpgroupThreads;
  // One consumer warpgroup that has the multiprocessor for itself may have 255 registers a thread anyway.
  if (consumers < 1 || (consumers == 1 && blocks == 1))
    return;
  int64_t entry = registers / (blocks * (consumers + 1) * warpgroupThreads) / granule * granule;
  int64_t share = std::min(most, ((consumers + 1) * entry - producerRegisters) / consumers / granule * granule);
  if (entry <= producerRegisters)
    return;
  if (producer)
    NVVM::SetMaxRegisterOp::create(b, loc, producerRegisters, NVVM::SetMaxRegisterAction::decrease);
  else
    NVVM::SetMaxRegisterOp::create(b, loc, share, NVVM::SetMaxRegisterAction::increase);
}

struct LowerWarpSpecialize : OpConversionPattern<WarpSpecializeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WarpSpecializeOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t consumers = getConsumerThreads(op), blocks = 1;
    if (auto occupancy = op->getParentOfType<func::FuncOp>()->getAttrOfType<IntegerAttr>(occupancyName))
      blocks = occupancy.getInt();
    // The mbarriers that rings have set up become visible to every thread and to the copy engine.
    inlinePTX(rewriter, loc, {}, {}, "fence.mbarrier_init.release.cluster;", "~{memory}");
    constexpr int64_t usual = 40;
    auto few = op->getAttrOfType<IntegerAttr>(producerRegistersName);
    int64_t producerRegisters = few ? few.getInt() : usual;
    bool clustered = op->getParentOfType<func::FuncOp>()->hasAttr(blocksOfClusterName);
    auto synchronizeCluster = [&] {
      inlinePTX(rewriter, loc, {}, {}, "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;", "~{memory}");
    };
    if (clustered)
      synchronizeCluster();
    else
      NVVM::BarrierOp::create(rewriter, loc);
    // Where the source fixes the registers of a thread, all have as many.
    bool moves = !op->getParentOfType<func::FuncOp>()->hasAttr(maxRegistersName);
    Value thread = getThreadId(rewriter, loc);
    Value isConsumer = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, thread, constantI32(rewriter, loc, consumers));
    auto split = scf::IfOp::create(rewriter, loc, isConsumer, /*withElseRegion=*/true);
    rewriter.inlineBlockBefore(&op.getConsumer().front(), split.thenYield());
    rewriter.setInsertionPointToStart(split.elseBlock());
    if (moves)
      setRegisters(rewriter, loc, consumers, blocks, producerRegisters, /*producer=*/true);
    auto one = scf::IfOp::create(rewriter, loc, equals(rewriter, loc, thread, consumers), /*withElseRegion=*/false);
    rewriter.inlineBlockBefore(&op.getProducer().front(), one.thenYield());
    rewriter.setInsertionPointToStart(split.thenBlock());
    if (moves)
      setRegisters(rewriter, loc, consumers, blocks, producerRegisters, /*producer=*/false);
    if (clustered) { // no block leaves while the other may still arrive at its barriers
      rewriter.setInsertionPointAfter(split);
      synchronizeCluster();
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// One warpgroup's side of a named barrier that both warpgroups count on: barrier turnBarrier + w stands for the turn of
/// warpgroup w. A turn begins when that warpgroup waits and the other (at first: itself) has arrived.
void useTurnBarrier(OpBuilder &b, Location loc, Value warpgroup, bool wait) {
  Value id = arith::AddIOp::create(b, loc, warpgroup, constantI32(b, loc, turnBarrier));
  Value threads = constantI32(b, loc, 2 * warpgroupThreads);
  inlinePTX(b, loc, {}, {id, threads}, wait ? "bar.sync $0, $1;" : "bar.arrive $0, $1;", "r,r,~{memory}");
}

Value getWarpgroup(OpBuilder &b, Location loc) {
  return arith::ShRUIOp::create(b, loc, getThreadId(b, loc), constantI32(b, loc, llvm::Log2_32(warpgroupThreads)));
}

template <typename Op>
struct LowerTurn : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename OpConversionPattern<Op>::OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value own = getWarpgroup(rewriter, loc);
    if constexpr (std::is_same_v<Op, TurnWaitOp>) {
      useTurnBarrier(rewriter, loc, own, /*wait=*/true);
    } else if constexpr (std::is_same_v<Op, TurnPassOp>) {
      useTurnBarrier(rewriter, loc, arith::XOrIOp::create(rewriter, loc, own, constantI32(rewriter, loc, 1)), /*wait=*/false);
    } else {
      // At the start the first warpgroup arrives for itself; at the end it takes the turn that nobody else will.
      auto first = scf::IfOp::create(rewriter, loc, equals(rewriter, loc, own, 0), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      useTurnBarrier(rewriter, loc, constantI32(rewriter, loc, 0), /*wait=*/std::is_same_v<Op, TurnEndOp>);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerBlockId : OpConversionPattern<BlockIdOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BlockIdOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto toIndex = [&](Value value) {
      Value index = arith::IndexCastOp::create(rewriter, op.getLoc(), rewriter.getIndexType(), value);
      index.getDefiningOp()->setAttr(nonNegativeName, rewriter.getUnitAttr());
      return index;
    };
    Value block = toIndex(NVVM::BlockIdXOp::create(rewriter, op.getLoc(), rewriter.getI32Type()));
    Value blocks = toIndex(NVVM::GridDimXOp::create(rewriter, op.getLoc(), rewriter.getI32Type()));
    rewriter.replaceOp(op, {block, blocks});
    return success();
  }
};

/// All threads that run the tile program, without the producer.
struct LowerBarrier : OpConversionPattern<tile::gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::gpu::BarrierOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (op->getParentOfType<func::FuncOp>()->hasAttr(producerThreadsName))
      NVVM::BarrierOp::create(rewriter, loc, TypeRange(), constantI32(rewriter, loc, consumerBarrier),
                              constantI32(rewriter, loc, getConsumerThreads(op)), NVVM::BarrierReductionAttr(), Value());
    else
      NVVM::BarrierOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::gpu::populateRingTypes(TypeConverter &converter) {
  converter.addConversion([](RingType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
    parts.push_back(LLVM::LLVMPointerType::get(type.getContext(), 3));
    parts.append(numRingParts - 1, LLVM::LLVMPointerType::get(type.getContext()));
    return success();
  });
  converter.addConversion([](MBarrierType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), 3); });
}

void tile::gpu::populateRingPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerRing, LowerRingAcquire, LowerRingWait, LowerRingRelease, LowerScalarSend, LowerScalarReceive, LowerProgramTake,
               LowerProgramReceive, LowerWarpSpecialize,
               LowerTurn<TurnStartOp>, LowerTurn<TurnWaitOp>, LowerTurn<TurnPassOp>, LowerTurn<TurnEndOp>, LowerBlockId, LowerBarrier>(converter, patterns.getContext());
}
