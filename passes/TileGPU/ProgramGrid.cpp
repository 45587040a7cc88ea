// Arithmetic on program numbers.
//
// Programs are numbered with the last axis fastest. With grouped(G) the last two axes are walked in
// bands of G rows, column by column, so that programs that run at the same time share rows of one
// operand and columns of the other. Rows i, columns j, G = 2:
//
//         j=0  j=1  j=2
//   i=0    0    2    4     band 0
//   i=1    1    3    5
//   i=2    6    7    8     band 1, as high as there are rows left
#include "passes/TileGPU/ProgramGrid.h"
#include "dialect/AttributeNames.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <limits>

using namespace mlir;
using namespace tile;

/// The grid's region has the parameters as arguments of its own.
SmallVector<Value> tile::gpu::cloneGridExtents(OpBuilder &b, KernelOp kernel,
                                               ValueRange arguments) {
  IRMapping mapping;
  mapping.map(kernel.getGrid().front().getArguments(), arguments);
  for (Operation &op : kernel.getGrid().front().without_terminator())
    b.clone(op, mapping);
  SmallVector<Value> extents;
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
    extents.push_back(mapping.lookupOrDefault(extent));
  return extents;
}

/// Pairs go along the axis that is fastest within bands, else the last; of clusters of four the
/// last two axes make a square.
SmallVector<unsigned, 2> tile::gpu::getClusterAxes(KernelOp kernel, int64_t blocks) {
  unsigned axes = kernel.getNumAxes();
  auto grouped = kernel->getAttrOfType<IntegerAttr>(groupedName);
  bool inBands = grouped && grouped.getInt() > 1 && axes >= 2;
  SmallVector<unsigned, 2> found = {axes - (inBands ? 2 : 1)};
  if (blocks > 2 && axes >= 2)
    found.push_back(axes - (inBands ? 1 : 2));
  return found;
}

tile::gpu::LastPrograms tile::gpu::roundToPairs(OpBuilder &b, KernelOp kernel,
                                                MutableArrayRef<Value> extents) {
  LastPrograms last;
  auto cluster = kernel->getAttrOfType<IntegerAttr>(blocksOfClusterName);
  if (!cluster)
    return last;
  Location loc = kernel.getLoc();
  for (unsigned axis : getClusterAxes(kernel, cluster.getInt())) {
    Value one = arith::ConstantIndexOp::create(b, loc, 1),
          two = arith::ConstantIndexOp::create(b, loc, 2);
    last.push_back({axis, arith::SubIOp::create(b, loc, extents[axis], one)});
    Value pairs = arith::CeilDivSIOp::create(b, loc, extents[axis], two);
    extents[axis] = arith::MulIOp::create(b, loc, pairs, two);
  }
  return last;
}

void tile::gpu::clampToLast(OpBuilder &b, Location loc, const LastPrograms &last,
                            MutableArrayRef<Value> axes) {
  for (auto [axis, highest] : last) {
    Operation *clamped = arith::MinUIOp::create(b, loc, axes[axis], highest);
    clamped->setAttr(gpu::nonNegativeName, b.getUnitAttr());
    axes[axis] = clamped->getResult(0);
  }
}

/// Longer programs come first in a band. One band of all evens out what blocks have left to do at
/// the end; where there are many programs a band's share of the time is small, and several bands
/// keep short programs, which wait for memory, beside long ones, which compute.
Value tile::gpu::getEvenBandRows(OpBuilder &b, KernelOp kernel, ValueRange extents, Value programs,
                                 Value blocks) {
  auto grouped = kernel->getAttrOfType<IntegerAttr>(groupedName);
  if (!grouped || grouped.getInt() <= 1 || extents.size() < 2 ||
      kernel->hasAttr(blocksOfClusterName) || kernel->hasAttr(splitPartsName))
    return {};
  Location loc = kernel.getLoc();
  constexpr int64_t fewWaves = 4;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value few = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, programs,
                                    arith::MulIOp::create(b, loc, blocks, constant(fewWaves)));
  Value rows = arith::MaxSIOp::create(b, loc, extents[extents.size() - 2], constant(1));
  return arith::SelectOp::create(b, loc, few, rows, constant(grouped.getInt()));
}

namespace {

/// Quotients and remainders of program numbers, which are less than 2^31. A division takes some 20
/// instructions, one after the other, between one program's last product and the next one's first.
/// By a number d that is the same for all programs it is a product by m = (2^32 - 1) / d instead:
/// x * m / 2^32 is the quotient or 1 less, as m is more than 2^32 / d - 1 - 2^-32.
class Divider {
public:
  Divider(OpBuilder &b, Location loc, OpBuilder *once) : b(b), loc(loc), once(once) {}

  struct Divisor {
    Value value, reciprocal; // i32 with a reciprocal
  };
  struct Result {
    Value quotient, remainder;
  };

  /// A divisor that is the same for all programs.
  Divisor prepare(Value value) {
    if (!once)
      return {value, {}};
    OpBuilder &o = *once;
    Type i32 = o.getI32Type();
    // One beyond all programs divides like any other such; a grid without programs has none.
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    value = arith::MinUIOp::create(o, loc, value, arith::ConstantIndexOp::create(o, loc, most));
    value = arith::MaxUIOp::create(o, loc, value, arith::ConstantIndexOp::create(o, loc, 1));
    value = arith::IndexCastOp::create(o, loc, i32, value);
    Value all = arith::ConstantIntOp::create(o, loc, -1, 32);
    return {value, arith::DivUIOp::create(o, loc, all, value)};
  }

  Divisor select(Value condition, const Divisor &yes, const Divisor &no) {
    auto choose = [&](Value y, Value n) -> Value {
      return y ? arith::SelectOp::create(b, loc, condition, y, n).getResult() : Value();
    };
    return {choose(yes.value, no.value), choose(yes.reciprocal, no.reciprocal)};
  }

  Result divide(Value x, const Divisor &d) {
    if (!d.reciprocal)
      return {arith::DivUIOp::create(b, loc, x, d.value),
              arith::RemUIOp::create(b, loc, x, d.value)};
    x = arith::IndexCastOp::create(b, loc, b.getI32Type(), x);
    Value low = arith::MulUIExtendedOp::create(b, loc, x, d.reciprocal).getHigh(),
          rest = arith::SubIOp::create(b, loc, x, arith::MulIOp::create(b, loc, low, d.value)),
          one = arith::ConstantIntOp::create(b, loc, 1, 32);
    Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, rest, d.value);
    Value quotient =
              arith::SelectOp::create(b, loc, more, arith::AddIOp::create(b, loc, low, one), low),
          remainder = arith::SelectOp::create(b, loc, more,
                                              arith::SubIOp::create(b, loc, rest, d.value), rest);
    return {toIndex(quotient), toIndex(remainder)};
  }

private:
  Value toIndex(Value value) {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value);
  }

  OpBuilder &b;
  Location loc;
  OpBuilder *once;
};

} // namespace

std::pair<Value, Value> tile::gpu::divideProgram(OpBuilder &b, Location loc, Value position,
                                                 Value divisor, OpBuilder &once) {
  Divider divider(b, loc, &once);
  auto [quotient, remainder] = divider.divide(position, divider.prepare(divisor));
  return {quotient, remainder};
}

SmallVector<Value> tile::gpu::splitProgram(OpBuilder &b, KernelOp kernel, Value program,
                                           ValueRange extents, Value bandRows, OpBuilder *once) {
  Location loc = kernel.getLoc();
  OpBuilder &same = once ? *once : b;
  Divider divider(b, loc, once);
  int64_t group = 1;
  if (auto attr = kernel->getAttrOfType<IntegerAttr>(groupedName))
    group = attr.getInt();
  auto cluster = kernel->getAttrOfType<IntegerAttr>(blocksOfClusterName);
  bool squares = cluster && cluster.getInt() > 2;
  if (group > 1 && cluster)
    group = (group + 1) / 2 * 2; // a band holds whole pairs
  SmallVector<Value> axes(extents.size());
  Value rest = program;
  size_t last = extents.size();
  auto takeLast = [&](Value extent) -> Value {
    auto [quotient, remainder] = divider.divide(rest, divider.prepare(extent));
    rest = quotient;
    return remainder;
  };
  // Squares of four are numbered like programs of a grid of half as many rows and columns, and the
  // programs of a square by their places in it.
  SmallVector<Value> squared(extents), places(extents.size());
  if (squares) {
    Value two = arith::ConstantIndexOp::create(same, loc, 2);
    for (unsigned axis : getClusterAxes(kernel, cluster.getInt())) {
      places[axis] = arith::RemUIOp::create(b, loc, rest, two);
      rest = arith::DivUIOp::create(b, loc, rest, two);
      squared[axis] = arith::DivUIOp::create(same, loc, extents[axis], two);
    }
    extents = squared;
    group = std::max<int64_t>(group / 2, 1);
  }
  // Parts are the fastest axis, outside of bands, so that the programs of a tile are neighbours.
  if (kernel->hasAttr(splitPartsName)) { // the parts of a tile follow each other
    --last;
    axes[last] = last ? takeLast(extents[last]) : rest;
  }
  // The last two axes are the bands' plane; other axes count planes.
  if ((group > 1 || squares) && last >= 2) {
    Value rows = extents[last - 2], columns = extents[last - 1];
    Value inPlane = rest;
    if (last > 2)
      inPlane = takeLast(arith::MulIOp::create(same, loc, rows, columns));
    Value groupSize = bandRows ? bandRows : arith::ConstantIndexOp::create(same, loc, group);
    Value perBand = arith::MulIOp::create(same, loc, groupSize, columns);
    // Of so many programs that there is one band alone; a quotient of 32 bits is cheaper.
    if (bandRows)
      perBand = arith::MinUIOp::create(
          same, loc, perBand,
          arith::ConstantIndexOp::create(same, loc, std::numeric_limits<int32_t>::max()));
    auto [band, inBand] = divider.divide(inPlane, divider.prepare(perBand));
    Value first = arith::MulIOp::create(b, loc, band, groupSize);
    // Of the last band: the rows that are left.
    Value left = arith::SubIOp::create(b, loc, rows, first);
    Divider::Divisor height{arith::MinUIOp::create(b, loc, left, groupSize), {}};
    if (once) {
      Value one = arith::ConstantIndexOp::create(same, loc, 1),
            before = arith::DivUIOp::create(same, loc, arith::SubIOp::create(same, loc, rows, one),
                                            groupSize),
            isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, band, before),
            most = arith::SubIOp::create(same, loc, rows,
                                         arith::MulIOp::create(same, loc, before, groupSize));
      height = divider.select(isLast, divider.prepare(most), divider.prepare(groupSize));
    }
    auto [column, row] = divider.divide(inBand, height);
    axes[last - 2] = arith::AddIOp::create(b, loc, first, row);
    axes[last - 1] = column;
    if (bandRows) { // says that it is small
      Value one = arith::ConstantIndexOp::create(b, loc, 1);
      axes[last - 2] =
          arith::MinUIOp::create(b, loc, axes[last - 2], arith::SubIOp::create(b, loc, rows, one));
    }
    last -= 2;
  }
  for (size_t axis = last; axis-- > 0;) {
    if (axis == 0) {
      axes[0] = rest;
      break;
    }
    axes[axis] = takeLast(extents[axis]);
  }
  for (auto [axis, place] : llvm::zip(axes, places))
    if (place) {
      Value two = arith::ConstantIndexOp::create(b, loc, 2);
      axis = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, axis, two), place);
    }
  // Read by isNonNegative in Convert/TileGPUToLLVM/Memory.cpp.
  for (Value axis : axes)
    if (Operation *op = axis.getDefiningOp())
      op->setAttr(gpu::nonNegativeName, b.getUnitAttr());
  return axes;
}
