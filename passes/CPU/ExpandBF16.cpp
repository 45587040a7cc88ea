// tile-cpu-expand-bf16: bf16 arithmetic as f32 arithmetic that is rounded, by integer code, after
// every operation. Left to LLVM each rounding is a call on processors without bf16 instructions;
// and truncf next to extf would be folded. What is left only moves them: as i16, since LLVM rounds
// what it selects, too.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Convert/Rounding.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CPUEXPANDBF16
#include "passes/Passes.h.inc"
} // namespace tile

using namespace tile;

/// On entry: scalars or vectors, loops instead of linalg. On exit: no bf16 at all, neither in
/// arithmetic nor in memory, whose elements are i16.
static bool isBF16(Value value) { return getElementTypeOrSelf(value.getType()).isBF16(); }

/// bf16 to f32: the same bits at the top.
/// Exact for every value, subnormal numbers, infinities and NaN included.
static Value widen(OpBuilder &b, Location loc, Value value) {
  Type i16 = withElement(value.getType(), b.getI16Type()),
       i32 = withElement(value.getType(), b.getI32Type());
  Value bits = arith::ExtUIOp::create(b, loc, i32, arith::BitcastOp::create(b, loc, i16, value));
  bits = arith::ShLIOp::create(b, loc, bits, integerLike(b, loc, i32, 16));
  return arith::BitcastOp::create(b, loc, withElement(value.getType(), b.getF32Type()), bits);
}

/// f32 to bf16, to nearest even: half of the last place is added, less one where the kept part is
/// even. NaN stays NaN.
static Value round(OpBuilder &b, Location loc, Value value) {
  Type i32 = withElement(value.getType(), b.getI32Type()),
       i16 = withElement(value.getType(), b.getI16Type());
  Value bits = arith::BitcastOp::create(b, loc, i32, value), sixteen = integerLike(b, loc, i32, 16);
  // bits + 0x7fff + odd carries into bit 16 just if the lower half is above 0x8000, or is 0x8000
  // with an odd upper half. A carry out of the mantissa raises the exponent, up to infinity, as it
  // should.
  Value odd = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, sixteen),
                                    integerLike(b, loc, i32, 1));
  Value half = arith::AddIOp::create(b, loc, odd, integerLike(b, loc, i32, 0x7fff));
  Value rounded = arith::AddIOp::create(b, loc, bits, half);
  // Without this bit a NaN whose payload lies in the lower half alone would become infinity.
  Value quiet = arith::OrIOp::create(b, loc, bits, integerLike(b, loc, i32, 0x400000));
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  bits = arith::SelectOp::create(b, loc, isNaN, quiet, rounded);
  bits = arith::TruncIOp::create(b, loc, i16, arith::ShRUIOp::create(b, loc, bits, sixteen));
  return arith::BitcastOp::create(b, loc, withElement(value.getType(), b.getBF16Type()), bits);
}

/// The value of `op`, which converts to bf16, in f32 and ready to be rounded.
/// f64 and integers of more than 24 bits would round twice: first to f32, then to bf16. Rounding to
/// odd in between keeps the information that the second needs.
static Value conversionSource(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value source = op->getOperand(0);
  Type f32 = withElement(source.getType(), b.getF32Type());
  Type element = getElementTypeOrSelf(source.getType());
  if (element.isF64())
    return narrowToOdd(b, loc, source);
  if (isa<FloatType>(element))
    return element.isF32() ? source : arith::ExtFOp::create(b, loc, f32, source).getResult();
  return integerToF32(b, loc, source, /*hasSign=*/isa<arith::SIToFPOp>(op));
}

static void expand(Operation *op) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value result = op->getResult(0), replacement;
  if (isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op) && isBF16(result)) {
    replacement = round(b, loc, conversionSource(b, op));
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isBF16(operand) ? widen(b, loc, operand) : operand);
    if (isa<arith::ExtFOp>(op) && getElementTypeOrSelf(result.getType()).isF32()) {
      replacement = operands[0];
    } else if (isa<math::FmaOp>(op)) {
      replacement = round(b, loc, fmaToF32(b, loc, operands[0], operands[1], operands[2]));
    } else {
      // Any other operation takes f32 for bf16 as it stands: its attributes name no type.
      Operation *wide = b.clone(*op);
      wide->setOperands(operands);
      replacement = wide->getResult(0);
      if (isBF16(result)) {
        replacement.setType(withElement(result.getType(), b.getF32Type()));
        replacement = round(b, loc, replacement);
      }
    }
  }
  result.replaceAllUsesWith(replacement);
  op->erase();
}

static Type toBits(Type type) {
  if (!getElementTypeOrSelf(type).isBF16())
    return type;
  return withElement(type, IntegerType::get(type.getContext(), 16));
}

static TypedAttr toBits(TypedAttr attr) {
  Type bits = IntegerType::get(attr.getContext(), 16);
  if (auto number = dyn_cast<FloatAttr>(attr))
    return IntegerAttr::get(bits, number.getValue().bitcastToAPInt());
  auto elements = cast<DenseFPElementsAttr>(attr);
  return elements.mapValues(bits, [](const APFloat &value) { return value.bitcastToAPInt(); });
}

/// Lets everything in `function` that holds bf16 hold the bits.
/// After `expand` only moves are left (select, loads, stores, loops), which the bits go through
/// unchanged.
static void retype(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isBF16(constant))
      constant.setValueAttr(toBits(constant.getValue()));
    for (Value result : op->getResults())
      result.setType(toBits(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(toBits(argument.getType()));
  });
  // A bitcast between bf16 and i16 is the identity by now, and would not verify.
  function.walk([](arith::BitcastOp cast) {
    if (cast.getIn().getType() != cast.getType())
      return;
    cast.replaceAllUsesWith(cast.getIn());
    cast.erase();
  });
  FunctionType type = function.getFunctionType();
  auto all = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type each) { return toBits(each); });
  };
  function.setType(
      FunctionType::get(type.getContext(), all(type.getInputs()), all(type.getResults())));
}

namespace {
struct CPUExpandBF16 : tile::impl::CPUExpandBF16Base<CPUExpandBF16> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
          op->getNumResults() != 1 || isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op))
        return;
      if (isBF16(op->getResult(0)) || llvm::any_of(op->getOperands(), isBF16))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      expand(op);
    retype(getOperation());
  }
};
} // namespace
