// tile-cpu-lower-to-llvm: buffers get places in the memory that the launcher gives to each thread,
// and what is left becomes the LLVM dialect in one conversion.
#include "dialect/CPUAttributeNames.h"
#include "mlir/Analysis/DataLayoutAnalysis.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/Passes.h"
#include <limits>

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_CPULOWERTOLLVM
#include "passes/Passes.h.inc"
} // namespace tile

/// Buffers begin at whole lines of the cache, the widest vectors too.
static constexpr int64_t lineBytes = 64;
static constexpr llvm::StringLiteral placeName = "tile.place";

/// The function that adds an offset to the address of a kernel's memory. A call of it, which is
/// never inlined, returns a pointer that LLVM takes for memory of its own: as it does of malloc,
/// and as pointers into one block would not be.
static LLVM::LLVMFuncOp getPlace(ModuleOp module) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(placeName))
    return known;
  auto b = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(pointer, {pointer, b.getI64Type()});
  auto function =
      LLVM::LLVMFuncOp::create(b, loc, placeName, type, LLVM::Linkage::Internal, /*dsoLocal=*/true);
  function.setNoInline(true);
  function.setNoUnwind(true);
  function.setWillReturn(true);
  SmallVector<LLVM::ModRefInfo> none(6, LLVM::ModRefInfo::NoModRef);
  function.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(b.getContext(), none));
  function.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  function.setResultAttr(0, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(lineBytes));
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), function.getArgument(0),
                                    ArrayRef<LLVM::GEPArg>{function.getArgument(1)});
  LLVM::ReturnOp::create(b, loc, place);
  return function;
}

/// Bytes of a buffer in memory, where elements below a byte take one.
static int64_t getBytes(MemRefType type) {
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

/// Puts the buffers of a function into the memory that its last machine argument points to.
static LogicalResult placeBuffers(func::FuncOp function, const LLVMTypeConverter &converter) {
  SmallVector<memref::AllocOp> buffers;
  function.walk([&](memref::AllocOp op) { buffers.push_back(op); });
  if (buffers.empty())
    return success();
  auto argument = function->getAttrOfType<IntegerAttr>(cpu::scratchArgumentName);
  if (!argument)
    return function.emitOpError("has buffers, but no '") << cpu::scratchArgumentName << "'";

  LLVM::LLVMFuncOp place = getPlace(function->getParentOfType<ModuleOp>());
  auto b = OpBuilder::atBlockBegin(&function.getBody().front());
  Location loc = function.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, function.getArgument(0),
                                   ArrayRef<LLVM::GEPArg>{int32_t(argument.getInt())});
  Value cell = LLVM::LoadOp::create(b, loc, pointer, slot);
  Value memory = LLVM::LoadOp::create(b, loc, pointer, cell);
  int64_t total = 0;
  for (memref::AllocOp buffer : buffers) {
    MemRefType type = buffer.getType();
    b.setInsertionPoint(buffer);
    Value offset = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(total));
    auto call = LLVM::CallOp::create(b, loc, place, ValueRange{memory, offset});
    call.setResAttrsAttr(b.getArrayAttr(b.getDictionaryAttr(b.getNamedAttr(
        LLVM::LLVMDialect::getDereferenceableAttrName(), b.getI64IntegerAttr(getBytes(type))))));
    Value descriptor = MemRefDescriptor::fromStaticShape(b, loc, converter, type, call.getResult());
    buffer.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, loc, type, descriptor).getResult(0));
    buffer.erase();
    // A line between two: buffers whose addresses differ by a multiple of 4096 bytes would wait for
    // each other's stores.
    total = llvm::alignTo(total + getBytes(type), lineBytes) + lineBytes;
  }
  constexpr int64_t most = std::numeric_limits<uint32_t>::max();
  if (total > most)
    return emitError(loc) << "kernel '" << function.getSymName() << "' needs " << total
                          << " bytes of memory for the tiles of a program, the most is " << most
                          << "; make its tiles smaller, or fewer";
  function->setAttr(cpu::scratchBytesName, b.getI64IntegerAttr(total));
  return success();
}

namespace {
struct CPULowerToLLVM : tile::impl::CPULowerToLLVMBase<CPULowerToLLVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    // Buffers first: their descriptors are built with the converter of the full conversion, so that
    // casts between them and the other patterns' values cancel.
    LLVMTypeConverter converter(context, options);
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isDeclaration() && failed(placeBuffers(function, converter)))
        return signalPassFailure();
    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    // Full: an operation that no pattern takes is an error of the compiler and must not reach LLVM.
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
