// Products of an operand that threads compute, as weights of few bits are unpacked, in parts.
//
// wgmma reads such an operand from registers. In one piece all of it is computed before the product
// is issued, and the tensor cores wait unless another warpgroup has as much to multiply as this one
// has to compute. In parts along K a warpgroup multiplies and computes at once:
//
//   before   | compute | issue | product ............ | compute | issue | ...
//   after    | compute 0 | issue 0 | compute 1 | issue 1; wait 0 | compute 2 | issue 2; wait 1 ...
//
// What a part is computed from is read from shared memory a part ahead. Registers hold two parts of
// the operand where they held all of it. The last part is waited for at the end of the trip, or in
// the next one where its operand's slot may go back later (LateRelease.cpp).
//
// Source: CUTLASS's main loop of mixed inputs, and quack's operand transforms.
#include "passes/TileGPU/Schedule/ProductParts.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/PartTypes.h"
#include "passes/TileGPU/Schedule/OperandPieces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Parts of a product, at most: the tensor cores wait for the first one to be computed alone.
static constexpr int64_t mostParts = 4;
/// Instructions along K of a part, where there are enough for two parts.
static constexpr int64_t stepsOfPart = 2;
/// Clocks of the tensor cores that a part takes at least: each has a fence and a wait.
static constexpr int64_t leastClocks = 128;

/// Clocks that an instruction with an operand in registers takes at least, as parts have it: of 16
/// columns by 128 terms two gain 4 to 11 percent (weights of 4 bits, an H100).
static constexpr int64_t leastClocksOfStep = 32;

/// Bits of K that an instruction takes.
static constexpr int64_t bitsOfStep = 256;

namespace {

/// A value, and the dimension of it that parts are taken along; null where they share all of it.
struct Source {
  Value value;
  std::optional<unsigned> dim;
};

/// Computes parts of a tile along a dimension.
class PartMaker {
public:
  PartMaker(WgmmaOp product, int64_t parts) : product(product), parts(parts) {}

  /// True if parts of `value` are computed from parts of something else.
  bool isComputed(Value value, unsigned dim) {
    auto type = cast<RankedTensorType>(value.getType());
    return getType(type, dim) && getSources(value, dim);
  }

  /// Finds what is read from shared memory for parts of `value`.
  void collectReads(Value value, unsigned dim) {
    if (auto load = value.getDefiningOp<LocalLoadOp>(); load && isLate(load))
      reads.insert({value, SmallVector<Value>()});
    else if (auto sources = getSources(value, dim))
      for (const Source &source : *sources)
        if (source.dim)
          collectReads(source.value, *source.dim);
  }

  /// Reads what part `number` is computed from.
  void read(OpBuilder &builder, int64_t number) {
    for (auto &[value, made] : reads) {
      auto load = value.getDefiningOp<LocalLoadOp>();
      auto [dim, type] = places.lookup(value);
      made.push_back(LocalLoadOp::create(builder, load.getLoc(), type, load.getSource(),
                                         getOffsets(type, dim, number)));
    }
  }

  /// Nothing is computed from the latest reads ahead of the products that were issued before.
  void hold(OpBuilder &builder) {
    for (auto &[value, made] : reads)
      made.back() = OptimizationBarrierOp::create(builder, value.getLoc(), made.back().getType(),
                                                  made.back());
  }

  /// Part `number` of `value`, computed anew.
  Value make(OpBuilder &builder, Value value, unsigned dim, int64_t number) {
    Value &part = made[{value, number}];
    return part ? part : made[{value, number}] = create(builder, value, dim, number);
  }

private:
  RankedTensorType getType(RankedTensorType type, unsigned dim) const {
    return type.getDimSize(dim) % parts ? RankedTensorType()
                                        : getPartType(type, dim, type.getDimSize(dim) / parts);
  }

  static SmallVector<int64_t> getOffsets(RankedTensorType part, unsigned dim, int64_t number) {
    SmallVector<int64_t> offsets(size_t(part.getRank()), 0);
    offsets[dim] = number * part.getDimSize(dim);
    return offsets;
  }

  /// True if the load may be made later, up to the product: nothing gives its memory back before.
  static bool isLate(LocalLoadOp load) {
    return load->hasOneUse() && load.getOffsets().empty() &&
           load.getSource().getDefiningOp<TmaFetchOp>();
  }

  /// The dimension of a reshape's source that moves on by as much as `dim` of its result does from
  /// one part to the next.
  std::optional<unsigned> getReshapedDim(ReshapeOp reshape, unsigned dim) const {
    auto product = [](ArrayRef<int64_t> extents) {
      return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
    };
    ArrayRef<int64_t> from = reshape.getSource().getType().getShape(),
                      to = cast<RankedTensorType>(reshape.getType()).getShape();
    for (unsigned d = 0; d < from.size(); ++d)
      if (from[d] > 1 && product(from.take_front(d)) == product(to.take_front(dim)) &&
          from[d] % parts == 0)
        return d;
    return std::nullopt;
  }

  /// What parts of `value` are computed from; none where they are taken of the tile as it is.
  std::optional<SmallVector<Source>> getSources(Value value, unsigned dim) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != product->getBlock() || op->getNumResults() != 1 ||
        op->getNumRegions() || !isPure(op))
      return std::nullopt;
    SmallVector<Source> sources;
    if (isa<UnpackOp>(op)) {
      sources.push_back({op->getOperand(0), dim});
    } else if (auto permute = dyn_cast<PermuteOp>(op)) {
      sources.push_back({permute.getSource(), unsigned(permute.getPermutation()[dim])});
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      auto from = getReshapedDim(reshape, dim);
      if (!from)
        return std::nullopt;
      sources.push_back({reshape.getSource(), *from});
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      Value source = broadcast.getSource();
      auto from = dyn_cast<RankedTensorType>(source.getType());
      int64_t rank = cast<RankedTensorType>(value.getType()).getRank(),
              place = from ? int64_t(dim) - (rank - from.getRank()) : -1;
      if (place < 0 || from.getDimSize(unsigned(place)) == 1)
        sources.push_back({source, std::nullopt});
      else
        sources.push_back({source, unsigned(place)});
    } else if (OpTrait::hasElementwiseMappableTraits(op)) {
      for (Value operand : op->getOperands())
        sources.push_back({operand, isa<RankedTensorType>(operand.getType())
                                        ? std::optional<unsigned>(dim)
                                        : std::nullopt});
    } else {
      return std::nullopt;
    }
    for (const Source &source : sources)
      if (source.dim) {
        RankedTensorType part =
            getType(cast<RankedTensorType>(source.value.getType()), *source.dim);
        if (!part)
          return std::nullopt;
        places.try_emplace(source.value, std::pair(*source.dim, part));
      }
    return sources;
  }

  Value create(OpBuilder &builder, Value value, unsigned dim, int64_t number) {
    auto type = getType(cast<RankedTensorType>(value.getType()), dim);
    Location loc = value.getLoc();
    if (auto found = reads.find(value); found != reads.end())
      return found->second[size_t(number)];
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
      return arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(type, constant.getSplatValue<Attribute>()));
    auto sources = getSources(value, dim);
    if (!sources)
      return ExtractPartOp::create(builder, loc, type, value, getOffsets(type, dim, number));
    SmallVector<Value> operands;
    for (const Source &source : *sources)
      operands.push_back(source.dim ? make(builder, source.value, *source.dim, number)
                                    : source.value);
    Operation *op = value.getDefiningOp();
    OperationState state(loc, op->getName(), operands, {type}, op->getAttrs());
    return builder.create(state)->getResult(0);
  }

  WgmmaOp product;
  int64_t parts;
  llvm::MapVector<Value, SmallVector<Value>> reads; ///< of whole tiles: of the parts, so far
  DenseMap<Value, std::pair<unsigned, RankedTensorType>> places; ///< looked up only
  DenseMap<std::pair<Value, int64_t>, Value> made;               ///< looked up only
};

} // namespace

/// The variable of the loop that the product alone is added to.
static std::optional<unsigned> findSum(scf::ForOp loop, Value acc, Value result) {
  auto variable = dyn_cast<BlockArgument>(acc);
  if (!variable || variable.getOwner() != loop.getBody() || !variable.hasOneUse() ||
      !result.hasOneUse() || !isa<scf::YieldOp>(*result.user_begin()))
    return std::nullopt;
  unsigned carried = result.use_begin()->getOperandNumber();
  if (variable != loop.getRegionIterArg(carried))
    return std::nullopt;
  return carried;
}

/// Whether K is the second dimension of an operand in registers.
static constexpr unsigned dimK = 1;

/// Why the product cannot be taken into `parts` parts; empty: it can.
static std::string whyNoParts(scf::ForOp loop, WgmmaOp product, int64_t parts) {
  auto operand = dyn_cast<RankedTensorType>(product.getA().getType());
  if (!operand || operand.getRank() != 2 || product.getFrom())
    return "no operand in registers";
  if (product->getBlock() != loop.getBody() || product.getAsync())
    return "the product stands in a branch, or is in flight already";
  if (!findSum(loop, product.getAcc(), product.getResult()))
    return "more than the next trip's product touches the accumulator";
  Value b = product.getB();
  while (auto permute = b.getDefiningOp<MemDescPermuteOp>())
    b = permute.getSource();
  if (!loop.isDefinedOutsideOfLoop(b) && !b.getDefiningOp<TmaFetchOp>())
    return "its second operand is not fetched by TMA";
  if (!PartMaker(product, parts).isComputed(product.getA(), dimK))
    return "its operand is not computed, or cannot be in parts";
  int64_t step = bitsOfStep / int64_t(getElementBits(operand.getElementType()));
  if (parts < 2 || operand.getDimSize(dimK) % (parts * step))
    return "an instruction takes more along K than a part has";
  return "";
}

std::optional<int64_t> tile::gpu::findPartCount(scf::ForOp loop, std::string &reason) {
  SmallVector<WgmmaOp> products;
  loop.getBody()->walk([&](WgmmaOp product) { products.push_back(product); });
  if (products.size() != 1) {
    reason = "a trip has several products";
    return std::nullopt;
  }
  auto operand = dyn_cast<RankedTensorType>(products.front().getA().getType());
  if (!operand) {
    reason = "no operand in registers";
    return std::nullopt;
  }
  for (Operation &op : *loop.getBody())
    if (getSharedNeed(&op).use != SharedUse::None || isa<LocalAllocOp, ClearFromOp>(op)) {
      reason = "a trip has a barrier for all";
      return std::nullopt;
    }
  int64_t steps =
      operand.getShape().back() * int64_t(getElementBits(operand.getElementType())) / bitsOfStep;
  // A step of 64 rows takes a clock for every two columns, as many as a thread's registers of sums.
  int64_t clocks =
      steps *
      std::max<int64_t>(getLayout(products.front().getType()).getNumRegisters(), leastClocksOfStep);
  int64_t parts =
      std::min({mostParts, std::max<int64_t>(steps / stepsOfPart, 2), clocks / leastClocks});
  if (parts < 2) {
    reason = "the product is too small for parts";
    return std::nullopt;
  }
  parts = int64_t(llvm::bit_floor(uint64_t(parts)));
  reason = whyNoParts(loop, products.front(), parts);
  return reason.empty() ? std::optional<int64_t>(parts) : std::nullopt;
}

/// Erases what computes `value` ahead of `end`, and nothing else any more.
static void eraseUnused(Value value, Operation *end) {
  llvm::DenseSet<Operation *> needed; // looked up only
  if (Operation *op = value.getDefiningOp())
    needed.insert(op);
  for (Operation *op = end->getPrevNode(); op;) {
    Operation *before = op->getPrevNode();
    if (needed.contains(op) && op->use_empty() && (isPure(op) || isa<LocalLoadOp>(op))) {
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp())
          needed.insert(def);
      op->erase();
    }
    op = before;
  }
}

LogicalResult tile::gpu::applyParts(scf::ForOp loop, LoopSchedule &schedule) {
  WgmmaOp product = schedule.products.front();
  ProductPlace place = schedule.places.front();
  int64_t parts = place.parts;
  if (std::string reason = schedule.products.size() == 1 ? whyNoParts(loop, product, parts)
                                                         : "a trip has several products";
      !reason.empty())
    return loop.emitError() << "cannot realise the schedule: " << reason;

  OpBuilder builder(product);
  Location loc = product.getLoc();
  PartMaker maker(product, parts);
  Value a = product.getA(), sum = product.getAcc();
  int64_t extent = cast<RankedTensorType>(a.getType()).getDimSize(dimK) / parts;
  DenseI64ArrayAttr valid = product.getValidAttr();
  // Parts of padding alone add nothing.
  if (valid)
    parts = std::max<int64_t>(1, std::min<int64_t>(parts, llvm::divideCeil(valid[2], extent)));
  OperandPieces pieces = splitFetch(loop, product, place.parts);
  maker.collectReads(a, dimK);
  maker.read(builder, 0);
  LoopSchedule after;
  after.words = schedule.words;
  for (int64_t number = 0; number < parts; ++number) {
    if (number)
      maker.hold(builder);
    Value operand = maker.make(builder, a, dimK, number);
    if (number + 1 < parts)
      maker.read(builder, number + 1);
    DenseI64ArrayAttr partValid;
    if (valid)
      partValid = builder.getDenseI64ArrayAttr(
          {valid[0], valid[1], std::min(extent, valid[2] - number * extent)});
    int64_t from = number * extent;
    auto part = WgmmaOp::create(
        builder, loc, product.getType(), operand, pieces.memory[size_t(from / pieces.extent)], sum,
        /*async=*/true, product.getUnsignedA(), product.getUnsignedB(), partValid,
        builder.getI64IntegerAttr(from % pieces.extent), product.getColumnAttr());
    // The part before is done then, and its registers are free.
    bool isLast = number + 1 == parts;
    if (number || isLast)
      sum = WgmmaWaitOp::create(builder, loc, part.getType(), part.getResult(), isLast ? 0 : 1,
                                partValid);
    else
      sum = part.getResult();
    after.products.push_back(part);
    after.places.push_back({0, number, 0, place.parts});
  }
  product.getResult().replaceAllUsesWith(sum);
  Value b = product.getB();
  product.erase();
  eraseUnusedFetch(b);
  eraseUnused(a, loop.getBody()->getTerminator());
  schedule = after;
  schedule.setOn(loop);
  return success();
}
