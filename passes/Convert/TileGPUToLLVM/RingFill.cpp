// tile_gpu.ring_fill: two warps of the producer's warpgroup copy what TMA cannot.
//
//   the producer's thread             the two warps
//   wait until a slot is empty        wait until asked
//   store what a body takes; ask  ->  load it; copy; wait for the copies; fence
//   wait until done               <-  done
//   hand the slot over                wait until asked ..., until number 0 ends it
//
// Bodies stay where they stand until all is converted: then it is known which values they take from
// the thread.
//
// A wide one is made by all threads of the warpgroup where it stands: they all run the producer's
// side, and none waits for a copy.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

constexpr int64_t fillThreads = 32 * fillWarps;

/// Bits of a number.
constexpr size_t mostFills = 31;

struct LowerRingFill : OpConversionPattern<RingFillOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(RingFillOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (op.getWide()) {
      // Each thread's own arrival follows its own copies, whenever these are done.
      rewriter.inlineBlockBefore(&op.getBody().front(), op);
      inlinePTX(rewriter, loc, {}, {sharedAddress(rewriter, loc, adaptor.getBarrier())},
                "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,~{memory}");
      rewriter.eraseOp(op);
      return success();
    }
    std::optional<int64_t> offset = getSharedOffset(op);
    if (!offset)
      return op.emitError("internal: expected " + sharedOffsetName.str() +
                          " from tile-gpu-allocate-shared, found none");
    int64_t bytes = getSharedNeed(op).bytes;
    auto branch = scf::IfOp::create(rewriter, loc, adaptor.getWhen(), /*withElseRegion=*/false);
    branch->setAttr(fillName, rewriter.getDenseI64ArrayAttr({*offset, *offset + bytes}));
    rewriter.inlineBlockBefore(&op.getBody().front(), branch.thenYield());
    arrive(rewriter, loc, sharedAddress(rewriter, loc, adaptor.getBarrier()));
    rewriter.eraseOp(op);
    return success();
  }
};

/// A body, its place in shared memory, and what it takes from the producer's thread.
struct Fill {
  scf::IfOp branch;
  int64_t offset, end;
  llvm::SetVector<Value> taken;
};

/// Moves the bodies of a function's fills to the warps that run them.
class FillMover {
public:
  FillMover(func::FuncOp function, MutableArrayRef<scf::IfOp> branches)
      : function(function), entry(&function.getBody().front()), builder(function),
        loc(branches.front().getLoc()) {
    for (scf::IfOp branch : branches) {
      ArrayRef<int64_t> range = branch->getAttrOfType<DenseI64ArrayAttr>(fillName).asArrayRef();
      fills.push_back({branch, range[0], range[1], {}});
    }
  }

  LogicalResult run() {
    if (fills.size() > mostFills)
      return fills.front().branch.emitError("internal: expected ")
             << mostFills << " places at most that are filled by threads, found " << fills.size();
    for (Fill &fill : fills) {
      cloneConstants(fill);
      getUsedValuesDefinedAbove(fill.branch.getThenRegion(), fill.taken);
      fill.taken.remove_if([&](Value value) { return isSharedByAll(value); });
      if (fill.offset + FillLayout::values + 8 * int64_t(fill.taken.size()) > fill.end)
        return fill.branch.emitError("internal: expected room for ")
               << fill.taken.size() << " values of a ring_fill";
    }
    initialize();
    scf::IfOp producer = findProducer();
    makeWarps(producer);
    for (auto [i, fill] : llvm::enumerate(fills))
      ask(fill, getNumber(i));
    builder.setInsertionPoint(producer.thenYield());
    storeNumber(0);
    arrive(builder, loc, getAddress(FillLayout::asked));
    return success();
  }

private:
  /// Those that a body uses, in the body.
  void cloneConstants(Fill &fill) {
    llvm::SetVector<Value> used;
    Region &body = fill.branch.getThenRegion();
    getUsedValuesDefinedAbove(body, used);
    builder.setInsertionPointToStart(&body.front());
    for (Value value : used)
      if (Operation *def = value.getDefiningOp(); def && matchPattern(def, m_Constant()))
        replaceAllUsesInRegionWith(value, builder.clone(*def)->getResult(0), body);
  }

  /// True of what is computed before producer and consumers part: each thread has it.
  bool isSharedByAll(Value value) { return value.getParentBlock() == entry; }

  /// The branch of the producer's thread.
  scf::IfOp findProducer() {
    Operation *split = entry->findAncestorOpInBlock(*fills.front().branch);
    return cast<scf::IfOp>(
        cast<scf::IfOp>(split).elseBlock()->findAncestorOpInBlock(*fills.front().branch));
  }

  /// A bit for each: LLVM would make a table of jumps of consecutive numbers.
  static int64_t getNumber(size_t fill) { return int64_t(1) << fill; }

  Value getPointer(int64_t offset) { return getSharedPointer(builder, loc, offset); }
  /// Of the mbarriers of the first fill, which serve all.
  Value getAddress(int64_t offset) {
    return sharedAddress(builder, loc, getPointer(fills.front().offset + offset));
  }

  /// Ahead of the barrier at which producer and consumers part.
  void initialize() {
    // Behind all variables: in a block of their own LLVM would leave them in memory.
    Operation *last = &entry->front();
    for (auto variable : entry->getOps<LLVM::AllocaOp>())
      last = variable;
    builder.setInsertionPointAfter(last);
    phase = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                                   builder.getI32Type(), constantI32(builder, loc, 1));
    LLVM::StoreOp::create(builder, loc, constantI32(builder, loc, 0), phase);
    auto first = scf::IfOp::create(builder, loc, equals(builder, loc, getThreadId(builder, loc), 0),
                                   /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(first.thenBlock());
    auto initializeBarrier = [&](int64_t offset, int64_t count) {
      inlinePTX(builder, loc, {}, {getAddress(offset), constantI32(builder, loc, count)},
                "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}");
    };
    initializeBarrier(FillLayout::asked, 1);
    initializeBarrier(FillLayout::done, fillThreads);
  }

  void storeNumber(int64_t number) {
    LLVM::StoreOp::create(builder, loc, constantI32(builder, loc, number),
                          getPointer(fills.front().offset + FillLayout::number), /*alignment=*/0,
                          /*isVolatile=*/true);
  }

  /// Behind the producer's branch: the loop of the last two warps of its warpgroup.
  void makeWarps(scf::IfOp producer) {
    builder.setInsertionPointAfter(producer);
    Value first =
        constantI32(builder, loc, getConsumerThreads(producer) + warpgroupThreads - fillThreads);
    auto warps = scf::IfOp::create(builder, loc,
                                   arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                                         getThreadId(builder, loc), first),
                                   /*withElseRegion=*/false);
    builder.setInsertionPointToStart(warps.thenBlock());
    Type i32 = builder.getI32Type();
    auto loop =
        scf::WhileOp::create(builder, loc, TypeRange{i32, i32}, constantI32(builder, loc, 0));
    builder.createBlock(&loop.getBefore(), {}, i32, loc);
    Value parity = loop.getBeforeArguments().front();
    waitForPhase(builder, loc, getAddress(FillLayout::asked), parity);
    Value number = LLVM::LoadOp::create(
        builder, loc, i32, getPointer(fills.front().offset + FillLayout::number), /*alignment=*/0,
        /*isVolatile=*/true);
    Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, number,
                                       constantI32(builder, loc, 0));
    scf::ConditionOp::create(builder, loc, more, ValueRange{parity, number});
    builder.createBlock(&loop.getAfter(), {}, TypeRange{i32, i32}, {loc, loc});
    parity = loop.getAfterArguments()[0], number = loop.getAfterArguments()[1];
    for (auto [i, fill] : llvm::enumerate(fills)) {
      OpBuilder::InsertionGuard guard(builder);
      Value bit =
          arith::AndIOp::create(builder, loc, number, constantI32(builder, loc, getNumber(i)));
      Value asked = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit,
                                          constantI32(builder, loc, 0));
      auto own = scf::IfOp::create(builder, loc, asked, /*withElseRegion=*/false);
      builder.setInsertionPoint(own.thenYield());
      moveBody(fill, own);
    }
    inlinePTX(builder, loc, {}, {}, "cp.async.wait_all;", "~{memory}");
    // The consumers read it by wgmma, or the next copy overwrites it by TMA.
    fenceAsyncProxy(builder, loc);
    arrive(builder, loc, getAddress(FillLayout::done));
    parity = arith::XOrIOp::create(builder, loc, parity, constantI32(builder, loc, 1));
    scf::YieldOp::create(builder, loc, parity);
  }

  void moveBody(Fill &fill, scf::IfOp target) {
    Block *body = fill.branch.thenBlock();
    for (auto [i, value] : llvm::enumerate(fill.taken)) {
      Type wanted = value.getType(), stored = getStored(wanted);
      Value loaded = LLVM::LoadOp::create(builder, loc, stored, getValuePointer(fill, int64_t(i)),
                                          /*alignment=*/0, /*isVolatile=*/true);
      if (wanted.isIndex())
        loaded = arith::IndexCastOp::create(builder, loc, wanted, loaded);
      else if (wanted.isInteger(1))
        loaded = arith::TruncIOp::create(builder, loc, wanted, loaded);
      replaceAllUsesInRegionWith(value, loaded, fill.branch.getThenRegion());
    }
    target.thenBlock()->getOperations().splice(target.thenYield()->getIterator(),
                                               body->getOperations(), body->begin(),
                                               fill.branch.thenYield()->getIterator());
  }

  /// Where the body stood: asks the two warps for it.
  void ask(Fill &fill, int64_t number) {
    builder.setInsertionPoint(fill.branch.thenYield());
    for (auto [i, value] : llvm::enumerate(fill.taken)) {
      Type type = value.getType();
      Value stored = value;
      if (type.isIndex())
        stored = arith::IndexCastOp::create(builder, loc, getStored(type), value);
      else if (type.isInteger(1))
        stored = arith::ExtUIOp::create(builder, loc, getStored(type), value);
      LLVM::StoreOp::create(builder, loc, stored, getValuePointer(fill, int64_t(i)),
                            /*alignment=*/0, /*isVolatile=*/true);
    }
    storeNumber(number);
    arrive(builder, loc, getAddress(FillLayout::asked));
    Value parity = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), phase);
    waitForPhase(builder, loc, getAddress(FillLayout::done), parity);
    LLVM::StoreOp::create(builder, loc,
                          arith::XOrIOp::create(builder, loc, parity, constantI32(builder, loc, 1)),
                          phase);
    fill.branch->removeAttr(fillName);
  }

  Value getValuePointer(const Fill &fill, int64_t i) {
    return getPointer(fill.offset + FillLayout::values + 8 * i);
  }
  Type getStored(Type type) {
    return type.isIndex() ? builder.getI64Type() : type.isInteger(1) ? builder.getI8Type() : type;
  }

  func::FuncOp function;
  Block *entry;
  OpBuilder builder;
  Location loc;
  SmallVector<Fill> fills;
  Value phase; ///< of `done`, a variable of the producer's thread
};

} // namespace

LogicalResult tile::gpu::moveFills(func::FuncOp function) {
  SmallVector<scf::IfOp> branches;
  function.walk([&](scf::IfOp branch) {
    if (branch->hasAttr(fillName))
      branches.push_back(branch);
  });
  return branches.empty() ? success() : FillMover(function, branches).run();
}

void tile::gpu::populateFillPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerRingFill>(converter, patterns.getContext());
}
