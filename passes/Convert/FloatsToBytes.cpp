// f32 to i8 and u8, clamped to what they hold, NaN as 0.
//
// In the language's own steps that takes a test and a selection, two extrema, a conversion and a
// part of a permutation for each element, and an instruction that rounds where the program says
// round(). The GPU's conversion to 32 bits is clamped and makes 0 of NaN by itself, rounds either
// way, and cvt.pack clamps two of its results to bytes; ptxas makes one instruction of both
// conversions and the packing where the target has it.
//
//   x = round(y); min(max(x is NaN ? 0 : x, -128), 127) as i8
//     ->   cvt.rni.s32.f32 of four y, two cvt.pack.sat.s8.s32
#include "passes/Convert/FloatsToBytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

static constexpr StringLiteral roundName = "llvm.nvvm.f2i.rn", truncateName = "llvm.nvvm.f2i.rz";

/// The number of a vector of one constant.
static std::optional<double> getSplat(Value value) {
  DenseFPElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return std::nullopt;
  return constant.getSplatValue<APFloat>().convertToDouble();
}

/// x of an operation with the constant that is asked for.
template <typename Op> static Value without(Value value, double number) {
  auto op = value.getDefiningOp<Op>();
  return op && getSplat(op.getRhs()) == number ? op.getLhs() : Value();
}

/// x of: x is NaN ? 0 : x.
static Value withoutNaN(Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto test = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!test || test.getPredicate() != arith::CmpFPredicate::UNO ||
      test.getLhs() != select.getFalseValue() || test.getRhs() != test.getLhs() ||
      getSplat(select.getTrueValue()) != 0.0)
    return {};
  return select.getFalseValue();
}

/// What the conversion clamps, NaN and all; null where it is no such conversion.
static Value getClamped(Operation *cast) {
  auto type = dyn_cast<VectorType>(cast->getResult(0).getType());
  Value number = cast->getOperand(0);
  constexpr int64_t bytesOfWord = 4;
  if (!type || type.getRank() != 1 || !type.getElementType().isInteger(8) ||
      type.getNumElements() % bytesOfWord || !getElementTypeOrSelf(number.getType()).isF32())
    return {};
  bool isSigned = isa<arith::FPToSIOp>(cast);
  number = without<arith::MinimumFOp>(number, isSigned ? 127.0 : 255.0);
  if (number)
    number = without<arith::MaximumFOp>(number, isSigned ? -128.0 : 0.0);
  return number ? withoutNaN(number) : Value();
}

static void expand(Operation *op, Value number) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto rounding = number.getDefiningOp<math::RoundEvenOp>();
  if (rounding)
    number = rounding.getOperand();
  auto type = cast<VectorType>(number.getType());
  Type i32 = b.getI32Type();
  StringAttr name = b.getStringAttr(rounding ? roundName : truncateName);
  auto convert = [&](int64_t i) {
    Value each = vector::ExtractOp::create(b, loc, number, ArrayRef<int64_t>{i});
    return LLVM::CallIntrinsicOp::create(b, loc, i32, name, ValueRange{each}).getResult(0);
  };
  const char *code = isa<arith::FPToSIOp>(op) ? "cvt.pack.sat.s8.s32.b32 $0, $1, $2, $3;"
                                              : "cvt.pack.sat.u8.s32.b32 $0, $1, $2, $3;";
  auto pack = [&](Value high, Value low, Value above) {
    return LLVM::InlineAsmOp::create(b, loc, i32, ValueRange{high, low, above}, code, "=r,r,r,r",
                                     /*has_side_effects=*/false, /*is_align_stack=*/false,
                                     LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
        .getResult(0);
  };
  Value none = arith::ConstantIntOp::create(b, loc, i32, 0);
  SmallVector<Value> words;
  for (int64_t i = 0; i < type.getNumElements(); i += 4) {
    Value upper = pack(convert(i + 3), convert(i + 2), none);
    words.push_back(pack(convert(i + 1), convert(i), upper));
  }
  auto packed = VectorType::get(int64_t(words.size()), i32);
  Value all = vector::FromElementsOp::create(b, loc, packed, words);
  op->getResult(0).replaceAllUsesWith(
      vector::BitCastOp::create(b, loc, op->getResult(0).getType(), all));
  // With what stood between, back to the number.
  SmallVector<Operation *> unused{op};
  while (!unused.empty()) {
    Operation *each = unused.pop_back_val();
    if (!each->use_empty())
      continue;
    SmallVector<Operation *> before; // once each: a test compares a value with itself
    for (Value operand : each->getOperands())
      if (Operation *from = operand.getDefiningOp();
          isa_and_nonnull<arith::MinimumFOp, arith::MaximumFOp, arith::SelectOp, arith::CmpFOp,
                          math::RoundEvenOp>(from) &&
          !llvm::is_contained(before, from) && !llvm::is_contained(unused, from))
        before.push_back(from);
    each->erase();
    llvm::append_range(unused, before);
  }
}

void tile::expandFloatsToBytes(Operation *op) {
  SmallVector<Operation *> casts;
  op->walk([&](Operation *each) {
    if (isa<arith::FPToSIOp, arith::FPToUIOp>(each))
      casts.push_back(each);
  });
  for (Operation *each : casts)
    if (Value number = getClamped(each))
      expand(each, number);
}

bool tile::isRoundingToInteger(Operation *op) {
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && (call.getIntrin() == roundName || call.getIntrin() == truncateName);
}
