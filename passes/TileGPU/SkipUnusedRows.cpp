// tile-gpu-skip-unused-rows: warpgroups whose rows of a product all lie behind the end of its stores leave it out.
//
// A tile that its end cuts is computed as a whole: what lies behind the end is never stored. Two warpgroups along M have rows
// of their own, so the second one's work is idle where the end lies in the first one's rows.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/TileGPU/UnusedEnds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUSKIPUNUSEDROWS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Where a store's rows start and end.
using Rows = std::pair<Value, Value>;

static llvm::SetVector<Rows> collectRows(KernelOp kernel) {
  llvm::SetVector<Rows> rows;
  kernel.getBody().walk([&](StoreOp store) {
    for (unsigned d = 0; d < store.getSizes().size(); ++d)
      if (Value end = store.getEnd(d))
        rows.insert({store.getStarts()[d], end});
  });
  return rows;
}

/// True if warpgroups of `product` have different rows, and its accumulator has a value without it: one that a loop carries.
static bool canBeLeftOut(WgmmaOp product) {
  if (product.getAsync() || product.getRows() || !isa<BlockArgument>(product.getAcc()))
    return false;
  ArrayRef<Coord> warps = getLayout(product.getType()).getBases(InDim::Warp);
  return warps.size() > 2 && llvm::any_of(warps.drop_front(2), [](const Coord &basis) { return basis[0] != 0; });
}

/// The number of rows from `start` to `end`, none if that is negative, and at most `all`: exact whatever the numbers are.
static Value countRows(OpBuilder &b, Location loc, Rows rows, int64_t all) {
  auto [start, end] = rows;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), most = arith::ConstantIndexOp::create(b, loc, all);
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, end, start);
  Value count = arith::MinUIOp::create(b, loc, arith::SubIOp::create(b, loc, end, start), most);
  return arith::SelectOp::create(b, loc, some, count, zero);
}

namespace {

struct TileGPUSkipUnusedRows : tile::impl::TileGPUSkipUnusedRowsBase<TileGPUSkipUnusedRows> {
  void runOnOperation() override {
    DominanceInfo dominance(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      llvm::SetVector<Rows> candidates = collectRows(kernel);
      kernel.getBody().walk([&](WgmmaOp product) {
        if (!canBeLeftOut(product))
          return;
        for (const Rows &rows : candidates)
          if (dominance.properlyDominates(rows.first, product) && dominance.properlyDominates(rows.second, product) &&
              isEndUnused(product.getResult(), 0, rows.first, rows.second)) {
            Operation *place = findPlace(product, rows, dominance);
            OpBuilder builder(place);
            product.getRowsMutable().assign(countRows(builder, product.getLoc(), rows, product.getType().getDimSize(0)));
            return;
          }
      });
    }
  }

  /// Before the outermost loop around `product` in which `rows` do not change.
  static Operation *findPlace(Operation *place, const Rows &rows, DominanceInfo &dominance) {
    while (auto loop = dyn_cast<scf::ForOp>(place->getParentOp())) {
      if (!dominance.properlyDominates(rows.first, loop) || !dominance.properlyDominates(rows.second, loop))
        break;
      place = loop;
    }
    return place;
  }
};

} // namespace
