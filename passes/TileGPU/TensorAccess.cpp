// Views composed into coordinates of the tensor, and the conditions of TMA checked on the way.
//
//   access      a tile [64, 32] of v at [m, k]
//   v           x[b, lo .. hi, :]
//   tensor x    [B, R, C]         ->  (k, lo + m, b) in the map's order, the fastest first
//                                     a box of 32, 64 and 1 positions
//                                     an end after hi - (lo + m) rows, if hi may cut off some
#include "passes/TileGPU/TensorAccess.h"
#include "dialect/ProgramNames.h"
#include "dialect/TileGPU/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <vector>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Coordinates have 31 bits and a sign, which the places of a tile's boxes are added to.
static constexpr int64_t farthestOfAll = (int64_t(1) << 31) - (int64_t(1) << 21);
/// Bytes of which TMA wants addresses, strides, and the place in a row where a copy begins to be
/// multiples. Of that place nothing checks but the hardware, which ends the launch with "illegal
/// instruction".
static constexpr int64_t granule = 16;
/// The longest step of a copy.
static constexpr int64_t longestStep = 8;

/// The nearest number from `low` to `high`.
static Value clamp(OpBuilder &builder, Location loc, Value value, int64_t low, int64_t high) {
  value = arith::MinSIOp::create(builder, loc, value,
                                 arith::ConstantIndexOp::create(builder, loc, high));
  return arith::MaxSIOp::create(builder, loc, value,
                                arith::ConstantIndexOp::create(builder, loc, low));
}

/// The sum of where each view on the way begins, clamped where the tensor's own window clamps, or
/// where 31 bits might overflow.
Value TensorAccess::makeCoordinate(OpBuilder &builder, Location loc, unsigned dim) const {
  Value sum;
  int64_t farthest = dims[dim].farthest;
  for (auto [start, clampsLow] : dims[dim].starts) {
    Value value = clampsLow ? clamp(builder, loc, start, 0, farthest) : start;
    sum = sum ? arith::AddIOp::create(builder, loc, sum, value).getResult() : value;
  }
  return dims[dim].clamped ? clamp(builder, loc, sum, -farthest, farthest) : sum;
}

/// A store at a negative position of a dropped dimension must store nothing: it is sent behind the
/// end.
Value TensorAccess::makeStoreCoordinate(OpBuilder &builder, Location loc, unsigned dim) const {
  Value position = makeCoordinate(builder, loc, dim);
  if (dims[dim].tileDim >= 0 || dims[dim].startsInside)
    return position;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value behind = arith::ConstantIndexOp::create(builder, loc, dims[dim].farthest);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, position, zero);
  return arith::SelectOp::create(builder, loc, exists, position, behind);
}

/// Positions from the tile's start that lie before the end. `count` says how many starts the end is
/// relative to.
Value TensorAccess::makeLimit(OpBuilder &builder, Location loc, unsigned dim) const {
  Value least;
  int64_t farthest = dims[dim].farthest;
  for (auto [end, count] : dims[dim].ends) {
    Value limit = clamp(builder, loc, end, -farthest, farthest);
    for (auto [start, clampsLow] : ArrayRef(dims[dim].starts).take_front(count)) {
      bool clamps = clampsLow || dims[dim].clamped;
      Value value =
          clamps ? clamp(builder, loc, start, clampsLow ? 0 : -farthest, farthest) : start;
      limit = arith::SubIOp::create(builder, loc, limit, value);
    }
    least = least ? arith::MinSIOp::create(builder, loc, least, limit).getResult() : limit;
  }
  return least;
}

namespace {

class Analyzer {
public:
  Analyzer(IndexBounds &bounds, const DivisibilityAnalysis &divisibility)
      : bounds(bounds), divisibility(divisibility) {}

  // Views are climbed from the access to the parameter, each adding to starts and ends of the
  // dimensions that are left. The first condition that fails ends it, in words for the remark.
  template <typename AccessOp>
  TensorAccess run(AccessOp access, Type elementType, ArrayRef<int64_t> tileOrder) {
    int64_t tileDim = 0;
    for (unsigned d = 0; d < access.getSizes().size(); ++d) {
      Part part;
      part.size = access.isDropped(d) ? 1 : access.getSizes()[d];
      int64_t step = access.getSteps()[d];
      if (step != 1 && part.size > 1) {
        if (!std::is_same_v<AccessOp, LoadOp>)
          return fail("its step is not 1");
        if (step < 1 || step > longestStep)
          return fail("its steps are not from 1 to " + std::to_string(longestStep));
        part.dim.step = step;
        part.size *= step;
      }
      part.dim.tileDim = access.isDropped(d) ? -1 : tileDim++;
      part.dim.starts.push_back({access.getStarts()[d], false});
      part.first = bounds.linear(access.getStarts()[d]);
      part.inBounds = access.getInBounds()[d];
      if (Value end = access.getEnd(d); end && !part.inBounds)
        addEnd(part, end, access.getView(), d);
      parts.push_back(std::move(part));
    }
    if (access.getMask())
      return fail("it has a mask");
    if (!climb(access.getView()))
      return result;
    finish(elementType, tileOrder);
    return result;
  }

private:
  /// A dimension of the view reached so far.
  struct Part {
    TensorDim dim;
    int64_t size = 1;
    bool inBounds = false;
    std::optional<Linear> first;               // the first position, if that is linear
    SmallVector<std::optional<Linear>> limits; // for each end: positions before it
  };

  /// True if the end cuts off nothing but what lies behind the end of `view` along dimension `d`.
  /// Of several, of which the first counts, each has to.
  /// The least of both must cut nothing, so either must.
  bool cutsNothing(const Part &part, Value end, Value view, unsigned d) {
    if (auto least = end.getDefiningOp<arith::MinSIOp>())
      return cutsNothing(part, least.getLhs(), view, d) &&
             cutsNothing(part, least.getRhs(), view, d);
    Linear position = bounds.linear(end);
    if (std::optional<Linear> extent = bounds.extent(view, d);
        extent && bounds.isNonNegative(position - *extent))
      return true;
    if (!part.first)
      return false;
    // A block that begins at a multiple of its size, before another one, ends before that too.
    bool aligned = part.dim.starts.size() == 1 && divisibility.getDivisor(end) % part.size == 0 &&
                   divisibility.getDivisor(part.dim.starts[0].first) % part.size == 0;
    // With alignment a block before the end that begins at a multiple of its size has room as a
    // whole: one position is enough.
    return bounds.isNonNegative(position - *part.first - Linear(aligned ? 1 : part.size));
  }

  /// An end along dimension `d` of `view`.
  void addEnd(Part &part, Value end, Value view, unsigned d) {
    if (cutsNothing(part, end, view, d))
      return;
    Linear position = bounds.linear(end);
    part.dim.ends.push_back({end, unsigned(part.dim.starts.size())});
    part.limits.push_back(part.first ? std::optional<Linear>(position - *part.first)
                                     : std::nullopt);
  }

  TensorAccess fail(std::string problem) {
    result.problem = std::move(problem);
    return result;
  }

  /// Composes the access with the views up to the tensor's own.
  bool climb(Value view) {
    while (!view.getDefiningOp<ViewOp>()) {
      if (auto permute = view.getDefiningOp<PermuteViewOp>()) {
        std::vector<Part> source(parts.size());
        for (auto [i, d] : llvm::enumerate(permute.getPermutation()))
          source[d] = std::move(parts[i]);
        parts = std::move(source);
        view = permute.getSource();
        continue;
      }
      auto subview = view.getDefiningOp<SubviewOp>();
      if (!subview) {
        fail("its view is not part of a parameter");
        return false;
      }
      if (!climbSubview(subview))
        return false;
      view = subview.getSource();
    }
    result.view = view.getDefiningOp<ViewOp>();
    // The first dimension of a flat view is the memory, of which one position is taken.
    if (result.view->hasAttr(flatName)) {
      const TensorDim &memory = parts.front().dim;
      if (memory.tileDim >= 0 || memory.starts.size() != 1 || !memory.ends.empty()) {
        fail("the program decides on the extents of its view, not the launch");
        return false;
      }
      result.flatStart = memory.starts.front().first;
    }
    return true;
  }

  bool climbSubview(SubviewOp subview) {
    std::vector<Part> source;
    unsigned index = 0, slice = 0, kept = 0;
    for (unsigned d = 0; d < subview.getKinds().size(); ++d) {
      switch (subview.getKind(d)) {
      case SubscriptKind::Index: {
        Part part;
        part.dim.starts.push_back({subview.getIndices()[index], false});
        part.first = bounds.linear(subview.getIndices()[index++]);
        source.push_back(std::move(part));
        break;
      }
      case SubscriptKind::All:
        source.push_back(std::move(parts[kept++]));
        break;
      case SubscriptKind::Slice: {
        Part part = std::move(parts[kept++]);
        Value low = subview.getLows()[slice], high = subview.getHighs()[slice];
        ++slice;
        // Before the window there is padding, in the tensor there may be more.
        // TMA fills with zeros only what is outside of the tensor, not outside of a slice of it.
        if (!part.inBounds && (!part.first || !bounds.isNonNegative(*part.first))) {
          fail("positions before the slice are not proven absent");
          return false;
        }
        Linear lowest = bounds.linear(low);
        bool clampsLow = !part.inBounds && !bounds.isNonNegative(lowest);
        part.dim.starts.push_back({low, clampsLow});
        if (clampsLow)
          part.first.reset();
        else if (part.first)
          *part.first += lowest;
        if (!part.inBounds)
          addEnd(part, high, subview.getSource(), d);
        source.push_back(std::move(part));
        break;
      }
      }
    }
    parts = std::move(source);
    return true;
  }

  std::string quoteParam() const {
    auto kernel = result.view->getParentOfType<KernelOp>();
    return "'" + kernel.getParam(result.param).getName().str() + "'";
  }

  void finish(Type elementType, ArrayRef<int64_t> tileOrder) {
    ViewOp view = result.view;
    unsigned rank = parts.size();
    result.param = cast<BlockArgument>(view.getBase()).getArgNumber();
    int64_t bytes = getSharedElementBytes(elementType);
    // bool is a byte in memory and in shared memory.
    if (elementType.isIndex() ||
        (!elementType.isInteger(1) && elementType.getIntOrFloatBitWidth() < 8)) {
      fail("its element type is not one of whole bytes");
      return;
    }
    if (rank - isFlat() > 5) {
      fail(quoteParam() + " has more than 5 dimensions");
      return;
    }
    if (view->getParentOfType<KernelOp>().getParam(result.param).getAlign() % granule) {
      fail(quoteParam() + " need not be aligned to 16 bytes; without 'align' it is");
      return;
    }
    // The tile's fastest dimension, its others, then those of one position.
    // A tensor map's first dimension is contiguous. Dropped dimensions come last, where a box has
    // one position.
    for (int64_t tileDim : tileOrder)
      for (unsigned d = 0; d < rank; ++d)
        if (parts[d].dim.tileDim == tileDim)
          result.order.push_back(d);
    for (unsigned d = rank; d-- > unsigned(isFlat());)
      if (parts[d].dim.tileDim < 0)
        result.order.push_back(d);
    if (result.order.empty() || parts[result.order[0]].dim.tileDim < 0 ||
        !matchPattern(view.getStrides()[result.order[0]], m_One())) {
      fail("the tile's fastest dimension in shared memory is not that of " + quoteParam());
      return;
    }
    if (parts[result.order[0]].dim.step != 1) {
      fail("its step is not 1 along the fastest dimension of " + quoteParam());
      return;
    }
    for (unsigned d : ArrayRef(result.order).drop_front())
      if (std::string problem = checkStride(d, bytes); !problem.empty()) {
        fail(problem);
        return;
      }
    if (std::string problem = checkStart(result.order[0], bytes); !problem.empty()) {
      fail(problem);
      return;
    }
    for (unsigned d = 0; d < rank; ++d) {
      std::optional<TensorDim> dim = finishDim(d);
      if (!dim) {
        fail("dimension " + std::to_string(d) + " of " + quoteParam() +
             " may have more positions than coordinates of TMA reach; a contract that bounds it to "
             "2^30 would change that");
        return;
      }
      result.dims.push_back(std::move(*dim));
    }
  }

  bool isFlat() const { return bool(result.flatStart); }

  std::string checkStride(unsigned dim, int64_t bytes) {
    if (isFlat()) // by the run
      return "";
    Value stride = result.view.getStrides()[dim];
    int64_t wanted = granule / bytes, divisor = divisibility.getDivisor(stride);
    if (divisor != 0 && divisor % wanted == 0)
      return "";
    std::string helpful = divisor == 0 ? "" : findHelpful(stride);
    if (helpful.empty())
      return "stride " + std::to_string(dim) + " of " + quoteParam() +
             " is not known to be a multiple of " + std::to_string(wanted) + " elements (16 bytes)";
    return "'" + helpful + " % " + std::to_string(wanted) + " == 0' would make the rows of " +
           quoteParam() + " multiples of 16 bytes";
  }

  /// Whether rows are copied from places on that are multiples of 16 bytes.
  std::string checkStart(unsigned dim, int64_t bytes) {
    int64_t wanted = granule / bytes;
    for (auto [start, clampsLow] : parts[dim].dim.starts) {
      if (divisibility.getDivisor(start) % wanted == 0)
        continue;
      std::string helpful = findHelpful(start);
      if (helpful.empty())
        return "where it begins along dimension " + std::to_string(dim) + " of " + quoteParam() +
               " is not known to be a multiple of " + std::to_string(wanted) +
               " elements (16 bytes)";
      return "'" + helpful + " % " + std::to_string(wanted) + " == 0' would make it begin at " +
             "multiples of 16 bytes along dimension " + std::to_string(dim) + " of " + quoteParam();
    }
    return "";
  }

  /// A dimension among the factors of a stride or a position.
  /// Names with a dot are strides that the launch made up: no contract can be written for them.
  static std::string findHelpful(Value stride) {
    if (auto dim = stride.getDefiningOp<DimOp>())
      return dim.getDim().getName().contains('.') ? "" : dim.getDim().getName().str();
    if (auto product = stride.getDefiningOp<arith::MulIOp>())
      for (Value factor : product->getOperands())
        if (std::string name = findHelpful(factor); !name.empty())
          return name;
    return "";
  }

  /// None where the tensor may have positions that coordinates do not reach: those beyond are taken
  /// for one that does not exist.
  std::optional<TensorDim> finishDim(unsigned d) {
    Part &part = parts[d];
    TensorDim dim = std::move(part.dim);
    std::optional<Linear> extent = bounds.extent(result.view.getResult(), d);
    auto reaches = [&] { return extent && bounds.isNonNegative(Linear(dim.farthest) - *extent); };
    if (!isFlat() && !reaches()) {
      dim.farthest = farthestOfAll;
      if (!reaches())
        return std::nullopt;
    }
    // Ends that cut off only what the tensor or the tile lacks anyway are dropped: others cost a
    // pass over shared memory (clear_from).
    SmallVector<std::pair<Value, unsigned>> ends;
    bool isConstant = true;
    for (auto [end, limit] : llvm::zip(dim.ends, part.limits)) {
      // Elements past the tensor's own end are padding anyway.
      bool beyond =
          limit && part.first && extent && bounds.isNonNegative(*limit + *part.first - *extent);
      bool behindTile = limit && bounds.isNonNegative(*limit - Linear(part.size));
      if (beyond || behindTile)
        continue;
      ends.push_back(end);
      isConstant &= limit && limit->terms.empty() && limit->constant.den == 1;
      if (isConstant)
        dim.length = std::min(dim.length.value_or(part.size),
                              llvm::int64fromDynamicAPInt(limit->constant.num));
    }
    if (!isConstant)
      dim.length.reset();
    dim.ends = std::move(ends);
    if (dim.step != 1 && !dim.ends.empty() && result.problem.empty())
      fail("an end cuts a dimension along which its step is not 1");
    dim.startsInside = part.inBounds || (part.first && bounds.isNonNegative(*part.first)) ||
                       llvm::all_of(dim.starts, [&](const std::pair<Value, bool> &start) {
                         return start.second || bounds.isNonNegative(start.first);
                       });
    dim.startsBefore = part.first && bounds.isNonNegative(Linear(-1) - *part.first);
    // Only if the whole sum is known to lie within 31 bits either way.
    dim.clamped = !part.first || !bounds.isNonNegative(Linear(dim.farthest) - *part.first) ||
                  !bounds.isNonNegative(*part.first + Linear(dim.farthest));
    return dim;
  }

  IndexBounds &bounds;
  const DivisibilityAnalysis &divisibility;
  std::vector<Part> parts;
  TensorAccess result;
};

} // namespace

TensorAccess tile::gpu::analyzeAccess(LoadOp load, ArrayRef<int64_t> tileOrder, IndexBounds &bounds,
                                      const DivisibilityAnalysis &divisibility) {
  TensorAccess access =
      Analyzer(bounds, divisibility).run(load, getElementTypeOrSelf(load.getType()), tileOrder);
  if (access.problem.empty() && !load.allInBounds() && !matchPattern(load.getPad(), m_Zero()) &&
      !matchPattern(load.getPad(), m_PosZeroFloat()))
    access.problem = "its padding is not 0";
  return access;
}

TensorAccess tile::gpu::analyzeAccess(StoreOp store, ArrayRef<int64_t> tileOrder,
                                      IndexBounds &bounds,
                                      const DivisibilityAnalysis &divisibility) {
  return Analyzer(bounds, divisibility)
      .run(store, getElementTypeOrSelf(store.getValue().getType()), tileOrder);
}

TensorAccess tile::gpu::analyzeAccess(AtomicOp atomic, ArrayRef<int64_t> tileOrder,
                                      IndexBounds &bounds,
                                      const DivisibilityAnalysis &divisibility) {
  return Analyzer(bounds, divisibility)
      .run(atomic, getElementTypeOrSelf(atomic.getType()), tileOrder);
}
