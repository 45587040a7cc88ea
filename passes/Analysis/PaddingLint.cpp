// The padding lint: abstract values of clipped lanes, through element-wise work, loops and
// products.
//
//   of x: f32[50], lanes 0..63                  what lanes 50..63 hold
//     t = x[0 .. 64]                            the constant 0, the load's padding
//     max(t)                                    reported: 0 may win, -inf changes nothing
//     u = exp(t)                                the constant 1
//     sum(u)                                    reported: 14 too much
//     sum(where(n < 50, u, 0))                  silence: a comparison has decided
#include "passes/Analysis/PaddingLint.h"
#include "passes/Analysis/PaddingLanes.h"
#include "passes/Analysis/PaddingValues.h"
#include "passes/Convert/Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::padding;

namespace {

class Linter {
public:
  explicit Linter(function_ref<void(const PaddingFinding &)> report) : report(report) {}

  void run(KernelOp kernel) {
    // Loops first settle what they carry, in silence.
    // Each round takes states once around every loop; four are enough for nests of usual depth.
    for (unsigned round = 0; round < 4; ++round) {
      changed = false;
      visit(kernel.getBody().front());
      if (!changed)
        break;
    }
    // The last round speaks, with states that no longer change.
    speaks = true;
    visit(kernel.getBody().front());
  }

private:
  State get(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    State state = states.lookup(value);
    state.resize(type ? type.getRank() : 0);
    return state;
  }

  void set(Value value, const State &state) {
    State &old = states[value];
    changed |= old != state;
    old = state;
  }

  void visit(Block &block) {
    for (Operation &op : block)
      visit(&op);
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitLoop(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : branch->getRegions())
        if (!region.empty())
          visit(region.front());
      for (unsigned i = 0; i < branch.getNumResults(); ++i)
        set(branch.getResult(i),
            join(branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)));
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      visit(loop.getBefore().front());
      visit(loop.getAfter().front());
      return;
    }
    if (auto load = dyn_cast<LoadOp>(op))
      return visitLoad(load);
    if (auto gather = dyn_cast<GatherOp>(op))
      return visitGather(gather);
    if (auto inside = dyn_cast<InsideOp>(op))
      return visitInside(inside);
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return visitReduce(reduce);
    if (auto reduce = dyn_cast<ArgReduceOp>(op))
      return visitArgReduce(reduce);
    if (auto dot = dyn_cast<DotOp>(op))
      return visitDot(dot);
    if (auto scan = dyn_cast<ScanOp>(op))
      return visitScan(scan);
    if (auto reduce = dyn_cast<ReduceByOp>(op))
      return visitReduceBy(reduce);
    if (auto sort = dyn_cast<SortOp>(op))
      return visitSort(sort);
    if (auto histogram = dyn_cast<HistogramOp>(op))
      return visitHistogram(histogram);
    // Operations of several results, and on scalars, have no lanes.
    if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
      return;
    if (isa<BroadcastOp, ReshapeOp>(op))
      return set(op->getResult(0),
                 regroup(op->getOperand(0), cast<RankedTensorType>(op->getResult(0).getType())));
    if (auto permute = dyn_cast<PermuteOp>(op)) {
      State source = get(permute.getSource()), state;
      for (int64_t d : permute.getPermutation()) {
        state.push_back(source[d]);
        state.back().inPlace = false;
      }
      return set(permute.getResult(), state);
    }
    if (OpTrait::hasElementwiseMappableTraits(op))
      visitElementwise(op);
  }

  //===--- Sources of padding ---------------------------------------------===//

  void visitLoad(LoadOp load) {
    if (!isa<RankedTensorType>(load.getType()))
      return;
    std::optional<double> pad = getUniform(load.getPad());
    State state;
    // A size below 0 marks a dimension that the access drops.
    for (auto [size, inBounds] : llvm::zip(load.getSizes(), load.getInBounds())) {
      if (size < 0)
        continue;
      Lanes lanes;
      // A mask clips any dimension.
      if (!inBounds || load.getMask()) {
        lanes.kind = pad ? Lanes::Constant : Lanes::Unknown;
        lanes.value = pad.value_or(0);
        lanes.load = load;
        lanes.direct = true;
        lanes.dim = int64_t(state.size());
        lanes.inPlace = true;
      }
      state.push_back(size == 1 ? Lanes() : lanes);
    }
    set(load.getResult(), state);
  }

  /// Where a position is padding, so is what is read there: an element that no position asks for,
  /// or the gather's own padding.
  void visitGather(GatherOp gather) {
    auto type = dyn_cast<RankedTensorType>(gather.getType());
    if (!type)
      return;
    std::optional<double> pad = getUniform(gather.getPad());
    auto padding = [&](Operation *load, bool isPad, const Lanes *position = nullptr) {
      Lanes lanes;
      if (position) {
        lanes.dim = position->dim;
        lanes.inPlace = position->inPlace;
      }
      lanes.kind = isPad && pad ? Lanes::Constant : Lanes::Unknown;
      lanes.value = isPad ? pad.value_or(0) : 0;
      lanes.load = load;
      return lanes;
    };
    State state(type.getRank());
    for (auto [d, dim] : llvm::enumerate(gather.getTileDims()))
      if (dim >= 0 && !gather.getInBounds()[d] && type.getDimSize(dim) > 1)
        state[dim] = padding(gather, /*isPad=*/true);
    // A clipped position that is negative is outside, and the gather's padding comes; any other
    // reads some element.
    for (Value positions : gather.getPositions())
      for (auto [mine, lanes] : llvm::zip(state, get(positions)))
        if (lanes.kind != Lanes::Exist && lanes.load)
          mine = padding::join(
              mine, padding(lanes.load, lanes.kind == Lanes::Constant && lanes.value < 0, &lanes));
    if (Value mask = gather.getMask())
      for (auto [mine, lanes] : llvm::zip(state, get(mask)))
        if (mine.kind != Lanes::Exist && lanes.kind == Lanes::Constant && lanes.value == 0)
          mine = padding(mine.load, /*isPad=*/true);
    set(gather.getResult(), state);
  }

  void visitInside(InsideOp inside) {
    if (!isa<RankedTensorType>(inside.getType()))
      return;
    State state;
    for (auto [size, inBounds] : llvm::zip(inside.getSizes(), inside.getInBounds())) {
      if (size < 0)
        continue;
      Lanes lanes;
      // No load: what `inside` says is the program's own decision.
      if (!inBounds)
        lanes.kind = Lanes::Constant; // false
      state.push_back(lanes);
    }
    set(inside.getResult(), state);
  }

  //===--- Propagation of padding -----------------------------------------===//

  State join(Value a, Value b) {
    State result = get(a);
    for (auto [mine, theirs] : llvm::zip(result, get(b)))
      mine = padding::join(mine, theirs);
    return result;
  }

  /// Through a broadcast or reshape: runs of dimensions that hold the same elements share what is
  /// said of any of them.
  State regroup(Value source, RankedTensorType type) {
    State from = get(source), to(type.getRank());
    auto sourceType = cast<RankedTensorType>(source.getType());
    ArrayRef<int64_t> a = sourceType.getShape(), b = type.getShape();
    if (sourceType.getNumElements() != type.getNumElements()) { // broadcast: aligned at the right
      for (size_t d = 0; d < a.size(); ++d)
        if (a[d] == b[b.size() - a.size() + d]) {
          to[b.size() - a.size() + d] = from[d];
          to[b.size() - a.size() + d].inPlace = false;
        }
      return to;
    }
    // Products of extents are matched from the left: [6, 4] and [2, 3, 4] agree on 6 = 2 * 3, then
    // on 4.
    size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
      size_t i0 = i, j0 = j;
      int64_t left = i < a.size() ? a[i++] : 1, right = j < b.size() ? b[j++] : 1;
      while (left != right) {
        if (left < right && i < a.size())
          left *= a[i++];
        else if (j < b.size())
          right *= b[j++];
        else
          break;
      }
      Lanes all;
      for (size_t d = i0; d < i; ++d)
        if (a[d] > 1)
          all = padding::join(all, from[d]);
      all.inPlace = false;
      if (i - i0 != 1 || j - j0 != 1) // lanes of several dimensions, or parts of one
        all.dim = -1;
      for (size_t d = j0; d < j; ++d)
        if (b[d] > 1)
          to[d] = all;
    }
    return to;
  }

  void visitElementwise(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    State result(type.getRank());
    // Each dimension by itself: lanes clipped along two dimensions are those of either.
    for (int64_t d = 0; d < type.getRank(); ++d) {
      SmallVector<Operand> operands;
      Lanes padded;
      bool any = false, direct = op->getNumOperands() == 1 && isConversion(op);
      for (Value value : op->getOperands()) {
        Operand operand;
        State state = get(value);
        Lanes lanes = state.empty() ? Lanes() : state[d];
        if (lanes.kind == Lanes::Constant) {
          operand = {Operand::Constant, lanes.value};
        } else if (lanes.kind == Lanes::Unknown) {
          operand.kind = Operand::Unknown;
        } else if (std::optional<double> uniform = getUniform(value)) {
          operand = {Operand::Constant, *uniform};
        }
        if (lanes.kind != Lanes::Exist) {
          any = true;
          direct &= lanes.direct;
          if (!padded.load)
            padded = lanes;
        }
        operands.push_back(operand);
      }
      if (!any)
        continue;
      result[d] = evaluate(op, operands);
      result[d].load = padded.load;
      result[d].dim = padded.dim;
      result[d].inPlace = padded.inPlace;
      result[d].direct = direct && result[d].kind == Lanes::Constant;
      if (!result[d].load) // from `inside` alone: nothing to complain of
        result[d].kind = result[d].kind == Lanes::Constant ? Lanes::Constant : Lanes::Exist;
    }
    set(op->getResult(0), result);
  }

  // The argument joins the initial value and what the last round found to be yielded.
  void visitLoop(scf::ForOp loop) {
    for (auto [init, argument, yielded] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues()))
      set(argument, join(init, yielded));
    visit(*loop.getBody());
    for (auto [argument, yielded, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults()))
      set(result, join(argument, yielded));
  }

  //===--- Uses that padding can change -----------------------------------===//

  /// `operand` is the reduced tile, and `d` its dimension of which `lanes` are.
  void complain(Operation *op, Value operand, int64_t d, const Lanes &lanes, StringRef what,
                StringRef neutral, StringRef advice = "") {
    // In the settling rounds, and of lanes that no load has padded, nothing is said.
    if (!speaks || !lanes.load)
      return;
    std::string found = "what was computed from padding";
    if (lanes.kind == Lanes::Constant) {
      llvm::raw_string_ostream stream(found = "");
      if (std::isnan(lanes.value))
        stream << "nan";
      else if (lanes.value == std::trunc(lanes.value) && std::fabs(lanes.value) < 1e15)
        stream << int64_t(lanes.value);
      else
        stream << llvm::format("%g", lanes.value);
    }
    // Of integers: those of the load's dtype, or of what is reduced.
    std::string text = neutral.str();
    // The dtype in `lowest(i8)` is where a load's padding can be written: of the load if values
    // come from it directly.
    if (neutral.starts_with("the ")) {
      Type element = getElementTypeOrSelf(lanes.direct ? lanes.load->getResult(0).getType()
                                                       : op->getOperand(0).getType());
      unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
      text = (neutral == "the lowest" ? "lowest(i" : "highest(i") + std::to_string(width) + ")";
    }
    int64_t dim = -1;
    if (auto load = dyn_cast<LoadOp>(lanes.load); load && lanes.dim >= 0)
      dim = getTensorDim(load, lanes.dim);
    int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
    report({op, lanes.load, what.str(), found, text, lanes.direct && isa<LoadOp>(lanes.load),
            advice.str(), lanes.inPlace, dim, unsigned(rank - d - 1)});
  }

  /// The dimension of the tensor from which dimension `dim` of the load's tile comes.
  static int64_t getTensorDim(LoadOp load, int64_t dim) {
    for (auto [d, size] : llvm::enumerate(load.getSizes()))
      if (size >= 0 && dim-- == 0)
        return int64_t(d);
    return -1;
  }

  struct Names {
    const char *what, *onFloats, *onIntegers;
  };
  static const Names &getNames(ReduceKind kind) {
    static const Names names[] = {{"the sum", "0", "0"},
                                  {"the product", "1", "1"},
                                  {"the maximum", "-inf", "the lowest"},
                                  {"the minimum", "inf", "the highest"},
                                  {"'all'", "", "true"},
                                  {"'any'", "", "false"},
                                  {"the maximum", "", "0"},
                                  {"the minimum", "", "the highest"}};
    return names[unsigned(kind)];
  }

  void visitReduce(ReduceOp reduce) {
    const Names &name = getNames(reduce.getKind());
    State state = get(reduce.getSource()), left;
    bool isFloat = isa<FloatType>(reduce.getSource().getType().getElementType());
    bool said = false;
    for (auto [d, lanes] : llvm::enumerate(state)) {
      // Kept dimensions: the sum of a line of padding is no longer the constant, unless that is 0;
      // a maximum of equal numbers is.
      if (reduce.getAxis() && *reduce.getAxis() != d) {
        // Along other dimensions whole lines of padding are reduced.
        bool keeps = lanes.kind != Lanes::Constant || reduce.getKind() != ReduceKind::Sum ||
                     lanes.value == 0;
        left.push_back(lanes);
        left.back().direct = false;
        left.back().inPlace = false;
        if (!keeps)
          left.back().kind = Lanes::Unknown;
      } else if (!said && !isHarmless(reduce.getKind(), lanes, reduce.getSource())) {
        complain(reduce, reduce.getSource(), int64_t(d), lanes, name.what,
                 isFloat ? name.onFloats : name.onIntegers);
        said = true;
      }
    }
    if (isa<RankedTensorType>(reduce.getType()))
      set(reduce.getResult(), left);
  }

  void visitArgReduce(ArgReduceOp reduce) {
    bool isMax = reduce.getKind() == ArgReduceKind::ArgMax;
    bool isFloat = isa<FloatType>(reduce.getSource().getType().getElementType());
    for (auto [d, lanes] : llvm::enumerate(get(reduce.getSource())))
      if ((!reduce.getAxis() || *reduce.getAxis() == d) &&
          !isHarmless(isMax ? ReduceKind::Max : ReduceKind::Min, lanes, reduce.getSource()))
        return complain(reduce, reduce.getSource(), int64_t(d), lanes,
                        isMax ? "the position of the maximum" : "the position of the minimum",
                        isFloat ? (isMax ? "-inf" : "inf")
                                : (isMax ? "the lowest" : "the highest"));
  }

  /// Of the tiles that a function combines: their lanes along the axis, and the first that is
  /// padded.
  struct Padded {
    SmallVector<std::optional<double>> values; // none of a tile whose lanes exist
    Lanes first;
    bool known = true;
  };
  template <typename Op> Padded getPadded(Op op) {
    Padded padded;
    for (Value source : op.getSources()) {
      Lanes lanes = get(source)[op.getAxis()];
      padded.known &= lanes.kind != Lanes::Unknown;
      padded.values.push_back(lanes.kind == Lanes::Constant ? std::optional(lanes.value)
                                                            : std::nullopt);
      if (lanes.kind != Lanes::Exist && padded.first.kind == Lanes::Exist)
        padded.first = lanes;
    }
    return padded;
  }

  /// Says that padding changes what a function of the program combines.
  void complainOfFunction(Operation *op, int64_t axis, Block &combiner, const Lanes &lanes,
                          StringRef what) {
    std::optional<ReduceKind> kind;
    if (llvm::hasNItems(combiner.without_terminator(), 1))
      kind = getReduceKind(&combiner.front());
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(op->getOperand(0)));
    if (kind)
      return complain(op, op->getOperand(0), axis, lanes, what,
                      isFloat ? getNames(*kind).onFloats : getNames(*kind).onIntegers);
    complain(op, op->getOperand(0), axis, lanes, what, "",
             "put what changes nothing in their place: where($, v, e), with an e for which "
             "the function of v and e is v");
  }

  void visitReduceBy(ReduceByOp reduce) {
    Padded padded = getPadded(reduce);
    Block &combiner = reduce.getCombiner().front();
    if (padded.first.kind != Lanes::Exist &&
        !(padded.known && leavesAlone(combiner, padded.values)))
      complainOfFunction(reduce, reduce.getAxis(), combiner, padded.first,
                         "the result of 'reduce'");
    for (auto [source, result] : llvm::zip(reduce.getSources(), reduce.getResults())) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      State state = get(source);
      state.erase(state.begin() + reduce.getAxis());
      for (Lanes &lanes : state) { // whole lines of padding
        lanes.direct = lanes.inPlace = false;
        if (lanes.kind != Lanes::Exist)
          lanes.kind = Lanes::Unknown;
      }
      set(result, state);
    }
  }

  /// True if a part of `tile` is taken that may not hold its first element along the axis: what
  /// comes last, mostly.
  /// Forward scans hand padding on to later lanes only, which are padding as well.
  static bool takesLater(Value tile, int64_t axis) {
    return llvm::any_of(tile.getUsers(), [&](Operation *user) {
      if (auto extract = dyn_cast<tensor::ExtractOp>(user))
        return !matchPattern(extract.getIndices()[axis], m_Zero());
      if (auto part = dyn_cast<tensor::ExtractSliceOp>(user)) {
        ArrayRef<int64_t> whole = part.getSourceType().getShape();
        return part.getStaticSizes()[axis] < whole[axis] && part.getStaticOffsets()[axis] != 0;
      }
      return isConversion(user) && takesLater(user->getResult(0), axis);
    });
  }

  void visitScan(ScanOp scan) {
    Padded padded = getPadded(scan);
    Block &combiner = scan.getCombiner().front();
    int64_t axis = scan.getAxis();
    // Clipped lanes mostly come last: forward, it changes only results that do not exist either.
    bool reaches = scan.getReverse() || llvm::any_of(scan.getResults(), [&](Value result) {
                     return takesLater(result, axis);
                   });
    if (reaches && padded.first.kind != Lanes::Exist &&
        !(padded.known && leavesAlone(combiner, padded.values)))
      complainOfFunction(scan, axis, combiner, padded.first, "the scan");
    for (auto [source, result] : llvm::zip(scan.getSources(), scan.getResults())) {
      State state = get(source);
      state[axis] = Lanes();
      set(result, state);
    }
  }

  /// Keys that order a tile stand above their positions (LowerOrder.cpp); padding changes nothing
  /// where its key comes last.
  void visitSort(SortOp sort) {
    // (key << bits) | position, as the front end packs them.
    auto packed = sort.getSource().getDefiningOp<arith::OrIOp>();
    auto shift = packed ? packed.getLhs().getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
    if (!shift)
      return;
    Value keys = shift.getLhs();
    if (auto wide = keys.getDefiningOp<arith::ExtSIOp>())
      keys = wide.getIn();
    else if (auto half = keys.getDefiningOp<arith::AndIOp>()) // the lower one of 64 bits
      keys = half.getLhs();
    Lanes key = get(keys)[sort.getAxis()];
    double range = std::ldexp(1.0, int(getElementTypeOrSelf(keys).getIntOrFloatBitWidth()) - 1);
    constexpr double far = 0.55; // of the range: a float of 6.0e4
    if (key.kind == Lanes::Exist || (key.kind == Lanes::Constant && key.value >= far * range))
      return;
    auto [tile, isDescending] = getSorted(keys);
    Lanes lanes = get(tile)[sort.getAxis()];
    if (lanes.kind == Lanes::Exist)
      lanes = key;
    bool isFloat = isa<FloatType>(getElementTypeOrSelf(tile));
    complain(sort, sort.getSource(), sort.getAxis(), lanes,
             sort.getFirst() ? "the choice of 'topk'" : "the order",
             isFloat        ? "nan"
             : isDescending ? "the lowest"
                            : "the highest");
  }

  /// The tile that keys were made of.
  /// Keys of floats are made from the bits by selects and masks: the bitcast among their operands
  /// is the tile's. Of integers exclusive ors are peeled off, of which one with -1 turns the order
  /// round.
  static std::pair<Value, bool> getSorted(Value keys) {
    bool isDescending = false;
    SmallVector<Value> pending = {keys};
    for (unsigned steps = 0; !pending.empty() && steps < 32; ++steps) {
      Operation *op = pending.pop_back_val().getDefiningOp();
      if (auto cast = dyn_cast_or_null<arith::BitcastOp>(op);
          cast && isa<FloatType>(getElementTypeOrSelf(cast.getIn())))
        return {cast.getIn(), false};
      if (isa_and_nonnull<arith::SelectOp, arith::AndIOp, arith::SubIOp>(op))
        llvm::append_range(pending, op->getOperands());
    }
    while (auto flipped = keys.getDefiningOp<arith::XOrIOp>()) {
      isDescending |= getUniform(flipped.getRhs()) == -1.0;
      keys = flipped.getLhs();
    }
    return {keys, isDescending};
  }

  void visitHistogram(HistogramOp histogram) {
    double bins = double(histogram.getType().getNumElements());
    for (auto [d, lanes] : llvm::enumerate(get(histogram.getSource())))
      if (lanes.kind == Lanes::Unknown ||
          (lanes.kind == Lanes::Constant && lanes.value >= 0 && lanes.value < bins))
        return complain(histogram, histogram.getSource(), int64_t(d), lanes, "the histogram", "",
                        "count what exists alone: histogram(…, mask: $)");
  }

  void visitDot(DotOp dot) {
    State a = get(dot.getA()), b = get(dot.getB()), acc = get(dot.getAcc()), result(acc.size());
    size_t rank = result.size();
    // The dimension that is summed over: last of a, last but one of b.
    Lanes left = a[rank - 1], right = b[rank - 2]; // along K
    auto isZero = [](const Lanes &lanes) {
      return lanes.kind == Lanes::Constant && lanes.value == 0;
    };
    bool padded = left.kind != Lanes::Exist || right.kind != Lanes::Exist;
    // A zero on either side is enough, as 0 * x adds nothing; infinities and NaN of real lanes are
    // the program's.
    if (padded && !isZero(left) && !isZero(right))
      complain(dot, left.load ? dot.getA() : dot.getB(), left.load ? rank - 1 : rank - 2,
               left.load ? left : right, "the sum of 'dot'", "0");
    for (size_t d = 0; d < rank; ++d) {
      Lanes lanes = d + 2 < rank ? padding::join(a[d], b[d]) : d + 2 == rank ? a[d] : b[d];
      if (lanes.kind == Lanes::Exist)
        continue;
      // A product adds to the accumulator: both must be 0 for its padding to stay so.
      bool staysZero = isZero(lanes) && (isZero(acc[d]) || getUniform(dot.getAcc()) == 0.0 ||
                                         isCarried(dot.getAcc()));
      lanes.kind = staysZero ? Lanes::Constant : Lanes::Unknown;
      lanes.direct = lanes.inPlace = false;
      result[d] = lanes;
    }
    set(dot.getResult(), result);
  }

  function_ref<void(const PaddingFinding &)> report;
  DenseMap<Value, State> states; // looked up only
  bool changed = false, speaks = false;
};

} // namespace

void tile::findPaddingReductions(ModuleOp module,
                                 function_ref<void(const PaddingFinding &)> report) {
  for (KernelOp kernel : module.getOps<KernelOp>())
    Linter(report).run(kernel);
}
