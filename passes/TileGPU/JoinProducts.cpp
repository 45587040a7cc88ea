// tile-gpu-join-products: products of one tile by several that are fetched become one product by
// these side by side.
//
//   g += a · b0                           g|u += a · (b0|b1)      one instruction of twice the
//   u += a · b1             ->                                    columns, which reads a once
//   use(g, u)                             use(left part, right part)
//
// An instruction of few columns reads as many bytes of a as of b, more than shared memory delivers
// in its time; a is the same for all. A trip then has one product to wait for where several
// warpgroups multiply in turns. The fetched tiles become neighbours in one slot of a ring, and the
// sums are parts of one accumulator, which no thread has to move.
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Report/Declined.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUJOINPRODUCTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Columns of the widest instruction: it reads least of shared memory for each product.
constexpr int64_t mostColumns = 256;
/// Dimension N of a product's second operand and of its result.
constexpr unsigned dimN = 1;

/// Products of a loop's body, each added to a variable of the loop that nothing else touches.
struct Joined {
  SmallVector<WgmmaOp> products;
  SmallVector<unsigned> variables; ///< of each product, its place among the loop's
};

} // namespace

/// The fetch whose tile is the product's second operand and nobody else's.
static TmaFetchOp findFetch(WgmmaOp product) {
  Value memory = product.getB();
  while (auto permute = memory.getDefiningOp<MemDescPermuteOp>()) {
    if (!memory.hasOneUse())
      return {};
    memory = permute.getSource();
  }
  auto fetch = memory.getDefiningOp<TmaFetchOp>();
  return fetch && memory.hasOneUse() && fetch->getBlock() == product->getBlock() ? fetch
                                                                                 : TmaFetchOp();
}

/// The loop's variable that the product alone changes, from zero.
static std::optional<unsigned> findVariable(scf::ForOp loop, WgmmaOp product) {
  auto variable = dyn_cast<BlockArgument>(product.getAcc());
  if (!variable || variable.getOwner() != loop.getBody() || !variable.hasOneUse() ||
      !product.getResult().hasOneUse() || !isa<scf::YieldOp>(*product.getResult().user_begin()))
    return std::nullopt;
  unsigned index = product.getResult().use_begin()->getOperandNumber();
  Value init = loop.getInitArgs()[index];
  if (variable != loop.getRegionIterArg(index) ||
      (!matchPattern(init, m_PosZeroFloat()) && !matchPattern(init, m_Zero())))
    return std::nullopt;
  return index;
}

/// Warps along M and along N of an accumulator.
static std::pair<unsigned, unsigned> countWarps(const LinearLayout &layout) {
  unsigned alongN = 1;
  for (const Coord &basis : layout.getBases(InDim::Warp))
    alongN *= basis[dimN] ? 2 : 1;
  return {layout.getNumWarps() / alongN, alongN};
}

static RankedTensorType getWideType(RankedTensorType type, int64_t count) {
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(dimN) * count;
  LinearLayout layout =
      LinearLayout::mmaAccumulator(rows, columns, countWarps(getLayout(type)).first, 1);
  return RankedTensorType::get({rows, columns}, type.getElementType(),
                               LinearAttr::get(type.getContext(), layout));
}

/// The memory of `count` such operands side by side; null where their bytes do not follow each
/// other.
static MemDescType getWideMemory(WgmmaOp product, int64_t count) {
  MemDescType type = product.getB().getType();
  if (!type.getLayout().getUsed().empty())
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape[dimN] *= count;
  auto wide = MemDescType::get(type.getContext(), shape, type.getElementType(), type.getLayout());
  return MemDescJoinOp::follow(type, wide, dimN) ? wide : MemDescType();
}

/// Whether the two multiply the same tile in the same way.
static bool areAlike(WgmmaOp one, WgmmaOp other) {
  return one.getA() == other.getA() && one.getType() == other.getType() &&
         one.getB().getType() == other.getB().getType() &&
         one.getUnsignedA() == other.getUnsignedA() && one.getUnsignedB() == other.getUnsignedB() &&
         one.getValid() == other.getValid() && one.getFrom() == other.getFrom() &&
         one.getColumn() == other.getColumn();
}

/// The first products of the loop's body that can be joined, a power of two of them.
static std::optional<Joined> findJoined(scf::ForOp loop) {
  SmallVector<WgmmaOp> all;
  for (auto product : loop.getBody()->getOps<WgmmaOp>())
    if (!product.getAsync() && findFetch(product) && findVariable(loop, product))
      all.push_back(product);
  for (WgmmaOp first : all) {
    Joined joined;
    for (WgmmaOp product : all)
      if (areAlike(first, product))
        joined.products.push_back(product);
    int64_t columns = first.getType().getDimSize(dimN), count = joined.products.size();
    count = llvm::bit_floor(uint64_t(std::min(count, mostColumns / columns)));
    if (count < 2 || first != joined.products.front())
      continue;
    auto valid = first.getValid();
    if (countWarps(getLayout(first.getType())).second != 1 ||
        (valid && (*valid)[dimN] != columns)) {
      declined(first) << "products of one tile have columns of their own for each warpgroup, or "
                         "columns of padding";
      continue;
    }
    if (!getWideMemory(first, count)) {
      declined(first) << "the tiles that multiply one tile do not lie as one in shared memory";
      continue;
    }
    joined.products.truncate(count);
    for (WgmmaOp product : joined.products)
      joined.variables.push_back(*findVariable(loop, product));
    return joined;
  }
  return std::nullopt;
}

/// One product in place of the last one. The fetches move to each other, since a slot's tiles lie
/// as they are fetched; what they need stands before them.
static WgmmaOp joinInLoop(const Joined &joined, Value acc) {
  WgmmaOp last = joined.products.back();
  OpBuilder builder(last);
  TmaFetchOp lastFetch = findFetch(last);
  SmallVector<Value> tiles;
  for (WgmmaOp product : joined.products) {
    TmaFetchOp fetch = findFetch(product);
    if (fetch != lastFetch)
      fetch->moveBefore(lastFetch);
    SmallVector<Operation *> permutes;
    for (Operation *op = product.getB().getDefiningOp(); op != fetch;
         op = cast<MemDescPermuteOp>(op).getSource().getDefiningOp())
      permutes.push_back(op);
    for (Operation *permute : llvm::reverse(permutes))
      permute->moveBefore(last);
    tiles.push_back(product.getB());
  }
  Value memory =
      MemDescJoinOp::create(builder, last.getLoc(), getWideMemory(last, tiles.size()), tiles, dimN);
  DenseI64ArrayAttr valid = last.getValidAttr();
  if (valid)
    valid = builder.getDenseI64ArrayAttr({valid[0], valid[1] * int64_t(tiles.size()), valid[2]});
  return WgmmaOp::create(builder, last.getLoc(), acc.getType(), last.getA(), memory, acc,
                         /*async=*/false, last.getUnsignedA(), last.getUnsignedB(), valid,
                         last.getFromAttr(), last.getColumnAttr());
}

/// The loop anew, with one variable for the products'; the others keep their order.
static void join(scf::ForOp loop, const Joined &joined) {
  OpBuilder builder(loop);
  WgmmaOp first = joined.products.front();
  RankedTensorType type = first.getType();
  RankedTensorType wide = getWideType(type, joined.products.size());
  auto isJoined = [&](unsigned i) { return llvm::is_contained(joined.variables, i); };
  SmallVector<Value> inits;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
    if (!isJoined(i))
      inits.push_back(init);
  inits.push_back(
      arith::ConstantOp::create(builder, loop.getLoc(), wide, builder.getZeroAttr(wide)));
  auto made = scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                 loop.getStep(), inits);
  made->setAttrs(loop->getAttrs());
  Block *body = made.getBody();
  if (!body->empty())
    body->back().erase();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  WgmmaOp product = joinInLoop(joined, made.getRegionIterArgs().back());
  loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());

  auto yield = cast<scf::YieldOp>(body->getTerminator());
  SmallVector<Value> yielded;
  unsigned next = 0;
  for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
    if (isJoined(i))
      continue;
    loop.getRegionIterArg(i).replaceAllUsesWith(made.getRegionIterArg(next));
    loop.getResult(i).replaceAllUsesWith(made.getResult(next++));
    yielded.push_back(value);
  }
  yielded.push_back(product.getResult());
  builder.setInsertionPoint(yield);
  scf::YieldOp::create(builder, yield.getLoc(), yielded);
  yield.erase();
  for (WgmmaOp old : llvm::reverse(joined.products))
    old.erase();
  builder.setInsertionPointAfter(made);
  for (auto [part, variable] : llvm::enumerate(joined.variables)) {
    int64_t offset = int64_t(part) * type.getDimSize(dimN);
    loop.getResult(variable).replaceAllUsesWith(
        ExtractPartOp::create(builder, made.getLoc(), type, made.getResults().back(),
                              builder.getDenseI64ArrayAttr({0, offset})));
  }
  loop.erase();
}

namespace {

struct TileGPUJoinProducts : tile::impl::TileGPUJoinProductsBase<TileGPUJoinProducts> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Joined> joined = findJoined(loop))
        join(loop, *joined);
  }
};

} // namespace
