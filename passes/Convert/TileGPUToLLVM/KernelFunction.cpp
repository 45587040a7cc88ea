// A kernel as the function that one thread runs: ABI, program number, grid axes.
#include "passes/Convert/TileGPUToLLVM/KernelFunction.h"
#include "dialect/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;

/// Positions along each axis of program `program`, the last axis fastest. With `group` > 1 the last two axes are walked in
/// bands of `group` along the first of the two.
static SmallVector<Value> splitProgram(OpBuilder &b, Location loc, Value program, ValueRange extents, int64_t group) {
  SmallVector<Value> axes(extents.size());
  Value rest = program;
  size_t last = extents.size();
  if (group > 1 && extents.size() >= 2) {
    Value rows = extents[last - 2], columns = extents[last - 1];
    Value plane = arith::MulIOp::create(b, loc, rows, columns), inPlane = rest;
    if (last > 2)
      inPlane = arith::RemUIOp::create(b, loc, rest, plane);
    rest = last > 2 ? Value(arith::DivUIOp::create(b, loc, rest, plane)) : rest;
    Value groupSize = arith::ConstantIndexOp::create(b, loc, group);
    Value perBand = arith::MulIOp::create(b, loc, groupSize, columns);
    Value band = arith::DivUIOp::create(b, loc, inPlane, perBand), inBand = arith::RemUIOp::create(b, loc, inPlane, perBand);
    Value first = arith::MulIOp::create(b, loc, band, groupSize);
    Value height = arith::MinUIOp::create(b, loc, arith::SubIOp::create(b, loc, rows, first), groupSize);
    axes[last - 2] = arith::AddIOp::create(b, loc, first, arith::RemUIOp::create(b, loc, inBand, height));
    axes[last - 1] = arith::DivUIOp::create(b, loc, inBand, height);
    last -= 2;
  }
  for (size_t axis = last; axis-- > 0;) {
    if (axis == 0) {
      axes[0] = rest;
      break;
    }
    axes[axis] = arith::RemUIOp::create(b, loc, rest, extents[axis]);
    rest = arith::DivUIOp::create(b, loc, rest, extents[axis]);
  }
  return axes;
}

func::FuncOp tile::gpu::makeKernelFunction(KernelOp kernel) {
  Location loc = kernel.getLoc();
  OpBuilder b(kernel);
  Block &body = kernel.getBody().front();
  SmallVector<Type> inputs(body.getArgumentTypes());
  inputs.append(kernel.getDims().size(), b.getI64Type());
  auto function = func::FuncOp::create(b, loc, kernel.getSymName(), b.getFunctionType(inputs, {}));
  int64_t warps = 4;
  if (auto attr = kernel->getAttrOfType<IntegerAttr>(gpu::numWarpsName))
    warps = attr.getInt();
  function->setAttr(gpu::numThreadsName, b.getI64IntegerAttr(warps * 32));
  if (auto bytes = kernel->getAttr(gpu::sharedBytesName))
    function->setAttr(gpu::sharedBytesName, bytes);
  bool mayAlias = kernel->hasAttr(mayAliasName);
  for (unsigned i = 0; i < kernel.getParams().size(); ++i) {
    ParamAttr param = kernel.getParam(i);
    if (param.getAccess() == Access::Scalar)
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(param.getAlign()));
    if (mayAlias)
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (param.getAccess() == Access::In)
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }

  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  llvm::StringMap<Value> dims;
  for (auto [i, attr] : llvm::enumerate(kernel.getDims())) {
    Value argument = entry->getArgument(body.getNumArguments() + i);
    Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), argument);
    // A dimension is checked not to be negative where its contract says so.
    if (cast<DimAttr>(attr).getMin() >= 0)
      index.getDefiningOp()->setAttr(gpu::nonNegativeName, b.getUnitAttr());
    dims[cast<DimAttr>(attr).getName()] = index;
  }
  auto bindDims = [&](Region &region) {
    region.walk([&](DimOp op) {
      op.getResult().replaceAllUsesWith(dims.lookup(op.getDim().getName()));
      op.erase();
    });
  };
  bindDims(kernel.getGrid());
  bindDims(kernel.getBody());

  IRMapping mapping;
  mapping.map(kernel.getGrid().front().getArguments(), entry->getArguments().take_front(body.getNumArguments()));
  for (Operation &op : kernel.getGrid().front().without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> extents;
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
    extents.push_back(mapping.lookupOrDefault(extent));
  Value block = NVVM::BlockIdXOp::create(b, loc, b.getI32Type());
  Value program = arith::IndexCastOp::create(b, loc, b.getIndexType(), block);
  program.getDefiningOp()->setAttr(gpu::nonNegativeName, b.getUnitAttr());
  int64_t group = 1;
  if (auto attr = kernel->getAttrOfType<IntegerAttr>(groupedName))
    group = attr.getInt();
  SmallVector<Value> axes = splitProgram(b, loc, program, extents, group);
  for (Value axis : axes)
    if (Operation *op = axis.getDefiningOp())
      op->setAttr(gpu::nonNegativeName, b.getUnitAttr());

  kernel.getBody().walk([&](ProgramIdOp op) {
    op.getResult().replaceAllUsesWith(axes[op.getAxis()]);
    op.erase();
  });
  for (auto [from, to] : llvm::zip(body.getArguments(), entry->getArguments().take_front(body.getNumArguments())))
    from.replaceAllUsesWith(to);
  Operation *terminator = body.getTerminator();
  entry->getOperations().splice(entry->end(), body.getOperations(), body.begin(), terminator->getIterator());
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, terminator->getLoc());
  kernel.erase();
  return function;
}
