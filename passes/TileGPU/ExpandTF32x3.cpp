// tile-gpu-expand-tf32x3: products of f32 in precision tf32x3 become three products of tf32.
//
// x is hi + lo, hi its upper 11 bits of precision and lo what is left, which tf32 holds but for the
// last two. Of the four products lo * lo is below what the others round off.
#include "dialect/Tile/TileDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUEXPANDTF32X3
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// A tile as the sum of two.
struct Halves {
  Value hi, lo;
};

static Halves split(OpBuilder &b, Location loc, Value x) {
  // Turned tiles are split as they lie.
  if (auto permute = x.getDefiningOp<PermuteOp>()) {
    Halves halves = split(b, loc, permute.getSource());
    auto turn = [&](Value half) -> Value {
      return PermuteOp::create(b, loc, permute.getType(), half, permute.getPermutation());
    };
    return {turn(halves.hi), turn(halves.lo)};
  }
  auto type = cast<RankedTensorType>(x.getType()),
       bits = RankedTensorType::get(type.getShape(), b.getI32Type());
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(bits, Attribute(b.getI32IntegerAttr(int32_t(value)))));
  };
  auto masked = [&](Value word, uint32_t mask) -> Value {
    return arith::AndIOp::create(b, loc, word, constant(mask));
  };
  Value word = arith::BitcastOp::create(b, loc, bits, x);
  Value upper = masked(word, 0xffffe000);
  // An infinity is 1 and itself, with its sign: were it all in hi, it would meet the zero that is
  // lo of exact numbers, and be NaN.
  Value isInfinite = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           masked(word, 0x7fffffff), constant(0x7f800000));
  Value one = arith::OrIOp::create(b, loc, masked(word, 0x80000000), constant(0x3f800000));
  Value hi = arith::BitcastOp::create(b, loc, type,
                                      arith::SelectOp::create(b, loc, isInfinite, one, upper));
  Value lo = arith::SubFOp::create(b, loc, x, hi); // NaN stays NaN
  return {hi, lo};
}

namespace {
struct TileGPUExpandTF32x3 : tile::impl::TileGPUExpandTF32x3Base<TileGPUExpandTF32x3> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) {
      bool isF32 = dot.getA().getType().getElementType().isF32() &&
                   dot.getB().getType().getElementType().isF32();
      ArrayRef<int64_t> c = dot.getType().getShape();
      // Smaller products are computed in f32 anyway.
      bool fits =
          c[c.size() - 2] >= 16 && c.back() >= 8 && dot.getA().getType().getShape().back() >= 8;
      if (isF32 && fits && dot.getPrecision() == DotPrecision::TF32x3)
        dots.push_back(dot);
    });
    for (DotOp dot : dots) {
      OpBuilder b(dot);
      Halves x = split(b, dot.getLoc(), dot.getA()), y = split(b, dot.getLoc(), dot.getB());
      Value sum = dot.getAcc();
      for (auto [left, right] :
           {std::pair(x.lo, y.hi), std::pair(x.hi, y.lo), std::pair(x.hi, y.hi)})
        sum = DotOp::create(b, dot.getLoc(), dot.getType(), left, right, sum, DotPrecision::TF32,
                            /*unsigned_a=*/false, /*unsigned_b=*/false, dot.getValidAttr());
      dot.replaceAllUsesWith(sum);
      dot.erase();
    }
  }
};
} // namespace
