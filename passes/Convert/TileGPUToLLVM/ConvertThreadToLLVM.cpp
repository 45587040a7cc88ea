// convert-tile-thread-to-llvm: functions of one thread to the LLVM and NVVM dialects, with
// upstream's conversions.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_CONVERTTHREADTOLLVM
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;

namespace {

bool isNaNTest(Value test, Value of) {
  auto compare = test.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getPredicate() == arith::CmpFPredicate::UNO && compare.getLhs() == of &&
         compare.getRhs() == of;
}

/// isnan(a) ? b : isnan(b) ? a : maximum(a, b), as `maxnum` is written out, is one instruction of
/// PTX: `max` and `min` without .NaN give the other operand, and take -0 for less than +0.
void foldSelections(func::FuncOp function) {
  function.walk([](arith::SelectOp outer) {
    auto inner = outer.getFalseValue().getDefiningOp<arith::SelectOp>();
    if (!inner || !getElementTypeOrSelf(outer.getType()).isF32())
      return;
    Value b = outer.getTrueValue(), a = inner.getTrueValue();
    Operation *extreme = inner.getFalseValue().getDefiningOp();
    if (!isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(extreme) ||
        !llvm::is_contained(extreme->getOperands(), a) ||
        !llvm::is_contained(extreme->getOperands(), b) || a == b ||
        !isNaNTest(outer.getCondition(), a) || !isNaNTest(inner.getCondition(), b))
      return;
    OpBuilder builder(outer);
    Value one = isa<arith::MaximumFOp>(extreme)
                    ? arith::MaxNumFOp::create(builder, outer.getLoc(), a, b).getResult()
                    : arith::MinNumFOp::create(builder, outer.getLoc(), a, b).getResult();
    outer.replaceAllUsesWith(one);
  });
}

struct ConvertThreadToLLVM : tile::impl::ConvertThreadToLLVMBase<ConvertThreadToLLVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    for (auto function : getOperation().getOps<func::FuncOp>())
      foldSelections(function);
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(64);
    // Indices have 64 bits here; what provably fits 32 is narrowed later, on LLVM's IR.
    LLVMTypeConverter converter(context, options);
    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    // Strided slices and broadcasts have no LLVM form of their own: they become shuffles and
    // inserts.
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addLegalOp<ModuleOp>();
    // What fails to convert ends the compilation anyway: nothing is kept to be restored.
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns), config)))
      return signalPassFailure();
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      markKernel(function);
  }

  /// Of a kernel whose last part loads the states of many at once: blocks of a multiprocessor,
  /// where shared memory has room for so few that each thread may have all the registers that there
  /// can be; 0 where registers matter. ptxas knows nothing of the launch's memory: it keeps to
  /// registers with which more blocks would run, and loads a few states at a time.
  static int64_t countRoomyBlocks(LLVM::LLVMFuncOp function, int64_t threads) {
    auto bytes = function->getAttrOfType<IntegerAttr>(tile::gpu::sharedBytesName);
    if (!bytes || !function->hasAttr(tile::gpu::splitPartsName) ||
        function->hasAttr(tile::gpu::splitClusterName))
      return 0;
    const tile::GPUTarget *target = tile::gpu::getTarget(function);
    if (!target)
      return 0;
    const tile::GPULimits &limits = target->limits;
    int64_t blocks = limits.sharedPerProcessor / (bytes.getInt() + limits.sharedReserved);
    return blocks && limits.registersFor(threads, blocks) == limits.registersPerThread ? blocks : 0;
  }

  /// NVVM's attributes belong to LLVM functions only.
  static void markKernel(LLVM::LLVMFuncOp function) {
    auto threads = function->getAttrOfType<IntegerAttr>(tile::gpu::numThreadsName);
    if (!threads)
      return;
    Builder builder(function);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    auto cluster = function->getAttrOfType<IntegerAttr>(tile::gpu::blocksOfClusterName);
    if (function->hasAttr(tile::gpu::splitClusterName))
      cluster = function->getAttrOfType<IntegerAttr>(tile::gpu::splitPartsName);
    if (cluster)
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                        builder.getDenseI32ArrayAttr({int32_t(cluster.getInt()), 1, 1}));
    // Registers can be reallocated only where their number on entry is known.
    auto occupancy = function->getAttrOfType<IntegerAttr>(tile::occupancyName);
    // Either a limit of registers, or a number of blocks from which ptxas computes one.
    auto registers = function->getAttrOfType<IntegerAttr>(tile::maxRegistersName);
    if (registers)
      function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(),
                        builder.getI32IntegerAttr(int32_t(registers.getInt())));
    int64_t blocks = 0;
    if (occupancy)
      blocks = occupancy.getInt();
    else if (function->hasAttr(tile::gpu::producerThreadsName))
      blocks = 1;
    else
      blocks = countRoomyBlocks(function, threads.getInt());
    if (!registers && blocks)
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        builder.getI32IntegerAttr(int32_t(blocks)));
    // Exactly so many: the launch takes this number, and no other.
    function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                      builder.getDenseI32ArrayAttr({int32_t(threads.getInt())}));
    // fp("fast") may flush subnormal numbers: without, each approximate instruction comes with its
    // scaling.
    if (auto mode = function->getAttrOfType<StringAttr>(tile::floatModeName);
        mode && mode.getValue() == "fast")
      function.setDenormalFpMathF32("preserve-sign,preserve-sign");
    // Tensor maps are the last parameters: copied by value into the parameters' memory, which TMA
    // reads by address.
    auto maps = function->getAttrOfType<ArrayAttr>(tile::gpu::tensorMapsName);
    unsigned count = function.getNumArguments();
    for (unsigned i = maps ? count - maps.size() : count; i < count; ++i) {
      function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(LLVM::LLVMArrayType::get(builder.getI8Type(), 128)));
      function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
      function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
    }
  }
};

} // namespace
