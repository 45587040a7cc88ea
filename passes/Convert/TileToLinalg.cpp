// convert-tile-to-linalg: a tile.kernel becomes a function that runs a range of programs, its tiles
// linalg on tensors, its loads and stores clipped copies.
//
//   void kernel(const void *const *arguments, int64_t begin, int64_t end) {
//     parameters, dimensions, extents of the grid      read and computed once
//     for (program = begin; program < end; ++program)  what a thread has taken (launch/core/Pool.c)
//       body                                           one program after the other
//   }
//
// One program makes all trips of a split loop: merging its parts is no work here.
#include "passes/Convert/TileToLinalg.h"
#include "dialect/AttributeNames.h"
#include "dialect/CPUAttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Convert/ShapeExpansion.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CONVERTTILETOLINALG
#include "passes/Passes.h.inc"
} // namespace tile

using namespace tile;

/// Reads the pointer to machine argument `i`'s value.
/// The ABI hands over addresses of values, not values, so that one signature serves all kernels:
/// see docs/Architecture.md.
static Value argumentAddress(OpBuilder &b, Location loc, Value args, unsigned i) {
  Type ptr = args.getType();
  Value slot =
      LLVM::GEPOp::create(b, loc, ptr, ptr, args, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  return LLVM::LoadOp::create(b, loc, ptr, slot);
}

/// Reads a scalar argument; bool is a byte, index 64 bits.
/// A byte that is neither 0 nor 1 is true as well: the caller's memory decides, not the type.
static Value readScalar(OpBuilder &b, Location loc, Value address, Type type) {
  if (type.isIndex()) {
    Value value = LLVM::LoadOp::create(b, loc, b.getI64Type(), address);
    return arith::IndexCastOp::create(b, loc, type, value);
  }
  if (type.isInteger(1)) {
    Value value = LLVM::LoadOp::create(b, loc, b.getI8Type(), address);
    Value zero = arith::ConstantIntOp::create(b, loc, 0, 8);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
  }
  return LLVM::LoadOp::create(b, loc, type, address);
}

/// Makes a memref<T> of a bare pointer, by the descriptor that the conversion to LLVM gives such a
/// memref.
static Value memrefOfPointer(OpBuilder &b, Location loc, Value pointer, Type element) {
  auto ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {ptr, ptr, b.getI64Type()});
  Value descriptor = LLVM::PoisonOp::create(b, loc, type);
  descriptor = LLVM::InsertValueOp::create(b, loc, descriptor, pointer, ArrayRef<int64_t>{0});
  descriptor = LLVM::InsertValueOp::create(b, loc, descriptor, pointer, ArrayRef<int64_t>{1});
  Value zero = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(0));
  descriptor = LLVM::InsertValueOp::create(b, loc, descriptor, zero, ArrayRef<int64_t>{2});
  return UnrealizedConversionCastOp::create(b, loc, MemRefType::get({}, element), descriptor)
      .getResult(0);
}

/// Splits the program number into positions along the axes, the last axis fastest.
/// Axis 0 takes the rest without a division, since program numbers stay below the grid's product.
static void decompose(OpBuilder &b, Location loc, Value program, ArrayRef<Value> extents,
                      SmallVectorImpl<Value> &ids) {
  ids.assign(extents.size(), Value());
  for (unsigned axis = extents.size(); axis-- > 0;) {
    if (axis == 0) {
      ids[axis] = program;
      break;
    }
    ids[axis] = arith::RemUIOp::create(b, loc, program, extents[axis]);
    program = arith::DivUIOp::create(b, loc, program, extents[axis]);
  }
}

/// Lowers all that is of the tile dialect in `root`, in program order.
/// The list is made before the first change, in the order of the text: a load thus sees all stores
/// that stand before it. Operations are erased last to first, users before what they use.
static LogicalResult lowerOps(Operation *root, OpBuilder &b, KernelLowering &lowering) {
  SmallVector<Operation *> ops;
  // The dialect's operations alone: slices and concatenations are upstream's, with a lowering
  // there.
  root->walk([&](Operation *op) {
    if (isa<TileDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(expandShape(op)))
      return failure();
  ops.clear();
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<RoundFloat8Op>(op)) // element-wise: expanded with what upstream has of conversions
      return;
    if (isa<TileDialect>(op->getDialect()) || isa<tensor::SplatOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    b.setInsertionPoint(op);
    if (failed(lowering.lower(op)))
      return failure();
  }
  // Views and extents have no uses left here, since each lowering has replaced them.
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return success();
}

/// Computes the grid's extents where `b` stands.
/// The grid's region is lowered by cloning and not by `lower`: it stands at entry, before any view
/// exists.
static FailureOr<SmallVector<Value>> lowerGrid(KernelOp kernel, ArrayRef<Value> params,
                                               OpBuilder &b, KernelLowering &lowering) {
  IRMapping mapping;
  for (auto [arg, value] : llvm::zip(kernel.getGrid().getArguments(), params))
    if (value)
      mapping.map(arg, value);
  for (Operation &op : kernel.getGrid().front().without_terminator()) {
    if (auto dim = dyn_cast<DimOp>(op)) {
      mapping.map(dim.getResult(), lowering.dims.lookup(dim.getDim().getName()));
      continue;
    }
    if (isa<TileDialect>(op.getDialect()))
      return op.emitOpError("cannot stand in a kernel's grid");
    b.clone(op, mapping);
  }
  SmallVector<Value> extents;
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
    extents.push_back(mapping.lookup(extent));
  return extents;
}

static LogicalResult lowerKernel(KernelOp kernel) {
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  Type ptr = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto function =
      func::FuncOp::create(b, loc, kernel.getSymName(), b.getFunctionType({ptr, i64, i64}, {}));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  KernelLowering lowering(b);

  // The prologue: parameters, dimensions, grid.
  Value args = entry->getArgument(0);
  unsigned argument = 0;
  SmallVector<Value> params;
  for (BlockArgument arg : kernel.getBody().getArguments()) {
    Value address = argumentAddress(b, loc, args, argument++);
    if (auto pointer = dyn_cast<PointerType>(arg.getType())) {
      Value value = LLVM::LoadOp::create(b, loc, ptr, address);
      // Integers of 4 bits are read out of their bytes.
      // Parameters that have pointers get a null entry in `params`: their uses are views, which go
      // by `bases`.
      Type element =
          pointer.getElementType().isInteger(4) ? b.getI8Type() : pointer.getElementType();
      lowering.bases[arg] = memrefOfPointer(b, loc, value, element);
      lowering.pointers[lowering.bases[arg]] = value;
      // An argument with access `in` is read in place only if no other argument may overlap it.
      if (kernel.getParam(arg.getArgNumber()).getAccess() == Access::In &&
          !kernel->hasAttr(mayAliasName))
        lowering.readOnly.insert(arg);
      params.push_back({});
    } else {
      params.push_back(readScalar(b, loc, address, arg.getType()));
    }
  }
  for (Attribute dim : kernel.getDims()) {
    Value address = argumentAddress(b, loc, args, argument++);
    lowering.dims[cast<DimAttr>(dim).getName()] = readScalar(b, loc, address, b.getIndexType());
  }
  // The slot behind the last dimension. tile-cpu-lower-to-llvm reads it where buffers need memory.
  function->setAttr(cpu::scratchArgumentName, b.getI64IntegerAttr(argument));
  FailureOr<SmallVector<Value>> extents = lowerGrid(kernel, params, b, lowering);
  if (failed(extents))
    return failure();

  // The loop over programs, around the body.
  Value begin = arith::IndexCastOp::create(b, loc, b.getIndexType(), entry->getArgument(1));
  Value end = arith::IndexCastOp::create(b, loc, b.getIndexType(), entry->getArgument(2));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto loop = scf::ForOp::create(b, loc, begin, end, one);
  func::ReturnOp::create(b, loc);
  b.setInsertionPointToStart(loop.getBody());
  decompose(b, loc, loop.getInductionVar(), *extents, lowering.programIds);
  // Scalars replace the block's arguments; pointers keep theirs till views are lowered.
  for (auto [arg, value] : llvm::zip(kernel.getBody().getArguments(), params))
    if (value)
      arg.replaceAllUsesWith(value);
  Block &body = kernel.getBody().front();
  body.getTerminator()->erase();
  loop.getBody()->getOperations().splice(std::prev(loop.getBody()->end()), body.getOperations());

  if (failed(lowerOps(loop, b, lowering)))
    return failure();
  kernel.erase();
  return success();
}

namespace {
struct ConvertTileToLinalg : tile::impl::ConvertTileToLinalgBase<ConvertTileToLinalg> {
  void runOnOperation() override {
    // Their operands would be views that are gone.
    WalkResult foreign = getOperation().walk([](Operation *op) {
      if (!isa_and_present<tile::gpu::TileGPUDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("is for GPUs; code for the CPU comes from the tile dialect alone");
      return WalkResult::interrupt();
    });
    if (foreign.wasInterrupted())
      return signalPassFailure();
    getOperation().walk([](MergePartsOp merge) { // one program makes all trips of a split loop
      merge->replaceAllUsesWith(merge.getStates());
      merge.erase();
    });
    for (KernelOp kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>()))
      if (failed(lowerKernel(kernel)))
        return signalPassFailure();
  }
};
} // namespace

LogicalResult KernelLowering::lower(Operation *op) {
  if (auto dim = dyn_cast<DimOp>(op)) {
    dim.getResult().replaceAllUsesWith(dims.lookup(dim.getDim().getName()));
    return success();
  }
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    if (id.getAxis() >= programIds.size())
      return id.emitOpError("has axis ")
             << id.getAxis() << ", but the grid has " << programIds.size() << " axes";
    id.getResult().replaceAllUsesWith(programIds[id.getAxis()]);
    return success();
  }
  if (auto extent = dyn_cast<ExtentOp>(op)) {
    extent.getResult().replaceAllUsesWith(
        views.find(extent.getSource())->second.extents[extent.getDim()]);
    return success();
  }
  if (auto view = dyn_cast<ViewOp>(op))
    return lowerView(view), success();
  if (auto view = dyn_cast<SubviewOp>(op))
    return lowerSubview(view), success();
  if (auto view = dyn_cast<PermuteViewOp>(op))
    return lowerPermuteView(view), success();
  if (auto print = dyn_cast<PrintOp>(op))
    return lowerPrint(print), success();
  if (auto check = dyn_cast<AssertOp>(op))
    return lowerAssert(check), success();
  if (auto load = dyn_cast<LoadOp>(op))
    return lowerLoad(load);
  if (auto store = dyn_cast<StoreOp>(op))
    return lowerStore(store);
  if (auto inside = dyn_cast<InsideOp>(op))
    return lowerInside(inside);
  if (auto gather = dyn_cast<GatherOp>(op))
    return lowerGather(gather);
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return lowerScatter(scatter);
  if (auto atomic = dyn_cast<AtomicOp>(op))
    return lowerAtomic(atomic);
  if (auto scan = dyn_cast<ScanOp>(op)) {
    op->replaceAllUsesWith(lowerScan(scan));
    return success();
  }
  if (auto reduce = dyn_cast<ReduceByOp>(op)) {
    op->replaceAllUsesWith(lowerReduceBy(reduce));
    return success();
  }
  if (isa<ScanYieldOp>(op)) // goes with its scan or reduction
    return success();
  Location loc = op->getLoc();
  Value result =
      TypeSwitch<Operation *, Value>(op)
          .Case([&](IotaOp op) { return lowerIota(op); })
          .Case([&](BroadcastOp op) { return lowerBroadcast(op); })
          .Case([&](ReshapeOp op) {
            return reshape(loc, op.getSource(), op.getResult().getType().getShape());
          })
          .Case([&](PermuteOp op) { return lowerPermute(op); })
          .Case([&](ReduceOp op) { return lowerReduce(op); })
          .Case([&](ArgReduceOp op) { return lowerArgReduce(op); })
          .Case([&](DotOp op) { return lowerDot(op); })
          .Case([&](TakeOp op) { return lowerTake(op); })
          .Case([&](SortOp op) { return lowerSort(op); })
          .Case([&](HistogramOp op) { return lowerHistogram(op); })
          .Case([&](LookupOp op) { return lowerLookup(op); })
          .Case([&](RandomBitsOp op) { return lowerRandomBits(op); })
          .Case([&](tensor::SplatOp op) {
            return splat(loc, op.getInput(), cast<RankedTensorType>(op.getResult().getType()));
          })
          .Default([](Operation *) { return Value(); });
  if (!result)
    return op->emitOpError("is not supported on the CPU");
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    broadcasts[result] = broadcast.getSource();
  else if (auto renamed = dyn_cast<ReshapeOp>(op))
    reshapes[result] = renamed.getSource();
  op->getResult(0).replaceAllUsesWith(result);
  return success();
}
