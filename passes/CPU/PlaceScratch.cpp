// tile-cpu-place-scratch: every buffer of a kernel stands at the function's entry, outside all
// loops: small ones on the stack, the others for tile-cpu-lower-to-llvm to find a place for.
//
//   for k: acc = f(acc)       home = alloc, before the loop; copy init -> home
//     f allocates t      ->   for k: t = f(home); copy t -> home
//
// So no buffer outlives a trip under another name, and each allocation can move to the entry: up to
// 1 KiB as alloca, the rest as alloc that nothing frees. Where a loop carries several buffers, a
// value that may be one of them goes by a temporary: trips may swap.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CPUPLACESCRATCH
#include "passes/Passes.h.inc"
} // namespace tile

/// Buffers up to this size live on the stack, where LLVM can turn them into registers.
static constexpr int64_t stackBytes = 1024;

/// Dropped here: the layout that bufferization chose for the type. A buffer of its own is dense.
static Value allocate(OpBuilder &b, Location loc, Type type) {
  auto memref = cast<MemRefType>(type);
  return memref::AllocOp::create(b, loc,
                                 MemRefType::get(memref.getShape(), memref.getElementType()));
}

static Value castTo(OpBuilder &b, Location loc, Value buffer, Type type) {
  return buffer.getType() == type ? buffer
                                  : memref::CastOp::create(b, loc, type, buffer).getResult();
}

/// True if `buffer` is part of memory allocated in `loop`, hence of no buffer that the loop
/// carries.
/// Walks through subviews and casts to the allocation behind them. A block argument has none, and
/// counts as possibly another carried buffer.
static bool isAllocatedIn(Value buffer, Operation *loop) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  return alloc && loop->isProperAncestor(alloc);
}

/// Gives each buffer that `loop` carries memory of its own: the initial value is copied in before
/// the loop, the value of each iteration at its end. No buffer then outlives an iteration under
/// another name.
static void carryInPlace(Operation *loop, MutableOperandRange inits, ValueRange carried,
                         Operation *yield, SmallVectorImpl<Value> &homes) {
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  SmallVector<unsigned> moved;
  for (unsigned i = 0; i < carried.size(); ++i) {
    Value home;
    if (isa<MemRefType>(carried[i].getType())) {
      home = allocate(b, loc, carried[i].getType());
      linalg::CopyOp::create(b, loc, inits[i].get(), home);
      carried[i].replaceAllUsesWith(castTo(b, loc, home, carried[i].getType()));
      moved.push_back(i);
    }
    homes.push_back(home);
  }
  // A value that may be another carried buffer goes through a temporary: a swap must not overwrite
  // what it has yet to read.
  // Two rounds: all sources are safe before the first home is written.
  //
  //    loop carries (x, y), yields (y, x)      tmp0 = y; tmp1 = x      home0 = tmp0; home1 = tmp1
  b.setInsertionPoint(yield);
  SmallVector<std::pair<Value, Value>> copies;
  for (unsigned i : moved) {
    Value source = yield->getOperand(i);
    if (moved.size() > 1 && !isAllocatedIn(source, loop)) {
      Value temporary = allocate(b, loc, source.getType());
      linalg::CopyOp::create(b, loc, source, temporary);
      source = temporary;
    }
    copies.push_back({source, homes[i]});
  }
  for (auto [source, home] : copies)
    linalg::CopyOp::create(b, loc, source, home);
}

static void carryInPlace(scf::ForOp loop) {
  SmallVector<Value> homes;
  carryInPlace(loop, loop.getInitArgsMutable(), loop.getRegionIterArgs(),
               loop.getBody()->getTerminator(), homes);
  OpBuilder b(loop);
  b.setInsertionPointAfter(loop);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [i, home] : llvm::enumerate(homes)) {
    if (!home)
      continue;
    // The carried value stands unused from here on; canonicalisation drops it.
    // Uses of the loop's result read the home: the loop's last trip has copied its value there.
    yield.setOperand(i, loop.getInits()[i]);
    loop.getResult(i).replaceAllUsesWith(
        castTo(b, loop.getLoc(), home, loop.getResult(i).getType()));
  }
}

/// The condition's operands and the loop's results need nothing: they are homes already, or values
/// of the last trip, which stand till the next one begins.
static void carryInPlace(scf::WhileOp loop) {
  SmallVector<Value> homes;
  carryInPlace(loop, loop.getInitsMutable(), loop.getBeforeArguments(), loop.getYieldOp(), homes);
  for (auto [i, home] : llvm::enumerate(homes))
    if (home)
      loop.getYieldOp().setOperand(i, loop.getInits()[i]);
}

static LogicalResult place(func::FuncOp function) {
  // Inner loops come before the loops around them (post-order), so that an outer loop sees homes of
  // inner ones as buffers allocated in it.
  SmallVector<Operation *> loops;
  function.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      loops.push_back(op);
  });
  for (Operation *op : loops) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      carryInPlace(loop);
    else
      carryInPlace(cast<scf::WhileOp>(op));
  }

  Block &entry = function.getBody().front();
  SmallVector<memref::AllocOp> allocs;
  function.walk([&](memref::AllocOp op) { allocs.push_back(op); });
  OpBuilder b(function.getContext());
  for (memref::AllocOp op : allocs) {
    MemRefType type = op.getType();
    if (!type.hasStaticShape())
      return op.emitOpError("expected scratch of static shape, found ") << type;
    b.setInsertionPointToStart(&entry);
    // An element below a byte takes one, as tile-cpu-store-bool-as-byte makes it so afterwards.
    Type element = type.getElementType();
    int64_t bytes = type.getNumElements() *
                    (element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
    IntegerAttr alignment = b.getI64IntegerAttr(64);
    Value buffer = bytes <= stackBytes
                       ? memref::AllocaOp::create(b, op.getLoc(), type, alignment).getResult()
                       : memref::AllocOp::create(b, op.getLoc(), type, alignment).getResult();
    op.replaceAllUsesWith(buffer);
    op.erase();
  }
  return success();
}

namespace {
struct CPUPlaceScratch : tile::impl::CPUPlaceScratchBase<CPUPlaceScratch> {
  void runOnOperation() override {
    if (failed(place(getOperation())))
      signalPassFailure();
  }
};
} // namespace
