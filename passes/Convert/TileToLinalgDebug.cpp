// convert-tile-to-linalg, debug builds: tile.print by dprintf, tile.assert by __assert_fail, both
// of C's library; what a debugger probes by functions of the process in which the kernel runs.
#include "dialect/ProbeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Convert/DebugCalls.h"
#include "passes/Convert/TileToLinalg.h"

using namespace mlir;
using namespace tile;

//===--- Probes -----------------------------------------------------------===//

/// The address of the debugger's own data, which the process gives under that name.
/// The process that runs the kernel defines the symbol (driver/debug): the code is compiled in
/// memory and never linked to anything else.
static Value addressOfDebugger(OpBuilder &b, Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto global = module.lookupSymbol<LLVM::GlobalOp>(probeDataName);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(b, op->getLoc(), b.getI8Type(), /*isConstant=*/false,
                                    LLVM::Linkage::External, probeDataName, Attribute());
  }
  return LLVM::AddressOfOp::create(b, op->getLoc(), global);
}

/// A statement's begin, or a value's elements one by one, to the debugger.
static void lowerProbe(OpBuilder &b, PrintOp op, IntegerAttr site) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // One call for each element keeps the interface to three functions; a debugger's program is small
  // and slow already.
  Value data = addressOfDebugger(b, op);
  Value number = LLVM::ConstantOp::create(b, loc, b.getI64Type(), site);
  if (op.getValues().empty())
    return callFunction(b, op, probeStopName, Type(), {data, number});
  Value value = op.getValues().front();
  // Row by row: the number is at * extent + lane, from the outermost loop inwards.
  Value at = index(0); // the element's number, row by row
  SmallVector<Value> position;
  for (int64_t extent : op.getShape()) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(extent), index(1));
    b.setInsertionPointToStart(loop.getBody());
    position.push_back(loop.getInductionVar());
    at = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, at, index(extent)),
                               loop.getInductionVar());
  }
  if (isa<RankedTensorType>(value.getType()))
    value = tensor::ExtractOp::create(b, loc, value, position);
  bool isFloat = isa<FloatType>(value.getType());
  callFunction(b, op, isFloat ? probeFloatName : probeIntegerName, Type(),
               {data, number, toVariadic(b, loc, at), toVariadic(b, loc, value)});
  b.setInsertionPoint(op); // behind the loops
  callFunction(b, op, probeDoneName, Type(), {data, number});
}

void KernelLowering::lowerPrint(PrintOp op) {
  if (auto site = op->getAttrOfType<IntegerAttr>(probeSiteName))
    return lowerProbe(b, op, site);
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> position;
  for (int64_t extent : op.getShape()) {
    auto loop = scf::ForOp::create(b, loc, index(loc, 0), index(loc, extent), index(loc, 1));
    b.setInsertionPointToStart(loop.getBody());
    position.push_back(loop.getInductionVar());
  }
  // File descriptor 2. dprintf and not fprintf, as it needs no address of the C library's `stderr`.
  Value standardError = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(2));
  SmallVector<Value> arguments = {standardError, addressOfText(b, op, op.getFormat())};
  auto addPosition = [&] {
    for (Value at : position)
      arguments.push_back(toVariadic(b, loc, at));
  };
  // Positions stand where the format asks for them, ahead of the value with that number.
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    if (i == op.getPosition())
      addPosition();
    Value scalar = value;
    if (isa<RankedTensorType>(value.getType()))
      scalar = tensor::ExtractOp::create(b, loc, value, position);
    arguments.push_back(toVariadic(b, loc, scalar));
  }
  callFunction(b, op, "dprintf", b.getI32Type(), arguments, /*fixed=*/2);
}

void KernelLowering::lowerAssert(AssertOp op) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
  Value fails = arith::XOrIOp::create(b, loc, op.getCondition(), yes);
  auto branch = scf::IfOp::create(b, loc, fails, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value line =
      LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(int32_t(op.getLine())));
  StringRef kernel = op->getParentOfType<func::FuncOp>().getName();
  // Does not return: other threads of the process end with it.
  callFunction(b, op, "__assert_fail", Type(),
               {addressOfText(b, op, op.getMessage()), addressOfText(b, op, op.getFile()), line,
                addressOfText(b, op, kernel)});
}
