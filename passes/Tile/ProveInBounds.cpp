// tile-prove-in-bounds: marks the dimensions of accesses whose every position exists, so that they
// need no mask.
#include "dialect/Tile/TileDialect.h"
#include "passes/Analysis/Divisibility.h"
#include "passes/Analysis/IndexBounds.h"
#include "passes/Passes.h"
#include "passes/Report/KernelRemark.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_PROVEINBOUNDS
#include "passes/Passes.h.inc"

/// The dimension of which a multiple of the access's size would prove dimension `dim` in bounds;
/// empty if none would.
/// By trial: each dimension of the kernel in turn is supposed to be a multiple, and the proof is
/// tried again. The supposition is taken back before return, so that no proof of a later access
/// rests on it.
template <typename Access>
static StringRef helpfulContract(Access access, unsigned dim, IndexBounds &bounds) {
  int64_t size = access.getSizes()[dim];
  StringRef helpful;
  if (size > 1)
    for (Attribute attr : access->template getParentOfType<KernelOp>().getDims()) {
      StringRef name = cast<DimAttr>(attr).getName();
      bounds.suppose(name, size);
      if (bounds.isInBounds(access, dim)) {
        helpful = name;
        break;
      }
    }
  bounds.suppose("", 1);
  return helpful;
}

template <typename Access> static void remark(Access access, unsigned dim, IndexBounds &bounds) {
  auto diagnostic = remarkOn(access)
                    << "masked access: dimension " << dim << " of the view may be clipped";
  if (StringRef name = helpfulContract(access, dim, bounds); !name.empty())
    diagnostic << "; '" << name << " % " << access.getSizes()[dim]
               << " == 0' would remove the mask";
  diagnostic << " [R0301]";
}

/// Sets in_bounds where it can be proven; whether anything is left to mask goes to the remarks.
/// A dimension once marked stays marked: in_bounds is a promise that passes behind this one keep.
template <typename Access> static void prove(Access access, IndexBounds &bounds, bool remarks) {
  SmallVector<bool> proven(access.getInBounds());
  for (unsigned dim = 0; dim < proven.size(); ++dim) {
    if (access.isIndexed(dim)) // positions of the run
      continue;
    proven[dim] = proven[dim] || bounds.isInBounds(access, dim);
    if (!proven[dim] && remarks &&
        !access.isDropped(dim)) // a single position costs one comparison, not a mask
      remark(access, dim, bounds);
  }
  access.setInBounds(proven);
}

namespace {
struct ProveInBounds : impl::ProveInBoundsBase<ProveInBounds> {
  using ProveInBoundsBase::ProveInBoundsBase;

  void runOnOperation() override {
    DivisibilityAnalysis divisibility(getOperation());
    IndexBounds bounds(getOperation(), divisibility);
    getOperation().walk([&](Operation *op) {
      if (auto load = dyn_cast<LoadOp>(op))
        prove(load, bounds, remarks);
      else if (auto store = dyn_cast<StoreOp>(op))
        prove(store, bounds, remarks);
      else if (auto inside = dyn_cast<InsideOp>(op))
        prove(inside, bounds, /*remarks=*/false);
      else if (auto gather = dyn_cast<GatherOp>(op))
        prove(gather, bounds, remarks);
      else if (auto scatter = dyn_cast<ScatterOp>(op))
        prove(scatter, bounds, remarks);
      else if (auto atomic = dyn_cast<AtomicOp>(op))
        prove(atomic, bounds, remarks);
    });
  }
};
} // namespace

} // namespace tile
