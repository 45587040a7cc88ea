// How a pass lowers an occupancy for which shared memory does not suffice, and says what takes it.
#include "passes/TileGPU/OccupancyFit.h"
#include "dialect/AttributeNames.h"
#include "dialect/PlanNames.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tile::gpu {

void noteLargest(InFlightDiagnostic &diagnostic, SmallVector<LargeTile> tiles) {
  constexpr size_t most = 4;
  llvm::stable_sort(tiles,
                    [](const LargeTile &a, const LargeTile &b) { return a.bytes > b.bytes; });
  for (const LargeTile &tile : ArrayRef<LargeTile>(tiles).take_front(most)) {
    auto &note = diagnostic.attachNote(tile.loc);
    note << tile.bytes << " bytes for a tile of ";
    llvm::interleave(tile.type.getShape(), note, "x");
    note << " " << tile.type.getElementType();
  }
}

void lowerOccupancy(KernelOp kernel, int64_t blocks, int64_t bytes, int64_t share,
                    SmallVector<LargeTile> tiles) {
  int64_t asked = kernel->getAttrOfType<IntegerAttr>(occupancyName).getInt();
  kernel->setAttr(occupancyName, Builder(kernel.getContext()).getI64IntegerAttr(blocks));
  if (kernel->hasAttr(openOccupancyName))
    return;
  InFlightDiagnostic warning = kernel.emitWarning();
  warning << "occupancy(" << asked << ") is lowered to " << blocks << ": a block needs " << bytes
          << " bytes of shared memory, " << asked << " blocks on a multiprocessor have " << share
          << " each; make the kernel's tiles smaller, the largest first, or its stages fewer "
             "[W0607]";
  noteLargest(warning, std::move(tiles));
}

} // namespace tile::gpu
