// Philox4x32-10: ten rounds of multiplication and exclusive or on four words of 32 bits.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11),
// section 3.3.
#include "passes/Convert/Philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

/// Words of the counter and the key, by one block:
///
///    c0 c1    position / 4, low and high word       k0 k1   seed, low and high word
///    c2 c3    0
///
/// A block gives four words, and position % 4 picks one: neighbours in a row share the ten rounds
/// only if the compiler sees it, and each element can be computed alone.
namespace {

/// Arithmetic on the words of one block, each a scalar or a vector.
class Philox {
public:
  Philox(OpBuilder &b, Location loc, Type like)
      : b(b), loc(loc), wide(like), narrow(withBits(like, 32)) {}

  Value word(Value block, int64_t shift) {
    return arith::TruncIOp::create(
        b, loc, narrow,
        shift ? arith::ShRUIOp::create(b, loc, block, number(wide, shift)).getResult() : block);
  }

  // The published permutation of the four words is part of the generator: c1 and c3 are the low
  // halves, c0 and c2 mix the high halves of the other product.
  void round(Value (&c)[4], Value k0, Value k1) {
    Value first = multiply(c[0], 0xD2511F53), second = multiply(c[2], 0xCD9E8D57);
    Value mixed0 = exclusiveOr(exclusiveOr(word(second, 32), c[1]), k0);
    Value mixed2 = exclusiveOr(exclusiveOr(word(first, 32), c[3]), k1);
    c[1] = word(second, 0);
    c[3] = word(first, 0);
    c[0] = mixed0;
    c[2] = mixed2;
  }

  Value add(Value a, uint32_t value) {
    return arith::AddIOp::create(b, loc, a, number(narrow, int32_t(value)));
  }
  Value zero() { return number(narrow, 0); }

  /// words[position % 4].
  Value choose(Value (&words)[4], Value position) {
    auto bit = [&](int64_t mask) -> Value {
      Value masked = arith::AndIOp::create(b, loc, position, number(wide, mask));
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked, number(wide, 0));
    };
    // A tree of selects, since a vector's elements may choose differently.
    Value odd = bit(1), upper = bit(2);
    Value low = arith::SelectOp::create(b, loc, odd, words[1], words[0]);
    Value high = arith::SelectOp::create(b, loc, odd, words[3], words[2]);
    return arith::SelectOp::create(b, loc, upper, high, low);
  }

  Value shiftRight(Value value, int64_t by) {
    return arith::ShRUIOp::create(b, loc, value, number(wide, by));
  }

private:
  static Type withBits(Type like, unsigned bits) {
    Type element = IntegerType::get(like.getContext(), bits);
    auto shaped = dyn_cast<ShapedType>(like);
    return shaped ? Type(shaped.clone(element)) : element;
  }
  Value number(Type type, int64_t value) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  /// The whole product of a word and a constant.
  Value multiply(Value a, uint32_t factor) {
    return arith::MulIOp::create(b, loc, arith::ExtUIOp::create(b, loc, wide, a),
                                 number(wide, factor));
  }
  Value exclusiveOr(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }

  OpBuilder &b;
  Location loc;
  Type wide, narrow;
};

} // namespace

Value tile::expandPhilox(OpBuilder &builder, Location loc, Value seed, Value position) {
  Philox philox(builder, loc, position.getType());
  Value counter = philox.shiftRight(position, 2);
  Value words[4] = {philox.word(counter, 0), philox.word(counter, 32), philox.zero(),
                    philox.zero()};
  Value k0 = philox.word(seed, 0), k1 = philox.word(seed, 32);
  constexpr int rounds = 10;
  for (int i = 0; i < rounds; ++i) {
    if (i > 0) {
      // Keys are bumped between rounds, hence not before the first.
      k0 = philox.add(k0, 0x9E3779B9);
      k1 = philox.add(k1, 0xBB67AE85);
    }
    philox.round(words, k0, k1);
  }
  return philox.choose(words, position);
}
