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

/// All tiles' scratch, as joinWarps in Scan.cpp lays it out.
int64_t tile::gpu::getScanBytes(const LinearLayout &layout, unsigned axis, int64_t elementBytes) {
  int64_t bytes = 0;
  if (auto steps = planScan(layout, axis))
    for (const ScanStep &step : *steps)
      if (step.dim == InDim::Warp)
        bytes += int64_t(layout.getNumWarps()) * step.registers * 32 * elementBytes;
  return bytes;
}
