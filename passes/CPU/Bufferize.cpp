// tile-cpu-bufferize: tiles become scratch memory.
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace tile {
#define GEN_PASS_DEF_CPUBUFFERIZE
#include "passes/Passes.h.inc"
} // namespace tile

namespace {
struct CPUBufferize : tile::impl::CPUBufferizeBase<CPUBufferize> {
  void getDependentDialects(DialectRegistry &registry) const override {
    CPUBufferizeBase::getDependentDialects(registry);
    arith::registerBufferizableOpInterfaceExternalModels(registry);
    linalg::registerBufferizableOpInterfaceExternalModels(registry);
    scf::registerBufferizableOpInterfaceExternalModels(registry);
    tensor::registerBufferizableOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    OneShotBufferizationOptions options;
    // A buffer allocated in a loop may leave the loop as what it yields; tile-cpu-place-scratch
    // gives such values a home afterwards.
    options.allowReturnAllocsFromLoops = true;
    // Bytes: a line of the cache, and the widest vector (64 bytes of AVX-512).
    options.bufferAlignment = 64;
    // memref.copy would call a runtime library, element by element.
    options.memCpyFn = [](OpBuilder &b, Location loc, Value from, Value to) {
      linalg::CopyOp::create(b, loc, from, to);
      return success();
    };
    BufferizationState state;
    if (failed(runOneShotBufferize(getOperation(), options, state)))
      signalPassFailure();
  }
};
} // namespace
