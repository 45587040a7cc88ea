// Rings between producer and consumers.
//
// A ring's position is a slot and a phase in local variables, which LLVM turns into registers. The
// phase of an mbarrier flips each time the ring has gone round: who waits for a full slot starts at
// phase 0, who waits for an empty one at 1, so that the first round waits for nothing.
//
// Shared memory of a ring of n slots (RingLayout): the slots of each tile, then 8 bytes for each
// barrier; a ring without tiles has 8 bytes of a scalar for each slot behind them. Tiles of one
// type that follow each other are neighbours in slots of both (memdesc_join).
//
//   | tile 0: slot 0 .. n-1 | tiles 1, 2: slot 0 .. n-1 | ... | full[n] | empty[n] | scalar[n]
//
//   producer                                     consumers
//   wait empty[s], phase p ^ 1                   wait full[s], phase p: all bytes have arrived
//   expect bytes on full[s]; start the copies    read the tiles
//   s, p move on                                 arrive at empty[s], one thread for each group
//                                                s, p move on
//
// full[s] counts one arrival (the producer's) and the bytes that copies bring; empty[s] counts each
// group that reads: warpgroups, with per_warp warps, in a cluster those of all blocks that fill it.
// In a ring whose slots the producer's threads fill (wide ring_fill) full[s] counts each of them,
// too: it arrives when its copies are there. All of these threads then run the producer's side,
// wait and move on; the first one alone starts copies by TMA, and each gives a scalar's slot back.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/SlotPlace.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

bool tile::gpu::hasWideProducer(Operation *op) {
  return op->getParentOfType<func::FuncOp>()->hasAttr(wideProducerName);
}

scf::IfOp tile::gpu::ifFirstOfProducer(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  return scf::IfOp::create(b, loc, equals(b, loc, getThreadId(b, loc), getConsumerThreads(op)),
                           /*withElseRegion=*/false);
}

int64_t tile::gpu::getConsumerThreads(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  int64_t threads = function->getAttrOfType<IntegerAttr>(numThreadsName).getInt();
  if (auto producer = function->getAttrOfType<IntegerAttr>(producerThreadsName))
    threads -= producer.getInt();
  return threads;
}

namespace {

/// The lowered form of a ring: its address, and the local variables of its two sides.
/// Positions and phases are in memory of the thread (alloca), and in registers once LLVM has
/// promoted them. ReleaseSlot has no phase: who releases waits for nothing.
enum RingPart : unsigned {
  Address,
  FillSlot,
  FillPhase,
  DrainSlot,
  DrainPhase,
  ReleaseSlot,
  numRingParts
};

/// Blocks that fill each other's slots, this one included: of a cluster of two both, of four this
/// one and those whose ranks differ in one bit.
unsigned countFillers(RingOp ring) {
  return ring.getClustered() ? 1 + llvm::popcount(ring.getAcross().value_or(1)) : 1;
}

int64_t getBlocksOfCluster(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function->getAttrOfType<IntegerAttr>(blocksOfClusterName).getInt();
}

/// The address of `base` + offset + slot * stride, an i32.
/// Bytes: an mbarrier takes 8.
/// Of an mbarrier.
constexpr int64_t barrierBytes = 8;

Value addressOf(OpBuilder &b, Location loc, Value base, int64_t offset, Value slot,
                int64_t stride) {
  Value address =
      arith::AddIOp::create(b, loc, sharedAddress(b, loc, base), constantI32(b, loc, offset));
  return arith::AddIOp::create(b, loc, address,
                               arith::MulIOp::create(b, loc, slot, constantI32(b, loc, stride)));
}

Value pointerTo(OpBuilder &b, Location loc, Value base, int64_t offset, Value slot,
                int64_t stride) {
  Value bytes = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, slot, constantI32(b, loc, stride)),
      constantI32(b, loc, offset));
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

} // namespace

std::optional<SlotPlace> tile::gpu::getSlotPlace(OpBuilder &b, Value pointer) {
  auto gep = pointer.getDefiningOp<LLVM::GEPOp>();
  if (!gep || gep.getDynamicIndices().size() != 1)
    return std::nullopt;
  auto sum = gep.getDynamicIndices()[0].getDefiningOp<arith::AddIOp>();
  auto moved = sum ? sum.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  APInt offset, stride;
  if (!moved || !matchPattern(sum.getRhs(), m_ConstantInt(&offset)) ||
      !matchPattern(moved.getRhs(), m_ConstantInt(&stride)))
    return std::nullopt;
  Value first =
      LLVM::GEPOp::create(b, gep.getLoc(), gep.getType(), gep.getElemType(), gep.getBase(),
                          ArrayRef<LLVM::GEPArg>{int32_t(offset.getSExtValue())});
  return SlotPlace{first, moved.getLhs(), stride.getSExtValue()};
}

namespace {

/// Arrives at the barrier of that address in block `rank` of the cluster. The form without
/// `.release.cluster`: that one costs a fence of all memory in the main loop, and who only read a
/// slot has nothing to release.
void arriveAt(OpBuilder &b, Location loc, Value barrier, Value rank) {
  inlinePTX(b, loc, {}, {barrier, rank},
            "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; "
            "mbarrier.arrive.shared::cluster.b64 _, [a]; }",
            "r,r,~{memory}");
}

/// Moves a position on: the slot, and the phase where the ring starts again.
/// The slot is compared, not taken modulo: stages need not be a power of two.
void moveOn(OpBuilder &b, Location loc, Value slotVariable, Value phaseVariable, Value slot,
            Value phase, int64_t stages) {
  if (stages == 1) {
    if (phaseVariable)
      LLVM::StoreOp::create(b, loc, arith::XOrIOp::create(b, loc, phase, constantI32(b, loc, 1)),
                            phaseVariable);
    return;
  }
  Value next = arith::AddIOp::create(b, loc, slot, constantI32(b, loc, 1)),
        wraps = equals(b, loc, next, stages);
  LLVM::StoreOp::create(
      b, loc, arith::SelectOp::create(b, loc, wraps, constantI32(b, loc, 0), next), slotVariable);
  if (phaseVariable) {
    Value flipped = arith::XOrIOp::create(b, loc, phase, constantI32(b, loc, 1));
    LLVM::StoreOp::create(b, loc, arith::SelectOp::create(b, loc, wraps, flipped, phase),
                          phaseVariable);
  }
}

Value read(OpBuilder &b, Location loc, Value variable) {
  return LLVM::LoadOp::create(b, loc, b.getI32Type(), variable);
}

/// The slot at a position; the constant 0 in a ring of one.
Value readSlot(OpBuilder &b, Location loc, Value variable, int64_t stages) {
  return stages == 1 ? constantI32(b, loc, 0) : read(b, loc, variable);
}

/// One side of a ring, where it stands when this is made.
/// Slot and phase are read once, when the side is made: all addresses below are of that position,
/// also after `advance`.
class RingSide {
public:
  /// `part` is the side's slot, FillSlot or DrainSlot; its phase follows.
  RingSide(OpBuilder &b, Location loc, RingType type, ValueRange ring, RingPart part)
      : b(b), loc(loc), layout(type), stages(type.getStages()), base(ring[Address]),
        slotVariable(ring[part]), phaseVariable(ring[part + 1]),
        slot(readSlot(b, loc, slotVariable, stages)), phase(read(b, loc, phaseVariable)) {}

  const RingLayout &getLayout() const { return layout; }
  /// Addresses of the slot's barriers, i32.
  Value getFullBarrier() { return addressOf(b, loc, base, layout.getFullBarriers(), slot, 8); }
  Value getEmptyBarrier() { return addressOf(b, loc, base, layout.getEmptyBarriers(), slot, 8); }
  Value getFullBarrierPointer() {
    return pointerTo(b, loc, base, layout.getFullBarriers(), slot, 8);
  }
  Value getScalarPointer() { return pointerTo(b, loc, base, layout.getScalars(), slot, 8); }
  SmallVector<Value> getTiles(unsigned count) {
    SmallVector<Value> tiles;
    for (unsigned i = 0; i < count; ++i)
      tiles.push_back(
          pointerTo(b, loc, base, layout.getTileOffset(i), slot, layout.getTileStride(i)));
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
  LogicalResult matchAndRewrite(RingOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    RingLayout layout(op.getType());
    int64_t stages = op.getType().getStages();
    SmallVector<Value> parts(numRingParts);
    parts[Address] = getSharedPointer(rewriter, loc, *offset);
    {
      // At entry, as LLVM promotes only such variables to registers.
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().getBody().front());
      auto pointer = LLVM::LLVMPointerType::get(getContext());
      for (unsigned i = FillSlot; i < numRingParts; ++i)
        parts[i] = LLVM::AllocaOp::create(rewriter, loc, pointer, rewriter.getI32Type(),
                                          constantI32(rewriter, loc, 1));
    }
    // Of phases that of the filling side starts as 1: an mbarrier's phase before its first
    // completion counts as complete for parity 1.
    for (unsigned i = FillSlot; i < numRingParts; ++i)
      LLVM::StoreOp::create(rewriter, loc, constantI32(rewriter, loc, i == FillPhase), parts[i]);

    // A scalar has one sender and one receiver, a program all warps of the consumers.
    int64_t consumers = op.getPerWarp()
                            ? getConsumerThreads(op) / 32
                            : std::max<int64_t>(1, getConsumerThreads(op) / warpgroupThreads);
    int64_t producers = op->hasAttr(filledName) ? 1 + warpgroupThreads : 1;
    if (op.getType().getTiles().empty() && !op.getPerWarp())
      consumers = hasWideProducer(op) ? warpgroupThreads : 1;
    else if (op.getType().getTiles().empty() && hasWideProducer(op))
      consumers += warpgroupThreads / 32; // its own warps receive programs, too
    if (auto teams = op->getParentOfType<func::FuncOp>()->getAttrOfType<IntegerAttr>(teamsName))
      consumers /= teams.getInt(); // a slot is for one of them
    consumers *= countFillers(op);
    auto first =
        scf::IfOp::create(rewriter, loc, equals(rewriter, loc, getThreadId(rewriter, loc), 0),
                          /*withElseRegion=*/false);
    // One thread initialises; the operation that follows (a fence and a barrier of block or
    // cluster) shows the barriers to all others and to the copy engine.
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(first.thenBlock());
    // One statement for all barriers, with one address.
    std::string text;
    llvm::raw_string_ostream out(text);
    for (int64_t stage = 0; stage < stages; ++stage) {
      auto init = [&](int64_t barriers, int64_t count) {
        out << (text.empty() ? "" : " ") << "mbarrier.init.shared::cta.b64 [$0+"
            << barriers + stage * barrierBytes << "], " << count << ";";
      };
      init(layout.getFullBarriers(), producers);
      init(layout.getEmptyBarriers(), consumers);
    }
    inlinePTX(rewriter, loc, {}, {sharedAddress(rewriter, loc, parts[Address])}, text,
              "r,~{memory}");
    rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    return success();
  }
};

struct LowerRingAcquire : OpConversionPattern<RingAcquireOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingAcquireOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    // Waiting comes first: the copies below overwrite the slot. Expecting bytes also is the
    // barrier's one arrival as a rule, hence one thread does both.
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), FillSlot);
    side.waitUntilEmpty();
    Value full = side.getFullBarrier(), bytes;
    if (op.getWhen().empty())
      bytes = constantI32(rewriter, loc, side.getLayout().getTransferredBytes());
    for (auto [i, when] : llvm::enumerate(adaptor.getWhen())) {
      Value own = arith::SelectOp::create(
          rewriter, loc, when.front(),
          constantI32(rewriter, loc, side.getLayout().getTransferredBytes(i)),
          constantI32(rewriter, loc, 0));
      bytes = bytes ? arith::AddIOp::create(rewriter, loc, bytes, own).getResult() : own;
    }
    // Of a slot that threads may fill, ring_fill arrives.
    bool fills = llvm::any_of(op.getBarrier().getUsers(), [](Operation *user) {
      auto fill = dyn_cast<RingFillOp>(user);
      return fill && !fill.getWide();
    });
    OpBuilder::InsertionGuard guard(rewriter);
    if (hasWideProducer(op))
      rewriter.setInsertionPointToStart(ifFirstOfProducer(rewriter, op).thenBlock());
    inlinePTX(rewriter, loc, {}, {full, bytes},
              fills ? "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;"
                    : "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
              "r,r,~{memory}");
    rewriter.setInsertionPoint(op);
    SmallVector<Value> results = side.getTiles(op.getTiles().size());
    results.push_back(side.getFullBarrierPointer());
    side.advance();
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerRingWait : OpConversionPattern<RingWaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingWaitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RingSide side(rewriter, op.getLoc(), op.getRing().getType(), adaptor.getRing(), DrainSlot);
    // A consumer that has peeked knows that the slot is full.
    if (!op.getFull())
      side.waitUntilFull();
    // Threads have written it, wgmma reads it by another way. Their own arrivals came before their
    // copies were done, so that it is up to those who wait to order the two.
    if (auto source = op.getRing().getDefiningOp<RingOp>(); source && source->hasAttr(filledName))
      fenceAsyncProxy(rewriter, op.getLoc());
    SmallVector<Value> results = side.getTiles(op.getTiles().size());
    side.advance();
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerRingPeek : OpConversionPattern<RingPeekOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingPeekOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RingSide(rewriter, op.getLoc(), op.getRing().getType(), adaptor.getRing(), DrainSlot)
        .waitUntilFull();
    rewriter.eraseOp(op);
    return success();
  }
};

/// Behind the slots that others read: both positions move on, waits and releases alike.
struct LowerRingSkip : OpConversionPattern<RingSkipOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingSkipOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange ring = adaptor.getRing();
    int64_t stages = op.getRing().getType().getStages();
    Value slots = arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(),
                                             adaptor.getSlots().front());
    Value all = constantI32(rewriter, loc, stages);
    Value place = arith::AddIOp::create(rewriter, loc,
                                        readSlot(rewriter, loc, ring[DrainSlot], stages), slots);
    Value rounds = arith::DivUIOp::create(rewriter, loc, place, all);
    Value slot = arith::RemUIOp::create(rewriter, loc, place, all);
    Value phase = arith::XOrIOp::create(
        rewriter, loc, read(rewriter, loc, ring[DrainPhase]),
        arith::AndIOp::create(rewriter, loc, rounds, constantI32(rewriter, loc, 1)));
    LLVM::StoreOp::create(rewriter, loc, slot, ring[DrainSlot]);
    LLVM::StoreOp::create(rewriter, loc, phase, ring[DrainPhase]);
    LLVM::StoreOp::create(rewriter, loc, slot, ring[ReleaseSlot]);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerRingRelease : OpConversionPattern<RingReleaseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingReleaseOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ValueRange ring = adaptor.getRing();
    RingType type = op.getRing().getType();
    RingLayout layout(type);
    auto source = op.getRing().getDefiningOp<RingOp>();
    if (!source)
      return op.emitError("internal: expected the ring's definition");
    bool perWarp = source.getPerWarp(), clustered = source.getClustered();
    // Releases have their own position, since they come later than waits: a slot may be held over
    // several trips.
    Value slot = readSlot(rewriter, loc, ring[ReleaseSlot], type.getStages());
    if (perWarp) {
      // Ordinary loads have read the slot, the copy engine will write it: another proxy.
      if (!op->hasAttr(fencedName))
        fenceAsyncProxy(rewriter, loc);
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    }
    unsigned group = perWarp ? 32 : std::min<int64_t>(warpgroupThreads, getConsumerThreads(op));
    // A group's first thread arrives; in a cluster the first ones, each for another block.
    Value number = arith::AndIOp::create(rewriter, loc, getThreadId(rewriter, loc),
                                         constantI32(rewriter, loc, group - 1));
    Value signals = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, number,
                                          constantI32(rewriter, loc, countFillers(source)));
    auto first = scf::IfOp::create(rewriter, loc, signals, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      Value empty = addressOf(rewriter, loc, ring[Address], layout.getEmptyBarriers(), slot, 8);
      // Of a cluster of two thread n arrives at block n's barrier; of four, thread 0 at the own
      // one's, the others at those of the ranks that differ in a bit of `across`: 1 and 2.
      Value rank = number;
      if (clustered && getBlocksOfCluster(op) > 2) {
        Value bit = source.getAcross() == 2u ? arith::ShLIOp::create(rewriter, loc, number,
                                                                     constantI32(rewriter, loc, 1))
                                                   .getResult()
                                             : number;
        rank = arith::XOrIOp::create(
            rewriter, loc, NVVM::BlockInClusterIdXOp::create(rewriter, loc, rewriter.getI32Type()),
            bit);
      }
      if (clustered)
        arriveAt(rewriter, loc, empty, rank);
      else
        arrive(rewriter, loc, empty);
    }
    moveOn(rewriter, loc, ring[ReleaseSlot], {}, slot, {}, type.getStages());
    rewriter.eraseOp(op);
    return success();
  }
};

//===--- Scalars ----------------------------------------------------------===//

struct LowerScalarSend : OpConversionPattern<ScalarSendOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ScalarSendOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), FillSlot);
    // Thread 0 alone sends, hence one arrival; all threads move their copy of the position on.
    auto first =
        scf::IfOp::create(rewriter, loc, equals(rewriter, loc, getThreadId(rewriter, loc), 0),
                          /*withElseRegion=*/false);
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
  LogicalResult matchAndRewrite(ScalarReceiveOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), DrainSlot);
    side.waitUntilFull();
    Type wanted = op.getValue().getType();
    Type stored = wanted.isIndex()      ? rewriter.getI64Type()
                  : wanted.isInteger(1) ? rewriter.getI8Type()
                                        : wanted;
    // Volatile: another thread writes it.
    // A thread's load precedes its arrival, so that the slot is not overwritten before it is read.
    Value value = LLVM::LoadOp::create(rewriter, loc, stored, side.getScalarPointer(),
                                       /*alignment=*/0, /*isVolatile=*/true);
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

//===--- Programs ---------------------------------------------------------===//

/// Grids have at most as many programs.
constexpr int64_t mostPrograms = std::numeric_limits<int32_t>::max();

/// Bytes of a split kernel's first record before the count of programs: those of its own parts.
constexpr int32_t programCountOffset = 64;

struct LowerProgramTake : OpConversionPattern<ProgramTakeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ProgramTakeOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto function = op->getParentOfType<func::FuncOp>();
    Value count =
        function.getArgument(function->getAttrOfType<IntegerAttr>(scratchArgumentName).getInt());
    if (function->hasAttr(splitPartsName)) // the first record's counts of parts stand before it
      count = LLVM::GEPOp::create(rewriter, loc, count.getType(), rewriter.getI8Type(), count,
                                  ArrayRef<LLVM::GEPArg>{programCountOffset});
    Value total = arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(),
                                             adaptor.getTotal().front());
    Value last = arith::SubIOp::create(rewriter, loc, total, constantI32(rewriter, loc, 1));
    // In all, `total` numbers are taken: the programs beyond each block's first, and for each block
    // one that does not exist. With the last the count wraps to 0, for the next launch.
    // The hardware's inc gives 0 after `last`, in one step.
    // The count is a number of programs taken; a block's first program is its own number.
    Value taken;
    if (hasWideProducer(op)) { // the first thread takes it for all, who receive it
      Value first = equals(rewriter, loc, getThreadId(rewriter, loc), getConsumerThreads(op));
      taken = inlinePTX(rewriter, loc, rewriter.getI32Type(), {count, last, first},
                        "mov.b32 $0, 0; @$3 atom.relaxed.gpu.global.inc.u32 $0, [$1], $2;",
                        "=&r,l,r,b,~{memory}");
    } else {
      taken = inlinePTX(rewriter, loc, rewriter.getI32Type(), {count, last},
                        "atom.relaxed.gpu.global.inc.u32 $0, [$1], $2;", "=r,l,r,~{memory}");
    }
    // Where it is used: the thread waits for the number there, not here.
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getProgram().getUses())
      uses.push_back(&use);
    for (OpOperand *use : llvm::reverse(uses)) {
      Operation *user = use->getOwner();
      rewriter.setInsertionPoint(user);
      Value blocks = NVVM::GridDimXOp::create(rewriter, loc, rewriter.getI32Type());
      // The sum is below 2^32, as both are below 2^31; from 2^31 - 1 on no program exists.
      Value program =
          arith::MinUIOp::create(rewriter, loc, arith::AddIOp::create(rewriter, loc, taken, blocks),
                                 constantI32(rewriter, loc, mostPrograms));
      program = arith::IndexCastUIOp::create(rewriter, loc, rewriter.getIndexType(), program);
      rewriter.modifyOpInPlace(user, [&] { use->set(program); });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerProgramSend : OpConversionPattern<ProgramSendOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ProgramSendOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value program = arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(),
                                               adaptor.getProgram().front());
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), FillSlot);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      if (hasWideProducer(op))
        rewriter.setInsertionPointToStart(ifFirstOfProducer(rewriter, op).thenBlock());
      side.waitUntilEmpty();
      LLVM::StoreOp::create(rewriter, loc, program, side.getScalarPointer(), /*alignment=*/0,
                            /*isVolatile=*/true);
      arrive(rewriter, loc, side.getFullBarrier());
    }
    side.advance();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerProgramReceive : OpConversionPattern<ProgramReceiveOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ProgramReceiveOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingSide side(rewriter, loc, op.getRing().getType(), adaptor.getRing(), DrainSlot);
    // One lane reads the slot and gives it back, the others have its number by a shuffle. No
    // branch: ptxas would take the warp for one that may have come apart, and what follows from the
    // number for something that differs between lanes.
    side.waitUntilFull();
    // All have seen the slot full before it is given back: one that had not would wait for the
    // phase after the next.
    NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    Value lane = arith::AndIOp::create(rewriter, loc, getThreadId(rewriter, loc),
                                       constantI32(rewriter, loc, 31));
    Value address = sharedAddress(rewriter, loc, side.getScalarPointer());
    Value read = inlinePTX(
        rewriter, loc, rewriter.getI32Type(), {lane, address, side.getEmptyBarrier()},
        "{ .reg .pred p; setp.eq.u32 p, $1, 0; mov.b32 $0, 0; @p ld.volatile.shared.u32 $0, [$2]; "
        "@p mbarrier.arrive.shared::cta.b64 _, [$3]; }",
        "=&r,r,r,r,~{memory}");
    Value program =
        NVVM::ShflOp::create(rewriter, loc, rewriter.getI32Type(), constantI32(rewriter, loc, -1),
                             read, constantI32(rewriter, loc, 0), constantI32(rewriter, loc, 31),
                             NVVM::ShflKind::idx, UnitAttr());
    // The number has no sign bit. Said where it is read too, so that all that follows from it is
    // known to fit 32 bits.
    program =
        arith::AndIOp::create(rewriter, loc, program, constantI32(rewriter, loc, mostPrograms));
    side.advance();
    rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, rewriter.getIndexType(), program);
    return success();
  }
};

} // namespace

void tile::gpu::populateRingTypes(TypeConverter &converter) {
  // A ring is six values: an address in shared memory and five variables of the thread.
  converter.addConversion(
      [](RingType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
        parts.push_back(LLVM::LLVMPointerType::get(type.getContext(), 3));
        parts.append(numRingParts - 1, LLVM::LLVMPointerType::get(type.getContext()));
        return success();
      });
  converter.addConversion(
      [](MBarrierType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), 3); });
}

void tile::gpu::populateRingPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerRing, LowerRingAcquire, LowerRingWait, LowerRingPeek, LowerRingSkip,
               LowerRingRelease, LowerScalarSend, LowerScalarReceive, LowerProgramTake,
               LowerProgramSend, LowerProgramReceive>(converter, patterns.getContext());
}
