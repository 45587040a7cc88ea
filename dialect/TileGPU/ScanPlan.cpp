// How a scan goes through a layout: bit by bit of the position along the axis, from the lowest.
//
// Each bit must be held by one bit of a register's, lane's or warp's number alone; then joining two
// neighbouring blocks is a matter of that register, lane or warp. Bits of warps that follow each
// other are one step, because each step across warps costs a barrier. Every register bit that has
// been joined halves the totals that are left, hence `registers`.
#include "dialect/TileGPU/ScanPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Whether the lanes of a warp can scan what its step `at` joins, a step of warps, with all behind
/// it: they hold the same totals, which are few.
static bool canLanesScan(const LinearLayout &layout, ArrayRef<ScanStep> steps, size_t at) {
  constexpr int64_t mostForLane = 4; // totals, one after another
  if (steps[at].dim != InDim::Warp)
    return false;
  unsigned joined = 0;
  for (const ScanStep &step : steps.take_front(at))
    if (step.dim == InDim::Lane)
      joined |= 1u << step.bits[0];
  for (auto [bit, basis] : llvm::enumerate(layout.getBases(InDim::Lane)))
    if (!(joined >> bit & 1) && llvm::any_of(basis, [](int64_t x) { return x != 0; }))
      return false;
  ArrayRef<ScanStep> behind = steps.drop_front(at + 1);
  if (llvm::any_of(behind, [](const ScanStep &step) { return step.dim != InDim::Register; }) ||
      steps[at].registers != 1u << behind.size())
    return false;
  int64_t warps = int64_t(1) << steps[at].bits.size(), width = warps * steps[at].registers / 32;
  return width <= std::min(warps, mostForLane);
}

std::optional<SmallVector<ScanStep>> tile::gpu::planScan(const LinearLayout &layout,
                                                         unsigned axis) {
  unsigned axisBits = llvm::Log2_64(layout.getShape()[axis]);
  SmallVector<std::optional<std::pair<InDim, unsigned>>> holders(axisBits);
  for (InDim dim : {InDim::Register, InDim::Lane, InDim::Warp})
    for (auto [bit, basis] : llvm::enumerate(layout.getBases(dim))) {
      if (!basis[axis])
        continue;
      for (unsigned d = 0; d < basis.size(); ++d)
        if (d != axis && basis[d])
          return std::nullopt;
      if (!llvm::isPowerOf2_64(basis[axis]) || holders[llvm::Log2_64(basis[axis])])
        return std::nullopt;
      holders[llvm::Log2_64(basis[axis])] = {dim, unsigned(bit)};
    }
  SmallVector<ScanStep> steps;
  // Totals that a thread holds before each step: halved by each register bit that has been joined.
  unsigned registers = layout.getNumRegisters();
  for (const auto &holder : holders) {
    if (!holder)
      return std::nullopt;
    auto [dim, bit] = *holder;
    if (dim == InDim::Warp && !steps.empty() && steps.back().dim == InDim::Warp) {
      steps.back().bits.push_back(bit);
      continue;
    }
    steps.push_back({dim, {bit}, registers});
    if (dim == InDim::Register)
      registers /= 2;
  }
  for (size_t i = 0; i < steps.size(); ++i)
    steps[i].isScannedByLanes = canLanesScan(layout, steps, i);
  return steps;
}

std::optional<SmallVector<ScanStep>> tile::gpu::planTake(TakeOp take) {
  RankedTensorType source = take.getSource().getType();
  if (isa<RankedTensorType>(take.getType()) || source.getRank() != 1 || !source.getEncoding())
    return std::nullopt;
  // Selections cost one instruction for each register.
  constexpr unsigned mostRegisters = 16; // to choose among, before shared memory is as quick
  LinearLayout layout = getLayout(source);
  if (layout.getNumRegisters() > mostRegisters)
    return std::nullopt;
  auto steps = planScan(layout, 0);
  if (!steps || llvm::any_of(*steps, [](const ScanStep &step) { return step.dim == InDim::Warp; }))
    return std::nullopt;
  return steps;
}

int64_t tile::gpu::getScanArrayBytes(int64_t count, int64_t elementBytes) {
  return llvm::alignTo(count * elementBytes, 16);
}

/// All tiles' scratch, as ScanSteps.cpp and Scan.cpp lay it out.
int64_t tile::gpu::getScanBytes(const LinearLayout &layout, unsigned axis,
                                ArrayRef<int64_t> elementBytes, bool isScan) {
  int64_t bytes = 0;
  if (auto steps = planScan(layout, axis))
    for (const ScanStep &step : *steps)
      if (step.dim == InDim::Warp)
        for (int64_t each : elementBytes)
          bytes += getScanArrayBytes(int64_t(layout.getNumWarps()) * step.registers *
                                         (isScan && step.isScannedByLanes ? 1 : 32),
                                     each);
  return bytes;
}
