// Counts what one program of a kernel does: trips of loops at the given extents, and what stands in
// them.
#include "passes/Analysis/CostModel/KernelWork.h"
#include "dialect/AttributeNames.h"
#include "dialect/ProgramNames.h"
#include "dialect/Tile/Accumulation.h"
#include "dialect/TileGPU/MatrixOperands.h"
#include "dialect/VersionNames.h"
#include "passes/Analysis/BusyPrograms.h"
#include "passes/Analysis/CostModel/ElementCost.h"
#include "passes/Analysis/CostModel/OverlappingLoads.h"
#include "passes/Analysis/CostModel/TargetLimits.h"
#include "passes/Analysis/EqualLoads.h"
#include "passes/Analysis/IndexEvaluation.h"
#include "passes/Analysis/LiveRegisters.h"
#include "passes/TileGPU/DotSelection.h"
#include "passes/TileGPU/HeldOperand.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/PartCount.h"
#include "passes/TileGPU/RotatedRows.h"
#include "passes/TileGPU/SplitSlices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace tile::cost {

namespace {

/// Programs that are looked at where trips depend on the program.
constexpr unsigned sampledPrograms = 16;
/// The same where the source does not say.
constexpr double unknownTrips = 4;

/// Trips of a loop whose bounds are not known: those that the source says to build for.
double assumedTrips(Operation *loop) {
  auto said = loop->getAttrOfType<IntegerAttr>(tripsName);
  return said ? double(said.getInt()) : unknownTrips;
}

/// The view of a whole parameter behind a view.
ViewOp findRoot(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto root = dyn_cast<ViewOp>(op))
      return root;
    if (!isa<SubviewOp, PermuteViewOp>(op))
      return {};
    view = op->getOperand(0);
  }
  return {};
}

/// True for what memory may hold in place of its operand: a transposed tile, joined rows.
bool isRenaming(Operation *op) {
  auto reshape = dyn_cast_or_null<ReshapeOp>(op);
  return isa_and_nonnull<PermuteOp>(op) || (reshape && gpu::joinsRows(reshape));
}

/// True if a loaded tile goes to products only, as it is, transposed or with joined rows.
bool goesToDots(Value tile) {
  return !tile.use_empty() && llvm::all_of(tile.getUses(), [](OpOperand &use) {
    if (isa<DotOp>(use.getOwner()))
      return use.getOperandNumber() < 2;
    return isRenaming(use.getOwner()) && goesToDots(use.getOwner()->getResult(0));
  });
}

bool isComputed(Value operand) {
  while (isRenaming(operand.getDefiningOp()))
    operand = operand.getDefiningOp()->getOperand(0);
  auto load = operand.getDefiningOp<LoadOp>();
  return !load || !goesToDots(load.getResult());
}

/// Where rows of the tensor begin, which the cache moves by two sectors of 32 bytes together.
RowStart getRowStart(ViewOp view, IndexEvaluation &values) {
  constexpr double sectorBytes = 32;
  double element = gpu::getElementBits(view.getType().getElementType()) / 8.0;
  RowStart start = RowStart::Line;
  for (Value stride : view.getStrides()) {
    double elements = values.get(stride).value_or(0);
    if (elements == 1)
      continue;
    if (std::fmod(elements * element, sectorBytes) != 0)
      return RowStart::Within;
    if (std::fmod(elements * element, 2 * sectorBytes) != 0)
      start = RowStart::Sector;
    else if (std::fmod(elements * element, 4 * sectorBytes) != 0)
      start = std::max(start, RowStart::Pair);
  }
  return start;
}

class Counter {
public:
  Counter(KernelOp kernel, const Extents &extents, const TargetLimits &limits)
      : kernel(kernel), extents(extents), limits(limits) {
    shape = gpu::chooseShape(kernel, limits.target);
  }

  KernelWork run();

private:
  bool checkContract();
  void readGrid();
  void addLoops(Region &region, int parent);
  bool dependsOnProgram();
  unsigned getAxes(Value value);

  double visit(Block &block, int loop, double weight, IndexEvaluation &values);
  double visitLoop(scf::ForOp op, double weight, IndexEvaluation &values);
  void findColumns();
  double getShareOfColumns(Operation *op) const;
  void addDot(DotOp dot, LoopWork &loop, double weight);
  template <typename Op>
  void addAccess(Op op, LoopWork &loop, double weight, IndexEvaluation &values);
  void mergeSingleTrips();

  KernelOp kernel;
  const Extents &extents;
  const TargetLimits &limits;
  gpu::KernelShape shape;
  KernelWork work;
  llvm::DenseMap<Operation *, int> numbers;       // of loops; looked up only
  llvm::DenseMap<Operation *, ElementCost> costs; // looked up only
  llvm::DenseMap<Operation *, size_t>
      places; // of a dot or access among those of its loop; looked up only
  llvm::DenseMap<Value, unsigned> axes; // looked up only
  llvm::DenseSet<int64_t> columns;      // of products by wgmma; looked up only
};

/// The extents must be ones that a launch may have.
bool Counter::checkContract() {
  for (auto dim : kernel.getDims().getAsRange<DimAttr>()) {
    auto given = extents.find(dim.getName().str());
    if (given == extents.end())
      continue;
    if (given->second < dim.getMin() || given->second > dim.getMax()) {
      work.valid = false;
      work.reason = (dim.getName() + "=" + Twine(given->second) + " is not in " +
                     Twine(dim.getMin()) + "..=" + Twine(dim.getMax()))
                        .str();
      return false;
    }
  }
  return true;
}

void Counter::readGrid() {
  IndexEvaluation values(extents, {});
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands())
    work.grid.push_back(
        std::max<int64_t>(0, int64_t(std::llround(values.get(extent).value_or(1)))));
  for (int64_t extent : work.grid)
    work.programs *= extent;
  SmallVector<double> grid(work.grid.begin(), work.grid.end());
  work.busyPrograms = int64_t(countBusyPrograms(kernel, grid));
  work.likelyPrograms =
      countLikelyPrograms(kernel, grid, [&](Value value) { return values.get(value).value_or(0); });
}

/// Bit i: the value depends on axis i of the grid.
unsigned Counter::getAxes(Value value) {
  if (auto found = axes.find(value); found != axes.end())
    return found->second;
  unsigned result = 0;
  if (Operation *op = value.getDefiningOp()) {
    if (auto id = dyn_cast<ProgramIdOp>(op))
      result = 1u << id.getAxis();
    for (Value operand : op->getOperands())
      result |= getAxes(operand);
  }
  axes[value] = result;
  return result;
}

void Counter::addLoops(Region &region, int parent) {
  for (Operation &op : region.getOps()) {
    int inside = parent;
    if (isa<scf::ForOp, scf::WhileOp>(op)) {
      inside = numbers[&op] = int(work.loops.size());
      LoopWork &loop = work.loops.emplace_back();
      loop.parent = parent;
      loop.inBranch = isa<scf::IfOp>(op.getParentOp());
      if (auto split = op.getAttrOfType<IntegerAttr>(splitName)) {
        int64_t perProcessor =
            limits.target ? gpu::getProgramsPerProcessor(&op, getCard(*limits.target)) : 1;
        loop.split = op.hasAttr(splitAutomaticName)
                         ? gpu::countParts(gpu::IntegerMath(), std::max<int64_t>(work.programs, 1),
                                           limits.processors * perProcessor, split.getInt(),
                                           perProcessor == 1)
                         : split.getInt();
        auto range = dyn_cast<scf::ForOp>(op);
        if (range && loop.split > 1 && !op.hasAttr(splitAutomaticName) &&
            gpu::SplitSlices::planCluster(range, gpu::getMerge(range), loop.split, limits.target))
          loop.stateBytes = gpu::getStateBytes(range);
      }
      if (auto stages = op.getAttrOfType<IntegerAttr>(stagesName))
        loop.stages = stages.getInt();
    }
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      for (Region &each : op.getRegions())
        addLoops(each, inside);
  }
}

bool Counter::dependsOnProgram() {
  return kernel.getBody()
      .walk([&](Operation *op) {
        unsigned found = 0;
        if (auto loop = dyn_cast<scf::ForOp>(op))
          found = getAxes(loop.getLowerBound()) | getAxes(loop.getUpperBound()) |
                  getAxes(loop.getStep());
        else if (auto branch = dyn_cast<scf::IfOp>(op))
          found = getAxes(branch.getCondition());
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===--- Operations of a block --------------------------------------------===//

/// The share of an extent, padded to a power of two, that instructions of `step` cover.
static double getUsedShare(int64_t extent, int64_t step) {
  int64_t padded = llvm::PowerOf2Ceil(extent);
  return double(std::min<int64_t>(llvm::alignTo(extent, step), padded)) / double(padded);
}

void Counter::findColumns() {
  gpu::KernelShape fours = shape;
  fours.numWarps = 4;
  kernel.getBody().walk([&](DotOp dot) {
    if (dot.getType().getRank() == 2 && !gpu::isSwapped(dot) &&
        gpu::chooseDotKind(dot, fours) == gpu::DotKind::Wgmma)
      columns.insert(dot.getType().getDimSize(1));
  });
}

/// Threads have no registers for columns of padding in a result of wgmma, nor in what is computed
/// from it.
double Counter::getShareOfColumns(Operation *op) const {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto tile = dyn_cast<RankedTensorType>(type);
          tile && tile.getRank() == 2 && columns.contains(tile.getDimSize(1)))
        return getUsedShare(tile.getDimSize(1), 8);
  return 1;
}

void Counter::addDot(DotOp dot, LoopWork &loop, double weight) {
  auto [place, isNew] = places.try_emplace(dot, loop.dots.size());
  if (isNew) {
    DotWork each;
    ArrayRef<int64_t> c = dot.getType().getShape();
    each.m = llvm::PowerOf2Ceil(c[c.size() - 2]);
    each.n = llvm::PowerOf2Ceil(c.back());
    each.k = llvm::PowerOf2Ceil(dot.getA().getType().getShape().back());
    for (int64_t extent : c.drop_back(2))
      each.batch *= extent;
    Type element = dot.getA().getType().getElementType();
    each.bits = gpu::getElementBits(element);
    each.isTF32 = element.isF32();
    each.tensorCores = gpu::chooseDotKind(dot, shape) != gpu::DotKind::Fma;
    gpu::KernelShape fours = shape;
    fours.numWarps = 4;
    each.wgmma = gpu::chooseDotKind(dot, fours) == gpu::DotKind::Wgmma;
    // Operands of mma.sync may be widened.
    Type widened = shape.target ? gpu::getWidenedOperand(element, *shape.target) : Type();
    each.multiplied = each.wgmma || !widened ? each.bits : gpu::getElementBits(widened);
    each.swapped = gpu::isSwapped(dot);
    // Padding of K, and of the columns of wgmma, is not computed.
    int64_t columns = each.swapped ? c[c.size() - 2] : c.back();
    each.used = getUsedShare(dot.getA().getType().getShape().back(),
                             gpu::getFragmentDepth(each.bits, each.k));
    each.rows = unsigned(each.swapped ? c.back() : c[c.size() - 2]);
    if (each.wgmma) {
      each.usedColumns = getUsedShare(columns, 8);
      each.used *= each.usedColumns * getUsedShare(each.rows, 64);
    }
    each.computedA = isComputed(dot.getA());
    each.computedB = isComputed(dot.getB());
    each.turnedA = each.computedA && isa_and_nonnull<PermuteOp>(dot.getA().getDefiningOp());
    each.heldB = each.swapped && each.computedB && gpu::isBetterSwapped(dot);
    loop.dots.push_back(each);
  }
  loop.dots[place->second].count += weight;
}

/// How many boxes of TMA a row of the tile takes, of 128 bytes each, or a part of one. The last box
/// is fetched whole.
template <typename Op> static double countBoxes(Op op, ViewOp root) {
  constexpr double boxBytes = 128;
  int64_t bits = gpu::getElementBits(root.getType().getElementType());
  for (auto [size, stride] : llvm::zip(op.getSizes(), root.getStrides()))
    if (matchPattern(stride, m_One()))
      return double(std::max<int64_t>(size, 1) * bits) / 8 / boxBytes;
  return 1;
}

/// How many boxes of 64 rows a tile that is stored by TMA takes, as UseTma.cpp has it: all of a row
/// are as wide as each other, 32 to 128 bytes; 0 where its rows have no such boxes.
static int64_t getStoredWidth(RankedTensorType type) {
  constexpr int64_t widest = 128, narrowest = 32;
  if (type.getRank() < 2)
    return 0;
  int64_t rowBytes = type.getShape().back() * gpu::getElementBits(type.getElementType()) / 8;
  int64_t width = std::min(widest, rowBytes & -rowBytes);
  return width < narrowest ? 0 : width;
}

static double countStoredBoxes(RankedTensorType type, int64_t width) {
  constexpr int64_t boxRows = 64;
  if (!width)
    return 0;
  int64_t rowBytes = type.getShape().back() * gpu::getElementBits(type.getElementType()) / 8;
  int64_t rows = llvm::product_of(type.getShape().drop_back());
  return double(rowBytes / width * llvm::divideCeil(rows, boxRows));
}

template <typename Op>
void Counter::addAccess(Op op, LoopWork &loop, double weight, IndexEvaluation &values) {
  auto type = dyn_cast<RankedTensorType>(op.getTileType());
  if (!type) // one element
    return;
  auto [place, isNew] = places.try_emplace(op, loop.accesses.size());
  if (isNew) {
    AccessWork each;
    ViewOp root = findRoot(op.getView());
    if (auto base = root ? dyn_cast<BlockArgument>(root.getBase()) : BlockArgument())
      each.param = base.getArgNumber();
    each.isStore = isa<StoreOp, ScatterOp, AtomicOp>(op);
    each.isIndexed = isa<GatherOp, ScatterOp, AtomicOp>(op);
    if constexpr (std::is_same_v<Op, LoadOp>) {
      each.feedsDot = goesToDots(op.getResult());
      if (Attribute pad;
          !each.feedsDot && &loop != &work.loops.front()) { // what may wait for a later loop
        each.padding = matchPattern(op.getPad(), m_Constant(&pad))
                           ? pad.getAsOpaquePointer()
                           : op.getPad().getAsOpaquePointer();
        each.hidesPadding = hidesPadding(op);
        each.place = hashPlace(op);
      }
    }
    each.tileBytes = double(type.getNumElements()) * gpu::getElementBits(type.getElementType()) / 8;
    each.paddedBytes = each.tileBytes;
    for (int64_t extent : type.getShape())
      each.paddedBytes *= double(llvm::PowerOf2Ceil(extent)) / double(extent);
    each.elements = 1;
    for (int64_t extent : type.getShape())
      each.elements *= each.neighbours = int64_t(llvm::PowerOf2Ceil(uint64_t(extent)));
    double boxes = root && root.getResult() == op.getView() ? countBoxes(op, root) : 1;
    each.boxes = std::ceil(boxes);
    each.boxShare = std::min(1.0, boxes);
    each.fetchedBytes = each.tileBytes * (boxes > 1 ? each.boxes / boxes : 1);
    if (std::is_same_v<Op, StoreOp>) {
      each.storedWidth = getStoredWidth(type);
      each.storedBoxes = countStoredBoxes(type, each.storedWidth);
    }
    // Elements past the end of a dimension are not moved.
    if (root && root.getResult() == op.getView())
      for (auto [d, size] : llvm::enumerate(op.getSizes()))
        if (size > 0)
          if (std::optional<double> extent = values.get(root.getExtents()[d]);
              extent && *extent > 0)
            each.useful *= *extent / (std::ceil(*extent / double(size)) * double(size));
    if constexpr (std::is_same_v<Op, LoadOp>)
      if (!each.feedsDot)
        each.useful *=
            getShareBeside(op) * getShareOfTrips(op, loop.runs > 0 ? loop.trips / loop.runs : 1);
    each.rowStart = root ? getRowStart(root, values) : RowStart::Line;
    each.axes = getAxes(op.getView());
    for (Value start : op.getStarts()) // ends cut a tile, but do not make it another one
      each.axes |= getAxes(start);
    loop.accesses.push_back(each);
  }
  AccessWork &access = loop.accesses[place->second];
  access.count += weight;
  // Threads move it themselves, as many elements at once as rows are aligned for.
  constexpr double accessSlots = 3, // an address, a condition, the instruction
      aloneSlots = 2;               // to put together what comes element by element
  if (!access.feedsDot)
    loop.slots += weight * double(type.getNumElements()) *
                  (accessSlots / shape.vector + (shape.vector > 1 ? 0 : aloneSlots));
}

double Counter::visitLoop(scf::ForOp op, double weight, IndexEvaluation &values) {
  LoopWork &loop = work.loops[numbers[op]];
  std::optional<double> low = values.get(op.getLowerBound()), high = values.get(op.getUpperBound()),
                        step = values.get(op.getStep());
  double trips = assumedTrips(op);
  if (low && high && step) {
    trips = *step > 0 ? std::max(0.0, std::ceil((*high - *low) / *step)) : 0.0;
    if (*step > 0)
      loop.mostTrips = gpu::countMostTrips(op.getLowerBound(), op.getUpperBound(), int64_t(*step));
    values.setRange(op.getInductionVar(), int64_t(*low),
                    int64_t(*low + std::max(0.0, trips - 1) * *step));
  }
  if (op->hasAttr(tripsName)) // its author knows better
    trips = assumedTrips(op);
  trips = std::ceil(trips / double(loop.split));
  loop.runs += weight;
  loop.trips += weight * trips;
  return trips + visit(*op.getBody(), numbers[op], weight * trips, values);
}

/// True for a reduction of a line that a loop only adds up, or takes the largest of: where the
/// order may change, tile-gpu-defer-reductions makes it once, behind the loop.
static bool isDeferred(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && isa<scf::ForOp>(op->getParentOp()) && reduce.getType().isF32() &&
         reduce.getSource().getType().getRank() == 1 && reduce->hasOneUse() &&
         isa<arith::AddFOp, arith::MaximumFOp>(*reduce->getUsers().begin());
}

/// Adds what a block does, `weight` times; returns the trips of its loops.
double Counter::visit(Block &block, int number, double weight, IndexEvaluation &values) {
  double trips = 0;
  if (weight <= 0)
    return trips;
  for (Operation &op : block) {
    LoopWork &loop = work.loops[number];
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](scf::ForOp each) { trips += visitLoop(each, weight, values); })
        .Case([&](scf::WhileOp each) {
          work.loops[numbers[each]].runs += weight;
          work.loops[numbers[each]].trips += weight * assumedTrips(each);
          for (Region &region : each->getRegions())
            trips += visit(region.front(), numbers[each], weight * assumedTrips(each), values);
        })
        .Case([&](scf::IfOp each) {
          std::optional<double> condition =
              values.get(each.getCondition()); // of one bit: 0, -1, or between
          if (condition != 0.0 && !each.getThenRegion().empty())
            trips += visit(each.getThenRegion().front(), number, weight, values);
          if (condition != -1.0 && !each.getElseRegion().empty())
            trips += visit(each.getElseRegion().front(), number, weight, values);
        })
        .Case([&](DotOp each) { addDot(each, loop, weight); })
        .Case<LoadOp, StoreOp, GatherOp, ScatterOp, AtomicOp>(
            [&](auto each) { addAccess(each, loop, weight, values); })
        .Default([&](Operation *each) {
          auto [cost, isNew] = costs.try_emplace(each);
          if (isNew) {
            cost->second = getElementCost(each);
            double share = getShareOfColumns(each);
            cost->second.slots *= share;
            cost->second.special *= share;
            cost->second.reduced *= share;
            // What a load beside has brought is widened already.
            if (isa<arith::ExtFOp>(each))
              if (auto load = each->getOperand(0).getDefiningOp<LoadOp>())
                cost->second.slots *= getShareBeside(load);
          }
          loop.slots += weight * cost->second.slots;
          loop.special += weight * cost->second.special;
          loop.reduced += weight * cost->second.reduced;
          loop.exchanges += weight * cost->second.exchanges *
                            (work.isFast && isDeferred(each) ? loop.runs / loop.trips : 1);
        });
  }
  return trips;
}

//===--- Sums over the kernel ---------------------------------------------===//

/// Loops of one trip belong to what is around: rows that a tile holds are read once, however many
/// loops go over them. One that brings a program's operands stays a loop, as the code is one for
/// any number of trips: its copies go by a ring, which a producer fills for the next program.
void Counter::mergeSingleTrips() {
  for (size_t i = work.loops.size(); i-- > 1;) {
    LoopWork &loop = work.loops[i];
    LoopWork &around = work.loops[loop.parent];
    bool isRing =
        around.parent < 0 &&
        llvm::any_of(loop.accesses, [](const AccessWork &access) { return access.feedsDot; });
    if (loop.trips > loop.runs || loop.split > 1 || isRing)
      continue;
    llvm::append_range(around.dots, loop.dots);
    for (const AccessWork &access : loop.accesses)
      if (access.isStore || access.isIndexed ||
          llvm::none_of(around.accesses, [&](const AccessWork &other) {
            return !other.isStore && other.param == access.param &&
                   other.tileBytes == access.tileBytes && other.axes == access.axes;
          }))
        around.accesses.push_back(access);
    around.slots += loop.slots;
    around.special += loop.special;
    around.reduced += loop.reduced;
    around.exchanges += loop.exchanges;
    int parent = loop.parent;
    loop = LoopWork();
    loop.parent = parent;
  }
}

KernelWork Counter::run() {
  work.ownWarps = shape.numWarps;
  work.loops.emplace_back();
  work.loops.front().runs = work.loops.front().trips = 1;
  if (auto mode = kernel->getAttrOfType<StringAttr>(floatModeName))
    work.isFast = mode == "fast";
  if (!checkContract())
    return work;
  readGrid();
  addLoops(kernel.getBody(), 0);
  findColumns();
  unsigned samples = dependsOnProgram() ? sampledPrograms : 1;
  double most = 0, total = 0;
  for (unsigned s = 0; s < samples; ++s) {
    // Fractions that keep apart on every axis: multiples of irrational numbers.
    SmallVector<int64_t> program;
    for (auto [axis, extent] : llvm::enumerate(work.grid)) {
      double fraction = std::fmod(
          0.5 + double(s) * std::pow(0.6180339887498949, double(work.grid.size() - axis)), 1.0);
      program.push_back(
          std::min<int64_t>(std::max<int64_t>(extent - 1, 0), int64_t(fraction * double(extent))));
    }
    // Where few programs of a launch have something to do, samples would miss them.
    IndexEvaluation values(extents, program,
                           /*partsAreAlike=*/work.busyPrograms == work.programs);
    double trips = visit(kernel.getBody().front(), 0, 1.0 / samples, values);
    most = std::max(most, trips);
    total += trips / samples;
    if (s + 1 == samples)
      for (auto view : kernel.getBody().getOps<ViewOp>())
        if (auto base = dyn_cast<BlockArgument>(view.getBase()); base && !view->hasAttr(flatName)) {
          double bytes = gpu::getElementBits(view.getType().getElementType()) / 8.0;
          for (Value extent : view.getExtents())
            bytes *= std::max(0.0, values.get(extent).value_or(1));
          work.tensorBytes.resize(
              std::max<size_t>(work.tensorBytes.size(), base.getArgNumber() + 1));
          work.tensorBytes[base.getArgNumber()] = bytes;
        }
  }
  work.longest = total > 0 ? std::max(1.0, most / total) : 1;
  work.kept = findKept(work);
  mergeSingleTrips();
  work.shared = collectSharedTiles(kernel, shape);
  SmallVector<DotWork> dots;
  for (const LoopWork &loop : work.loops)
    llvm::append_range(dots, loop.dots);
  work.live = countLiveRegisters(kernel, dots);
  for (auto [number, registers] : llvm::enumerate(work.uneven))
    registers = double(countUnevenRegisters(kernel, int64_t(1) << number));
  work.goesRound = gpu::findRotation(kernel).has_value();
  work.inVectors = work.goesRound || !kernel->hasAttr(unevenName);
  return work;
}

} // namespace

KernelWork analyzeWork(KernelOp kernel, const Extents &extents, const TargetLimits &limits) {
  return Counter(kernel, extents, limits).run();
}

} // namespace tile::cost
