// tile-gpu-fuse-exact-products: a product that no rounding touches and the sum that it enters are
// one operation, fma, with the same result.
//
//   norm - 2.0 * dot(x, y), x and y of f16    ->   fma(-2.0, dot(x, y), norm)
//   sum(v as f32 * v as f32), v of f16        ->   the sum's steps may fuse (exactProductsName)
//
// A product is exact where its bits fit its type and it can be neither too large nor too small:
// products of two numbers widened from f16, or of a sum of such products and a power of two. Not
// those of bf16, which has f32's range. An fma of them rounds once, as the sum did.
#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUFUSEEXACTPRODUCTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// What is known of a float where it is finite: a multiple of 2^low below 2^high, of so many
/// significant bits.
struct Extent {
  int64_t low, high, bits;
};

} // namespace

/// Every number of a format.
static Extent getExtent(FloatType type) {
  const llvm::fltSemantics &format = type.getFloatSemantics();
  int64_t bits = APFloat::semanticsPrecision(format);
  return {APFloat::semanticsMinExponent(format) - (bits - 1),
          APFloat::semanticsMaxExponent(format) + 1, bits};
}

static FloatType getFloat(Value value) {
  return dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
}

static Extent multiply(const Extent &a, const Extent &b) {
  // Of a power of two the other's bits alone are left.
  bool isPower = a.bits == 1 || b.bits == 1;
  return {a.low + b.low, a.high + b.high, a.bits + b.bits - (isPower ? 1 : 0)};
}

static bool fits(const Extent &value, const Extent &type) {
  return value.low >= type.low && value.high <= type.high && value.bits <= type.bits;
}

/// How many steps back through operations are looked at.
static constexpr unsigned farthest = 8;

static Extent getExtent(Value value, unsigned depth = 0);

/// The same number in each element, at other places.
static Value getMoved(Operation *op) {
  if (isa<BroadcastOp, ReshapeOp, PermuteOp, tensor::SplatOp, arith::NegFOp, math::AbsFOp>(op))
    return op->getOperand(0);
  return {};
}

/// Of sums of products that begin at 0.
static std::optional<Extent> getExtentOfDot(DotOp dot, const Extent &type) {
  FloatType a = getFloat(dot.getA()), b = getFloat(dot.getB());
  if (!a || !b || !matchPattern(dot.getAcc(), m_AnyZeroFloat()))
    return std::nullopt;
  Extent term = multiply(getExtent(a), getExtent(b));
  int64_t terms = cast<RankedTensorType>(dot.getA().getType()).getShape().back();
  // A sum may round up to a power of two, but not to a multiple of less than its terms are of.
  return Extent{term.low, term.high + int64_t(llvm::Log2_64_Ceil(terms)) + 1, type.bits};
}

static Extent getExtent(Value value, unsigned depth) {
  Extent type = getExtent(getFloat(value));
  Operation *op = value.getDefiningOp();
  if (!op || depth > farthest)
    return type;
  if (Value source = getMoved(op))
    return getExtent(source, depth + 1);
  if (auto widened = dyn_cast<arith::ExtFOp>(op))
    return getExtent(widened.getIn(), depth + 1);
  if (auto product = dyn_cast<arith::MulFOp>(op)) {
    Extent exact =
        multiply(getExtent(product.getLhs(), depth + 1), getExtent(product.getRhs(), depth + 1));
    return fits(exact, type) ? exact : type;
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return getExtentOfDot(dot, type).value_or(type);
  APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant)) && constant.isFiniteNonZero()) {
    // As an integer times a power of two.
    int64_t exponent = ilogb(constant), bits = type.bits;
    while (bits > 1 && scalbn(constant, bits - 2 - exponent, APFloat::rmTowardZero).isInteger())
      --bits;
    return {exponent - (bits - 1), exponent + 1, bits};
  }
  return type;
}

/// True if the product is the number that its factors have, unrounded.
static bool isExact(arith::MulFOp product) {
  return fits(multiply(getExtent(product.getLhs()), getExtent(product.getRhs())),
              getExtent(getFloat(product)));
}

/// The sum or difference as an fma of the product's factors. In a difference the sign moves to a
/// factor that is a constant, or to what is cheap to negate.
static Value fuse(OpBuilder &b, Operation *sum, arith::MulFOp product) {
  Location loc = sum->getLoc();
  bool isLeft = sum->getOperand(0) == product.getResult(), negates = isa<arith::SubFOp>(sum);
  Value x = product.getLhs(), y = product.getRhs(), rest = sum->getOperand(isLeft ? 1 : 0);
  auto negate = [&](Value value) -> Value { return arith::NegFOp::create(b, loc, value); };
  if (negates && isLeft)
    rest = negate(rest);
  else if (negates)
    (matchPattern(y, m_Constant()) ? y : x) = negate(matchPattern(y, m_Constant()) ? y : x);
  auto flags = cast<arith::ArithFastMathInterface>(sum).getFastMathFlagsAttr();
  return math::FmaOp::create(b, loc, x, y, rest, flags);
}

/// True if `user` takes the product once, as a term.
static bool isSum(Operation *user, arith::MulFOp product) {
  if (isa<arith::AddFOp, arith::SubFOp>(user))
    return user->getOperand(0) != user->getOperand(1);
  auto reduce = dyn_cast<ReduceOp>(user);
  return reduce && reduce.getKind() == ReduceKind::Sum && reduce.getSource() == product.getResult();
}

namespace {

struct TileGPUFuseExactProducts
    : tile::impl::TileGPUFuseExactProductsBase<TileGPUFuseExactProducts> {
  void runOnOperation() override {
    SmallVector<arith::MulFOp> products;
    getOperation().walk([&](arith::MulFOp product) {
      // With another use the product would be computed all the same.
      if (!product->use_empty() && isExact(product) &&
          llvm::all_of(product->getUsers(), [&](Operation *user) { return isSum(user, product); }))
        products.push_back(product);
    });
    for (arith::MulFOp product : products) {
      for (Operation *user : llvm::make_early_inc_range(product->getUsers())) {
        OpBuilder b(user);
        if (isa<ReduceOp>(user)) { // taken apart later on
          user->setAttr(tile::gpu::exactProductsName, b.getUnitAttr());
          product.setFastmath(product.getFastmath() | arith::FastMathFlags::contract);
          continue;
        }
        user->getResult(0).replaceAllUsesWith(fuse(b, user, product));
        user->erase();
      }
      if (product->use_empty())
        product->erase();
    }
  }
};

} // namespace
