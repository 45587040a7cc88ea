// The inputs that each pass of the GPU pipeline takes, in the words of a source where it has some:
// the answer to "why did this pass do nothing here" where the pass has no better one.
#include "passes/Report/PassReport.h"

using namespace llvm;

namespace tile {

// In the order of the pipeline. Cleaning up, and what every kernel goes through for correctness
// alone, is no decision and is not here.
static constexpr PassCondition conditions[] = {
    {"tile-gpu-widen-tiles", true,
     "kernels without a tune clause and a schedule of their own that multiply in a loop"},
    {"tile-gpu-share-programs", false,
     "kernels whose loops over blocks carry nothing but sums and extrema"},
    {"tile-gpu-split-loops", true, "loops with split(n)"},
    {"tile-gpu-version-row-loops", false,
     "kernels that go over the same blocks of a row in several loops"},
    {"tile-gpu-peel-tails", true,
     "loops over blocks that a function reduces or scans by what `inside` says of their elements"},
    {"tile-gpu-eliminate-redundant-loads", true,
     "equal loads of one block, of memory that nothing writes"},
    {"tile-gpu-rotate-rows", false,
     "kernels over rows that are not aligned, a piece of one row at a time, that know no order"},
    {"tile-gpu-defer-reductions", true,
     "reductions that a loop carries on, where fp(\"fast\") permits regrouping, or that one arm of "
     "a "
     "selection alone needs"},
    {"tile-gpu-narrow-reductions", true, "maxima and minima of f16 and bf16 that were widened"},
    {"tile-reduce-strength", true,
     "divisions and elementary functions under fp(\"fast\") with an operand that rows share"},
    {"tile-gpu-fuse-exact-products", true,
     "sums and differences with a product that is exact, as of two numbers widened from f16"},
    {"tile-gpu-expand-tf32x3", true, "products in precision tf32x3"},
    {"tile-gpu-expand-shapes", true, "slices and concatenations of tiles"},
    {"tile-gpu-pad-extents", true, "tiles with an extent that is no power of two"},
    {"tile-gpu-load-nibbles-as-bytes", true, "loads of i4"},
    {"tile-gpu-assign-layouts", true, "tiles"},
    {"tile-gpu-guard-masks", true,
     "selections by positions of 16 registers or more, as a causal mask is"},
    {"tile-gpu-defer-row-sums", true,
     "sums and extrema of tiles that a loop carries on and nothing in it reads"},
    {"tile-gpu-keep-tiles", true,
     "kernels without products, of which one loop loads what an earlier one over the same blocks "
     "did, of memory that nothing writes"},
    {"tile-gpu-use-tma", true,
     "loads of products' operands, and large stores of products, on targets with TMA"},
    {"tile-gpu-join-products", true,
     "products by wgmma of one tile by several that TMA fetches, added up in a loop"},
    {"tile-gpu-cut-products", true,
     "products by wgmma in a loop that begin a sum of their own, of more columns than registers "
     "hold results"},
    {"tile-gpu-fit-launch", false, "occupancy and maxreg beyond what the target has"},
    {"tile-gpu-multicast", true,
     "persistent kernels with cluster(2) whose neighbours load the same"},
    {"tile-gpu-set-eviction-policies", true,
     "copies by TMA in loops, of what no other program reads"},
    {"tile-gpu-fetch-gathers", true,
     "gathers of a product's operand beside tiles that TMA fetches in the same loop"},
    {"tile-gpu-pipeline-copies", true,
     "innermost loops with products whose operands TMA does not fetch, on targets with cp.async"},
    {"tile-gpu-schedule-loops", true, "loops with products by wgmma"},
    {"tile-gpu-apply-schedule", true, "loops whose schedule is not as they stand"},
    {"tile-gpu-make-persistent", true, "kernels with persistent"},
    {"tile-gpu-specialize-warps", true, "loops with copies by TMA"},
    {"tile-gpu-prefetch-coordinates", true,
     "persistent kernels whose copies' places are computed from tiles"},
    {"tile-gpu-schedule-tiles-dynamically", true,
     "persistent kernels with a producer, whose programs' loops differ in length or are skipped"},
    {"tile-gpu-rescale-lazily", true,
     "products of a large tile in a loop by few factors that may all be 1"},
    {"tile-gpu-spread-loads", true,
     "vectors in loops with products that TMA does not fetch, and many lanes need"},
    {"tile-gpu-prefetch-loads", true,
     "innermost loops that reduce, scan or store, over tensors that nothing writes"},
    {"tile-gpu-apply-loop-attributes", true, "loops with unroll(n)"},
    {"tile-gpu-join-reductions", true,
     "reductions across warps in one block, without products, that do not wait for each other"},
    {"tile-gpu-shift-loads", true,
     "loads one position beside each other, of memory that nothing writes"},
    {"tile-gpu-vectorize-accesses", true, "loads and stores of neighbours that lie together"},
    {"tile-gpu-load-early", true,
     "three loads or more that choose their width at run time, with arithmetic between them"},
    {"tile-gpu-store-in-parts", false,
     "stores that need tiles of memory, where a kernel is compiled again because it spills"},
};

ArrayRef<PassCondition> getPassConditions() { return conditions; }

} // namespace tile
