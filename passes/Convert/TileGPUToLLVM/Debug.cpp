// tile.print by vprintf, tile.assert by __assertfail, tile.ptx as inline assembly.
#include "passes/Convert/DebugCalls.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// True in one thread of those that run the program.
/// Thread 0 is a consumer in a specialised kernel: producers have the numbers behind.
static Value isFirstThread(OpBuilder &b, Location loc) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, getThreadId(b, loc),
                               constantI32(b, loc, 0));
}

namespace {

struct LowerPrint : OpConversionPattern<PrintOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PrintOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType tile;
    for (Value value : op.getValues())
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        tile = type;
    // Uniform values are printed once; of a tile each owner prints its own elements, in no order.
    if (!tile) {
      auto branch =
          scf::IfOp::create(rewriter, loc, isFirstThread(rewriter, loc), /*withElseRegion=*/false);
      OpBuilder inside = branch.getThenBodyBuilder();
      callVprintf(inside, op, adaptor.getValues());
      rewriter.eraseOp(op);
      return success();
    }
    // A loop over the registers: printing is slow anyway, and the code stays short.
    LinearLayout layout = getLayout(tile);
    ThreadCoordinates coordinates(rewriter, loc, layout);
    SmallVector<Value> positions;
    for (unsigned d = 0; d < layout.getRank(); ++d)
      positions.push_back(coordinates.getVector(rewriter, loc, d));
    // Threads that hold the same as another one's stay silent, as do registers: each element comes
    // once.
    Value owner = getOwnerPredicate(rewriter, loc, layout);
    Value zero = constantIndex(rewriter, loc, 0), one = constantIndex(rewriter, loc, 1),
          count = constantIndex(rewriter, loc, layout.getNumRegisters());
    auto loop = scf::ForOp::create(rewriter, loc, zero, count, one);
    // The loop reads registers by an index at run time, so that they go by way of local memory.
    OpBuilder b = OpBuilder::atBlockTerminator(loop.getBody());
    Value reg = loop.getInductionVar();
    auto at = [&](Value registers) -> Value {
      return vector::ExtractOp::create(b, loc, registers, OpFoldResult(reg));
    };
    Value prints = owner;
    auto require = [&](Value condition) {
      prints = prints ? arith::AndIOp::create(b, loc, prints, condition).getResult() : condition;
    };
    // Registers that hold what another holds too: their number has a bit that moves no coordinate.
    int64_t duplicates = 0;
    for (auto [bit, basis] : llvm::enumerate(layout.getBases(InDim::Register)))
      if (llvm::all_of(basis, [](int64_t c) { return c == 0; }))
        duplicates |= int64_t(1) << bit;
    if (duplicates) {
      Value bits =
          arith::AndIOp::create(b, loc, arith::IndexCastOp::create(b, loc, b.getI32Type(), reg),
                                constantI32(b, loc, duplicates));
      require(
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, bits, constantI32(b, loc, 0)));
    }
    SmallVector<Value> values;
    for (auto [i, value] : llvm::enumerate(adaptor.getValues())) {
      if (i == op.getPosition())
        for (auto [d, position] : llvm::enumerate(positions)) {
          Value coordinate = at(position);
          if (op.getShape()[d] !=
              tile.getDimSize(d)) // what was padded to a power of two is nobody's
            require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, coordinate,
                                          constantI32(b, loc, op.getShape()[d])));
          values.push_back(arith::ExtUIOp::create(b, loc, b.getI64Type(), coordinate));
        }
      values.push_back(isa<VectorType>(value.getType()) ? at(value) : value);
    }
    if (prints) {
      auto branch = scf::IfOp::create(b, loc, prints, /*withElseRegion=*/false);
      OpBuilder inside = branch.getThenBodyBuilder();
      callVprintf(inside, op, values);
    } else {
      callVprintf(b, op, values);
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// vprintf takes its arguments as one struct in memory.
  static void callVprintf(OpBuilder &b, PrintOp op, ValueRange values) {
    Location loc = op.getLoc();
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    SmallVector<Value> passed;
    SmallVector<Type> types;
    for (Value value : values) {
      passed.push_back(toVariadic(b, loc, value));
      types.push_back(passed.back().getType());
    }
    Value arguments;
    if (passed.empty()) {
      arguments = LLVM::ZeroOp::create(b, loc, pointer);
    } else {
      auto structure = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
      {
        OpBuilder::InsertionGuard guard(b);
        // At entry, outside of all loops: an alloca in a loop would take stack in every trip.
        b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().front());
        Value one = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(1));
        arguments = LLVM::AllocaOp::create(b, loc, pointer, structure, one);
      }
      for (auto [i, value] : llvm::enumerate(passed)) {
        Value slot = LLVM::GEPOp::create(b, loc, pointer, structure, arguments,
                                         ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
        LLVM::StoreOp::create(b, loc, value, slot);
      }
    }
    callFunction(b, op, "vprintf", b.getI32Type(),
                 {addressOfText(b, op, op.getFormat()), arguments});
  }
};

struct LowerAssert : OpConversionPattern<AssertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(AssertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value yes = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    Value fails = arith::XOrIOp::create(rewriter, loc, adaptor.getCondition(), yes);
    // The condition is the same for all threads, so that one of them is enough to stop the launch.
    fails = arith::AndIOp::create(rewriter, loc, fails, isFirstThread(rewriter, loc));
    auto branch = scf::IfOp::create(rewriter, loc, fails, /*withElseRegion=*/false);
    OpBuilder b = branch.getThenBodyBuilder();
    Value line = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                          b.getI32IntegerAttr(int32_t(op.getLine())));
    Value charBytes = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(1));
    StringRef kernel = op->getParentOfType<func::FuncOp>().getName();
    callFunction(b, op, "__assertfail", Type(),
                 {addressOfText(b, op, op.getMessage()), addressOfText(b, op, op.getFile()), line,
                  addressOfText(b, op, kernel), charBytes});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerPtx : OpConversionPattern<PtxOp> {
  // Ahead of LowerElementwise, which would take the operation for arithmetic on vectors.
  LowerPtx(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  /// The letter of a register in a constraint.
  static std::string constraintOf(Type type) {
    unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (type.isF32())
      return "f";
    if (type.isF64())
      return "d";
    return bits == 16 ? "h" : bits == 32 ? "r" : "l";
  }

  LogicalResult matchAndRewrite(PtxOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getTypeConverter()->convertType(op.getType()), element = getElementTypeOrSelf(type);
    std::string constraints = "=&" + constraintOf(element); // the text may write it first
    for (Value operand : adaptor.getOperands())
      constraints += "," + constraintOf(getElementTypeOrSelf(operand.getType()));
    // In braces, so that registers that the text declares are its own each time.
    // No side effects are declared: equal texts on equal operands are one, and unused ones go.
    std::string code = "{ " + op.getCode().str() + " }";
    auto emit = [&](ValueRange operands) -> Value {
      SmallVector<Value> inputs;
      for (Value operand : operands)
        inputs.push_back(
            operand.getType().isIndex()
                ? arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), operand)
                      .getResult()
                : operand);
      Type result = element.isIndex() ? Type(rewriter.getI64Type()) : element;
      Value value = LLVM::InlineAsmOp::create(rewriter, loc, TypeRange(result), inputs, code,
                                              constraints, /*has_side_effects=*/false,
                                              /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                              LLVM::AsmDialectAttr(), ArrayAttr())
                        .getResult(0);
      return element.isIndex()
                 ? arith::IndexCastOp::create(rewriter, loc, element, value).getResult()
                 : value;
    };
    auto registers = dyn_cast<VectorType>(type);
    if (!registers) {
      rewriter.replaceOp(op, emit(adaptor.getOperands()));
      return success();
    }
    // One statement for each register, in which an operand of a tile's type is that register.
    SmallVector<Value> results;
    for (int64_t i = 0; i < registers.getNumElements(); ++i) {
      SmallVector<Value> each;
      for (Value operand : adaptor.getOperands())
        each.push_back(vector::ExtractOp::create(rewriter, loc, operand, ArrayRef<int64_t>{i}));
      results.push_back(emit(each));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, registers, results);
    return success();
  }
};

} // namespace

void tile::gpu::populateDebugPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerPrint, LowerAssert, LowerPtx>(converter, patterns.getContext());
}
