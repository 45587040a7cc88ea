// Verifiers, folders and ranges of kernels, dimensions and program numbers; all operation
// definitions are emitted here.
#include "dialect/Tile/RequestedState.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tile;

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.cpp.inc"

DimAttr KernelOp::getDimNamed(StringRef name) {
  for (Attribute attr : getDims())
    if (auto dim = cast<DimAttr>(attr); dim.getName() == name)
      return dim;
  return {};
}

/// Checks one region's block arguments against the parameters.
static LogicalResult verifyArguments(KernelOp kernel, Block &block, StringRef what) {
  if (block.getNumArguments() != kernel.getParams().size())
    return kernel.emitOpError() << what << " has " << block.getNumArguments() << " arguments for "
                                << kernel.getParams().size() << " parameters";
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    bool isScalar = kernel.getParam(i).getAccess() == Access::Scalar;
    if (isScalar == isa<PointerType>(argument.getType()))
      return kernel.emitOpError() << "parameter '" << kernel.getParam(i).getName() << "' is a "
                                  << (isScalar ? "scalar" : "tensor")
                                  << " but its argument has type " << argument.getType();
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  Block &grid = getGrid().front(), &body = getBody().front();
  if (failed(verifyArguments(*this, grid, "grid")) || failed(verifyArguments(*this, body, "body")))
    return failure();
  if (grid.empty() || !isa<YieldOp>(grid.back()))
    return emitOpError("grid must end in tile.yield");
  if (body.empty() || !isa<ReturnOp>(body.back()))
    return emitOpError("body must end in tile.return");
  if (failed(verifyRequests(*this)))
    return failure();
  llvm::StringSet<> names;
  for (Attribute attr : getDims())
    if (!names.insert(cast<DimAttr>(attr).getName()).second)
      return emitOpError() << "dimension '" << cast<DimAttr>(attr).getName()
                           << "' is declared twice";
  // By value, not by name alone: an operation that was cloned from another kernel would have other
  // bounds.
  WalkResult result = walk([&](DimOp op) {
    if (getDimNamed(op.getDim().getName()) == op.getDim())
      return WalkResult::advance();
    op.emitOpError() << "is not one of the kernel's dims";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// One possible value: the dimension is a constant.
OpFoldResult DimOp::fold(FoldAdaptor) {
  if (getDim().getMin() == getDim().getMax())
    return Builder(getContext()).getIndexAttr(getDim().getMin());
  return {};
}

/// For MLIR's range analyses, which decide comparisons and prove that 32 bits are enough.
void DimOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  setRange(getResult(), ConstantIntRanges::fromSigned(APInt(64, getDim().getMin(), true),
                                                      APInt(64, getDim().getMax(), true)));
}

LogicalResult ProgramIdOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitOpError("must be inside a tile.kernel");
  Operation *terminator =
      kernel.getGrid().front().empty() ? nullptr : &kernel.getGrid().front().back();
  if (int64_t axis = getAxis(); terminator && (axis < 0 || axis >= terminator->getNumOperands()))
    return emitOpError() << "axis " << axis << " is not one of the grid's "
                         << terminator->getNumOperands() << " axes";
  return success();
}

void ProgramIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setRange) {
  // A launch has fewer than 2^31 programs.
  setRange(getResult(),
           ConstantIntRanges::fromSigned(APInt(64, 0), APInt(64, (int64_t(1) << 31) - 2)));
}
