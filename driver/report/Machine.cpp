// The machine of a timeline: one copier, one set of tensor cores, and agents that take turns by the
// time at which they are.
//
//   producer      | copy 0 | copy 1 | copy 2 | waits for an empty slot | copy 3 | ...
//   copies        | bytes / rate | bytes / rate | ..     one after the other; there a latency later
//   warpgroup 0   | waits | product 0 | product 1 | ..   releases slots, which the producer awaits
//
// The agent that is earliest goes next, so nobody sees another's future. One that waits for what
// has not happened yet is passed over until it has.
#include "dialect/TileGPU/MatrixOperands.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "driver/report/Timeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace llvm;
using namespace mlir;

namespace tile::report {

static int64_t countElements(mlir::Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getNumElements() : 1;
}

static std::string nameType(mlir::Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return nameTile(tile.getShape(), tile.getElementType());
  if (auto memory = dyn_cast<gpu::MemDescType>(type))
    return nameTile(memory.getShape(), memory.getElementType());
  return "";
}

void Machine::add(const std::string &row, BarKind kind, double start, double end, std::string label,
                  unsigned line, int trip) {
  if (end - start < 0.5)
    return;
  // Operations of one kind without a gap between them are one bar.
  for (Bar &last : llvm::reverse(bars)) {
    if (last.row != row)
      continue;
    if (last.kind == kind && last.trip == trip && start - last.end < 0.5 &&
        (kind == BarKind::Arithmetic || kind == BarKind::Wait)) {
      last.end = end;
      return;
    }
    break;
  }
  bars.push_back({row, kind, start, end, std::move(label), line, trip});
}

void Machine::waitUntil(Agent &agent, double time, const std::string &why, unsigned line,
                        int trip) {
  if (time > agent.now)
    add(agent.name, BarKind::Wait, agent.now, time, why, line, trip);
  agent.now = std::max(agent.now, time);
}

/// Copies follow each other through one pipe; each is there after the latency. Returns when.
double Machine::copy(double from, double bytes, const std::string &label, unsigned line, int trip) {
  double start = std::max(from, copierFree);
  copierFree = start + bytes / rates.copied;
  add("copies", BarKind::Copy, start, copierFree, label, line, trip);
  return copierFree + rates.latency;
}

//===--- Rings ------------------------------------------------------------===//

/// False, and nothing changed, while the slot is still in use: the agent is asked again after
/// others moved. Use u of a ring has slot u % stages, so it waits for the release of use u - stages
/// by all consumers.
bool Machine::acquire(Agent &agent, gpu::RingOp ring, gpu::RingAcquireOp op) {
  Slots &slots = rings[op.getRing()];
  size_t use = slots.acquired.size(), stages = ring.getType().getStages();
  if (use >= stages) {
    size_t before = use - stages;
    if (before >= slots.releases.size() || slots.releases[before] < groupCount)
      return false;
    waitUntil(agent, slots.released[before], "waits for an empty slot", getSourceLine(op, files),
              agent.steps[agent.next].trip);
  }
  slots.acquired.push_back(agent.now);
  slots.full.push_back(agent.now);
  slots.missing.push_back(op.getTiles().size());
  barriers[op.getBarrier()] = {op.getRing(), use};
  return true;
}

void Machine::copyToSlot(Agent &agent, gpu::TmaLoadOp op, int trip) {
  auto memory = cast<gpu::MemDescType>(op.getMemory().getType());
  double end = copy(agent.now, gpu::getSharedLayout(memory).getBytes(), nameType(memory),
                    getSourceLine(op, files), trip);
  auto [ring, use] = barriers.lookup(op.getBarrier());
  Slots &slots = rings[ring];
  if (use >= slots.full.size())
    return;
  slots.full[use] = std::max(slots.full[use], end);
  if (slots.missing[use])
    --slots.missing[use];
}

/// Each consumer counts its own uses: all of them read each slot.
bool Machine::wait(Agent &agent, mlir::Value ring, bool takes, const Step &step) {
  Slots &slots = rings[ring];
  size_t use = agent.takes[ring];
  if (use >= slots.full.size() || slots.missing[use])
    return false;
  waitUntil(agent, slots.full[use], "waits for a full slot", getSourceLine(step.op, files),
            step.trip);
  if (takes)
    ++agent.takes[ring];
  return true;
}

void Machine::release(Agent &agent, mlir::Value ring) {
  Slots &slots = rings[ring];
  // A slot is empty when every consumer has released it; the time is that of the last.
  size_t use = agent.releases[ring]++;
  if (slots.released.size() <= use) {
    slots.released.resize(use + 1);
    slots.releases.resize(use + 1);
  }
  slots.released[use] = std::max(slots.released[use], agent.now);
  if (++slots.releases[use] != groupCount || use >= slots.full.size())
    return;
  auto op = ring.getDefiningOp<gpu::RingOp>();
  if (!op || op.getType().getTiles().empty())
    return;
  size_t number = 0;
  for (gpu::RingOp other : op->getBlock()->getOps<gpu::RingOp>()) {
    if (other == op)
      break;
    number += !other.getType().getTiles().empty();
  }
  int64_t stages = op.getType().getStages();
  std::string row = "ring " + std::to_string(number) + " slot " + std::to_string(use % stages);
  add(row, BarKind::Copy, slots.acquired[use], slots.full[use], "fills", 0, int(use));
  add(row, BarKind::Hold, slots.full[use], slots.released[use], "full, in use", 0, int(use));
}

//===--- Time of computation ----------------------------------------------===//

/// Operations of a product of operands `a` and `b`, and their rate.
static double timeProduct(mlir::Operation *op, const BlockRates &rates) {
  auto shapeOf = [](mlir::Type type) -> std::pair<ArrayRef<int64_t>, mlir::Type> {
    if (auto memory = dyn_cast<gpu::MemDescType>(type))
      return {memory.getShape(), memory.getElementType()};
    auto tile = cast<RankedTensorType>(type);
    return {tile.getShape(), tile.getElementType()};
  };
  auto [a, element] = shapeOf(op->getOperand(0).getType());
  double operations = 2.0 * double(countElements(op->getResult(0).getType())) * double(a.back());
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (const GPUTarget *target = gpu::getTarget(op); target && isa<gpu::MmaOp>(op))
    if (mlir::Type widened = gpu::getWidenedOperand(element, *target))
      bits = widened.getIntOrFloatBitWidth();
  // Tensor cores multiply f64 as fast as others f32.
  double rate = bits <= 8    ? rates.tensor8
                : bits <= 16 ? rates.tensor16
                : bits <= 32 ? rates.tf32
                             : 2 * rates.vector;
  return operations / (isa<gpu::FmaDotOp>(op) ? 2 * rates.vector : rate);
}

void Machine::multiply(Agent &agent, mlir::Operation *op, bool async, int trip) {
  unsigned line = getSourceLine(op, files);
  double start = std::max(agent.now, tensorFree);
  if (!async && !isa<gpu::FmaDotOp>(op))
    waitUntil(agent, start, "waits for the tensor cores", line, trip);
  double end = start + timeProduct(op, rates) / double(agent.share);
  std::string label =
      nameType(op->getOperand(0).getType()) + " · " + nameType(op->getOperand(1).getType());
  if (!isa<gpu::FmaDotOp>(op)) {
    add("tensor cores", BarKind::Product, start, end, label + ", " + agent.name, line, trip);
    tensorFree = end;
  }
  agent.ready[op->getResult(0)] = end;
  if (async) {
    agent.products.push_back(end);
    return;
  }
  add(agent.name, BarKind::Product, start, end, label, line, trip);
  agent.now = end;
}

/// Element-wise operations, reductions, exchanges: by the elements that they touch.
void Machine::compute(Agent &agent, mlir::Operation *op, int trip) {
  int64_t elements = 1;
  for (mlir::Type type : op->getResultTypes())
    elements = std::max(elements, countElements(type));
  for (mlir::Type type : op->getOperandTypes())
    if (isa<ReduceOp, ArgReduceOp, ScanOp, ReduceByOp>(op))
      elements = std::max(elements, countElements(type));
  for (mlir::Value operand : op->getOperands())
    if (auto known = agent.ready.find(operand); known != agent.ready.end())
      waitUntil(agent, known->second, "waits for data", getSourceLine(op, files), trip);
  bool isReduction =
      isa<ReduceOp, ArgReduceOp, ScanOp, ReduceByOp, SortOp, HistogramOp, gpu::ConvertLayoutOp>(op);
  bool isFree =
      isa<arith::ConstantOp, ReshapeOp, BroadcastOp, PermuteOp, IotaOp, gpu::OptimizationBarrierOp>(
          op) ||
      elements == 1 || op->getNumResults() == 0;
  if (isFree)
    return;
  bool isSpecial =
      isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SqrtOp, math::RsqrtOp,
          math::SinOp, math::CosOp, math::TanhOp, math::ErfOp, arith::DivFOp>(op);
  double time = double(elements) / double(agent.share) / (isSpecial ? rates.special : rates.vector);
  add(agent.name, isReduction ? BarKind::Reduction : BarKind::Arithmetic, agent.now,
      agent.now + time, op->getName().stripDialect().str() + " and more", getSourceLine(op, files),
      trip);
  agent.now += time;
}

//===--- Steps ------------------------------------------------------------===//

static double bytesOf(mlir::Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? double(tile.getNumElements()) * gpu::getSharedElementBytes(tile.getElementType())
              : 8.0;
}

bool Machine::step(Agent &agent) {
  Step step = agent.steps[agent.next];
  mlir::Operation *op = step.op;
  unsigned line = getSourceLine(op, files);
  if (auto acquires = dyn_cast<gpu::RingAcquireOp>(op)) {
    auto ring = acquires.getRing().getDefiningOp<gpu::RingOp>();
    return !ring || acquire(agent, ring, acquires);
  }
  if (auto waits = dyn_cast<gpu::RingWaitOp>(op))
    return wait(agent, waits.getRing(), /*takes=*/true, step);
  if (auto peeks = dyn_cast<gpu::RingPeekOp>(op))
    return wait(agent, peeks.getRing(), /*takes=*/false, step);
  if (isa<gpu::TurnWaitOp>(op)) {
    if (turn != agent.group)
      return false;
    waitUntil(agent, turnSince, "waits for its turn", line, step.trip);
    return true;
  }
  if (isa<gpu::TurnPassOp>(op)) {
    turn = (agent.group + 1) % groupCount;
    turnSince = agent.now;
  } else if (auto releases = dyn_cast<gpu::RingReleaseOp>(op)) {
    release(agent, releases.getRing());
  } else if (auto load = dyn_cast<gpu::TmaLoadOp>(op)) {
    copyToSlot(agent, load, step.trip);
  } else if (auto copies = dyn_cast<gpu::AsyncCopyOp>(op)) {
    agent.openGroup =
        std::max(agent.openGroup, copy(agent.now, bytesOf(copies.getTileType()),
                                       nameType(copies.getTileType()), line, step.trip));
  } else if (isa<gpu::AsyncCommitOp>(op)) {
    agent.groups.push_back(std::max(agent.openGroup, agent.now));
    agent.openGroup = 0;
  } else if (auto waits = dyn_cast<gpu::AsyncWaitOp>(op)) {
    int64_t last = int64_t(agent.groups.size()) - waits.getPending();
    for (int64_t i = 0; i < last; ++i)
      waitUntil(agent, agent.groups[i], "waits for copies", line, step.trip);
  } else if (auto product = dyn_cast<gpu::WgmmaOp>(op)) {
    multiply(agent, op, product.getAsync(), step.trip);
  } else if (isa<gpu::MmaOp, gpu::FmaDotOp>(op)) {
    multiply(agent, op, /*async=*/false, step.trip);
  } else if (auto waits = dyn_cast<gpu::WgmmaWaitOp>(op)) {
    int64_t last = int64_t(agent.products.size()) - int64_t(waits.getPending());
    for (int64_t i = 0; i < last; ++i)
      waitUntil(agent, agent.products[i], "waits for a product", line, step.trip);
  } else if (isa<LoadOp, GatherOp>(op)) {
    mlir::Type type = op->getResult(0).getType();
    agent.ready[op->getResult(0)] = copy(agent.now, bytesOf(type), nameType(type), line, step.trip);
  } else if (isa<StoreOp, ScatterOp, AtomicOp, gpu::TmaStoreOp>(op)) {
    mlir::Type type = op->getOperand(0).getType();
    compute(agent, op, step.trip);
    double time = bytesOf(type) / double(agent.share) / rates.copied;
    add(agent.name, BarKind::Access, agent.now, agent.now + time, "stores " + nameType(type), line,
        step.trip);
    agent.now += time;
  } else {
    compute(agent, op, step.trip);
  }
  return true;
}

/// Ends when nobody can move: at the end of all programs, or in a deadlock of a program cut short
/// (mostSteps).
void Machine::run() {
  groupCount = unsigned(agents.size() > 1 ? agents.size() - 1 : 1);
  while (true) {
    std::vector<std::pair<double, size_t>> order; // the one that is furthest behind goes first
    for (auto [i, agent] : enumerate(agents))
      if (agent.next < agent.steps.size())
        order.emplace_back(agent.now, i);
    llvm::sort(order);
    bool moved = false;
    for (const auto &[time, i] : order)
      if (step(agents[i])) {
        ++agents[i].next;
        moved = true;
        break;
      }
    if (!moved)
      return;
  }
}

} // namespace tile::report
