// tile-expand-math: puts arithmetic in place of math operations that no target has, so that nothing
// calls libm.
#include "dialect/AttributeNames.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/Convert/MathFunctions.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/Passes.h.inc"

using namespace math;

/// Exact in the wider type and rounded back without harm: 16-bit floats go through f32.
/// Of these the f32 result, rounded to 16 bits, is the 16-bit result: sqrt's has more than twice
/// the bits, and the others give integers that both types hold.
static bool isRounding(Operation *op) {
  return isa<mlir::math::SqrtOp, mlir::math::FloorOp, mlir::math::CeilOp, mlir::math::RoundEvenOp,
             mlir::math::RoundOp, mlir::math::TruncOp>(op);
}

/// Operations that both targets have themselves.
/// Everything in neither list is refused below, so that no operation reaches LLVM that LLVM would
/// turn into a call of libm, which a GPU does not have.
static bool isNative(Operation *op) {
  return isRounding(op) ||
         isa<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::CopySignOp, mlir::math::FmaOp,
             mlir::math::IsNaNOp, mlir::math::IsInfOp, mlir::math::IsFiniteOp,
             mlir::math::IsNormalOp, mlir::math::CountLeadingZerosOp,
             mlir::math::CountTrailingZerosOp, mlir::math::CtPopOp>(op);
}

static bool isExpandable(Operation *op) {
  return isa<mlir::math::ExpOp, mlir::math::Exp2Op, mlir::math::ExpM1Op, mlir::math::LogOp,
             mlir::math::Log2Op, mlir::math::Log1pOp, mlir::math::SinOp, mlir::math::CosOp,
             mlir::math::TanOp, mlir::math::TanhOp, mlir::math::ErfOp, mlir::math::PowFOp,
             mlir::math::RsqrtOp>(op);
}

/// x^2 is exact to the last rounding as a product.
static bool isSquare(mlir::math::PowFOp op) {
  FloatAttr exponent;
  DenseElementsAttr splat;
  if (matchPattern(op.getRhs(), m_Constant(&splat)) && splat.isSplat())
    exponent = dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>());
  else
    matchPattern(op.getRhs(), m_Constant(&exponent));
  return exponent && exponent.getValueAsDouble() == 2.0;
}

static Number expand(Operation *op, ArrayRef<Number> in, Angles &angles, Machine machine) {
  Number x = in[0];
  return llvm::TypeSwitch<Operation *, Number>(op)
      .Case([&](mlir::math::ExpOp) { return expandExp(x, machine); })
      .Case([&](mlir::math::Exp2Op) { return expandExp2(x, machine); })
      .Case([&](mlir::math::ExpM1Op) { return expandExpM1(x); })
      .Case([&](mlir::math::LogOp) { return expandLog(x); })
      .Case([&](mlir::math::Log2Op) { return expandLog2(x); })
      .Case([&](mlir::math::Log1pOp) { return expandLog1P(x); })
      .Case([&](mlir::math::SinOp) { return expandSin(x, angles, machine); })
      .Case([&](mlir::math::CosOp) { return expandCos(x, angles, machine); })
      .Case([&](mlir::math::TanOp) { return expandTan(x, angles, machine); })
      .Case([&](mlir::math::TanhOp) { return expandTanh(x, machine); })
      .Case([&](mlir::math::ErfOp) { return expandErf(x, machine); })
      .Case([&](mlir::math::PowFOp power) { return isSquare(power) ? x * x : expandPow(x, in[1]); })
      .Case([&](mlir::math::RsqrtOp) { return expandRsqrt(x, machine); })
      .Default([&](Operation *other) { // a native operation, at a wider type
        Operation *wide = other->clone();
        wide->setOperand(0, x.get());
        wide->getResult(0).setType(x.get().getType());
        return x.make(x.at().insert(wide)->getResult(0));
      });
}

static bool isSixteenBits(Type element) { return element.isF16() || element.isBF16(); }

/// Replaces one operation; an error where its type has no expansion.
/// The wider type is f32 for both 16-bit types. Operands are widened before the formula, the result
/// is rounded once after it.
static LogicalResult rewrite(Operation *op, Angles &angles, bool gpu) {
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  if (isa<ShapedType>(type) && !vector)
    return op->emitOpError() << "is expanded on scalars and vectors, found " << type
                             << "; lower tensors to them before tile-expand-math";
  bool narrow = isSixteenBits(element);
  if (!narrow && !element.isF32() && !element.isF64())
    return op->emitOpError() << "is expanded for f16, bf16, f32 and f64, found " << element;

  ImplicitLocOpBuilder builder(op->getLoc(), op);
  SmallVector<Number> operands;
  for (Value operand : op->getOperands()) {
    Number number(builder, operand);
    if (narrow)
      number = number.make(
          arith::ExtFOp::create(builder, number.withElement(builder.getF32Type()), operand));
    operands.push_back(number);
  }
  auto flags = cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue();
  Value result =
      expand(op, operands, angles, {gpu, bitEnumContainsAll(flags, arith::FastMathFlags::afn)})
          .get();
  if (narrow)
    result = arith::TruncFOp::create(builder, type, result);
  op->replaceAllUsesWith(ValueRange{result});
  op->erase();
  return success();
}

namespace {
struct ExpandMath : impl::ExpandMathBase<ExpandMath> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    if (processor != "cpu" && processor != "gpu") {
      emitError(getOperation()->getLoc())
          << "expected processor 'cpu' or 'gpu', found '" << processor << "'";
      return signalPassFailure();
    }
    if (processor == "gpu")
      expandSigmoids();
    // Collected before the first rewrite: formulas build operations of the math dialect (fma, sqrt)
    // that are native, and that the walk should not see.
    SmallVector<Operation *> work;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<mlir::math::MathDialect>(op->getDialect()))
        work.push_back(op);
    });
    bool failed = false;
    // Shared by all operations of the module: sine and cosine of one angle reduce it once.
    Angles angles;
    for (Operation *op : work) {
      bool narrowNative =
          isRounding(op) && isSixteenBits(getElementTypeOrSelf(op->getResult(0).getType()));
      if (isExpandable(op) || narrowNative) {
        failed |= rewrite(op, angles, processor == "gpu").failed();
      } else if (!isNative(op)) {
        op->emitOpError() << "has no expansion and no instruction on the targets; compose it from "
                             "the functions that "
                             "the language lists";
        failed = true;
      }
    }
    // All errors of a module are reported, not the first alone.
    if (failed)
      return signalPassFailure();
    if (processor == "gpu")
      expandDivisions();
  }

  void expandSigmoids() {
    SmallVector<std::pair<arith::DivFOp, mlir::math::ExpOp>> sigmoids;
    getOperation()->walk([&](arith::DivFOp op) {
      if (mlir::math::ExpOp power = getExponentialOfSigmoid(op))
        sigmoids.push_back({op, power});
    });
    for (auto [division, power] : sigmoids) {
      ImplicitLocOpBuilder builder(division.getLoc(), division);
      Operation *sum = division.getRhs().getDefiningOp();
      division.replaceAllUsesWith(invertSum(Number(builder, power.getOperand())).get());
      for (Operation *op : {division.getOperation(), sum, power.getOperation()})
        op->erase();
    }
  }

  /// Also those of the formulas above.
  void expandDivisions() {
    // Code grows by what every element takes on the way that is hardly ever gone: instructions of
    // long straight kernels come from memory, too.
    constexpr int64_t mostElements = 64;
    // A thread that holds more in a trip has no registers left for groups, and other warps run
    // meanwhile; beside a producer they are few, and have registers.
    constexpr int64_t mostOfInnermost = 16, mostBesideProducer = 32;
    // Of one divisor for all the reciprocal is computed once, and an element takes no register
    // more.
    constexpr int64_t mostOfOneDivisor = 32;
    // Beside a loop, as where attention ends, there is no such work: many divisions one after
    // another take as long as some trips, and the registers of the loop's own tiles are free. A few
    // are not worth the code.
    constexpr int64_t leastBeside = 8, mostBeside = 64;
    getOperation()->walk([&](FunctionOpInterface function) {
      // Where no thread waits for another, warps hide each other's chains, and registers are better
      // spent on more of them.
      if (!exchanges(function))
        return;
      SmallVector<arith::DivFOp> innermost, beside;
      int64_t elements = 0, besideElements = 0;
      function->walk([&](arith::DivFOp op) {
        if (!isExpandableDivision(op))
          return;
        int64_t size = cast<VectorType>(op.getType()).getNumElements();
        if (standsInnermost(op, function)) {
          int64_t most = function->hasAttr(tile::gpu::producerThreadsName) ? mostBesideProducer
                         : hasOneDivisor(op)                               ? mostOfOneDivisor
                                                                           : mostOfInnermost;
          if (size > most)
            return;
          innermost.push_back(op);
          elements += size;
        } else if (size >= leastBeside) {
          beside.push_back(op);
          besideElements += size;
        }
      });
      if (elements <= mostElements)
        llvm::for_each(innermost, expandDivision);
      if (besideElements <= mostBeside)
        llvm::for_each(beside, expandDivision);
    });
  }

  /// True if threads of the function hand values to each other. Barriers alone also keep
  /// instructions in order.
  /// Reductions and scans along lanes: between two shuffles there is nothing else to run while a
  /// chain of divisions waits.
  static bool exchanges(FunctionOpInterface function) {
    return function->walk([](NVVM::ShflOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  static bool hasLoops(Operation *op) {
    return op
        ->walk([&](LoopLikeOpInterface loop) {
          return loop == op ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  /// True if no loop runs beside the operation that takes more of the time.
  static bool standsInnermost(Operation *op, Operation *function) {
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    return !hasLoops(loop ? loop.getOperation() : function);
  }
};
} // namespace

} // namespace tile
