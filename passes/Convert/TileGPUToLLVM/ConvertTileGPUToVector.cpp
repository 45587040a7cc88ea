// convert-tile-gpu-to-vector: kernels become functions of one thread, tiles become vectors of its
// registers.
#include "passes/Convert/TileGPUToLLVM/GlobalAccess.h"
#include "passes/Convert/TileGPUToLLVM/KernelFunction.h"
#include "passes/Convert/TileGPUToLLVM/LaneSelects.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_CONVERTTILEGPUTOVECTOR
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

VectorType tile::gpu::getRegisterType(RankedTensorType type) {
  return VectorType::get(getLayout(type).getNumRegisters(), type.getElementType());
}

Value tile::gpu::constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value tile::gpu::getSharedPointer(OpBuilder &builder, Location loc, int64_t offset) {
  // The block's one array: tile-gpu-allocate-shared has given each use its offset in bytes.
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(builder, loc, pointer, sharedMemoryName);
  // Each team of consumers has its own, one behind the other.
  if (Value team = getTeam(builder, loc)) {
    auto bytes = builder.getInsertionBlock()
                     ->getParentOp()
                     ->getParentOfType<func::FuncOp>()
                     ->getAttrOfType<IntegerAttr>(teamBytesName);
    Value own =
        arith::MulIOp::create(builder, loc, team, constantI32(builder, loc, bytes.getInt()));
    base = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{own});
  }
  if (offset == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

namespace {

/// Tiles to registers, pointers to LLVM's, views to their parts.
void populateTypes(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RankedTensorType type) -> std::optional<Type> {
    if (!type.getEncoding())
      return std::nullopt;
    // A tile without a layout falls to the conversion above, which keeps it; checkLayouts has
    // refused it by then.
    return getRegisterType(type);
  });
  converter.addConversion(
      [](PointerType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), 1); });
  converter.addConversion(
      [](MemDescType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext(), 3); });
  converter.addConversion(
      [](DescriptorType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext()); });
  converter.addConversion(
      [](ViewType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
        parts.push_back(isNibble(type.getElementType())
                            ? Type(IntegerType::get(type.getContext(), 64))
                            : LLVM::LLVMPointerType::get(type.getContext(), 1));
        parts.append(2 * type.getRank(), IndexType::get(type.getContext()));
        if (type.getRank() == 0)
          parts.push_back(IntegerType::get(type.getContext(), 1));
        return success();
      });
}

/// Every tile has a layout of its own shape; what tile-gpu-assign-layouts leaves does.
/// Asked before anything is converted: patterns take a layout for granted and would fail halfway,
/// with a message about something else.
LogicalResult checkLayouts(ModuleOp module) {
  auto hasLayout = [](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return !tile || tile::gpu::hasLayout(tile);
  };
  WalkResult result = module.walk([&](Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    auto wrong = llvm::find_if_not(types, hasLayout);
    if (wrong == types.end())
      return WalkResult::advance();
    op->emitError("expected a tile with a layout of its shape, as tile-gpu-assign-layouts leaves "
                  "them, found ")
        << *wrong;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Says of where accesses begin whether it is never below 0, for what loops count is not seen any
/// more while loops are converted (isNonNegative).
void markStarts(ModuleOp module) {
  auto mark = [](ValueRange starts) {
    for (Value start : starts)
      if (Operation *op = start.getDefiningOp();
          op && !op->hasTrait<OpTrait::ConstantLike>() && isNonNegative(start))
        op->setAttr(nonNegativeName, UnitAttr::get(op->getContext()));
  };
  module.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<LoadOp, StoreOp, GatherOp, ScatterOp, AtomicOp, AsyncCopyOp>(
            [&](auto access) { mark(access.getStarts()); });
  });
}

struct ConvertTileGPUToVector : tile::impl::ConvertTileGPUToVectorBase<ConvertTileGPUToVector> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const GPUTarget *target = getTarget(module);
    if (!target || failed(checkLayouts(module)))
      return signalPassFailure();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    // From kernels to functions first: patterns below ask the function for its attributes and
    // arguments (threads, scratch memory, tensor maps).
    for (KernelOp kernel : kernels)
      if (failed(makeKernelFunction(kernel)))
        return signalPassFailure();
    declareSharedMemory(module);
    markStarts(module);

    // Rings and slots convert to several values, hence OneToNOpAdaptor in the patterns that use
    // them.
    TypeConverter converter;
    populateTypes(converter);
    populateRingTypes(converter);
    populateCopyTypes(converter);
    RewritePatternSet patterns(&getContext());
    populateViewPatterns(converter, patterns);
    populateMemoryPatterns(converter, patterns);
    populateAtomicPatterns(converter, patterns, *target);
    populateElementwisePatterns(converter, patterns);
    populateElementPatterns(converter, patterns);
    populateNibblePatterns(converter, patterns);
    populateReducePatterns(converter, patterns);
    populateShiftPatterns(converter, patterns);
    populateScanPatterns(converter, patterns);
    populateReduceByPatterns(converter, patterns);
    populateTakePatterns(converter, patterns);
    populateOrderPatterns(converter, patterns);
    populatePartPatterns(converter, patterns);
    populateSharedPatterns(converter, patterns);
    populateCopyPatterns(converter, patterns);
    populateFmaDotPatterns(converter, patterns);
    populateConvertLayoutPatterns(converter, patterns);
    populateMmaPatterns(converter, patterns);
    populateDebugPatterns(converter, patterns);
    populateRingPatterns(converter, patterns);
    populateFillPatterns(converter, patterns);
    populateWarpSpecializePatterns(converter, patterns);
    populateTmaPatterns(converter, patterns);
    populateViewDescriptorPatterns(converter, patterns);
    populateWgmmaPatterns(converter, patterns);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);

    ConversionTarget legality(getContext());
    // Full: what stays is of dialects that convert-tile-thread-to-llvm or a pass between knows. scf
    // stays, with converted types.
    legality.addIllegalDialect<TileDialect, TileGPUDialect, tensor::TensorDialect>();
    legality.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, vector::VectorDialect,
                             ub::UBDialect>();
    auto isConverted = [&](Operation *op) { return converter.isLegal(op); };
    legality.addDynamicallyLegalDialect<arith::ArithDialect, math::MathDialect>(isConverted);
    legality.addDynamicallyLegalOp<RoundFloat8Op, ub::PoisonOp>(isConverted);
    legality.addDynamicallyLegalOp<func::FuncOp>(
        [&](func::FuncOp op) { return converter.isSignatureLegal(op.getFunctionType()); });
    legality.addLegalOp<func::ReturnOp, ModuleOp>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns, legality);
    if (failed(applyFullConversion(module, legality, std::move(patterns))))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (failed(moveFills(function)))
        return signalPassFailure();
      foldLaneSelects(function);
    }
  }

  static void declareSharedMemory(ModuleOp module) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    // Of size 0: the launch says how many bytes there are. A swizzle of 128 bytes repeats after
    // 1024, and the hardware takes it from bits of the address.
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                           LLVM::Linkage::External, sharedMemoryName, Attribute(),
                           /*alignment=*/1024, /*addrSpace=*/3);
  }
};

} // namespace
