// convert-tile-to-linalg, debug builds: tile.print by dprintf, tile.assert by __assert_fail, both
// of C's library.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Convert/DebugCalls.h"
#include "passes/Convert/TileToLinalg.h"

using namespace mlir;
using namespace tile;

void KernelLowering::lowerPrint(PrintOp op) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> position;
  for (int64_t extent : op.getShape()) {
    auto loop = scf::ForOp::create(b, loc, index(loc, 0), index(loc, extent), index(loc, 1));
    b.setInsertionPointToStart(loop.getBody());
    position.push_back(loop.getInductionVar());
  }
  Value standardError = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(2));
  SmallVector<Value> arguments = {standardError, addressOfText(b, op, op.getFormat())};
  auto addPosition = [&] {
    for (Value at : position)
      arguments.push_back(toVariadic(b, loc, at));
  };
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
  callFunction(b, op, "__assert_fail", Type(),
               {addressOfText(b, op, op.getMessage()), addressOfText(b, op, op.getFile()), line,
                addressOfText(b, op, kernel)});
}
