// Distribution of work over warps: warp specialisation, turns of two warpgroups, the block's
// number, and barriers.
//
//   threads      | warpgroup 0     | warpgroup 1     | the last warpgroup       |
//                | consumers: compute                | its first thread: copies |
//   registers    a block of these three, alone on a multiprocessor of 65,536
//     on entry     168               168               168
//     setmaxnreg   232               232               40        (3 * 168 - 40) / 2 = 232
//     or           240               240               24        where products need them
//     of three consumers each has 160, in eights, and 32 are left: (4 * 128 - 24) / 3 = 162
//
// Turns go by two named barriers, one for each warpgroup; 256 threads are counted at each:
//
//   warpgroup 0   arrive 0 | wait 0 | products | arrive 1 | ...      | wait 0 | ..
//   warpgroup 1              wait 1 ..................... | products | arrive 0 | ..
#include "dialect/AttributeNames.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/TileGPU/LaunchFit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Emits setmaxnreg: on entry every warp has the same share of the block's registers; the producer
/// gives most of its share to the consumers. Invariant: the sum over all warps never exceeds the
/// registers that the block got on entry, since setmaxnreg.inc blocks until enough are free, and
/// nobody would ever free them.
void setRegisters(OpBuilder &b, Location loc, int64_t consumerThreads, int64_t blocks,
                  int64_t producerRegisters, bool producer, const GPULimits &limits) {
  int64_t consumers = consumerThreads / warpgroupThreads;
  // One consumer warpgroup that has the multiprocessor for itself may have 255 registers a thread
  // anyway.
  if (consumers < 1 || (consumers == 1 && blocks == 1))
    return;
  int64_t share = getConsumerRegisters(limits, consumers, blocks, producerRegisters);
  if (!share)
    return;
  if (producer)
    NVVM::SetMaxRegisterOp::create(
        b, loc, getProducerRegisters(limits, consumers, blocks, producerRegisters),
        NVVM::SetMaxRegisterAction::decrease);
  else
    NVVM::SetMaxRegisterOp::create(b, loc, share, NVVM::SetMaxRegisterAction::increase);
}

struct LowerWarpSpecialize : OpConversionPattern<WarpSpecializeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WarpSpecializeOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    const GPUTarget *target = getTarget(op);
    if (!target)
      return failure();
    int64_t consumers = getConsumerThreads(op), blocks = 1;
    if (auto occupancy =
            op->getParentOfType<func::FuncOp>()->getAttrOfType<IntegerAttr>(occupancyName))
      blocks = occupancy.getInt();
    // The mbarriers that rings have set up become visible to every thread and to the copy engine.
    inlinePTX(rewriter, loc, {}, {}, "fence.mbarrier_init.release.cluster;", "~{memory}");
    auto few = op->getAttrOfType<IntegerAttr>(producerRegistersName);
    int64_t producerRegisters = few ? few.getInt() : usualProducerRegisters;
    bool clustered = op->getParentOfType<func::FuncOp>()->hasAttr(blocksOfClusterName);
    // What the others must see are mbarriers, for which there is the fence above; without
    // `.relaxed` each arrival is a fence of all memory of the GPU as well, which took 1 us at
    // either end.
    auto synchronizeCluster = [&] {
      inlinePTX(rewriter, loc, {}, {},
                "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;",
                "~{memory}");
    };
    if (clustered)
      synchronizeCluster();
    else
      NVVM::BarrierOp::create(rewriter, loc);
    // Where the source fixes the registers of a thread, all have as many.
    bool moves = !op->getParentOfType<func::FuncOp>()->hasAttr(maxRegistersName);
    Value thread = getThreadId(rewriter, loc);
    Value isConsumer = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, thread,
                                             constantI32(rewriter, loc, consumers));
    auto split = scf::IfOp::create(rewriter, loc, isConsumer, /*withElseRegion=*/true);
    if (Attribute teams = op->getParentOfType<func::FuncOp>()->getAttr(teamsName))
      split->setAttr(teamsName, teams);
    rewriter.inlineBlockBefore(&op.getConsumer().front(), split.thenYield());
    rewriter.setInsertionPointToStart(split.elseBlock());
    if (moves)
      setRegisters(rewriter, loc, consumers, blocks, producerRegisters, /*producer=*/true,
                   target->limits);
    if (hasWideProducer(op)) {
      rewriter.inlineBlockBefore(&op.getProducer().front(), split.elseYield());
    } else {
      auto one = scf::IfOp::create(rewriter, loc, equals(rewriter, loc, thread, consumers),
                                   /*withElseRegion=*/false);
      rewriter.inlineBlockBefore(&op.getProducer().front(), one.thenYield());
      // ptxas takes what a lone thread computes for uniform, and copies by TMA read uniform
      // registers. LLVM would join this branch with the test of a loop behind it, where ptxas no
      // longer sees that the thread is alone and asks each copy's operands from all lanes in turn.
      rewriter.setInsertionPointToStart(one.thenBlock());
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, 1));
      rewriter.setInsertionPointAfter(one);
    }
    // Barriers of a cluster count all threads: of parts that share their states, the producer's
    // arrive where the consumers show theirs (Part.cpp), and where these have read others'.
    if (op->getParentOfType<func::FuncOp>()->hasAttr(splitClusterName)) {
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
      inlinePTX(rewriter, loc, {}, {},
                "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; "
                "barrier.cluster.arrive.aligned;",
                "~{memory}");
    }
    rewriter.setInsertionPointToStart(split.thenBlock());
    if (moves)
      setRegisters(rewriter, loc, consumers, blocks, producerRegisters, /*producer=*/false,
                   target->limits);
    if (clustered) { // no block leaves while the other may still arrive at its barriers
      rewriter.setInsertionPointAfter(split);
      synchronizeCluster();
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// One warpgroup's side of a named barrier that two warpgroups count on: barrier turnBarrier + w
/// stands for the turn of warpgroup w. A turn begins when that warpgroup waits and the one before
/// it (at first: itself) has arrived.
void useTurnBarrier(OpBuilder &b, Location loc, Value warpgroup, bool wait) {
  Value id = arith::AddIOp::create(b, loc, warpgroup, constantI32(b, loc, turnBarrier));
  Value threads = constantI32(b, loc, 2 * warpgroupThreads);
  inlinePTX(b, loc, {}, {id, threads}, wait ? "bar.sync $0, $1;" : "bar.arrive $0, $1;",
            "r,r,~{memory}");
}

Value getWarpgroup(OpBuilder &b, Location loc) {
  return arith::ShRUIOp::create(b, loc, getBlockThread(b, loc),
                                constantI32(b, loc, llvm::Log2_32(warpgroupThreads)));
}

/// The warpgroup whose turn follows: the first one's that of the last of `threads`.
Value getNextWarpgroup(OpBuilder &b, Location loc, Value own, int64_t threads) {
  int64_t warpgroups = threads / warpgroupThreads;
  if (warpgroups == 2)
    return arith::XOrIOp::create(b, loc, own, constantI32(b, loc, 1));
  Value next = arith::AddIOp::create(b, loc, own, constantI32(b, loc, 1));
  return arith::SelectOp::create(b, loc, equals(b, loc, own, warpgroups - 1),
                                 constantI32(b, loc, 0), next);
}

template <typename Op> struct LowerTurn : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult matchAndRewrite(Op op, typename OpConversionPattern<Op>::OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value own = getWarpgroup(rewriter, loc);
    if constexpr (std::is_same_v<Op, TurnWaitOp>) {
      useTurnBarrier(rewriter, loc, own, /*wait=*/true);
    } else if constexpr (std::is_same_v<Op, TurnPassOp>) {
      useTurnBarrier(rewriter, loc, getNextWarpgroup(rewriter, loc, own, getConsumerThreads(op)),
                     /*wait=*/false);
    } else {
      // At the start the first warpgroup arrives for itself; at the end it takes the turn that
      // nobody else will.
      auto first =
          scf::IfOp::create(rewriter, loc, equals(rewriter, loc, own, 0), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(first.thenBlock());
      useTurnBarrier(rewriter, loc, constantI32(rewriter, loc, 0),
                     /*wait=*/std::is_same_v<Op, TurnEndOp>);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerBlockId : OpConversionPattern<BlockIdOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(BlockIdOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto toIndex = [&](Value value) {
      Value index =
          arith::IndexCastOp::create(rewriter, op.getLoc(), rewriter.getIndexType(), value);
      index.getDefiningOp()->setAttr(nonNegativeName, rewriter.getUnitAttr());
      return index;
    };
    Value block = toIndex(NVVM::BlockIdXOp::create(rewriter, op.getLoc(), rewriter.getI32Type()));
    Value blocks = toIndex(NVVM::GridDimXOp::create(rewriter, op.getLoc(), rewriter.getI32Type()));
    rewriter.replaceOp(op, {block, blocks});
    return success();
  }
};

struct LowerTeam : OpConversionPattern<TeamOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TeamOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Value team = getTeam(rewriter, op.getLoc());
    if (!team)
      team = constantI32(rewriter, op.getLoc(), 0);
    Value index = arith::IndexCastOp::create(rewriter, op.getLoc(), rewriter.getIndexType(), team);
    index.getDefiningOp()->setAttr(nonNegativeName, rewriter.getUnitAttr());
    rewriter.replaceOp(op, index);
    return success();
  }
};

/// All threads that run the tile program, without the producer: those of the team, if there are
/// several.
struct LowerBarrier : OpConversionPattern<tile::gpu::BarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::gpu::BarrierOp op, OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr int64_t warpThreads = 32;
    Location loc = op.getLoc();
    if (Value team = getTeam(rewriter, loc)) {
      Value id = arith::AddIOp::create(
          rewriter, loc,
          arith::MulIOp::create(rewriter, loc, team,
                                constantI32(rewriter, loc, teamBarrier - consumerBarrier)),
          constantI32(rewriter, loc, consumerBarrier));
      NVVM::BarrierOp::create(rewriter, loc, TypeRange(), id,
                              constantI32(rewriter, loc, getTeamThreads(rewriter)),
                              NVVM::BarrierReductionAttr(), Value());
    } else if (getConsumerThreads(op) == warpThreads) { // without the block's barrier
      NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
    } else if (op->getParentOfType<func::FuncOp>()->hasAttr(producerThreadsName)) {
      NVVM::BarrierOp::create(rewriter, loc, TypeRange(),
                              constantI32(rewriter, loc, consumerBarrier),
                              constantI32(rewriter, loc, getConsumerThreads(op)),
                              NVVM::BarrierReductionAttr(), Value());
    } else {
      NVVM::BarrierOp::create(rewriter, loc);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::gpu::populateWarpSpecializePatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns) {
  patterns.add<LowerWarpSpecialize, LowerTurn<TurnStartOp>, LowerTurn<TurnWaitOp>,
               LowerTurn<TurnPassOp>, LowerTurn<TurnEndOp>, LowerBlockId, LowerTeam, LowerBarrier>(
      converter, patterns.getContext());
}
