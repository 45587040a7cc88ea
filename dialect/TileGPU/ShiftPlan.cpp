// How a tile moves by one position along a dimension.
#include "dialect/TileGPU/ShiftPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace tile::gpu {

unsigned ShiftPlan::getPosition(unsigned reg) const {
  unsigned position = 0;
  for (auto [i, bit] : llvm::enumerate(registers))
    position |= (reg >> bit & 1) << i;
  return position;
}

unsigned ShiftPlan::withPosition(unsigned reg, unsigned position) const {
  for (auto [i, bit] : llvm::enumerate(registers))
    reg = (reg & ~(1u << bit)) | (position >> i & 1) << bit;
  return reg;
}

/// The edge's registers are numbered by the bits that are left.
unsigned ShiftPlan::getEdgeRegister(unsigned reg) const {
  unsigned number = 0, next = 0;
  for (unsigned bit = 0; reg >> bit; ++bit)
    if (!llvm::is_contained(registers, bit))
      number |= (reg >> bit & 1) << next++;
  return number;
}

/// True if every input bit that moves along `dim` moves by one power of two and along nothing else,
/// and no two by the same: then positions add up, and each thread's are its own.
static bool countsPositions(const LinearLayout &layout, unsigned dim) {
  int64_t seen = 0;
  for (InDim in : {InDim::Register, InDim::Lane, InDim::Warp})
    for (const Coord &basis : layout.getBases(in)) {
      if (!basis[dim])
        continue;
      bool alone = llvm::count_if(basis, [](int64_t x) { return x != 0; }) == 1;
      if (!alone || !llvm::isPowerOf2_64(basis[dim]) || (seen & basis[dim]))
        return false;
      seen |= basis[dim];
    }
  return true;
}

static std::optional<unsigned> findBit(ArrayRef<Coord> bases, unsigned dim, int64_t value) {
  for (auto [bit, basis] : llvm::enumerate(bases))
    if (basis[dim] == value)
      return bit;
  return std::nullopt;
}

std::optional<ShiftPlan> ShiftPlan::get(const LinearLayout &layout, unsigned dim, bool byLanes) {
  if (!countsPositions(layout, dim))
    return std::nullopt;
  ShiftPlan plan;
  ArrayRef<Coord> registers = layout.getBases(InDim::Register),
                  lanes = layout.getBases(InDim::Lane);
  while (auto bit = findBit(registers, dim, plan.getBlock()))
    plan.registers.push_back(*bit);
  if (plan.registers.empty())
    return std::nullopt;
  while (byLanes) {
    auto bit = findBit(lanes, dim, plan.getBlock());
    if (!bit || (plan.lanes && *bit != plan.firstLane + plan.lanes))
      break;
    if (!plan.lanes)
      plan.firstLane = *bit;
    ++plan.lanes;
  }
  if (byLanes && !plan.lanes)
    return std::nullopt;
  int64_t block = plan.getBlock();
  SmallVector<int64_t> shape(layout.getShape());
  shape[dim] /= block;
  SmallVector<Coord> left[numInDims];
  for (InDim in : {InDim::Register, InDim::Lane, InDim::Warp})
    for (auto [bit, basis] : llvm::enumerate(layout.getBases(in))) {
      if (in == InDim::Register && llvm::is_contained(plan.registers, bit))
        continue;
      Coord moved = basis;
      moved[dim] /= block;
      left[unsigned(in)].push_back(moved);
    }
  plan.edge = LinearLayout(shape, left[0], left[1], left[2]);
  return plan;
}

std::optional<ShiftPlan> ShiftPlan::get(const LinearLayout &layout, unsigned dim, int64_t block) {
  for (bool byLanes : {false, true})
    if (auto plan = get(layout, dim, byLanes); plan && plan->getBlock() == block)
      return plan;
  return std::nullopt;
}

} // namespace tile::gpu
