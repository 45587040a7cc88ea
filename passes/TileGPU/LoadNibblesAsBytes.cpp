// tile-gpu-load-nibbles-as-bytes: tiles of 4-bit integers are loaded as the bytes that hold them,
// so that everything that moves tiles (wide accesses, TMA) moves these too, and unpacked in
// registers.
//
//   bytes in memory        | e1 e0 | e3 e2 | e5 e4 |   the earlier element in the lower half
//   load of i4, [.., 64]   ->   load of i8, [.., 32], and tile_gpu.unpack: the same bits
//
// The last dimension must be dense, and begin and end at whole bytes. Padding of bytes is 0, so
// another padding of the elements is put in by a selection behind the load.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/Divisibility.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPULOADNIBBLESASBYTES
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Two rounds: paddings first, for all loads alike; then those that may be loaded as bytes.
struct TileGPULoadNibblesAsBytes
    : tile::impl::TileGPULoadNibblesAsBytesBase<TileGPULoadNibblesAsBytes> {
  void runOnOperation() override {
    SmallVector<LoadOp> loads;
    getOperation().walk([&](LoadOp load) {
      if (!getElementTypeOrSelf(load.getType()).isInteger(4))
        return;
      // A single nibble is selected from its byte by the conversion itself.
      if (isa<RankedTensorType>(load.getType()))
        loads.push_back(load);
      else
        selectPadding(load);
    });
    if (loads.empty())
      return;
    for (LoadOp load : loads)
      selectPadding(load);
    // Computed once, before rewriting changes operations.
    const auto &divisibility = getAnalysis<DivisibilityAnalysis>();
    for (LoadOp load : loads)
      if (beginsAndEndsAtBytes(load, divisibility))
        rewrite(load);
    bytes.clear();
  }

private:
  /// Loads of nibbles pad with 0: another padding is put in afterwards, where an element does not
  /// exist or is masked.
  static void selectPadding(LoadOp load) {
    if (matchPattern(load.getPad(), m_Zero()))
      return;
    OpBuilder b(load);
    Location loc = load.getLoc();
    Value pad = load.getPad();
    auto tile = dyn_cast<RankedTensorType>(load.getType());
    Type flags = tile ? Type(tile.clone(b.getI1Type())) : b.getI1Type();
    Value exists = InsideOp::create(b, loc, flags, load.getView(), load.getStarts(), load.getEnds(),
                                    load.getSizesAttr(), load.getStepsAttr(), load.getHasEndAttr(),
                                    load.getInBoundsAttr());
    if (load.getMask())
      exists = arith::AndIOp::create(b, loc, exists, load.getMask());
    load.getPadMutable().assign(
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(b.getIntegerType(4), 0)));
    b.setInsertionPointAfter(load);
    Value other = tile ? Value(tensor::SplatOp::create(b, loc, tile, pad)) : pad;
    auto select = arith::SelectOp::create(b, loc, exists, load.getResult(), other);
    load.getResult().replaceAllUsesExcept(select.getResult(), select);
  }

  /// True for an access of a whole tensor that takes both elements of each byte, or none.
  /// Otherwise the load stays one of nibbles, which are moved byte by byte.
  static bool beginsAndEndsAtBytes(LoadOp load, const DivisibilityAnalysis &divisibility) {
    auto view = load.getView().getDefiningOp<ViewOp>();
    if (!view || load.getMask())
      return false;
    unsigned last = view.getType().getRank() - 1;
    auto isEven = [&](Value value) { return divisibility.getDivisor(value) % 2 == 0; };
    if (load.isDropped(last) || load.getSteps()[last] != 1 || load.getSizes()[last] % 2 ||
        !matchPattern(view.getStrides()[last], m_One()))
      return false;
    Value end = load.getEnd(last);
    // The step from row to row must be whole bytes as well: the launcher checks strides of i4
    // tensors.
    return isEven(load.getStarts()[last]) && (!end || isEven(end));
  }

  static Value half(OpBuilder &b, Location loc, Value value) {
    return b.createOrFold<arith::DivSIOp>(loc, value, arith::ConstantIndexOp::create(b, loc, 2));
  }

  /// The view's bytes. The launcher has checked that its last extent and its other strides are
  /// even.
  Value getBytes(ViewOp view) {
    // One view of bytes for all loads of a view.
    Value &cached = bytes[view];
    if (cached)
      return cached;
    OpBuilder b(view->getContext());
    b.setInsertionPointAfter(view);
    unsigned last = view.getType().getRank() - 1;
    SmallVector<Value> extents(view.getExtents()), strides(view.getStrides());
    SmallVector<int64_t> shape(view.getType().getShape());
    extents[last] = half(b, view.getLoc(), extents[last]);
    if (!ShapedType::isDynamic(shape[last]))
      shape[last] /= 2;
    // Strides in bytes: half of those in nibbles. The last one stays 1.
    for (unsigned d = 0; d < last; ++d)
      strides[d] = half(b, view.getLoc(), strides[d]);
    auto type = ViewType::get(b.getContext(), shape, b.getI8Type());
    return cached = ViewOp::create(b, view.getLoc(), type, view.getBase(), extents, strides);
  }

  // Everything is as before but for the last dimension, of which there is half.
  void rewrite(LoadOp load) {
    OpBuilder b(load);
    Location loc = load.getLoc();
    Value view = getBytes(load.getView().getDefiningOp<ViewOp>());
    auto type = cast<RankedTensorType>(load.getType());
    unsigned last = load.getSizes().size() - 1;
    SmallVector<int64_t> sizes(load.getSizes()), shape(type.getShape());
    SmallVector<Value> starts(load.getStarts()), ends(load.getEnds());
    sizes[last] /= 2;
    shape.back() /= 2;
    starts[last] = half(b, loc, starts[last]);
    if (load.getHasEnd()[last])
      ends.back() = half(b, loc, ends.back());
    // Padding of i4 is 0.
    Value pad = arith::ConstantIntOp::create(b, loc, 0, 8);
    Value tile = LoadOp::create(b, loc, RankedTensorType::get(shape, b.getI8Type()), view, starts,
                                ends, b.getDenseI64ArrayAttr(sizes), load.getStepsAttr(),
                                load.getHasEndAttr(), load.getInBoundsAttr(), pad,
                                /*mask=*/Value(), load.getCacheAttr());
    Value unpacked = UnpackOp::create(b, loc, type, tile);
    load.getResult().replaceAllUsesWith(unpacked);
    load.erase();
  }

  DenseMap<Operation *, Value> bytes; // looked up only
};

} // namespace
