// tile-gpu-cut-products: a product that begins a sum of its own, of more columns than registers
// have room for beside what the loop carries, becomes products of some of the columns each.
//
//   p = a · b                              for each part n of the columns:
//   acc = acc + p * scale       ->           p = a · b[:, n]
//                                            acc[:, n] = acc[:, n] + p * scale[:, n]
//
// Products of 8-bit floats with scales for blocks along K are such: each trip's product is scaled
// before it is added. A tile of few columns takes more of shared memory and of the second-level
// cache for each product than one of many; in parts registers hold the sum of all columns, and the
// result of some. The operands are fetched as they are: a part reads its columns of the slot.
// Warpgroups multiply in turns, so that one multiplies while another one adds up.
#include "dialect/AttributeNames.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/Report/Declined.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/PartTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEGPUCUTPRODUCTS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

namespace {

/// Dimension N of a product's result.
constexpr unsigned dimN = 1;
/// Registers of a thread beside those of tiles, as the cost model has it.
constexpr int64_t otherRegisters = 28;

/// A loop's product, and what the trip computes from it.
struct Cut {
  scf::ForOp loop;
  WgmmaOp product;
  llvm::SetVector<Operation *> users; ///< in the body's order
  int64_t parts = 1;
};

/// Makes parts of tiles along their columns.
class PartMaker {
public:
  PartMaker(Cut &cut, OpBuilder &builder) : cut(cut), builder(builder) {}

  RankedTensorType getType(Value value) const {
    auto type = cast<RankedTensorType>(value.getType());
    return getPartType(type, dimN, type.getDimSize(dimN) / cut.parts);
  }

  void set(Value value, Value part) { made[value] = part; }

  /// The part of `value` that the part `number` of the product meets.
  Value get(Value value, int64_t number) {
    if (!isa<RankedTensorType>(value.getType()))
      return value;
    Value &part = made[value];
    if (!part) {
      Value found = create(value, number);
      return made[value] = found;
    }
    return part;
  }

  /// `op` anew, on parts.
  Value clone(Operation *op, int64_t number) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(get(operand, number));
    OperationState state(op->getLoc(), op->getName(), operands, {getType(op->getResult(0))},
                         op->getAttrs());
    return builder.create(state)->getResult(0);
  }

private:
  Value create(Value value, int64_t number) {
    Operation *op = value.getDefiningOp();
    RankedTensorType type = getType(value);
    DenseElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
      return arith::ConstantOp::create(
          builder, value.getLoc(),
          DenseElementsAttr::get(type, constant.getSplatValue<Attribute>()));
    if (op && op->getBlock() == cut.loop.getBody() && op->getNumResults() == 1 &&
        !op->getNumRegions() && isPure(op)) {
      if (OpTrait::hasElementwiseMappableTraits(op))
        return clone(op, number);
      if (auto broadcast = dyn_cast<BroadcastOp>(op))
        if (Value source = getColumns(broadcast.getSource(), value, number))
          return BroadcastOp::create(builder, value.getLoc(), type, source);
    }
    int64_t columns = type.getDimSize(dimN);
    return ExtractPartOp::create(builder, value.getLoc(), type, value,
                                 builder.getDenseI64ArrayAttr({0, number * columns}));
  }

  /// What the part of a tile is broadcast from, whose source is `source`; null where it is not a
  /// tile of as many dimensions, or of other columns.
  Value getColumns(Value source, Value whole, int64_t number) {
    auto from = dyn_cast<RankedTensorType>(source.getType());
    if (!from)
      return source;
    auto to = cast<RankedTensorType>(whole.getType());
    if (from.getRank() != to.getRank())
      return {};
    if (from.getDimSize(dimN) == 1)
      return source;
    auto type = getPartType(from, dimN, from.getDimSize(dimN) / cut.parts);
    return type ? Value(ExtractPartOp::create(
                      builder, source.getLoc(), type, source,
                      builder.getDenseI64ArrayAttr({0, number * type.getDimSize(dimN)})))
                : Value();
  }

  Cut &cut;
  OpBuilder &builder;
  DenseMap<Value, Value> made; // looked up only
};

} // namespace

/// Finds what the trip computes from the product. Empty, or why that cannot be done in parts.
static std::string findUsers(Cut &cut) {
  WgmmaOp product = cut.product;
  Block &body = *cut.loop.getBody();
  ArrayRef<int64_t> shape = product.getType().getShape();
  for (Operation *op = product->getNextNode(); op != body.getTerminator(); op = op->getNextNode()) {
    bool uses = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        uses |= operand == product.getResult() || cut.users.contains(operand.getDefiningOp());
    });
    if (!uses) {
      // The products move behind it.
      if (!isMemoryEffectFree(op) && !isa<LoadOp, GatherOp, TmaFetchOp>(op))
        return "something is stored behind the product";
      continue;
    }
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                         : RankedTensorType();
    if (!type || type.getShape() != shape || !isPure(op) || op->getNumRegions() ||
        !OpTrait::hasElementwiseMappableTraits(op))
      return "more than arithmetic by elements meets its result";
    cut.users.insert(op);
  }
  return "";
}

/// The loop's only product, if it begins a sum of its own and reads operands that others leave.
static WgmmaOp findProduct(scf::ForOp loop) {
  SmallVector<WgmmaOp> products;
  loop.getBody()->walk([&](WgmmaOp product) { products.push_back(product); });
  if (!llvm::hasSingleElement(products))
    return {};
  WgmmaOp product = products.front();
  bool begins =
      matchPattern(product.getAcc(), m_PosZeroFloat()) || matchPattern(product.getAcc(), m_Zero());
  return begins && product->getBlock() == loop.getBody() && product.getType().getRank() == 2 &&
                 !product.getAsync() && !product.getColumn()
             ? product
             : WgmmaOp();
}

/// The number of parts, and empty; or why the product stays whole.
static std::string findParts(Cut &cut, KernelOp kernel, const GPUTarget &target) {
  constexpr int64_t warpsOfWarpgroup = 4, mostOfThread = 255;
  FailureOr<int64_t> warps = getLaunchedWarps(kernel);
  auto occupancy = kernel->getAttrOfType<IntegerAttr>(occupancyName);
  int64_t warpgroups = failed(warps) ? 1 : std::max<int64_t>(1, *warps / warpsOfWarpgroup),
          blocks = occupancy ? occupancy.getInt() : 1;
  int64_t given =
      warpgroups == 1 && blocks == 1
          ? mostOfThread
          : getConsumerRegisters(target.limits, warpgroups, blocks, usualProducerRegisters);
  RankedTensorType type = cut.product.getType();
  int64_t result = countRegisters(type),
          beside = countLiveRegisters(kernel) + otherRegisters - result;
  if (beside + result <= given)
    return "a thread has registers for the result of the product beside what it holds";
  if (auto valid = cut.product.getValid(); valid && (*valid)[dimN] != type.getDimSize(dimN))
    return "some of its columns are padding";
  for (int64_t parts = 2; type.getDimSize(dimN) / parts >= cutColumns; parts *= 2)
    if (getPartType(type, dimN, type.getDimSize(dimN) / parts) &&
        beside + result / parts <= given) {
      cut.parts = parts;
      return "";
    }
  return "a thread has no registers for a part of its result either";
}

static void apply(Cut &cut) {
  WgmmaOp product = cut.product;
  OpBuilder builder(cut.loop.getBody()->getTerminator());
  Location loc = product.getLoc();
  DenseMap<Operation *, SmallVector<Value>> parts; // looked up only
  SmallVector<Operation *> users(cut.users.begin(), cut.users.end());
  for (int64_t number = 0; number < cut.parts; ++number) {
    PartMaker maker(cut, builder);
    RankedTensorType type = maker.getType(product.getResult());
    Value zero = arith::ConstantOp::create(builder, loc, type, builder.getZeroAttr(type));
    DenseI64ArrayAttr valid = product.getValidAttr();
    if (valid)
      valid = builder.getDenseI64ArrayAttr({valid[0], type.getDimSize(dimN), valid[2]});
    auto part = WgmmaOp::create(builder, loc, type, product.getA(), product.getB(), zero,
                                /*async=*/false, product.getUnsignedA(), product.getUnsignedB(),
                                valid, product.getFromAttr(),
                                builder.getI64IntegerAttr(number * type.getDimSize(dimN)));
    maker.set(product.getResult(), part);
    for (Operation *op : users) {
      Value made = maker.clone(op, number);
      maker.set(op->getResult(0), made);
      parts[op].push_back(made);
    }
  }
  for (Operation *op : users) {
    Value result = op->getResult(0);
    if (llvm::all_of(result.getUsers(), [&](Operation *user) { return cut.users.contains(user); }))
      continue;
    Value whole = JoinPartsOp::create(builder, op->getLoc(), result.getType(), parts[op], dimN);
    result.replaceUsesWithIf(whole, [&](OpOperand &operand) -> bool {
      return !cut.users.contains(operand.getOwner()) && operand.getOwner() != whole.getDefiningOp();
    });
  }
  for (Operation *op : llvm::reverse(users))
    op->erase();
  product.erase();
}

namespace {

struct TileGPUCutProducts : tile::impl::TileGPUCutProductsBase<TileGPUCutProducts> {
  void runOnOperation() override {
    const GPUTarget *target = getTarget(getOperation());
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<Cut> cuts;
      kernel.getBody().walk([&](scf::ForOp loop) {
        if (WgmmaOp product = findProduct(loop))
          cuts.push_back({loop, product, {}, 1});
      });
      for (Cut &cut : cuts) {
        std::string why = findUsers(cut);
        if (why.empty())
          why = findParts(cut, kernel, *target);
        if (why.empty())
          apply(cut);
        else
          declined(cut.loop) << why;
      }
    }
  }
};

} // namespace
