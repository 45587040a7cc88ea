// tile-gpu-assign-layouts: gives every tile of a kernel a layout, and makes dots work on fragments.
//
// Before:  %c = arith.addf %a, %b : tensor<128x64xf32>
// After:   %c = arith.addf %a, %b : tensor<128x64xf32, #layout>
//
// Invariant from here on: the layout is part of the type, and no pass changes the layout of a
// value. Nor does a later pass insert tile_gpu.convert_layout: UseTma drops those before the stores
// that become copies, DeferRowSums and PipelineFragments make new tiles with layouts of their own.
#include "dialect/TileGPU/MatrixOperands.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Passes.h"
#include "passes/Report/KernelRemark.h"
#include "passes/TileGPU/CarryTransposed.h"
#include "passes/TileGPU/HeldOperand.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/PartLayouts.h"
#include "passes/TileGPU/ProgramOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Refuses what this path cannot do, before anything is changed.
static LogicalResult checkSupported(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      for (int64_t extent : type.getShape())
        if (!llvm::isPowerOf2_64(extent)) {
          op->emitError() << "tile extent " << extent
                          << " is not a power of two; found a tile of shape [" << type.getShape()
                          << "]";
          return WalkResult::interrupt();
        }
    }
    if (isa<tensor::ExtractOp, tensor::ExtractSliceOp>(op)) {
      op->emitError("slicing a tile is not supported on GPU targets so far");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

/// Rewrites one kernel in place once layouts are known.
class Assigner {
public:
  Assigner(KernelOp kernel, const LayoutInference &inference)
      : kernel(kernel), inference(inference), builder(kernel) {}

  void run() {
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
    // While operands are as they were: what they are computed from is rewritten first.
    for (Operation *op : ops)
      if (auto dot = dyn_cast<DotOp>(op); dot && isSwapped(dot))
        swappedDots.insert(dot);
    for (Operation *op : ops)
      if (auto dot = dyn_cast<DotOp>(op))
        if (std::optional<HeldOperand> operand = getHeldOperand(dot, inference.getShape())) {
          for (LoadOp load : operand->loads)
            heldLoads.insert(load.getResult());
          held.insert({dot, std::move(*operand)});
        }
    // Layouts are asked for by what must have one; everything else is repeated on demand.
    for (Operation *op : ops)
      setResultTypes(op);
    for (Operation *&op : ops)
      if (auto dot = dyn_cast<DotOp>(op)) {
        rewriteDot(dot);
        op = nullptr; // another stands in its place
      } else if (!isFree(op)) {
        rewrite(op);
      }
    for (Operation *op : llvm::reverse(ops))
      if (op && op->use_empty() && isFree(op) && isRematerializable(op))
        op->erase();
    for (Operation *op : replaced)
      op->destroy();
  }

private:
  static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

  /// True for an operation whose tile result takes any layout: it is cloned for its users.
  bool isFree(Operation *op) const {
    return op->getNumResults() == 1 && isTile(op->getResult(0)) && isRematerializable(op) &&
           !layouts.count(op->getResult(0));
  }

  void setLayout(Value value) {
    if (!isTile(value))
      return;
    auto layout = inference.getAnchor(value);
    if (!layout)
      return;
    layouts.insert({value, *layout});
    value.setType(withLayout(cast<RankedTensorType>(value.getType()), *layout));
  }

  void setResultTypes(Operation *op) {
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        setLayout(argument);
    for (Value result : op->getResults())
      setLayout(result);
  }

  LinearLayout layoutOf(Value value) { return getLayout(cast<RankedTensorType>(value.getType())); }

  /// The value in `layout`: itself, converted, or computed again.
  Value get(Value value, const LinearLayout &layout) {
    auto type = cast<RankedTensorType>(value.getType());
    if (hasLayout(type) && layoutOf(value) == layout)
      return value;
    RankedTensorType wanted = withLayout(type, layout);
    Value &cached = copies[{value, wanted}];
    if (cached)
      return cached;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    if (heldLoads.contains(value)) {
      Value memory = stage(value);
      builder.setInsertionPointAfterValue(memory);
      return copies[{value, wanted}] = LocalLoadOp::create(builder, value.getLoc(), wanted, memory);
    }
    if (hasLayout(type) && !isBetterRepeated(value))
      return cached = ConvertLayoutOp::create(builder, value.getLoc(), wanted, value);
    Value copy = repeat(value.getDefiningOp(), wanted, layout);
    return copies[{value, wanted}] = copy;
  }

  /// True of what has taken a layout for one of its users, but depends on nothing that has one.
  bool isRepeated(Value value) const {
    return !layouts.count(value) && isRematerializable(value.getDefiningOp());
  }

  /// True of a value with a layout that takes another one for less than a conversion costs: what
  /// has been repeated already, and, if nobody else wants it as it is, elements that are widened,
  /// which move between threads before that, or gathered one by one, in whichever thread.
  bool isBetterRepeated(Value value) const {
    Operation *op = value.getDefiningOp();
    if (isRepeated(value))
      return true;
    if (!op || !value.hasOneUse())
      return false;
    if (isa<CastOpInterface>(op))
      return isTile(op->getOperand(0)) && getElementBits(getElementTypeOrSelf(op->getOperand(0))) <
                                              getElementBits(getElementTypeOrSelf(value));
    auto gather = dyn_cast<GatherOp>(op);
    return gather && llvm::none_of(gather.getSizes(), [](int64_t size) { return size > 1; }) &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) { return !isTile(operand) || isRepeated(operand); });
  }

  Value repeat(Operation *op, RankedTensorType wanted, const LinearLayout &layout) {
    Location loc = op->getLoc();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      return arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(wanted, elements.getSplatValue<Attribute>()));
    }
    IRMapping mapping;
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      mapping.map(broadcast.getSource(),
                  get(broadcast.getSource(),
                      layout.broadcastSource(broadcast.getSource().getType().getShape())));
    } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      mapping.map(
          reshape.getSource(),
          get(reshape.getSource(), layout.reshape(reshape.getSource().getType().getShape())));
    } else if (auto permute = dyn_cast<PermuteOp>(op)) {
      SmallVector<int64_t> inverse(permute.getPermutation().size());
      for (auto [i, d] : llvm::enumerate(permute.getPermutation()))
        inverse[d] = i;
      mapping.map(permute.getSource(), get(permute.getSource(), layout.permute(inverse)));
    } else {
      for (Value operand : op->getOperands())
        if (isTile(operand))
          mapping.map(operand, get(operand, layout));
    }
    // Operands were placed after their own definitions, which come before this one.
    builder.setInsertionPointAfter(op);
    Operation *copy = builder.clone(*op, mapping);
    copy->getResult(0).setType(wanted);
    return copy->getResult(0);
  }

  void convertOperand(OpOperand &operand, const LinearLayout &layout) {
    if (isTile(operand.get()))
      operand.set(get(operand.get(), layout));
  }

  /// Puts operand values of a terminator into the layouts of what they become.
  void convertYield(Operation *terminator, ValueRange targets, unsigned first = 0) {
    for (auto [i, target] : llvm::enumerate(targets))
      if (isTile(target))
        convertOperand(terminator->getOpOperand(first + i), layoutOf(target));
  }

  /// A dot operand in shared memory: written where the tile is defined, transposed by reading it
  /// so. Its fastest dimension is that of the registers, or `fastest`.
  Value stage(Value value, std::optional<unsigned> fastest = std::nullopt) {
    if (auto permute = value.getDefiningOp<PermuteOp>()) {
      Value source = stage(permute.getSource(),
                           fastest ? std::optional<unsigned>(permute.getPermutation()[*fastest])
                                   : std::nullopt);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(source);
      auto type = cast<MemDescType>(source.getType());
      SmallVector<int64_t> shape, order, inverse(permute.getPermutation().size());
      for (auto [i, d] : llvm::enumerate(permute.getPermutation())) {
        shape.push_back(type.getShape()[d]);
        inverse[d] = i;
      }
      for (int64_t d : type.getLayout().getOrder())
        order.push_back(inverse[d]);
      auto layout = SharedAttr::get(builder.getContext(), order, type.getLayout().getSwizzle());
      auto result = MemDescType::get(builder.getContext(), shape, type.getElementType(), layout);
      return MemDescPermuteOp::create(builder, value.getLoc(), result, source,
                                      permute.getPermutation());
    }
    auto original = cast<RankedTensorType>(value.getType());
    Value tile = get(value, hasLayout(original) ? layoutOf(value) : inference.getDefault(original));
    auto type = cast<RankedTensorType>(tile.getType());
    LinearLayout layout = layoutOf(tile);
    SmallVector<int64_t> order;
    for (unsigned d = type.getRank(); d-- > 0;)
      order.push_back(d);
    for (unsigned d = 0; d < order.size(); ++d)
      if (fastest
              ? order[d] == *fastest
              : layout.getContiguousRegisters(order[d]) > layout.getContiguousRegisters(order[0]))
        std::swap(order[0], order[d]);
    Value &cached = staged[{tile, order.empty() ? 0 : order[0]}];
    if (cached)
      return cached;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(tile);
    int64_t bytes = type.getDimSize(order[0]) * getElementBits(type.getElementType()) / 8;
    int64_t swizzle = bytes >= 128 ? 128 : bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
    auto result = MemDescType::get(builder.getContext(), type.getShape(), type.getElementType(),
                                   SharedAttr::get(builder.getContext(), order, swizzle));
    return cached = LocalAllocOp::create(builder, value.getLoc(), result, tile);
  }

  /// A dot operand as fragments: from registers if each thread has its own already, else through
  /// shared memory.
  Value fragment(Value value, const LinearLayout &layout, OpBuilder &at) {
    auto type = cast<RankedTensorType>(value.getType());
    if (hasLayout(type) && layoutOf(value).getRegisterSources(layout))
      return get(value, layout);
    Value memory = stage(value);
    return LocalLoadOp::create(at, value.getLoc(), withLayout(type, layout), memory);
  }

  Value createMma(DotOp dot, Value acc) {
    ArrayRef<int64_t> shape = dot.getType().getShape(), leading = shape.drop_back(2);
    int64_t m = shape[leading.size()], n = shape.back(), k = dot.getA().getType().getShape().back();
    unsigned bits = getElementBits(dot.getA().getType().getElementType());
    auto [warpsM, warpsN] = chooseWarps(dot, inference.getShape());
    Value a = fragment(dot.getA(),
                       LinearLayout::mmaOperand(0, m, k, bits, warpsM, warpsN).withBatches(leading),
                       builder);
    Value b = fragment(dot.getB(),
                       LinearLayout::mmaOperand(1, k, n, bits, warpsM, warpsN).withBatches(leading),
                       builder);
    builder.setInsertionPoint(dot);
    // A promoted product adds its sums to an f32 accumulator after every 128 terms of K, inside the
    // operation; addUp does the same with the sum of a whole product.
    IntegerAttr promote =
        k > 128 && isPromoted(dot) ? builder.getI64IntegerAttr(128) : IntegerAttr();
    auto create = [&](Value to) -> Value {
      return MmaOp::create(builder, dot.getLoc(), acc.getType(), a, b, to, dot.getUnsignedA(),
                           dot.getUnsignedB(), promote, dot.getValidAttr());
    };
    return promote ? create(acc) : addUp(dot, acc, create);
  }

  /// A product by `create`, which adds to an accumulator. Tensor cores keep fewer than 24 bits of
  /// sums of 8-bit floats, not of what these are widened to: in full precision such sums are added
  /// to the accumulator in f32.
  bool isPromoted(DotOp dot) const {
    Type element = dot.getA().getType().getElementType();
    return getElementBits(element) == 8 && dot.getPrecision() == DotPrecision::Full &&
           isa<FloatType>(element) &&
           (chooseDotKind(dot, inference.getShape()) == DotKind::Wgmma ||
            !getWidenedOperand(element, *inference.getShape().target));
  }
  Value addUp(DotOp dot, Value acc, function_ref<Value(Value)> create) {
    if (!isPromoted(dot))
      return create(acc);
    auto type = cast<RankedTensorType>(acc.getType());
    Value zero = arith::ConstantOp::create(builder, dot.getLoc(),
                                           cast<TypedAttr>(builder.getZeroAttr(type)));
    return arith::AddFOp::create(builder, dot.getLoc(), acc, create(zero));
  }

  /// A tile in shared memory with its two dimensions exchanged.
  static Value transposeMemory(OpBuilder &builder, Value memory) {
    auto type = cast<MemDescType>(memory.getType());
    SmallVector<int64_t> shape = {type.getShape()[1], type.getShape()[0]}, order;
    for (int64_t d : type.getLayout().getOrder())
      order.push_back(1 - d);
    auto layout = SharedAttr::get(builder.getContext(), order, type.getLayout().getSwizzle());
    auto result = MemDescType::get(builder.getContext(), shape, type.getElementType(), layout);
    return MemDescPermuteOp::create(builder, memory.getLoc(), result, memory,
                                    ArrayRef<int64_t>{1, 0});
  }

  /// A tile in registers with its two dimensions exchanged; nothing moves.
  static Value transposeTile(OpBuilder &builder, Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    auto result =
        RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
    LinearLayout layout = getLayout(type).permute({1, 0});
    DenseElementsAttr constant;
    if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat())
      return arith::ConstantOp::create(builder, tile.getLoc(),
                                       constant.resizeSplat(withLayout(result, layout)));
    return PermuteOp::create(builder, tile.getLoc(), withLayout(result, layout), tile,
                             ArrayRef<int64_t>{1, 0});
  }

  Value createWgmma(DotOp dot, Value acc) {
    auto typeA = cast<RankedTensorType>(dot.getA().getType());
    unsigned bits = getElementBits(typeA.getElementType());
    bool swapped = swappedDots.contains(dot), inRegisters = false;
    // Only 16-bit elements can be transposed on their way from shared memory.
    auto fastest = [&](unsigned kDim) {
      return bits == 16 ? std::nullopt : std::optional<unsigned>(kDim);
    };
    Value a, b;
    auto holds = held.find(dot);
    bool isHeld = holds != held.end();
    if (isHeld) {
      // By the dot: the tile may have become another.
      a = get(swapped ? dot.getB() : dot.getA(), holds->second.layout);
      b = stage(swapped ? dot.getA() : dot.getB(), fastest(swapped ? 1 : 0));
    } else if (!swapped && hasLayout(typeA)) {
      auto [warpsM, warpsN] = chooseWarps(dot, inference.getShape());
      LinearLayout operand = LinearLayout::mmaOperand(0, typeA.getDimSize(0), typeA.getDimSize(1),
                                                      bits, warpsM, warpsN);
      inRegisters = layoutOf(dot.getA()).getRegisterSources(operand).has_value();
      if (inRegisters)
        a = get(dot.getA(), operand);
    }
    if (!isHeld && !inRegisters)
      a = stage(dot.getA(), fastest(1));
    if (!isHeld)
      b = stage(dot.getB(), fastest(0));
    builder.setInsertionPoint(dot);
    if (swapped && isHeld) {
      a = transposeTile(builder, a);
      b = transposeMemory(builder, b);
    } else if (swapped) {
      Value transposedA = transposeMemory(builder, a);
      a = transposeMemory(builder, b);
      b = transposedA;
    }
    DenseI64ArrayAttr valid = dot.getValidAttr();
    if (valid && swapped)
      valid = builder.getDenseI64ArrayAttr({valid[1], valid[0], valid[2]});
    auto create = [&](Value to) -> Value {
      if (swapped)
        to = transposeTile(builder, to);
      Value product =
          WgmmaOp::create(builder, dot.getLoc(), to.getType(), a, b, to,
                          /*async=*/false, swapped ? dot.getUnsignedB() : dot.getUnsignedA(),
                          swapped ? dot.getUnsignedA() : dot.getUnsignedB(), valid,
                          /*from=*/IntegerAttr(), /*column=*/IntegerAttr());
      return swapped ? transposeTile(builder, product) : product;
    };
    return addUp(dot, acc, create);
  }

  /// Bytes that a loop loads go through shared memory where TMA can fetch them ahead.
  void rewriteUnpack(UnpackOp unpack, const LinearLayout &layout) {
    OpOperand &source = unpack->getOpOperand(0);
    auto load = source.get().getDefiningOp<LoadOp>();
    if (!inference.getShape().hasWgmma() || !load || !load->hasOneUse() ||
        !load->getParentOfType<scf::ForOp>())
      return convertOperand(source, layout);
    Value memory = stage(source.get());
    builder.setInsertionPoint(unpack);
    source.set(LocalLoadOp::create(builder, unpack.getLoc(),
                                   withLayout(cast<RankedTensorType>(load.getType()), layout),
                                   memory));
  }

  /// The operands get the layout in which the reduction runs. Without the reduced dimension that
  /// layout may differ from the one that inference gave the results, so results are converted.
  void rewriteReduceBy(ReduceByOp reduce) {
    LinearLayout layout = inference.getReduceByLayout(reduce);
    for (OpOperand &operand : reduce->getOpOperands())
      convertOperand(operand, layout);
    LinearLayout left = layout.dropDim(reduce.getAxis());
    for (Value result : reduce.getResults()) {
      auto promised = dyn_cast<RankedTensorType>(result.getType());
      if (!promised || layoutOf(result) == left)
        continue;
      result.setType(withLayout(promised, left));
      builder.setInsertionPointAfter(reduce);
      auto converted = ConvertLayoutOp::create(builder, reduce.getLoc(), promised, result);
      result.replaceAllUsesExcept(converted, converted);
    }
  }

  void rewriteDot(DotOp dot) {
    builder.setInsertionPoint(dot);
    Value acc = get(dot.getAcc(), layoutOf(dot.getResult()));
    Value result;
    switch (chooseDotKind(dot, inference.getShape())) {
    case DotKind::Wgmma:
      result = createWgmma(dot, acc);
      break;
    case DotKind::Mma:
      result = createMma(dot, acc);
      break;
    case DotKind::Fma:
      Value a = stage(dot.getA()), b = stage(dot.getB());
      builder.setInsertionPoint(dot);
      result = FmaDotOp::create(builder, dot.getLoc(), acc.getType(), a, b, acc, dot.getUnsignedA(),
                                dot.getUnsignedB(), dot.getValidAttr());
    }
    dot.getResult().replaceAllUsesWith(result);
    layouts.insert({result, layoutOf(result)});
    // Destroyed in the end: a new operation at the same address would be taken for this one.
    dot->remove();
    dot->dropAllReferences();
    replaced.push_back(dot);
  }

  template <typename Op> void rewriteStore(Op store) {
    auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
    if (!type)
      return;
    LinearLayout layout =
        inference.getStoreLayout(store, type,
                                 hasLayout(type) ? std::optional(layoutOf(store.getValue()))
                                                 : getNaturalLayout(store.getValue()));
    for (OpOperand &operand : store->getOpOperands()) // value, mask, positions
      convertOperand(operand, layout);
  }

  void rewrite(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [init, argument] : llvm::zip(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
        if (isTile(argument))
          convertOperand(init, layoutOf(argument));
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [init, argument] : llvm::zip(loop.getInitsMutable(), loop.getBeforeArguments()))
        if (isTile(argument))
          convertOperand(init, layoutOf(argument));
      return;
    }
    if (auto condition = dyn_cast<scf::ConditionOp>(op))
      return convertYield(op, cast<scf::WhileOp>(op->getParentOp()).getAfterArguments(), 1);
    if (isa<scf::YieldOp>(op)) {
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
        return convertYield(op, loop.getRegionIterArgs());
      if (auto loop = dyn_cast<scf::WhileOp>(op->getParentOp()))
        return convertYield(op, loop.getBeforeArguments());
      return convertYield(op, op->getParentOp()->getResults());
    }
    if (auto store = dyn_cast<StoreOp>(op))
      return rewriteStore(store);
    if (auto scatter = dyn_cast<ScatterOp>(op))
      return rewriteStore(scatter);
    if (isa<ReduceOp, ArgReduceOp>(op)) {
      Value source = op->getOperand(0);
      auto type = cast<RankedTensorType>(source.getType());
      return convertOperand(op->getOpOperand(0),
                            hasLayout(type) ? layoutOf(source) : inference.getDefault(type));
    }
    if (auto print = dyn_cast<PrintOp>(op)) { // its tiles in one layout
      std::optional<LinearLayout> layout;
      for (Value value : print.getValues())
        if (auto type = dyn_cast<RankedTensorType>(value.getType());
            type && hasLayout(type) && !layout)
          layout = layoutOf(value);
      for (OpOperand &operand : op->getOpOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
          convertOperand(operand, layout ? *layout : inference.getDefault(type));
      return;
    }
    if (isa<PartArriveOp, PartCombineOp, PartLoadOp, PartShareOp>(op)) { // as the sums are held
      for (OpOperand &operand : op->getOpOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
          convertOperand(operand,
                         hasLayout(type) ? layoutOf(operand.get()) : inference.getDefault(type));
      return;
    }
    if (isa<ScanOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        convertOperand(operand, layoutOf(op->getResult(0)));
      return;
    }
    if (auto reduce = dyn_cast<ReduceByOp>(op))
      return rewriteReduceBy(reduce);
    if (isa<HistogramOp>(op)) {
      auto type = cast<RankedTensorType>(op->getOperand(0).getType());
      return convertOperand(op->getOpOperand(0), hasLayout(type) ? layoutOf(op->getOperand(0))
                                                                 : inference.getDefault(type));
    }
    if (auto take = dyn_cast<TakeOp>(op)) {
      RankedTensorType type = take.getSource().getType();
      convertOperand(take.getSourceMutable(),
                     hasLayout(type) ? layoutOf(take.getSource()) : inference.getDefault(type));
      if (isTile(take.getResult()))
        convertOperand(take.getPositionMutable(), layoutOf(take.getResult()));
      return;
    }
    if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
      return;
    LinearLayout layout = layoutOf(op->getResult(0));
    if (auto unpack = dyn_cast<UnpackOp>(op))
      return rewriteUnpack(unpack, layout.joinElements());
    if (isa<ReshapeOp>(op))
      layout = layout.reshape(cast<RankedTensorType>(op->getOperand(0).getType()).getShape());
    else if (auto permute = dyn_cast<PermuteOp>(op)) {
      SmallVector<int64_t> inverse(permute.getPermutation().size());
      for (auto [i, d] : llvm::enumerate(permute.getPermutation()))
        inverse[d] = i;
      layout = layout.permute(inverse);
    }
    for (OpOperand &operand : op->getOpOperands())
      convertOperand(operand, layout);
  }

  KernelOp kernel;
  const LayoutInference &inference;
  OpBuilder builder;
  SmallVector<Operation *> ops;
  SmallVector<Operation *> replaced;              // outside their blocks
  llvm::DenseSet<Operation *> swappedDots;        // looked up only
  DenseMap<Operation *, HeldOperand> held;        // by dot; looked up only
  DenseSet<Value> heldLoads;                      // looked up only
  DenseMap<Value, LinearLayout> layouts;          // looked up only
  DenseMap<std::pair<Value, Type>, Value> copies; // looked up only
  DenseMap<std::pair<Value, int64_t>, Value>
      staged; // by tile and fastest dimension; looked up only
};

struct TileGPUAssignLayouts : tile::impl::TileGPUAssignLayoutsBase<TileGPUAssignLayouts> {
  using Base::Base;

  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    if (!target)
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (failed(checkSupported(kernel)))
        return signalPassFailure();
      KernelShape shape = chooseShape(kernel, target);
      warnOfWarps(kernel, shape);
      if (remarks)
        remarkSlowDots(kernel, shape);
      LayoutInference inference(kernel, shape);
      Assigner(kernel, inference).run();
      carryTransposed(kernel);
      kernel->setAttr(numWarpsName, Builder(kernel).getI64IntegerAttr(shape.numWarps));
      orderAccesses(kernel);
    }
  }

  /// Says where a block has no room for the warps that the source asks for.
  static void warnOfWarps(KernelOp kernel, const KernelShape &shape) {
    auto requested = kernel->getAttrOfType<IntegerAttr>(requestedWarpsName);
    auto consumers = kernel->getAttrOfType<IntegerAttr>(consumersName);
    int64_t warps = requested                       ? requested.getInt()
                    : consumers && shape.hasWgmma() ? 4 * consumers.getInt()
                                                    : 0;
    if (warps > shape.numWarps)
      kernel.emitWarning() << (requested ? "warps(" : "consumers(")
                           << (requested ? requested : consumers).getInt() << ") is lowered to "
                           << (requested ? shape.numWarps : shape.numWarps / 4)
                           << ": beside the warpgroup that fetches operands of wgmma, the "
                           << shape.target->limits.threadsPerBlock
                           << " threads of a block have room for no more [W0607]";
  }

  static void remarkSlowDots(KernelOp kernel, const KernelShape &shape) {
    kernel.getBody().walk([&](DotOp dot) {
      if (std::string reason = explainNoWgmma(dot, shape); !reason.empty())
        remarkOn(dot) << "dot by mma.sync or scalar code instead of wgmma: " << reason
                      << " [R0401]";
    });
  }
};

} // namespace
