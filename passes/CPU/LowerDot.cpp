// tile-cpu-lower-dot: matrix products of scratch tiles as loops around a block that stays in vector
// registers.
//
//              width vectors
//   acc rows   | v v |          for k: right = b[k, columns of the block]     one load a vector
//              | v v |                 for each row: left = a[row, k]         one element, spread
//              | v v |                   acc[row] += left * right             one instruction each
//
// The accumulators take half of the processor's vector registers, which leaves room for `right` and
// the spread element. Operands have the accumulator's dtype already (lowerDot in
// Convert/TileToLinalgCompute.cpp widens them). Blocks at the edges are made of the extents that
// are left, so nothing is padded.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CPULOWERDOT
#include "passes/Passes.h.inc"
} // namespace tile

namespace {
/// Emits c += a * b for one product; `batch`, where set, is the leading index of all three.
struct DotEmitter {
  OpBuilder &b;
  Location loc;
  Value lhs, rhs, acc;
  int64_t rows, columns, depth;
  Type element;
  Value batch;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value offset(Value base, int64_t by) {
    return by ? arith::AddIOp::create(b, loc, base, index(by)).getResult() : base;
  }
  SmallVector<Value> at(Value i, Value j) {
    return batch ? SmallVector<Value>{batch, i, j} : SmallVector<Value>{i, j};
  }

  Value multiplyAdd(Value x, Value y, Value z) {
    // Not into one fma operation: the processor may have none, and LLVM fuses where it does.
    if (isa<FloatType>(element)) {
      // The sum's grouping is free within a dot's error bound, and so is fusing.
      auto fuse = arith::FastMathFlags::contract;
      return arith::AddFOp::create(b, loc, z, arith::MulFOp::create(b, loc, x, y, fuse), fuse);
    }
    return arith::AddIOp::create(b, loc, z, arith::MulIOp::create(b, loc, x, y));
  }

  /// The block of `height` rows at `i` and the columns at `j` that `widths` cut into vectors.
  /// The columns of the right operand are those of `packed`, where there is one.
  void block(Value i, Value j, int64_t height, ArrayRef<int64_t> widths, Value packed) {
    SmallVector<Value> row, column, accumulators;
    SmallVector<VectorType> types;
    // Positions of rows and vectors do not depend on k, and are computed ahead of the loop.
    for (int64_t r = 0; r < height; ++r)
      row.push_back(offset(i, r));
    int64_t first = 0;
    for (int64_t width : widths) {
      column.push_back(offset(j, first));
      types.push_back(VectorType::get(width, element));
      first += width;
    }
    // Sums start at zero, and what they are added to is read last: no product waits for it.
    for (unsigned r = 0; r < row.size(); ++r)
      for (VectorType type : types)
        accumulators.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
    if (packed)
      prefetchNext(i, j, height, first);
    // Two steps at a time: the addresses of the rows are then computed once for both.
    int64_t unroll = depth % 2 == 0 ? 2 : 1;
    auto loop = scf::ForOp::create(b, loc, index(0), index(depth), index(unroll), accumulators);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> sums(loop.getRegionIterArgs());
      for (int64_t step = 0; step < unroll; ++step) {
        Value k = offset(loop.getInductionVar(), step);
        SmallVector<Value> right;
        int64_t first = 0;
        for (auto [c, type] : llvm::zip(column, types)) {
          right.push_back(
              packed ? vector::LoadOp::create(b, loc, type, packed, ValueRange{k, index(first)})
                     : vector::LoadOp::create(b, loc, type, rhs, at(k, c)));
          first += type.getNumElements();
        }
        // Each element of a's column is spread over a vector once for each vector of the row; b's
        // vectors are loaded once for all rows.
        unsigned next = 0;
        for (Value r : row) {
          Value left = memref::LoadOp::create(b, loc, lhs, at(r, k));
          for (auto [vector, type] : llvm::zip(right, types)) {
            Value spread = vector::BroadcastOp::create(b, loc, type, left);
            sums[next] = multiplyAdd(spread, vector, sums[next]);
            ++next;
          }
        }
      }
      scf::YieldOp::create(b, loc, sums);
    }
    // One read and one write of the accumulator for the whole depth.
    unsigned next = 0;
    for (Value r : row) {
      for (auto [c, type] : llvm::zip(column, types)) {
        Value before = vector::LoadOp::create(b, loc, type, acc, at(r, c)),
              sum = loop.getResult(next++);
        sum = isa<FloatType>(element) ? arith::AddFOp::create(b, loc, before, sum).getResult()
                                      : arith::AddIOp::create(b, loc, before, sum).getResult();
        vector::StoreOp::create(b, loc, sum, acc, at(r, c));
      }
    }
  }

  /// Asks for this block's share of the memory where a loop over the depth will read next: the
  /// operands one depth further on. Where the guess is wrong nothing is read. Scratch is near
  /// already.
  /// The next read of a and b is supposed to be at k + depth: a loop of the program around this
  /// product walks along the depth. A block prefetches its share of one such step: blocks along N
  /// divide a's, blocks along M divide b's, so that every line is asked for about once.
  void prefetchNext(Value i, Value j, int64_t height, int64_t width) {
    // Elements in a line of 64 bytes.
    int64_t line = std::max<int64_t>(1, 512 / element.getIntOrFloatBitWidth());
    auto prefetch = [&](Value memory, Value r, Value c) {
      memref::PrefetchOp::create(b, loc, memory, at(r, c), /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    };
    // Positions along the depth that fall to `part` of the `whole`, which starts at `position`, by
    // `step`.
    auto share = [&](Value position, int64_t part, int64_t whole, int64_t step,
                     function_ref<void(Value)> body) {
      Value first = arith::DivUIOp::create(
          b, loc, arith::MulIOp::create(b, loc, position, index(depth)), index(whole));
      first = arith::AddIOp::create(b, loc, first, index(depth));
      Value last =
          arith::AddIOp::create(b, loc, first, index(llvm::divideCeil(depth * part, whole)));
      auto loop = scf::ForOp::create(b, loc, first, last, index(step));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      body(loop.getInductionVar());
    };
    if (!lhs.getDefiningOp<memref::AllocOp>())
      share(j, width, columns, line, [&](Value k) {
        for (int64_t r = 0; r < height; ++r)
          prefetch(lhs, offset(i, r), k);
      });
    if (!rhs.getDefiningOp<memref::AllocOp>())
      share(i, height, rows, 1, [&](Value k) {
        for (int64_t c = 0; c < width; c += line)
          prefetch(rhs, k, offset(j, c));
      });
  }

  /// Calls `body` on the blocks of `step` in [0, size), and once on what is left.
  /// `size` and `step` are known: what is left is a block of its own with its own, smaller
  /// constants.
  void blocks(int64_t size, int64_t step, function_ref<void(Value, int64_t)> body) {
    int64_t whole = size / step * step;
    if (whole) {
      auto loop = scf::ForOp::create(b, loc, index(0), index(whole), index(step));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      body(loop.getInductionVar(), step);
    }
    if (whole < size)
      body(index(whole), size - whole);
  }

  /// Copies the columns at `j` of the right operand side by side: as they lie, their rows may fall
  /// on few cache sets, and every block of rows reads them again.
  /// Worth its copy only if more than one block of rows reads it: see `emit`.
  Value pack(Value j, ArrayRef<int64_t> widths) {
    int64_t width = 0;
    for (int64_t w : widths)
      width += w;
    Value packed = memref::AllocOp::create(b, loc, MemRefType::get({depth, width}, element));
    auto loop = scf::ForOp::create(b, loc, index(0), index(depth), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    int64_t first = 0;
    for (int64_t w : widths) {
      Value vector =
          vector::LoadOp::create(b, loc, VectorType::get(w, element), rhs, at(k, offset(j, first)));
      vector::StoreOp::create(b, loc, vector, packed, ValueRange{k, index(first)});
      first += w;
    }
    return packed;
  }

  void emit(int64_t blockRows, int64_t blockVectors, int64_t lanes) {
    // Columns outside, rows inside: `packed` is read by all blocks of rows while it is in the
    // cache.
    blocks(columns, blockVectors * lanes, [&](Value j, int64_t width) {
      SmallVector<int64_t> widths(width / lanes, lanes);
      if (width % lanes)
        widths.push_back(width % lanes);
      Value packed = rows > blockRows ? pack(j, widths) : Value();
      blocks(rows, blockRows,
             [&](Value i, int64_t height) { block(i, j, height, widths, packed); });
    });
  }
};

struct CPULowerDot : tile::impl::CPULowerDotBase<CPULowerDot> {
  using CPULowerDotBase::CPULowerDotBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> products;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) && op.hasPureBufferSemantics())
        products.push_back(op);
    });
    for (linalg::LinalgOp op : products)
      lower(op);
  }

  void lower(linalg::LinalgOp op) {
    Value lhs = op.getDpsInputs()[0], rhs = op.getDpsInputs()[1], acc = op.getDpsInits()[0];
    auto lhsType = cast<MemRefType>(lhs.getType()), accType = cast<MemRefType>(acc.getType());
    // A vector needs neighbours: what is strided in its last dimension keeps the plain loops.
    // A strided left operand is fine: its elements are read one by one.
    for (Value operand : {rhs, acc})
      if (!cast<MemRefType>(operand.getType()).isLastDimUnitStride())
        return;
    OpBuilder b(op);
    ArrayRef<int64_t> shape = accType.getShape();
    unsigned rank = shape.size();
    DotEmitter emitter{b,
                       op.getLoc(),
                       lhs,
                       rhs,
                       acc,
                       shape[rank - 2],
                       shape[rank - 1],
                       lhsType.getShape().back(),
                       accType.getElementType(),
                       {}};
    if (rank == 3) {
      auto loop = scf::ForOp::create(b, op.getLoc(), emitter.index(0), emitter.index(shape[0]),
                                     emitter.index(1));
      b.setInsertionPointToStart(loop.getBody());
      emitter.batch = loop.getInductionVar();
    }
    // Accumulators in half the registers or less leave room for the operands: 8 by 2 of 32
    // registers, 4 by 2 of 16.
    int64_t lanes = std::max<int64_t>(1, vectorBits / accType.getElementTypeBitWidth());
    emitter.emit(vectorBits >= 512 ? 8 : 4, 2, lanes);
    op->erase();
  }
};
} // namespace
