// tile-bind-dimensions: makes named dimensions constants, so that a kernel is compiled for those
// sizes alone.
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_BINDDIMENSIONS
#include "passes/Passes.h.inc"

using Bindings = llvm::MapVector<StringRef, int64_t>;

/// Reads "NAME=number" options; an error at `where` for anything else.
static LogicalResult parseBindings(Location where, ArrayRef<std::string> options,
                                   Bindings &bindings) {
  for (StringRef option : options) {
    auto [name, number] = option.split('=');
    int64_t value;
    if (name.empty() || number.getAsInteger(10, value))
      return emitError(where) << "expected NAME=number for a dimension to bind, found '" << option
                              << "'";
    if (!bindings.insert({name, value}).second)
      return emitError(where) << "dimension '" << name << "' is bound twice";
  }
  return success();
}

/// Whether `value` keeps the contract of `dim`; an error at the kernel if not.
/// Bounds come first: a multiple outside of them would be found by the launcher only.
static LogicalResult checkContract(KernelOp kernel, DimAttr dim, int64_t value) {
  if (value < dim.getMin() || value > dim.getMax())
    return kernel.emitOpError() << "expects dimension '" << dim.getName() << "' in " << dim.getMin()
                                << "..=" << dim.getMax() << ", found it bound to " << value;
  if (dim.getMultipleOf() > 0 && value % dim.getMultipleOf() != 0)
    return kernel.emitOpError() << "expects dimension '" << dim.getName()
                                << "' to be a multiple of " << dim.getMultipleOf()
                                << ", found it bound to " << value;
  return success();
}

/// Binds those dimensions of the kernel that `bindings` names, and notes their names in `found`.
/// Bound dimensions leave `dims`, and thereby the kernel's machine arguments: see the ABI in
/// docs/Architecture.md.
static LogicalResult bindKernel(KernelOp kernel, const Bindings &bindings,
                                llvm::StringSet<> &found) {
  SmallVector<Attribute> free;
  for (Attribute attr : kernel.getDims()) {
    auto dim = cast<DimAttr>(attr);
    auto binding = bindings.find(dim.getName());
    if (binding == bindings.end()) {
      free.push_back(attr);
      continue;
    }
    found.insert(dim.getName());
    if (failed(checkContract(kernel, dim, binding->second)))
      return failure();
  }
  kernel.walk([&](DimOp op) {
    auto binding = bindings.find(op.getDim().getName());
    if (binding == bindings.end())
      return;
    OpBuilder builder(op);
    op.replaceAllUsesWith(
        arith::ConstantIndexOp::create(builder, op.getLoc(), binding->second).getResult());
    op.erase();
  });
  kernel.setDimsAttr(ArrayAttr::get(kernel.getContext(), free));
  return success();
}

namespace {
struct BindDimensions : impl::BindDimensionsBase<BindDimensions> {
  using BindDimensionsBase::BindDimensionsBase;

  void runOnOperation() override {
    Bindings bindings;
    if (failed(parseBindings(getOperation().getLoc(), values, bindings)))
      return signalPassFailure();
    llvm::StringSet<> found;
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (failed(bindKernel(kernel, bindings, found)))
        return signalPassFailure();
    // A name that no kernel has is a mistake of the caller, one that only some kernels have is not.
    for (const auto &[name, value] : bindings)
      if (!found.contains(name)) {
        emitError(getOperation().getLoc()) << "no kernel has a dimension '" << name << "' to bind";
        return signalPassFailure();
      }
  }
};
} // namespace

} // namespace tile
