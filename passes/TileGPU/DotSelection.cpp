// Chooses the instructions for dots by target, element types and extents, and the number of warps
// that suits them.
#include "passes/TileGPU/DotSelection.h"
#include "dialect/TileGPU/MatrixOperands.h"
#include "passes/Analysis/EqualLoads.h"
#include "passes/TileGPU/HeldOperand.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/LayoutInference.h"
#include "passes/TileGPU/UnevenRows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// As in memory: bool a byte, index eight. Nibbles have their four bits.
unsigned tile::gpu::getElementBits(Type type) {
  if (type.isIndex())
    return 64;
  return type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
}

int64_t tile::gpu::countRegisters(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  int64_t count = tile ? getLayout(tile).getNumRegisters() : 1;
  return llvm::divideCeil(count * getElementBits(getElementTypeOrSelf(type)), 32);
}

static bool isFloat8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

/// The tensor cores' type for an operand's element; none where this compiler does not lower it to
/// them.
/// f32 counts as TF32 only where the product's precision allows it.
static std::optional<MatrixElement> getOperandElement(DotOp dot) {
  Type a = dot.getA().getType().getElementType(), b = dot.getB().getType().getElementType();
  if (isFloat8(a) && isFloat8(b))
    return MatrixElement::F8;
  if (a != b)
    return std::nullopt;
  if (a.isF64())
    return MatrixElement::F64;
  if (a.isF16())
    return MatrixElement::F16;
  if (a.isBF16())
    return MatrixElement::BF16;
  if (a.isF32() && dot.getPrecision() == DotPrecision::TF32)
    return MatrixElement::TF32;
  if (a.isInteger(8))
    return MatrixElement::I8;
  return std::nullopt;
}

static std::optional<MatrixElement> getAccumulatorElement(DotOp dot) {
  Type acc = dot.getType().getElementType();
  if (acc.isF32())
    return MatrixElement::F32;
  if (acc.isF16())
    return MatrixElement::F16;
  if (acc.isF64())
    return MatrixElement::F64;
  if (acc.isInteger(32))
    return MatrixElement::I32;
  return std::nullopt;
}

/// The instruction of `unit` for the dot's elements; null if the target has none.
static const MatrixInstruction *getInstruction(DotOp dot, MatrixUnit unit,
                                               const KernelShape &shape) {
  auto operands = getOperandElement(dot), accumulator = getAccumulatorElement(dot);
  return shape.target && operands && accumulator ? shape.target->find(unit, *operands, *accumulator)
                                                 : nullptr;
}

/// Extents of a product: m x k by k x n.
struct Extents {
  int64_t m, n, k;
};

static Extents getExtents(DotOp dot) {
  ArrayRef<int64_t> c = dot.getType().getShape();
  return {c[c.size() - 2], c.back(), dot.getA().getType().getShape().back()};
}

bool tile::gpu::isLoaded(Value tile) {
  while (auto permute = tile.getDefiningOp<PermuteOp>())
    tile = permute.getSource();
  return isa_and_nonnull<LoadOp>(tile.getDefiningOp());
}

/// True if instructions of the transposed product compute less padding: rows come in 64s, which
/// warpgroups share out whole, columns in 16s. Asked of the sums of a loop's loaded tiles, which
/// nothing else meets there.
static bool wastesRows(DotOp dot) {
  constexpr int64_t rows = 64, columns = 16;
  auto [m, n, k] = getExtents(dot);
  if (auto valid = dot.getValid()) // before extents were padded
    m = (*valid)[0], n = (*valid)[1];
  auto count = [&](int64_t m, int64_t n) {
    return llvm::alignTo(uint64_t(m), rows) * llvm::alignTo(uint64_t(n), columns);
  };
  if (m < rows || n % rows || count(n, m) >= count(m, n))
    return false;
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto sum = dyn_cast<BlockArgument>(dot.getAcc());
  return loop && sum && sum.getOwner() == loop.getBody() && sum.hasOneUse() && dot->hasOneUse() &&
         isa<scf::YieldOp>(*dot->user_begin()) && isLoaded(dot.getA()) && isLoaded(dot.getB());
}

/// wgmma has 64 rows at least and 8 columns at least: a low and wide product is computed
/// transposed, one whose second operand registers can hold, and one whose rows are no multiple of
/// 64 where its columns are.
bool tile::gpu::isSwapped(DotOp dot) {
  if (dot.getType().getRank() != 2)
    return false;
  auto [m, n, k] = getExtents(dot);
  return m >= 8 && n >= 64 && (m < 64 || isBetterSwapped(dot) || wastesRows(dot));
}

bool tile::gpu::joinsRows(ReshapeOp reshape) {
  auto from = dyn_cast<RankedTensorType>(reshape.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(reshape.getType());
  return from && to && from.getRank() > 2 && to.getRank() == 2 &&
         from.getShape().back() == to.getShape().back();
}

/// Extents of the product as wgmma computes it.
static Extents getWgmmaExtents(DotOp dot) {
  auto [m, n, k] = getExtents(dot);
  return isSwapped(dot) ? Extents{n, m, k} : Extents{m, n, k};
}

/// The reason why a dot cannot use the wgmma instruction for its elements, whatever the number of
/// warps.
/// In words for a remark; empty if extents are fine.
static std::string explainByExtents(DotOp dot, const MatrixInstruction &wgmma) {
  auto [m, n, k] = getWgmmaExtents(dot);
  Type a = dot.getA().getType().getElementType();
  int64_t step = wgmma.k;
  if (dot.getType().getRank() != 2)
    return "expected a product without batches, found one of rank " +
           std::to_string(dot.getType().getRank()) + "; use a grid axis for the batch";
  if (m < int64_t(wgmma.m))
    return "expected M of at least 64, or of at least 8 where N is 64, found " + std::to_string(m) +
           " by " + std::to_string(n);
  if (n < int64_t(wgmma.n))
    return "expected N of at least 8, found " + std::to_string(n);
  if (k < step)
    return "expected K of at least " + std::to_string(step) + ", found " + std::to_string(k);
  // The tensor core adds 8-bit products in fewer bits than f32: with full precision each 128 terms
  // are added up outside (promote).
  if (isFloat8(a) && dot.getPrecision() == DotPrecision::Full && k > 128)
    return "expected K of at most 128 for 8-bit floats added in full precision, found " +
           std::to_string(k);
  return "";
}

std::string tile::gpu::explainNoWgmma(DotOp dot, const KernelShape &shape) {
  const MatrixInstruction *wgmma = getInstruction(dot, MatrixUnit::Wgmma, shape);
  if (!wgmma)
    return "";
  if (std::string why = explainByExtents(dot, *wgmma); !why.empty())
    return why; // whatever the warps are
  return shape.numWarps % 4 ? "expected warps in fours, found " + std::to_string(shape.numWarps)
                            : "";
}

/// The instruction of mma.sync for the dot, or for what its operands are widened to.
static const MatrixInstruction *getMma(DotOp dot, const KernelShape &shape) {
  const MatrixInstruction *own = getInstruction(dot, MatrixUnit::MmaSync, shape);
  if (own || !shape.target || getOperandElement(dot) != MatrixElement::F8 ||
      getAccumulatorElement(dot) != MatrixElement::F32)
    return own;
  Type element = dot.getA().getType().getElementType();
  return getWidenedOperand(element, *shape.target)
             ? shape.target->find(MatrixUnit::MmaSync, MatrixElement::F16, MatrixElement::F32)
             : nullptr;
}

/// wgmma, else mma.sync, else scalar multiply-adds.
DotKind tile::gpu::chooseDotKind(DotOp dot, const KernelShape &shape) {
  if (getInstruction(dot, MatrixUnit::Wgmma, shape) && explainNoWgmma(dot, shape).empty())
    return DotKind::Wgmma;
  auto [m, n, k] = getExtents(dot);
  const MatrixInstruction *mma = getMma(dot, shape);
  // Of fewer rows than the instruction has, half of it may be used or less: still far more than
  // scalar code computes in its time. Along K there is a fragment of the operands' own elements.
  int64_t depth = getFragmentDepth(getElementBits(dot.getA().getType().getElementType()), k);
  bool fits = mma && n >= mma->n && k >= std::max<int64_t>(mma->k, depth);
  return fits ? DotKind::Mma : DotKind::Fma;
}

//===--- Warps ------------------------------------------------------------===//

/// Warpgroups go along M, 64 rows each; those that find no more rows share columns, 64 at least;
/// others hold duplicates.
static std::pair<unsigned, unsigned> chooseWgmmaWarps(int64_t m, int64_t n, unsigned numWarps) {
  unsigned warpsM = std::min<int64_t>(numWarps, m / 16), warpsN = 1;
  while (warpsM * warpsN < numWarps && n / (2 * warpsN) >= 64)
    warpsN *= 2;
  return {numWarps / warpsN, warpsN};
}

/// Warps for mma.sync: 16 rows and 8 columns each at least.
static std::pair<unsigned, unsigned> chooseMmaWarps(int64_t m, int64_t n,
                                                    const KernelShape &shape) {
  unsigned warpsM = 1, warpsN = 1;
  while (warpsM * warpsN < shape.numWarps) {
    bool roomM = int64_t(warpsM) * 16 < m, roomN = int64_t(warpsN) * 8 < n;
    if (!roomM && !roomN)
      break;
    // Warps along M read the same columns of b, warps along N the same rows of a: splitting the
    // longer side of what is left for a warp keeps these repeated reads fewest.
    bool alongM = roomM && (shape.rowsInWarps || !roomN || m / warpsM >= n / warpsN);
    (alongM ? warpsM : warpsN) *= 2;
  }
  // Warps beyond the tile hold duplicates along M.
  while (warpsM * warpsN < shape.numWarps)
    warpsM *= 2;
  return {warpsM, warpsN};
}

/// True if rows of the product are reduced, perhaps after element-wise operations on it alone.
static bool isReducedAlongRows(DotOp dot) {
  constexpr unsigned farthest = 32;
  SmallVector<Value> values = {dot.getResult()};
  for (unsigned i = 0; i < values.size() && i < farthest; ++i)
    for (Operation *user : values[i].getUsers()) {
      if (auto reduce = dyn_cast<ReduceOp>(user); reduce && reduce.getAxis() == 1)
        return true;
      if (user->hasTrait<OpTrait::Elementwise>() && user->getBlock() == dot->getBlock() &&
          isa<RankedTensorType>(user->getResult(0).getType()))
        values.push_back(user->getResult(0));
    }
  return false;
}

std::pair<unsigned, unsigned> tile::gpu::chooseWarps(DotOp dot, const KernelShape &shape) {
  if (chooseDotKind(dot, shape) == DotKind::Wgmma) {
    auto [m, n, k] = getWgmmaExtents(dot);
    return chooseWgmmaWarps(m, n, shape.numWarps);
  }
  auto [m, n, k] = getExtents(dot);
  // Few rows whose columns warps share meet in shared memory, at a barrier for each reduction; all
  // of a small product in every warp is there sooner.
  constexpr int64_t fewRows = 8, small = 4096;
  if (m <= fewRows && n * k <= small && dot.getType().getRank() == 2 && isReducedAlongRows(dot))
    return {shape.numWarps, 1};
  return chooseMmaWarps(m, n, shape);
}

/// Two warpgroups where there are rows for them; more while a thread's part of the largest
/// accumulator is above 128.
/// 128 registers of accumulators leave room for operands and addresses; 16 warps are the most that
/// a block with a producer has.
static unsigned countWgmmaWarps(ArrayRef<Extents> dots) {
  unsigned numWarps = 4;
  for (auto [m, n, k] : dots) {
    unsigned wanted = m >= 128 ? 8 : 4;
    while (wanted < 16 && m * n / (32 * wanted) > 128 && (m / 64) * (n / 64) >= 2 * wanted / 4)
      wanted *= 2;
    numWarps = std::max(numWarps, wanted);
  }
  return numWarps;
}

/// How often an operation is done, for comparisons: loops make many trips.
static int64_t getWeight(Operation *op) {
  constexpr int64_t trips = 16, most = 1 << 20;
  int64_t weight = 1;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop && weight < most;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    weight *= trips;
  return weight;
}

/// Bits of the narrowest type that is moved, or of the narrowest of which there is much: what a
/// thread has of wider ones would lie apart from its neighbours' in each access, and a store would
/// write half a sector, for a mask of bytes beside numbers of 32 bits.
static unsigned getNarrowest(const std::map<unsigned, int64_t> &moves, bool byAll) {
  constexpr int64_t much = 4; // at least this part of all that is moved
  unsigned widest = 128;
  int64_t all = 0, seen = 0;
  for (auto [bits, moved] : moves)
    all += moved;
  for (auto [bits, moved] : moves) {
    seen += moved;
    if (byAll || much * seen >= all)
      return bits;
  }
  return widest;
}

/// Operations of a function that takes longer than the exchange of what it combines.
static constexpr int64_t longFunction = 8;

/// The kernel's one choice of warps and vector width, from its largest tiles; every layout is built
/// on it. A request of the source comes first, then products, then what moves data.
KernelShape tile::gpu::chooseShape(KernelOp kernel, const GPUTarget *target) {
  KernelShape shape;
  shape.target = target;

  int64_t largest = 1, largestMoved = 1, longest = 1, dotElements = 0;
  int64_t ofTrips = 1, held = 1;     // elements of tiles that move in loops, and that wait in them
  int64_t loaded = 0;                // elements of all loads, equal ones once
  std::set<size_t> places;           // of loads so far
  std::map<unsigned, int64_t> moves; // bits of all elements moved, by those of one
  bool loops = false, reduces = false, reducesRows = false, reducesOthers = false,
       reducesInLoop = false, transposes = false, exchanges = false, joins = false,
       joinsOthers = false;
  SmallVector<Extents> wgmma;
  kernel.getBody().walk([&](Operation *op) {
    loops |= isa<LoopLikeOpInterface>(op);
    if (auto loop = op->getParentOfType<LoopLikeOpInterface>())
      for (Value operand : op->getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType());
            type && (loop.isDefinedOutsideOfLoop(operand) || isa<BlockArgument>(operand)))
          held = std::max(held, type.getNumElements());
    for (Value value : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        largest = std::max(largest, type.getNumElements());
    if (auto dot = dyn_cast<DotOp>(op)) {
      dotElements += dot.getType().getNumElements(); // accumulators live side by side
      if (auto *instruction = getInstruction(dot, MatrixUnit::Wgmma, shape);
          instruction && explainByExtents(dot, *instruction).empty())
        wgmma.push_back(getWgmmaExtents(dot));
    }
    Type moved;
    if (auto load = dyn_cast<LoadOp>(op)) {
      moved = load.getType();
      if (auto type = dyn_cast<RankedTensorType>(moved);
          type && places.insert(hashPlace(load)).second)
        loaded += type.getNumElements();
      transposes |= getTransposedDim(load).has_value();
    } else if (auto store = dyn_cast<StoreOp>(op))
      moved = store.getValue().getType();
    else if (auto gather = dyn_cast<GatherOp>(op))
      moved = gather.getType();
    else if (auto scatter = dyn_cast<ScatterOp>(op))
      moved = scatter.getValue().getType();
    if (auto type = dyn_cast_or_null<RankedTensorType>(moved)) {
      unsigned bits = getElementBits(type.getElementType());
      moves[bits] += bits * type.getNumElements() * getWeight(op);
      largestMoved = std::max(largestMoved, type.getNumElements());
      if (op->getParentOfType<LoopLikeOpInterface>())
        ofTrips = std::max(ofTrips, type.getNumElements());
      for (int64_t extent : type.getShape())
        longest = std::max(longest, extent);
    }
    exchanges |= isa<ScanOp, ArgReduceOp, ReduceByOp, SortOp, HistogramOp, TakeOp, GatherOp,
                     ScatterOp, AtomicOp>(op);
    if (auto reduce = dyn_cast<ReduceByOp>(op)) { // a slice is one, too: a selection
      joins |= llvm::range_size(reduce.getCombiner().front()) > longFunction;
      auto source = cast<RankedTensorType>(reduce.getSources()[0].getType());
      joinsOthers |= int64_t(reduce.getAxis()) != source.getRank() - 1;
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      int64_t rank = reduce.getSource().getType().getRank();
      reduces = true;
      reducesInLoop |= rank > 1 && op->getParentOfType<LoopLikeOpInterface>();
      reducesRows |= rank == 2;
      reducesOthers |= rank > 1 && reduce.getAxis() != rank - 1;
    }
  });
  // Elements in 16 bytes of the narrowest type that is moved.
  unsigned vector = std::max(1u, 128 / getNarrowest(moves, dotElements || transposes));
  if (auto requested = kernel->getAttrOfType<IntegerAttr>(requestedWarpsName))
    shape.numWarps = requested.getInt();
  else if (auto consumers = kernel->getAttrOfType<IntegerAttr>(consumersName);
           consumers && shape.hasWgmma())
    shape.numWarps = 4 * consumers.getInt();
  else if (!wgmma.empty())
    shape.numWarps = countWgmmaWarps(wgmma);
  else if (dotElements) // small tiles are few warps', which meet at barriers
    shape.numWarps = std::clamp<int64_t>(dotElements / (32 * 128),
                                         std::clamp<int64_t>(largest / (32 * 16), 1, 4), 8);
  else if (reduces && !loops) // few warps wait for each other least; the 32 elements of a thread
                              // are all on their way at once. Several loads hold their elements
                              // until the reduction: 96 leave registers for what is computed
    shape.numWarps = std::clamp<int64_t>(
        std::max<int64_t>(largest / (32 * 32), llvm::divideCeil(loaded, 32 * 96)), 1, 32);
  else if (transposes) // a thread holds a block with vectors along both dimensions
    shape.numWarps = std::clamp<int64_t>(largest / (32 * int64_t(vector) * vector), 1, 16);
  else { // what only streams wants several vectors of each thread on their way, of four warps at
         // least where it loops or exchanges; but not of warps that would hold what others hold.
         // Loops that read less than the tiles that they hold wait for exchanges, not for memory;
         // other programs run meanwhile, where there are any.
    bool holds = (exchanges || reduces) && ofTrips < largest && held == largest &&
                 countPrograms(kernel, getCard(*target)).all > 1;
    int64_t distinct = (holds ? ofTrips : largest) / std::min<int64_t>(vector, longest),
            least = loops || exchanges ? std::clamp<int64_t>(distinct / 32, 1, 4) : 1;
    // Between threads each combines a column or calls a function once for every bit of their
    // number: the more elements a thread has, the fewer threads do that.
    bool combines = joins || (reducesOthers && largest == largestMoved);
    if (joins)
      least = 1;
    // A loop that reduces one row has a barrier in each trip: a thread loads 64 bytes for it. Rows
    // that each warp has to itself need no barrier, and 16 warps would leave room for one block.
    bool oneRow = longest == largest, meets = reduces && loops && oneRow && !exchanges;
    int64_t streamed = meets ? std::max<int64_t>(16, 4 * vector) : 16;
    shape.numWarps = std::clamp<int64_t>(largest / (32 * (holds      ? 64
                                                          : combines ? 32
                                                                     : streamed)),
                                         least, reducesInLoop && !oneRow && !exchanges ? 8 : 16);
    // Every lane has a part; and a lane's parts are one, which a function joins with others once.
    if (shape.numWarps == 1 && exchanges)
      vector = std::clamp<int64_t>(llvm::bit_floor(uint64_t(largest / 32)), 1,
                                   joins && !joinsOthers ? 4 * vector : vector);
  }
  // Layouts want a power of two.
  shape.numWarps = llvm::PowerOf2Ceil(shape.numWarps);
  if (!wgmma.empty()) // whose operands a producer's warpgroup may fetch
    shape.numWarps = std::min<int64_t>(shape.numWarps, getWarpsBesideProducer(target->limits));
  // Every lane of the warps that the source asks for has a part, of four elements at least: fewer
  // would spread what lanes and warps exchange. Loops keep theirs: rows that they keep count on it.
  constexpr unsigned leastVector = 4;
  if (!dotElements && !transposes && !loops && vector > leastVector)
    vector = std::clamp<int64_t>(llvm::bit_floor(uint64_t(largest / (32 * shape.numWarps))),
                                 leastVector, vector);
  shape.vector = dotElements || transposes ? vector : getRowDivisor(kernel, vector);
  // Rows of products that are reduced stay within warps.
  shape.rowsInWarps = dotElements && reducesRows;
  shape.reducesLast = !dotElements && reducesRows && !reducesOthers;
  return shape;
}
