// tile-gpu-pad-extents: rounds the extents of tiles up to powers of two, which layouts need.
//
// Positions past an extent read as padding and are never stored, because accesses get an end. Element-wise work on them is
// idle. Where they could be seen, in reductions and along K of a dot, they are replaced by what changes nothing.
#include "passes/Convert/Reduction.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUPADEXTENTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static int64_t roundUp(int64_t extent) { return llvm::PowerOf2Ceil(extent); }

static Type padType(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return type;
  SmallVector<int64_t> shape = llvm::map_to_vector(tile.getShape(), roundUp);
  return RankedTensorType::get(shape, tile.getElementType(), tile.getEncoding());
}

/// `tile` with `identity` in place of positions at or past `extent` along `axis`.
static Value maskAxis(OpBuilder &b, Location loc, Value tile, unsigned axis, int64_t extent, TypedAttr identity) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t padded = type.getDimSize(axis);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  auto line = RankedTensorType::get({padded}, b.getIndexType());
  Value positions = IotaOp::create(b, loc, line, zero, b.getI64IntegerAttr(1));
  Value limit = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(line, b.getIndexAttr(extent)));
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, positions, limit);
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[axis] = padded;
  if (type.getRank() > 1) {
    inside = ReshapeOp::create(b, loc, RankedTensorType::get(shape, b.getI1Type()), inside);
    inside = BroadcastOp::create(b, loc, RankedTensorType::get(type.getShape(), b.getI1Type()), inside);
  }
  Value fill = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(identity)));
  return arith::SelectOp::create(b, loc, inside, tile, fill);
}

namespace {

struct TileGPUPadExtents : tile::impl::TileGPUPadExtentsBase<TileGPUPadExtents> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    bool needed = false;
    auto isOdd = [](Type type) { return padType(type) != type; };
    getOperation().walk([&](Operation *op) {
      if (!op->getParentOfType<KernelOp>())
        return;
      ops.push_back(op);
      needed |= llvm::any_of(op->getResultTypes(), isOdd) || llvm::any_of(op->getOperandTypes(), isOdd);
    });
    if (!needed)
      return;
    // What changes meaning is changed first, while the old extents can still be read.
    for (Operation *op : ops)
      if (failed(adjust(op)))
        return signalPassFailure();
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
      operand->set(maskAxis(b, operand->getOwner()->getLoc(), operand->get(), axis, extent, identity));
    }
    masks.clear();
    for (auto &[op, axis, extent] : joints)
      TypeSwitch<Operation *>(op).Case<GatherOp, ScatterOp, AtomicOp>([&, axis = axis, extent = extent](auto access) { maskJoint(access, axis, extent); });
    joints.clear();
  }

private:
  struct Mask {
    OpOperand *operand;
    unsigned axis;
    int64_t extent;
    TypedAttr identity;
  };
  SmallVector<Mask> masks;

  /// Dimensions given by tiles of positions, of which those past an extent are not positions.
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
    auto type = RankedTensorType::get(op.getTileShape(), b.getI1Type());
    Value mask = op.getMask() ? op.getMask() : arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, true)).getResult();
    op.getMaskMutable().assign(maskAxis(b, loc, mask, axis, extent, b.getBoolAttr(false)));
  }

  void mask(OpOperand &operand, unsigned axis, ReduceKind kind) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    Builder b(&getContext());
    if (roundUp(type.getDimSize(axis)) != type.getDimSize(axis))
      masks.push_back({&operand, axis, type.getDimSize(axis), getIdentity(b, kind, type.getElementType())});
  }

  LogicalResult adjust(Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return clip(load), success();
    if (auto store = dyn_cast<StoreOp>(op))
      return clip(store), success();
    if (auto inside = dyn_cast<InsideOp>(op))
      return clip(inside), success();
    if (auto gather = dyn_cast<GatherOp>(op))
      return clipJoint(gather), success();
    if (auto scatter = dyn_cast<ScatterOp>(op))
      return clipJoint(scatter), success();
    if (auto atomic = dyn_cast<AtomicOp>(op))
      return clipJoint(atomic), success();
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      for (unsigned d = 0; d < reduce.getSource().getType().getRank(); ++d)
        if (!reduce.getAxis() || *reduce.getAxis() == d)
          mask(reduce->getOpOperand(0), d, reduce.getKind());
      return success();
    }
    if (auto reduce = dyn_cast<ArgReduceOp>(op)) {
      RankedTensorType type = reduce.getSource().getType();
      if (!reduce.getAxis() && type.getRank() > 1 && padType(type) != type)
        return op->emitError("the position over all axes of a tile whose extents are not powers of two is not supported on GPU targets so far");
      for (unsigned d = 0; d < type.getRank(); ++d)
        if (!reduce.getAxis() || *reduce.getAxis() == d)
          mask(reduce->getOpOperand(0), d, reduce.getKind() == ArgReduceKind::ArgMax ? ReduceKind::Max : ReduceKind::Min);
      return success();
    }
    if (auto scan = dyn_cast<ScanOp>(op))
      return adjust(scan);
    if (auto take = dyn_cast<TakeOp>(op))
      return clamp(take), success();
    if (auto dot = dyn_cast<DotOp>(op)) {
      // Both sides: what is not stored may be NaN.
      mask(dot->getOpOperand(0), dot.getA().getType().getRank() - 1, ReduceKind::Sum);
      mask(dot->getOpOperand(1), dot.getB().getType().getRank() - 2, ReduceKind::Sum);
      return success();
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      auto extents = [](RankedTensorType type) {
        return llvm::to_vector(llvm::make_filter_range(type.getShape(), [](int64_t extent) { return extent != 1; }));
      };
      if (padType(reshape.getType()) != Type(reshape.getType()) || padType(reshape.getSource().getType()) != Type(reshape.getSource().getType()))
        if (extents(reshape.getSource().getType()) != extents(reshape.getType()))
          return op->emitError("reshaping a tile whose extents are not powers of two is not supported on GPU targets so far");
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (padType(constant.getType()) != constant.getType() && !isa<SplatElementsAttr>(constant.getValue()))
        return op->emitError("constant tiles whose extents are not powers of two are not supported on GPU targets so far");
    return success();
  }

  /// What is padded comes last, so only a reversed scan meets it.
  LogicalResult adjust(ScanOp scan) {
    int64_t extent = cast<RankedTensorType>(scan.getSources()[0].getType()).getDimSize(scan.getAxis());
    if (!scan.getReverse() || roundUp(extent) == extent)
      return success();
    Block &body = scan.getCombiner().front();
    auto kind = scan.getSources().size() == 1 && llvm::hasSingleElement(body.without_terminator()) &&
                        body.back().getOperand(0) == body.front().getResult(0)
                    ? getReduceKind(&body.front())
                    : std::nullopt;
    if (!kind)
      return scan.emitError("a reversed scan by this function along an axis whose extent is not a power of two is not "
                            "supported on GPU targets so far");
    mask(scan->getOpOperand(0), scan.getAxis(), *kind);
    return success();
  }

  /// Positions stay within the old extent.
  static void clamp(TakeOp take) {
    int64_t extent = take.getSource().getType().getDimSize(take.getAxis());
    if (roundUp(extent) == extent)
      return;
    OpBuilder b(take);
    Type type = take.getPosition().getType();
    Attribute last = b.getIntegerAttr(getElementTypeOrSelf(type), extent - 1);
    TypedAttr limit = isa<RankedTensorType>(type) ? TypedAttr(DenseElementsAttr::get(cast<RankedTensorType>(type), last)) : cast<TypedAttr>(last);
    Value constant = arith::ConstantOp::create(b, take.getLoc(), limit);
    take.getPositionMutable().assign(arith::MinSIOp::create(b, take.getLoc(), take.getPosition(), constant));
  }

  /// Gives every dimension that grows an end where it ended before.
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
        Value length = arith::ConstantIndexOp::create(b, loc, size * op.getSteps()[d]);
        Value stop = arith::AddIOp::create(b, loc, op.getStarts()[d], length);
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
