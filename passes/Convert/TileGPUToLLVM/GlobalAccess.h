// Where each register of a tile lies in global memory, and whether it exists: what loads, stores
// and atomics share.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_GLOBALACCESS_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_GLOBALACCESS_H

#include "passes/Convert/LanesBelow.h"
#include "passes/Convert/TileGPUToLLVM/InlinePTX.h"
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tile::gpu {

/// True if `value` is known not to be negative, by a look at its definition.
bool isNonNegative(mlir::Value value, unsigned depth = 0);

/// Neighbouring registers that the access moves at once; with `tile_gpu.vector_if`, after a check
/// at run time.
inline unsigned getVectorWidth(mlir::Operation *op, llvm::StringRef attribute = vectorName) {
  auto width = op->getAttrOfType<mlir::IntegerAttr>(attribute);
  return width ? width.getInt() : 1;
}

/// One access to global memory, ready to be cut into pieces: addresses and predicates for each
/// register.
template <typename Op> class GlobalAccess {
public:
  /// `positions`: for each dimension given by a tile, the position of each register.
  /// Order of work: once for the block (origin, limits), once for a thread (its offset), then
  /// constants for each register.
  GlobalAccess(Op op, mlir::ValueRange view, mlir::ValueRange starts, mlir::ValueRange ends,
               llvm::ArrayRef<mlir::Value> positions, mlir::RankedTensorType tile,
               mlir::OpBuilder &builder)
      : op(op), parts(view, op.getView().getType().getRank()), builder(builder), loc(op.getLoc()) {
    element = op.getView().getType().getElementType();
    if (tile) {
      layout = getLayout(tile);
      thread.emplace(builder, loc, layout);
    }
    zero = constantIndex(builder, loc, 0);
    mlir::Value origin = zero;
    unsigned end = 0, nextPosition = 0;
    // Entries of `dims` are the tile's dimensions; those that a tile of positions gives have no
    // stride and are in `indexed`.
    llvm::SmallVector<int64_t> tileDims = op.getTileDims();
    dims.resize(tile ? tile.getRank() : 0);
    for (unsigned d = 0; d < op.getSizes().size(); ++d) {
      if (op.isIndexed(d)) {
        indexed.push_back({positions[nextPosition++], parts.extents[d], parts.strides[d]});
        continue;
      }
      mlir::Value start = starts[d], limit = parts.extents[d];
      if (op.getHasEnd()[d]) { // not below zero: its distance to a start must not wrap around
        limit = mlir::arith::MinSIOp::create(builder, loc, limit, ends[end++]);
        limit = mlir::arith::MaxSIOp::create(builder, loc, limit, zero);
      }
      mlir::Value scaled = mlir::arith::MulIOp::create(builder, loc, start, parts.strides[d]);
      origin = mlir::arith::AddIOp::create(builder, loc, origin, scaled);
      if (op.isDropped(d)) {
        if (!op.getInBounds()[d]) {
          uniform(mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::slt, start,
                                              limit));
          if (!isNonNegative(start))
            uniform(mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::sge,
                                                start, zero));
        }
        continue;
      }
      if (op->hasAttr(rotatedName)) {
        rotate(start, limit, op.getSizes()[d], op.getInBounds()[d]);
        dims[tileDims[d]].stride = parts.strides[d];
        continue;
      }
      dims[tileDims[d]] = makeDimension(start, limit, parts.strides[d], op.getSizes()[d],
                                        op.getSteps()[d], op.getInBounds()[d]);
    }
    if (parts.exists)
      uniform(parts.exists);
    // `base` is the same for all threads; canVectorize tests it alone.
    base = move(parts.pointer, origin);
    mlir::Value offset;
    for (Dimension &dim : dims) {
      if (!dim.stride)
        continue;
      mlir::Value coordinate = mlir::arith::IndexCastOp::create(
          builder, loc, builder.getIndexType(), thread->getBase(&dim - dims.data()));
      mlir::Value scaled = mlir::arith::MulIOp::create(builder, loc, coordinate, dim.stride);
      offset =
          offset ? mlir::Value(mlir::arith::AddIOp::create(builder, loc, offset, scaled)) : scaled;
    }
    threadBase = offset ? move(base, offset) : base;
  }

  const LinearLayout &getTileLayout() const { return layout; }

  /// Of a line that goes round (tile-gpu-rotate-rows), in the places of its elements, each an i32.
  /// The access begins `shift` elements ahead of the tile: `address` is right from that place on.
  struct Rotation {
    mlir::Value shift;   ///< the first `shift` places have the tile's last elements
    mlir::Value high;    ///< of the others those below this one exist; null for all
    mlir::Value wrapped; ///< of the first ones those below this one exist; null for all
    int64_t most = 1;    ///< shift is less
    int64_t extent = 0;
  };
  const std::optional<Rotation> &getRotation() const { return rotation; }

  /// Moves all addresses back to where the first place's would be a multiple of `bytes`, a power of
  /// two, at which the tensor begins; getSkipped() says by how many bytes, an i32. All pieces of as
  /// many bytes are moved alike.
  void alignDown(unsigned bytes) {
    mlir::Value address = mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), base);
    skipped = mlir::arith::AndIOp::create(
        builder, loc, mlir::arith::TruncIOp::create(builder, loc, builder.getI32Type(), address),
        constantI32(builder, loc, bytes - 1));
    mlir::Value back =
        mlir::arith::SubIOp::create(builder, loc, constantI32(builder, loc, 0), skipped);
    base = advance(builder, loc, base, back);
    threadBase = advance(builder, loc, threadBase, back);
  }
  mlir::Value getSkipped() const { return skipped; }

  /// How many bytes lie from the first place's address to the view's end, an i64; below 0 where it
  /// is behind that.
  mlir::Value bytesBehind() {
    return mlir::arith::SubIOp::create(
        builder, loc, behindView(),
        mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), base));
  }

  /// Whether there are elements at all: null if there are.
  mlir::Value anyExists() const { return uniformPredicate; }

  /// The place of register `reg`'s element along the tile's dimension `dim`, an i32, and what of it
  /// is a constant.
  mlir::Value getPlace(unsigned reg, unsigned dim) { return thread->get(builder, loc, reg, dim); }
  int64_t getPlaceOffset(unsigned reg, unsigned dim) const { return thread->getOffset(reg, dim); }

  /// Whether register `reg`'s place along `dim` is below `limit`, an i32: where the constant is
  /// added to the thread's part, a comparison of it with a difference that registers share.
  mlir::Value isBelow(unsigned reg, unsigned dim, mlir::Value limit) {
    mlir::Value left = getPlace(reg, dim);
    if (thread->isDisjoint(dim)) {
      left = constantI32(builder, loc, thread->getOffset(reg, dim));
      limit = mlir::arith::SubIOp::create(builder, loc, limit, thread->getBase(dim));
    }
    return mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::slt, left, limit);
  }

  /// Whether register `reg` exists; null if it always does. `except` is a dimension of the tile
  /// that is not asked.
  /// Tests in the order of cost: what is uniform is known already, ranges take one or two
  /// comparisons each.
  mlir::Value exists(unsigned reg, unsigned except = ~0u) {
    mlir::Value all = uniformPredicate;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (!dim.high || d == except)
        continue;
      mlir::Value position = thread->get(builder, loc, reg, d);
      all =
          conjunction(all, mlir::arith::CmpIOp::create(
                               builder, loc, mlir::arith::CmpIPredicate::slt, position, dim.high));
      if (dim.low)
        all =
            conjunction(all, mlir::arith::CmpIOp::create(
                                 builder, loc, mlir::arith::CmpIPredicate::sge, position, dim.low));
    }
    // Unsigned: what is negative is beyond every extent.
    for (Indexed &dim : indexed)
      all = conjunction(all,
                        mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::ult,
                                                    dim.at(builder, loc, reg), dim.extent));
    return all;
  }

  /// Whether `count` can tell which neighbours along a dimension exist: none is missing ahead of
  /// others.
  bool canCount(unsigned dim) const { return !dims[dim].low; }

  /// How many elements along `dim`, from register `reg`'s on, exist if `condition` holds (null: it
  /// does): an i32, 0 or less for none.
  /// Behind `high` the count is below 0; 2^30 stands for no limit, more than any tile has. Where
  /// the condition does not hold it is below 0 by more than any tile has, so that those of
  /// neighbours before are, too.
  mlir::Value count(unsigned reg, unsigned dim, mlir::Value condition) {
    mlir::Value found = constantI32(builder, loc, 1 << 30);
    if (dims[dim].high)
      found = mlir::arith::SubIOp::create(builder, loc, dims[dim].high,
                                          thread->get(builder, loc, reg, dim));
    if (mlir::Value all = conjunction(exists(reg, dim), condition))
      found = mlir::arith::SelectOp::create(builder, loc, all, found,
                                            constantI32(builder, loc, -(1 << 29)));
    return found;
  }

  /// The address behind the view's last element, an i64. Nothing is read from there on.
  mlir::Value behindView() {
    mlir::Value last = zero, one = constantIndex(builder, loc, 1);
    for (auto [extent, stride] : llvm::zip(parts.extents, parts.strides))
      last = mlir::arith::AddIOp::create(
          builder, loc, last,
          mlir::arith::MulIOp::create(
              builder, loc, mlir::arith::SubIOp::create(builder, loc, extent, one), stride));
    last = mlir::arith::AddIOp::create(builder, loc, last, one);
    return mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                          move(parts.pointer, last));
  }

  /// How many elements along `dim` register `reg` lies behind register `first`, if that is a
  /// constant and all the distance there is.
  /// Only then may two registers share an address and a count: see RaggedPieces.cpp.
  std::optional<unsigned> distance(unsigned first, unsigned reg, unsigned dim) {
    if (!indexed.empty())
      return std::nullopt;
    for (unsigned d = 0; d < dims.size(); ++d)
      if (!thread->isDisjoint(d) ||
          (d != dim && thread->getOffset(reg, d) != thread->getOffset(first, d)))
        return std::nullopt;
    int64_t distance =
        int64_t(thread->getOffset(reg, dim)) - int64_t(thread->getOffset(first, dim));
    return distance < 0 ? std::nullopt : std::optional<unsigned>(distance);
  }

  /// The address of register `reg`'s element, of a nibble its byte.
  mlir::Value address(unsigned reg) { return toPointer(place(reg)); }

  /// Of a byte that holds register `reg`'s nibble: i8, its bits at the bottom.
  mlir::Value selectNibble(mlir::Value byte, unsigned reg) {
    return selectNibbleAt(byte, place(reg));
  }
  mlir::Value selectScalarNibble(mlir::Value byte) { return selectNibbleAt(byte, base); }

  mlir::Value place(unsigned reg) {
    mlir::Value total;
    for (Indexed &dim : indexed) {
      mlir::Value scaled =
          mlir::arith::MulIOp::create(builder, loc, dim.at(builder, loc, reg), dim.stride);
      total =
          total ? mlir::Value(mlir::arith::AddIOp::create(builder, loc, total, scaled)) : scaled;
    }
    // Strides times constants: LLVM computes them once for a thread where strides are known at
    // launch only, and folds them where they are constants.
    for (auto [d, dim] : llvm::enumerate(dims)) {
      int64_t offset = thread->getOffset(reg, d);
      if (offset == 0 || !dim.stride)
        continue;
      // Where bits overlap, register offsets cannot be added to the thread's part.
      if (!thread->isDisjoint(d))
        return xorAddress(reg);
      mlir::Value scaled = mlir::arith::MulIOp::create(builder, loc, dim.stride,
                                                       constantIndex(builder, loc, offset));
      total =
          total ? mlir::Value(mlir::arith::AddIOp::create(builder, loc, total, scaled)) : scaled;
    }
    return total ? move(threadBase, total) : threadBase;
  }

  /// Whether pieces of `width` neighbours along dimension `fastest` are aligned, and exist or not
  /// as a whole, in this program: the same answer for every thread.
  /// Sufficient, not necessary: every quantity that could break a piece must be a multiple of the
  /// width.
  ///
  ///   base address                     multiple of width * bytes
  ///   strides of the other dimensions  multiple of width: all lines are aligned alike
  ///   low and high of the fastest      multiple of width: a piece exists as a whole or not at all
  mlir::Value canVectorize(unsigned width, unsigned fastest) {
    // A nibble's place counts half bytes, so that its `width` needs no bytes.
    int64_t bytes = std::max(8u, getStoredType(element).getIntOrFloatBitWidth()) / 8;
    mlir::Value address =
        isNibble(element)
            ? base
            : mlir::Value(mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), base));
    // Everything that must be a multiple: collected by OR, tested once.
    // 32 bits are enough: only the low bits of a sum of multiples are tested.
    mlir::Value address32 =
        mlir::arith::TruncIOp::create(builder, loc, builder.getI32Type(), address);
    mlir::Value bits = mlir::arith::AndIOp::create(builder, loc, address32,
                                                   constantI32(builder, loc, width * bytes - 1));
    mlir::Value elements;
    auto collect = [&](mlir::Value v) {
      elements = elements ? mlir::Value(mlir::arith::OrIOp::create(builder, loc, elements, v)) : v;
    };
    auto collectStride = [&](mlir::Value stride) {
      mlir::Value wide =
          mlir::arith::IndexCastOp::create(builder, loc, builder.getI64Type(), stride);
      collect(mlir::arith::TruncIOp::create(builder, loc, builder.getI32Type(), wide));
    };
    for (Indexed &dim : indexed)
      collectStride(dim.stride);
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (!dim.stride)
        continue;
      if (d != fastest) {
        collectStride(dim.stride);
        continue;
      }
      if (dim.high)
        collect(dim.high);
      if (dim.low)
        collect(dim.low);
    }
    if (elements) {
      elements =
          mlir::arith::AndIOp::create(builder, loc, elements, constantI32(builder, loc, width - 1));
      bits = mlir::arith::OrIOp::create(builder, loc, bits, elements);
    }
    return mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::eq, bits,
                                       constantI32(builder, loc, 0));
  }

  /// Whether all positions along `fastest` exist in this tile, and both windows of `bytes` bytes
  /// around each piece of as many lie in the tensor, if that begins at a multiple of them: the same
  /// answer for every thread. Not of tiles of positions.
  mlir::Value canLoadWindows(unsigned fastest, unsigned bytes) {
    auto equals = [&](mlir::Value value, int64_t number) -> mlir::Value {
      return value ? mlir::Value(mlir::arith::CmpIOp::create(builder, loc,
                                                             mlir::arith::CmpIPredicate::eq, value,
                                                             constantI32(builder, loc, number)))
                   : mlir::Value();
    };
    llvm::ArrayRef<int64_t> shape = layout.getShape();
    mlir::Value all =
        conjunction(equals(dims[fastest].high, shape[fastest]), equals(dims[fastest].low, 0));
    // The last line of the tile that exists, and behind its end a piece's second window.
    mlir::Value last = constantIndex(builder, loc, shape[fastest]);
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (d == fastest || !dim.stride)
        continue;
      mlir::Value number = constantIndex(builder, loc, shape[d] - 1);
      if (dim.high)
        number = mlir::arith::SubIOp::create(
            builder, loc,
            mlir::arith::IndexCastOp::create(builder, loc, builder.getIndexType(), dim.high),
            constantIndex(builder, loc, 1));
      last = mlir::arith::AddIOp::create(
          builder, loc, last, mlir::arith::MulIOp::create(builder, loc, number, dim.stride));
    }
    mlir::Value end =
        mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), move(base, last));
    mlir::Value room = mlir::arith::SubIOp::create(builder, loc, behindView(), end);
    return conjunction(all, mlir::arith::CmpIOp::create(
                                builder, loc, mlir::arith::CmpIPredicate::sge, room,
                                mlir::arith::ConstantIntOp::create(builder, loc, 2 * bytes, 64)));
  }

  mlir::Value scalarAddress() { return toPointer(base); }
  mlir::Value scalarExists() { return uniformPredicate; }
  mlir::Type getElement() const { return element; }

  mlir::Value conjunction(mlir::Value a, mlir::Value b) {
    if (!a || !b)
      return a ? a : b;
    return mlir::arith::AndIOp::create(builder, loc, a, b);
  }

private:
  struct Dimension {
    mlir::Value stride;    // elements between neighbours of the tile; null where tiles of positions
                           // say where they are
    mlir::Value low, high; // i32: coordinates that exist; null where all do
  };
  struct Indexed {
    mlir::Value positions; // of each register, index
    mlir::Value extent, stride;
    mlir::Value at(mlir::OpBuilder &builder, mlir::Location loc, unsigned reg) const {
      return mlir::vector::ExtractOp::create(builder, loc, positions,
                                             llvm::ArrayRef<int64_t>{int64_t(reg)});
    }
  };

  void uniform(mlir::Value condition) {
    uniformPredicate = conjunction(uniformPredicate, condition);
  }

  void rotate(mlir::Value start, mlir::Value limit, int64_t size, bool inBounds) {
    auto moved = start.getDefiningOp<mlir::arith::SubIOp>();
    assert(moved && "tile-gpu-rotate-rows moves beginnings by a difference");
    auto toI32 = [&](mlir::Value value) -> mlir::Value {
      return mlir::arith::IndexCastOp::create(builder, loc, builder.getI32Type(), value);
    };
    rotation.emplace();
    rotation->extent = size;
    rotation->most = op->template getAttrOfType<mlir::IntegerAttr>(rotatedName).getInt();
    rotation->shift = toI32(moved.getRhs());
    if (inBounds)
      return;
    mlir::Value left = mlir::arith::SubIOp::create(builder, loc, limit, moved.getLhs());
    left = mlir::arith::MinSIOp::create(builder, loc, left, constantIndex(builder, loc, size));
    left = toI32(mlir::arith::MaxSIOp::create(builder, loc, left, zero));
    rotation->high = mlir::arith::AddIOp::create(builder, loc, left, rotation->shift);
    rotation->wrapped =
        mlir::arith::SubIOp::create(builder, loc, rotation->high, constantI32(builder, loc, size));
  }

  // Coordinates as i32, cut to [0, size]: a tile's extent always fits, whatever the start.
  Dimension makeDimension(mlir::Value start, mlir::Value limit, mlir::Value stride, int64_t size,
                          int64_t step, bool inBounds) {
    Dimension dim;
    dim.stride = step == 1 ? stride
                           : mlir::Value(mlir::arith::MulIOp::create(
                                 builder, loc, stride, constantIndex(builder, loc, step)));
    if (!inBounds && isWide(size, step)) {
      auto toCoordinate = [&](mlir::Value below) -> mlir::Value {
        return mlir::arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                                lanesBelow(builder, loc, start, below, size, step));
      };
      dim.high = toCoordinate(limit);
      dim.low = toCoordinate(zero);
    } else if (!inBounds) {
      // limit - start and 0 - start wrap around at most to the side where nothing exists, as limit
      // is not below 0.
      mlir::Value sizeValue = constantIndex(builder, loc, size);
      auto toCoordinate = [&](mlir::Value distance) -> mlir::Value {
        if (step != 1)
          distance = mlir::arith::CeilDivSIOp::create(builder, loc, distance,
                                                      constantIndex(builder, loc, step));
        distance = mlir::arith::MinSIOp::create(builder, loc, distance, sizeValue);
        distance = mlir::arith::MaxSIOp::create(builder, loc, distance, zero);
        return mlir::arith::IndexCastOp::create(builder, loc, builder.getI32Type(), distance);
      };
      dim.high = toCoordinate(mlir::arith::SubIOp::create(builder, loc, limit, start));
      if (!isNonNegative(start))
        dim.low = toCoordinate(mlir::arith::SubIOp::create(builder, loc, zero, start));
    }
    return dim;
  }

  // One computation for each register, from the whole coordinate: dear, and rare (layouts in which
  // registers and threads share bits along a dimension).
  mlir::Value xorAddress(unsigned reg) {
    mlir::Value total = zero;
    for (Indexed &dim : indexed)
      total = mlir::arith::AddIOp::create(
          builder, loc, total,
          mlir::arith::MulIOp::create(builder, loc, dim.at(builder, loc, reg), dim.stride));
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (!dim.stride)
        continue;
      mlir::Value position = thread->get(builder, loc, reg, d);
      mlir::Value wide =
          mlir::arith::IndexCastOp::create(builder, loc, builder.getIndexType(), position);
      total = mlir::arith::AddIOp::create(
          builder, loc, total, mlir::arith::MulIOp::create(builder, loc, wide, dim.stride));
    }
    return move(base, total);
  }

  mlir::Value move(mlir::Value pointer, mlir::Value offset) {
    return advance(builder, loc, pointer, offset, element);
  }

  mlir::Value toPointer(mlir::Value place) {
    if (!isNibble(element))
      return place;
    mlir::Value address = mlir::arith::ShRUIOp::create(
        builder, loc, place, mlir::arith::ConstantIntOp::create(builder, loc, 1, 64));
    return mlir::LLVM::IntToPtrOp::create(
        builder, loc, mlir::LLVM::LLVMPointerType::get(builder.getContext(), 1), address);
  }

  mlir::Value selectNibbleAt(mlir::Value byte, mlir::Value place) {
    mlir::Type i8 = builder.getI8Type();
    mlir::Value half = mlir::arith::AndIOp::create(
        builder, loc, mlir::arith::TruncIOp::create(builder, loc, i8, place),
        mlir::arith::ConstantIntOp::create(builder, loc, 1, 8));
    return mlir::arith::ShRUIOp::create(
        builder, loc, byte,
        mlir::arith::ShLIOp::create(builder, loc, half,
                                    mlir::arith::ConstantIntOp::create(builder, loc, 2, 8)));
  }

  Op op;
  ViewParts parts;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type element;
  LinearLayout layout;
  std::optional<ThreadCoordinates> thread;
  llvm::SmallVector<Dimension> dims; // of the tile
  llvm::SmallVector<Indexed> indexed;
  std::optional<Rotation> rotation;
  mlir::Value zero, base, threadBase, uniformPredicate, skipped;
};

/// The access of an operation whose operands have been converted; `tile` is null for a single
/// element.
template <typename Op, typename Adaptor>
GlobalAccess<Op> makeGlobalAccess(Op op, Adaptor adaptor, mlir::RankedTensorType tile,
                                  mlir::OpBuilder &builder) {
  auto fronts = [](auto ranges) {
    llvm::SmallVector<mlir::Value> values;
    for (mlir::ValueRange range : ranges)
      values.push_back(range.front());
    return values;
  };
  llvm::SmallVector<mlir::Value> positions;
  if constexpr (llvm::is_one_of<Op, GatherOp, ScatterOp, AtomicOp, AsyncCopyOp>::value)
    positions = fronts(adaptor.getPositions());
  llvm::SmallVector<mlir::Value> starts = fronts(adaptor.getStarts()),
                                 ends = fronts(adaptor.getEnds());
  return GlobalAccess<Op>(op, adaptor.getView(), starts, ends, positions, tile, builder);
}

} // namespace tile::gpu

#endif
