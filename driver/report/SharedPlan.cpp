// The plan of shared memory as data to draw: who has which bytes, and when.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "driver/report/KernelReport.h"
#include "passes/TileGPU/SharedLifetimes.h"

using namespace llvm;
using namespace mlir;

namespace tile::report {

static std::string nameTile(gpu::MemDescType type) {
  return report::nameTile(type.getShape(), type.getElementType());
}

/// True of places for what a later loop reads again (tile-gpu-keep-tiles), not of loads ahead.
static bool isKept(gpu::LocalSlotsOp slots) {
  return llvm::any_of(slots->getUsers(), [](mlir::Operation *slot) {
    return llvm::any_of(slot->getUsers(), llvm::IsaPred<gpu::PrivateStoreOp>);
  });
}

/// A name, for people, of the data that an operation keeps in shared memory.
static std::string nameContent(mlir::Operation *op) {
  if (auto ring = dyn_cast<gpu::RingOp>(op)) {
    std::string text;
    for (gpu::MemDescType tile : ring.getType().getTiles())
      text += (text.empty() ? "" : " and ") + nameTile(tile);
    return text.empty() ? "ring of scalars" : "ring of " + text;
  }
  if (auto slots = dyn_cast<gpu::LocalSlotsOp>(op))
    return (isKept(slots) ? "kept tiles of " : "slots of ") + nameTile(slots.getType().getTile());
  if (auto alloc = dyn_cast<gpu::LocalAllocOp>(op))
    return nameTile(alloc.getType());
  std::string tile;
  for (mlir::Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && tile.empty())
      tile = report::nameTile(type.getShape(), type.getElementType());
  StringRef name = op->getName().stripDialect();
  if (isa<gpu::TmaStoreOp>(op))
    return "staging of a store of " + tile;
  return (tile.empty() ? name.str() : name.str() + " of " + tile) + ", scratch";
}

/// The slots and barriers of a ring, the slots of a pipeline; nothing for what is one piece.
static json::Array listParts(mlir::Operation *op, int64_t offset) {
  json::Array parts;
  auto add = [&](std::string name, int64_t at, int64_t bytes) {
    parts.push_back(
        json::Object{{"name", std::move(name)}, {"offset", offset + at}, {"bytes", bytes}});
  };
  if (auto ring = dyn_cast<gpu::RingOp>(op)) {
    gpu::RingType type = ring.getType();
    gpu::RingLayout layout(type);
    for (auto [t, tile] : enumerate(type.getTiles()))
      for (int64_t s = 0; s < type.getStages(); ++s)
        add("slot " + std::to_string(s) + ": " + nameTile(tile),
            layout.getTileOffset(t) + s * layout.getTileStride(t), layout.getTileBytes(t));
    add("barriers", layout.getFullBarriers(), layout.getBytes() - layout.getFullBarriers());
  } else if (auto slots = dyn_cast<gpu::LocalSlotsOp>(op)) {
    int64_t stride = gpu::getSlotStride(slots.getType());
    for (int64_t s = 0; s < slots.getType().getCount(); ++s)
      add("slot " + std::to_string(s), s * stride, stride);
  }
  return parts;
}

json::Object describeSharedMemory(KernelOp kernel, FileTable &files, int64_t limit) {
  json::Object result{{"limit", limit}};
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(gpu::sharedBytesName))
    result["bytes"] = bytes.getInt();
  unsigned count = 0;
  kernel.getBody().walk([&](mlir::Operation *) { ++count; });
  result["length"] = count;
  json::Array items;
  auto lifetimes = gpu::getSharedLifetimes(kernel);
  if (succeeded(lifetimes))
    for (const gpu::SharedLifetime &each : *lifetimes) {
      std::optional<int64_t> offset = gpu::getSharedOffset(each.op);
      if (!offset)
        continue;
      json::Object item{{"name", nameContent(each.op)},
                        {"op", each.op->getName().getStringRef().str()},
                        {"offset", *offset},
                        {"bytes", each.need.bytes},
                        {"start", each.start},
                        {"end", std::min(each.end, count)},
                        {"line", getSourceLine(each.op, files)}};
      if (json::Array parts = listParts(each.op, *offset); !parts.empty())
        item["parts"] = std::move(parts);
      items.push_back(std::move(item));
    }
  result["items"] = std::move(items);
  return result;
}

} // namespace tile::report
