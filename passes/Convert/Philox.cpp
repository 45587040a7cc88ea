// Philox4x32-10: ten rounds of multiplication and exclusive or on four words of 32 bits.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11),
// section 3.3.
#include "passes/Convert/Philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

/// Words of the counter and the key, by one block:
///
///    c0 c1    position / 4, low and high word       k0 k1   seed, low and high word
///    c2 c3    0
///
/// A block gives four words, and position % 4 picks one: each element can be computed alone.
/// Neighbours that a thread holds share blocks, wherever the first of them stands.
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

/// The four words of the block at `counter`.
void makeBlock(Philox &philox, Value seed, Value counter, Value (&words)[4]) {
  words[0] = philox.word(counter, 0);
  words[1] = philox.word(counter, 32);
  words[2] = words[3] = philox.zero();
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
}

/// Of a sum: an element of a vector, or a scalar (place -1), with `bits` set.
struct Term {
  Value value;
  int64_t place;
  uint64_t bits;

  bool operator==(const Term &other) const {
    return value == other.value && place == other.place && bits == other.bits;
  }
  bool operator<(const Term &other) const { // for a comparison alone, never for an order of output
    return std::tuple(value.getAsOpaquePointer(), place, bits) <
           std::tuple(other.value.getAsOpaquePointer(), other.place, other.bits);
  }
};

/// An element of a vector of 64 bits as a sum of terms and a constant.
struct Sum {
  SmallVector<Term> terms;
  uint64_t constant = 0;

  bool differsBy(const Sum &other, int64_t distance) const {
    return terms == other.terms && constant == other.constant + uint64_t(distance);
  }
};

/// Low bits of a scalar that are 0 for sure.
unsigned countTrailingZeros(Value scalar, unsigned depth = 0) {
  constexpr unsigned mostDepth = 8, all = 64;
  APInt number;
  if (matchPattern(scalar, m_ConstantInt(&number)))
    return number.isZero() ? all : number.countr_zero();
  Operation *op = depth < mostDepth ? scalar.getDefiningOp() : nullptr;
  if (isa_and_nonnull<arith::ShLIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&number)))
    return std::min<uint64_t>(all, countTrailingZeros(op->getOperand(0), depth + 1) +
                                       number.getLimitedValue(all));
  if (!isa_and_nonnull<arith::OrIOp, arith::XOrIOp, arith::AddIOp>(op))
    return 0;
  return std::min(countTrailingZeros(op->getOperand(0), depth + 1),
                  countTrailingZeros(op->getOperand(1), depth + 1));
}

/// Adds element `i` of `vector` to `sum`.
void addElement(Value vector, int64_t i, Sum &sum, unsigned depth = 0) {
  constexpr unsigned mostDepth = 12;
  Operation *op = depth < mostDepth ? vector.getDefiningOp() : nullptr;
  bool isWide = !getElementTypeOrSelf(vector.getType()).isInteger(32);
  DenseIntElementsAttr numbers;
  if (isWide && matchPattern(vector, m_Constant(&numbers))) {
    sum.constant += numbers.getValues<APInt>()[i].getZExtValue();
    return;
  }
  if (auto add = dyn_cast_or_null<arith::AddIOp>(op); add && isWide) {
    addElement(add.getLhs(), i, sum, depth + 1);
    addElement(add.getRhs(), i, sum, depth + 1);
    return;
  }
  // An iota: the thread's part with bits of the register set. Where the part has none of the lowest
  // of them, these count on, and no carry reaches the sign that an extension repeats.
  if (auto set = dyn_cast_or_null<arith::OrIOp>(op)) {
    auto part = set.getLhs().getDefiningOp<vector::BroadcastOp>();
    if (part && !isa<VectorType>(part.getSource().getType()) &&
        matchPattern(set.getRhs(), m_Constant(&numbers))) {
      uint64_t bits = numbers.getValues<APInt>()[i].getZExtValue();
      uint64_t low = bits & llvm::maskTrailingOnes<uint64_t>(countTrailingZeros(part.getSource()));
      sum.constant += low;
      sum.terms.push_back({part.getSource(), -1, bits - low});
      return;
    }
  }
  if (isWide && isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    Value from = op->getOperand(0);
    Type type = getElementTypeOrSelf(from.getType());
    if (type.isIndex() || type.isInteger(64) || type.isInteger(32))
      return addElement(from, i, sum, depth + 1);
  }
  auto broadcast = dyn_cast_or_null<vector::BroadcastOp>(op);
  if (broadcast && !isa<VectorType>(broadcast.getSource().getType())) {
    sum.terms.push_back({broadcast.getSource(), -1, 0});
    return;
  }
  if (auto elements = dyn_cast_or_null<vector::FromElementsOp>(op)) {
    sum.terms.push_back({elements.getElements()[i], -1, 0});
    return;
  }
  if (auto shuffle = dyn_cast_or_null<vector::ShuffleOp>(op)) {
    int64_t first = shuffle.getV1VectorType().getNumElements(), place = shuffle.getMask()[i];
    if (place >= 0)
      return place < first ? addElement(shuffle.getV1(), place, sum, depth + 1)
                           : addElement(shuffle.getV2(), place - first, sum, depth + 1);
  }
  sum.terms.push_back({vector, i, 0});
}

Sum getSum(Value vector, int64_t i) {
  Sum sum;
  addElement(vector, i, sum);
  llvm::sort(sum.terms);
  return sum;
}

/// How many elements from `from` on have one seed and positions that follow each other: a multiple
/// of four.
int64_t countNeighbours(Value seed, Value position, int64_t from, int64_t size) {
  Sum key = getSum(seed, from), first = getSum(position, from);
  int64_t count = 1;
  while (from + count < size && getSum(seed, from + count).differsBy(key, 0) &&
         getSum(position, from + count).differsBy(first, count))
    ++count;
  return count / 4 * 4;
}

/// The words of `count` positions that follow `first`: those of the blocks around them, moved by
/// first % 4. The last block is left out where that is 0.
void makeNeighbours(OpBuilder &b, Location loc, Value seed, Value first, int64_t count,
                    SmallVectorImpl<Value> &results) {
  Type wide = b.getI64Type();
  Philox philox(b, loc, wide);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, wide, value);
  };
  auto counterAt = [&](int64_t place) {
    return philox.shiftRight(arith::AddIOp::create(b, loc, first, number(place)), 2);
  };
  auto test = [&](int64_t mask) -> Value {
    Value masked = arith::AndIOp::create(b, loc, first, number(mask));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked, number(0));
  };
  SmallVector<Value> words;
  for (int64_t place = 0; place < count; place += 4) {
    Value block[4];
    makeBlock(philox, seed, counterAt(place), block);
    words.append(std::begin(block), std::end(block));
  }
  auto last = scf::IfOp::create(
      b, loc, test(3),
      [&](OpBuilder &inner, Location at) {
        Philox rest(inner, at, wide);
        Value counter =
            rest.shiftRight(arith::AddIOp::create(
                                inner, at, first,
                                arith::ConstantIntOp::create(inner, at, inner.getI64Type(), count)),
                            2);
        Value block[4];
        makeBlock(rest, seed, counter, block);
        scf::YieldOp::create(inner, at, ValueRange{block[0], block[1], block[2]});
      },
      [&](OpBuilder &inner, Location at) {
        Value zero = arith::ConstantIntOp::create(inner, at, inner.getI32Type(), 0);
        scf::YieldOp::create(inner, at, ValueRange{zero, zero, zero});
      });
  llvm::append_range(words, last.getResults());
  Value odd = test(1), upper = test(2);
  for (size_t i = 0; i + 1 < words.size(); ++i)
    words[i] = arith::SelectOp::create(b, loc, odd, words[i + 1], words[i]);
  for (int64_t i = 0; i < count; ++i)
    results.push_back(arith::SelectOp::create(b, loc, upper, words[i + 2], words[i]));
}

} // namespace

Value tile::expandPhilox(OpBuilder &builder, Location loc, Value seed, Value position) {
  Philox philox(builder, loc, position.getType());
  Value words[4];
  makeBlock(philox, seed, philox.shiftRight(position, 2), words);
  return philox.choose(words, position);
}

Value tile::expandPhiloxOfThread(OpBuilder &b, Location loc, Value seed, Value position) {
  auto type = dyn_cast<VectorType>(position.getType());
  if (!type)
    return expandPhilox(b, loc, seed, position);
  int64_t size = type.getNumElements();
  SmallVector<Value> results;
  for (int64_t from = 0; from < size;) {
    int64_t count = countNeighbours(seed, position, from, size);
    if (!count) // as it stands, for all
      return expandPhilox(b, loc, seed, position);
    auto take = [&](Value vector) -> Value {
      return vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{from});
    };
    makeNeighbours(b, loc, take(seed), take(position), count, results);
    from += count;
  }
  return vector::FromElementsOp::create(b, loc, VectorType::get(size, b.getI32Type()), results);
}
