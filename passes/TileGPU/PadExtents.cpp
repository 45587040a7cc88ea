// tile-gpu-pad-extents: rounds the extents of tiles up to powers of two, which layouts need.
//
// Positions past an extent read as padding and are never stored, because accesses get an end.
// Element-wise work on them is idle. Where they could be seen, in reductions and along K of a dot,
// they are replaced by what changes nothing; functions of which nothing is known get a flag beside
// their operands that says which exist.
//
//   load x[0..48] : tensor<48>      ->  load x[0..64] ends 48 : tensor<64>       48..63 read as pad
//   max of tensor<48>               ->  max of where(i < 48, x, -inf)
//   store tensor<48>                ->  store tensor<64> ends 48                 48..63 are dropped
//
// Invariant behind the pass: all extents of tiles are powers of two, which layouts, being linear in
// the bits of positions, take for granted.
#include "dialect/AttributeNames.h"
#include "dialect/PaddingNames.h"
#include "passes/Convert/Reduction.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

namespace tile {
#define GEN_PASS_DEF_TILEGPUPADEXTENTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static int64_t roundUp(int64_t extent) { return llvm::PowerOf2Ceil(extent); }

/// Encodings stay as they are; before layouts are assigned there is none.
static Type padType(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return type;
  SmallVector<int64_t> shape = llvm::map_to_vector(tile.getShape(), roundUp);
  return RankedTensorType::get(shape, tile.getElementType(), tile.getEncoding());
}

/// Which positions of a tile of type `type` are below `extent` along `axis`.
static Value insideAxis(OpBuilder &b, Location loc, RankedTensorType type, unsigned axis,
                        int64_t extent) {
  int64_t padded = type.getDimSize(axis);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto line = RankedTensorType::get({padded}, b.getIndexType());
  Value positions = IotaOp::create(b, loc, line, zero, b.getI64IntegerAttr(1));
  Value limit =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(line, b.getIndexAttr(extent)));
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, positions, limit);
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[axis] = padded;
  if (type.getRank() > 1) {
    inside = ReshapeOp::create(b, loc, RankedTensorType::get(shape, b.getI1Type()), inside);
    inside =
        BroadcastOp::create(b, loc, RankedTensorType::get(type.getShape(), b.getI1Type()), inside);
  }
  return inside;
}

/// `tile` with `identity` in place of positions at or past `extent` along `axis`.
/// One mask for one axis: several axes are masked one after the other.
static Value maskAxis(OpBuilder &b, Location loc, Value tile, unsigned axis, int64_t extent,
                      TypedAttr identity) {
  auto type = cast<RankedTensorType>(tile.getType());
  Value inside = insideAxis(b, loc, type, axis, extent);
  Value fill = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(identity)));
  return arith::SelectOp::create(b, loc, inside, tile, fill);
}

/// A scan or reduction by a function once more, with a flag beside its tiles: operands past
/// `extent` along `axis` leave the others as they are.
/// By selections: the function is computed always, and counts only where both operands exist.
///
///                   right exists           right does not
///   left exists     f(left, right)         left
///   left does not   right                  left
template <typename Op> static void guardAxis(Op op, int64_t extent) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  unsigned tiles = op.getSources().size();
  SmallVector<Value> sources(op.getSources());
  SmallVector<Type> types(op.getResultTypes());
  auto type = cast<RankedTensorType>(sources[0].getType());
  sources.push_back(insideAxis(b, loc, type, op.getAxis(), extent));
  auto first = dyn_cast<RankedTensorType>(types[0]);
  types.push_back(first ? Type(RankedTensorType::get(first.getShape(), b.getI1Type()))
                        : Type(b.getI1Type()));
  Op guarded;
  if constexpr (std::is_same_v<Op, ScanOp>)
    guarded = ScanOp::create(b, loc, types, sources, op.getAxis(), op.getReverse());
  else
    guarded = ReduceByOp::create(b, loc, types, sources, op.getAxis());
  // The old body moves over: its arguments l0 .. r0 .. become l0 .., flag, r0 .., flag.
  Region &region = guarded.getCombiner();
  region.takeBody(op.getCombiner());
  Block &body = region.front();
  Value leftExists = body.insertArgument(tiles, b.getI1Type(), loc),
        rightExists = body.addArgument(b.getI1Type(), loc);
  auto yield = cast<ScanYieldOp>(body.getTerminator());
  b.setInsertionPoint(yield);
  SmallVector<Value> values;
  for (unsigned i = 0; i < tiles; ++i) {
    Value left = body.getArgument(i), right = body.getArgument(tiles + 1 + i);
    Value both = arith::SelectOp::create(b, loc, leftExists, yield.getValues()[i], right);
    values.push_back(arith::SelectOp::create(b, loc, rightExists, both, left));
  }
  values.push_back(arith::OrIOp::create(b, loc, leftExists, rightExists));
  yield.getValuesMutable().assign(values);
  op->replaceAllUsesWith(guarded->getResults().take_front(tiles));
  op->erase();
}

/// The number of dimension sizes to the right of each, multiplied: what a step along it means in
/// row-major order.
static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Row-major positions, which are at most 2^20, under other extents: of `from` become those of
/// `to`.
/// Position -> coordinates by `from` -> position by `to`. Outside of `from` the result is some
/// position of `to`.
static Value renumber(OpBuilder &b, Location loc, Value number, ArrayRef<int64_t> from,
                      ArrayRef<int64_t> to) {
  auto constant = [&](int64_t value) -> Value {
    Attribute attr = b.getIntegerAttr(getElementTypeOrSelf(number.getType()), value);
    if (auto type = dyn_cast<RankedTensorType>(number.getType()))
      return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, attr));
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(attr));
  };
  SmallVector<int64_t> fromStrides = rowMajorStrides(from), toStrides = rowMajorStrides(to);
  Value result;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1)
      continue;
    Value at = number;
    if (fromStrides[d] > 1)
      at = arith::DivUIOp::create(b, loc, at, constant(fromStrides[d]));
    // The slowest coordinate needs no remainder.
    if (d > 0)
      at = arith::RemUIOp::create(b, loc, at, constant(from[d]));
    if (toStrides[d] > 1)
      at = arith::MulIOp::create(b, loc, at, constant(toStrides[d]));
    result = result ? Value(arith::AddIOp::create(b, loc, result, at)) : at;
  }
  return result ? result : constant(0);
}

/// True if rounding up leaves row-major neighbours neighbours: dimensions correspond in groups of
/// as many elements, in which all but the first are powers of two.
/// Then the padded reshape moves nothing: the groups' first extents grow at the end, which is the
/// end of the group on either side.
static bool reshapesInPlace(ArrayRef<int64_t> source, ArrayRef<int64_t> result) {
  // Extents of 1 belong to any group.
  auto drop = [](ArrayRef<int64_t> shape) {
    return llvm::to_vector(
        llvm::make_filter_range(shape, [](int64_t extent) { return extent != 1; }));
  };
  SmallVector<int64_t> from = drop(source), to = drop(result);
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    size_t firstFrom = i, firstTo = j;
    int64_t left = from[i++], right = to[j++];
    while (left != right)
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    auto isPower = [](int64_t extent) { return llvm::isPowerOf2_64(extent); };
    bool inPlace =
        llvm::all_of(ArrayRef<int64_t>(from).slice(firstFrom + 1, i - firstFrom - 1), isPower) &&
        llvm::all_of(ArrayRef<int64_t>(to).slice(firstTo + 1, j - firstTo - 1), isPower);
    if (!inPlace)
      return false;
  }
  return true;
}

/// A reshape by reading each element of the result where the source has it. `source` and `result`:
/// the extents before rounding.
/// Through shared memory (take): dear, but rare.
static void reshapeByTake(ReshapeOp op, ArrayRef<int64_t> source, ArrayRef<int64_t> result) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  RankedTensorType padded = op.getSource().getType(), type = op.getType();
  auto flat = RankedTensorType::get({padded.getNumElements()}, padded.getElementType());
  Value line = ReshapeOp::create(b, loc, flat, op.getSource());
  // The number of each element of the result, then its place in the padded source.
  // Numbers of the unpadded result; where the result is padding they name something, which is not
  // looked at.
  SmallVector<int64_t> strides = rowMajorStrides(result);
  auto positions = RankedTensorType::get(type.getShape(), b.getI32Type());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), number;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value at = IotaOp::create(b, loc, RankedTensorType::get({type.getDimSize(d)}, b.getIndexType()),
                              zero, b.getI64IntegerAttr(strides[d]));
    at = arith::IndexCastOp::create(
        b, loc, RankedTensorType::get({type.getDimSize(d)}, b.getI32Type()), at);
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[d] = type.getDimSize(d);
    if (type.getRank() > 1)
      at = ReshapeOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()), at);
    if (at.getType() != positions)
      at = BroadcastOp::create(b, loc, positions, at);
    number = number ? Value(arith::AddIOp::create(b, loc, number, at)) : at;
  }
  Value place = renumber(b, loc, number, source, padded.getShape());
  op.getResult().replaceAllUsesWith(TakeOp::create(b, loc, type, line, place, 0).getResult());
  op.erase();
}

namespace {

/// In steps: first each operation notes the extents that its meaning depends on, then all types
/// change, then what was noted is inserted, on tiles of the new types.
struct TileGPUPadExtents : tile::impl::TileGPUPadExtentsBase<TileGPUPadExtents> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    bool needed = false;
    auto isOdd = [](Type type) { return padType(type) != type; };
    getOperation().walk([&](Operation *op) {
      if (!op->getParentOfType<KernelOp>())
        return;
      ops.push_back(op);
      needed |=
          llvm::any_of(op->getResultTypes(), isOdd) || llvm::any_of(op->getOperandTypes(), isOdd);
    });
    // All extents are powers of two already: nothing is touched.
    if (!needed)
      return;
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      notePadded(kernel);
    // Operations whose meaning changes come first, while the old extents can still be read.
    for (Operation *op : ops)
      if (failed(adjust(op)))
        return signalPassFailure();
    // Types of results and arguments, in regions too. Splats are refilled.
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults())
        result.setType(padType(result.getType()));
      for (Region &region : op->getRegions())
        for (Value argument : region.getArguments())
          argument.setType(padType(argument.getType()));
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto elements = dyn_cast<SplatElementsAttr>(constant.getValue()))
          constant.setValueAttr(elements.resizeSplat(cast<RankedTensorType>(constant.getType())));
    });
    for (auto &[operand, axis, extent, identity] : masks) {
      OpBuilder b(operand->getOwner());
      operand->set(
          maskAxis(b, operand->getOwner()->getLoc(), operand->get(), axis, extent, identity));
    }
    masks.clear();
    for (auto &[op, axis, extent] : joints)
      TypeSwitch<Operation *>(op).Case<GatherOp, ScatterOp, AtomicOp>(
          [&, axis = axis, extent = extent](auto access) { maskJoint(access, axis, extent); });
    joints.clear();
    for (auto &[op, extent] : guards)
      if (auto scan = dyn_cast<ScanOp>(op))
        guardAxis(scan, extent);
      else
        guardAxis(cast<ReduceByOp>(op), extent);
    guards.clear();
    for (auto &[op, source, result] : reshapes)
      reshapeByTake(op, source, result);
    reshapes.clear();
    // Over all axes the position counts elements row by row, of the padded tile.
    for (auto &[op, shape] : positions) {
      // The uses of the position so far, before its own renumbering adds one.
      SmallVector<OpOperand *> uses =
          llvm::map_to_vector(op.getResult().getUses(), [](OpOperand &use) { return &use; });
      OpBuilder b(op);
      b.setInsertionPointAfter(op);
      Value real =
          renumber(b, op.getLoc(), op.getResult(), op.getSource().getType().getShape(), shape);
      for (OpOperand *use : uses)
        use->set(real);
    }
    positions.clear();
  }

private:
  /// Records the largest extent of each power of two where it is less than that, for
  /// tile-gpu-specialize-warps: the rows past it are padding of every tile.
  static void notePadded(KernelOp kernel) {
    std::map<int64_t, std::set<int64_t>> extents; // by what they are rounded up to
    kernel.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tile = dyn_cast<RankedTensorType>(type))
          for (int64_t extent : tile.getShape())
            extents[roundUp(extent)].insert(extent);
    });
    SmallVector<int64_t> padded;
    for (const auto &[power, found] : extents)
      if (*found.rbegin() != power)
        padded.push_back(*found.rbegin());
    if (!padded.empty())
      kernel->setAttr(tile::gpu::paddedExtentsName,
                      DenseI64ArrayAttr::get(kernel.getContext(), padded));
  }

  struct Mask {
    OpOperand *operand;
    unsigned axis;
    int64_t extent;
    TypedAttr identity;
  };
  struct Reshape {
    ReshapeOp op;
    SmallVector<int64_t> source, result; // extents before they are rounded
  };
  SmallVector<Mask> masks;
  SmallVector<std::pair<Operation *, int64_t>>
      guards; // by functions of which nothing is known, and the extent of the axis
  SmallVector<Reshape> reshapes;
  SmallVector<std::pair<ArgReduceOp, SmallVector<int64_t>>>
      positions; // over all axes, and the extents

  /// Dimensions given by tiles of positions, of which those past an extent are not positions.
  /// Padding among positions must not read or write: it gets a mask.
  struct Joint {
    Operation *op;
    unsigned axis;
    int64_t extent;
  };
  SmallVector<Joint> joints;

  template <typename Op> void clipJoint(Op op) {
    clip(op);
    SmallVector<int64_t> shape = op.getTileShape(), ranges = op.getTileDims();
    for (unsigned d = 0; d < shape.size(); ++d)
      if (!llvm::is_contained(ranges, int64_t(d)) && roundUp(shape[d]) != shape[d])
        joints.push_back({op, d, shape[d]});
  }

  template <typename Op> static void maskJoint(Op op, unsigned axis, int64_t extent) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    // On entry without a mask: all true.
    auto type = RankedTensorType::get(op.getTileShape(), b.getI1Type());
    Value mask =
        op.getMask()
            ? op.getMask()
            : arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, true)).getResult();
    op.getMaskMutable().assign(maskAxis(b, loc, mask, axis, extent, b.getBoolAttr(false)));
  }

  void mask(OpOperand &operand, unsigned axis, TypedAttr identity) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (roundUp(type.getDimSize(axis)) != type.getDimSize(axis))
      masks.push_back({&operand, axis, type.getDimSize(axis), identity});
  }
  void mask(OpOperand &operand, unsigned axis, ReduceKind kind) {
    Builder b(&getContext());
    mask(operand, axis, getIdentity(b, kind, getElementTypeOrSelf(operand.get().getType())));
  }

  /// For tile-gpu-guard-masks, to which a mask is all true where it is so in the real part.
  static void noteReal(Operation *op, ArrayRef<int64_t> sizes) {
    if (llvm::any_of(sizes, [](int64_t size) { return size > 0 && roundUp(size) != size; }))
      op->setAttr(tile::gpu::realExtentsName, DenseI64ArrayAttr::get(op->getContext(), sizes));
  }

  LogicalResult adjust(Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return clip(load), success();
    if (auto store = dyn_cast<StoreOp>(op))
      return clip(store), success();
    if (auto inside = dyn_cast<InsideOp>(op)) {
      noteReal(op, inside.getSizes());
      return clip(inside), success();
    }
    if (auto iota = dyn_cast<IotaOp>(op))
      return noteReal(op, iota.getType().getShape()), success();
    if (auto gather = dyn_cast<GatherOp>(op))
      return clipJoint(gather), success();
    if (auto scatter = dyn_cast<ScatterOp>(op))
      return clipJoint(scatter), success();
    if (auto atomic = dyn_cast<AtomicOp>(op))
      return clipJoint(atomic), success();
    // Padding along reduced axes becomes the identity; along kept ones it stays in padding of the
    // result.
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      for (unsigned d = 0; d < reduce.getSource().getType().getRank(); ++d)
        if (!reduce.getAxis() || *reduce.getAxis() == d)
          mask(reduce->getOpOperand(0), d, reduce.getKind());
      return success();
    }
    if (auto reduce = dyn_cast<ArgReduceOp>(op)) {
      RankedTensorType type = reduce.getSource().getType();
      // An arg_reduce along one axis counts along it, where padding comes last.
      if (!reduce.getAxis() && padType(type) != type)
        positions.push_back({reduce, SmallVector<int64_t>(type.getShape())});
      // Ties with the identity go to the lower position, which is a real one.
      for (unsigned d = 0; d < type.getRank(); ++d)
        if (!reduce.getAxis() || *reduce.getAxis() == d)
          mask(reduce->getOpOperand(0), d,
               reduce.getKind() == ArgReduceKind::ArgMax ? ReduceKind::Max : ReduceKind::Min);
      return success();
    }
    if (auto scan = dyn_cast<ScanOp>(op))
      return adjust(scan), success();
    if (auto reduce = dyn_cast<ReduceByOp>(op)) {
      int64_t extent =
          cast<RankedTensorType>(reduce.getSources()[0].getType()).getDimSize(reduce.getAxis());
      if (roundUp(extent) != extent)
        guards.push_back({op, extent});
      return success();
    }
    // Keys of the largest number: behind all others, or equal to one, which cannot be told apart.
    if (auto sort = dyn_cast<SortOp>(op)) // the largest come last
      return mask(op->getOpOperand(0), sort.getAxis(), ReduceKind::Min), success();
    if (isa<HistogramOp>(op)) { // what is negative is not counted
      for (int64_t d = 0; d < cast<RankedTensorType>(op->getOperand(0).getType()).getRank(); ++d)
        mask(op->getOpOperand(0), d, Builder(op).getI32IntegerAttr(-1));
      return success();
    }
    if (auto take = dyn_cast<TakeOp>(op))
      return clamp(take), success();
    if (auto dot = dyn_cast<DotOp>(op)) {
      return adjust(dot), success();
    }
    // The old extents are still there in this round.
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      RankedTensorType source = reshape.getSource().getType(), result = reshape.getType();
      if ((padType(source) != source || padType(result) != result) &&
          !reshapesInPlace(source.getShape(), result.getShape()))
        reshapes.push_back({reshape, SmallVector<int64_t>(source.getShape()),
                            SmallVector<int64_t>(result.getShape())});
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (padType(constant.getType()) != constant.getType() &&
          !isa<SplatElementsAttr>(constant.getValue()))
        return op->emitError("constant tiles whose extents are not powers of two are not supported "
                             "on GPU targets so far");
    return success();
  }

  /// True if the positions of `value` past its extents are going to be 0: it is loaded, and the
  /// load's padding is 0.
  /// Element-wise work on a load may turn its zeros into anything, hence a look through
  /// permutations alone.
  static bool isZeroPadded(Value value) {
    while (auto permute = value.getDefiningOp<PermuteOp>())
      value = permute.getSource();
    Value pad;
    if (auto load = value.getDefiningOp<LoadOp>())
      pad = load.getPad();
    else if (auto gather = value.getDefiningOp<GatherOp>())
      pad = gather.getPad();
    return pad && (matchPattern(pad, m_Zero()) || matchPattern(pad, m_PosZeroFloat()));
  }

  /// A product says which part of it is real. Matrix instructions add 32 bytes of K at once, so
  /// terms up to a multiple of that are added: both operands are 0 there, since the padding of one
  /// may be NaN.
  void adjust(DotOp dot) {
    RankedTensorType a = dot.getA().getType(), c = dot.getType();
    int64_t m = c.getDimSize(c.getRank() - 2), n = c.getDimSize(c.getRank() - 1),
            k = a.getDimSize(a.getRank() - 1);
    if (roundUp(m) == m && roundUp(n) == n && roundUp(k) == k)
      return;
    // The narrower operand has more elements in 32 bytes.
    unsigned bits =
        std::min(a.getElementTypeBitWidth(), dot.getB().getType().getElementTypeBitWidth());
    int64_t step = 256 / bits, depth = std::min<int64_t>(llvm::alignTo(k, step), roundUp(k));
    if (depth != k) {
      if (!isZeroPadded(dot.getA()))
        mask(dot->getOpOperand(0), a.getRank() - 1, ReduceKind::Sum);
      if (!isZeroPadded(dot.getB()))
        mask(dot->getOpOperand(1), a.getRank() - 2, ReduceKind::Sum);
    }
    // From here on `valid` goes along to the instructions, which leave out what is padding alone.
    dot.setValid(ArrayRef<int64_t>{m, n, depth});
  }

  /// Padding comes last, so only a reversed scan meets it.
  void adjust(ScanOp scan) {
    int64_t extent =
        cast<RankedTensorType>(scan.getSources()[0].getType()).getDimSize(scan.getAxis());
    if (!scan.getReverse() || roundUp(extent) == extent)
      return;
    Block &body = scan.getCombiner().front();
    // One operation that is known: masking by its identity is cheaper than a flag.
    auto kind = scan.getSources().size() == 1 &&
                        llvm::hasSingleElement(body.without_terminator()) &&
                        body.back().getOperand(0) == body.front().getResult(0)
                    ? getReduceKind(&body.front())
                    : std::nullopt;
    if (kind)
      mask(scan->getOpOperand(0), scan.getAxis(), *kind);
    else
      guards.push_back({scan, extent});
  }

  /// Positions stay within the old extent.
  static void clamp(TakeOp take) {
    int64_t extent = take.getSource().getType().getDimSize(take.getAxis());
    if (roundUp(extent) == extent)
      return;
    OpBuilder b(take);
    // From above only: TakeOp itself clamps to 0 from below and to the padded extent.
    Type type = take.getPosition().getType();
    Attribute last = b.getIntegerAttr(getElementTypeOrSelf(type), extent - 1);
    TypedAttr limit = isa<RankedTensorType>(type)
                          ? TypedAttr(DenseElementsAttr::get(cast<RankedTensorType>(type), last))
                          : cast<TypedAttr>(last);
    Value constant = arith::ConstantOp::create(b, take.getLoc(), limit);
    take.getPositionMutable().assign(
        arith::MinSIOp::create(b, take.getLoc(), take.getPosition(), constant));
  }

  /// Gives every dimension that grows an end where it ended before.
  /// An access that was proven in bounds no longer is: positions behind the old end may not exist.
  template <typename Op> static void clip(Op op) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    SmallVector<Value> ends;
    SmallVector<int64_t> sizes;
    SmallVector<bool> hasEnd, inBounds;
    unsigned end = 0;
    bool changed = false;
    for (unsigned d = 0; d < op.getSizes().size(); ++d) {
      int64_t size = op.getSizes()[d];
      Value old = op.getHasEnd()[d] ? op.getEnds()[end++] : Value();
      bool grows = size >= 0 && roundUp(size) != size;
      if (grows) {
        // Behind the start, so that loads and stores of one block have one end.
        // At the start's definition, the same for a load and a store of one block, so that CSE
        // makes one end of both.
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointAfterValue(op.getStarts()[d]);
        Value length = arith::ConstantIndexOp::create(b, loc, size * op.getSteps()[d]);
        Value stop = arith::AddIOp::create(b, loc, op.getStarts()[d], length);
        if (old)
          b.setInsertionPoint(op);
        old = old ? Value(arith::MinSIOp::create(b, loc, old, stop)) : stop;
        changed = true;
      }
      sizes.push_back(grows ? roundUp(size) : size);
      hasEnd.push_back(bool(old));
      inBounds.push_back(op.getInBounds()[d] && !grows);
      if (old)
        ends.push_back(old);
    }
    if (!changed)
      return;
    op.getEndsMutable().assign(ends);
    op.setSizes(sizes);
    op.setHasEnd(hasEnd);
    op.setInBounds(inBounds);
  }
};

} // namespace
