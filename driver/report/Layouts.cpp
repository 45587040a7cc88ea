// Layouts as data to draw: basis vectors of tiles in registers, and of byte offsets in shared
// memory. Both are linear over F2, so that the images of single bits say all.
#include "dialect/TileGPU/SharedMemory.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "driver/report/KernelReport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir;

namespace tile::report {

std::string nameTile(ArrayRef<int64_t> shape, mlir::Type elementType) {
  std::string text;
  raw_string_ostream stream(text);
  for (int64_t extent : shape)
    stream << extent << "x";
  stream << elementType;
  return text;
}

unsigned getSourceLine(mlir::Operation *op, FileTable &files) {
  std::vector<Place> places = getPlaces(op->getLoc(), files);
  for (const Place &place : llvm::reverse(places))
    if (place.file == 0)
      return place.line;
  return 0;
}

static json::Array toBases(ArrayRef<gpu::Coord> bases) {
  json::Array all;
  for (const gpu::Coord &basis : bases)
    all.push_back(json::Array(basis));
  return all;
}

namespace {

/// A layout, and who uses it.
struct Used {
  json::Object data;
  std::vector<unsigned> lines;
  std::vector<std::string> tiles, ops;
};

template <typename T> void addOnce(std::vector<T> &all, T value) {
  if (!is_contained(all, value))
    all.push_back(std::move(value));
}

/// Layouts by name, in the order in which they come up.
class Collection {
public:
  Used &get(const std::string &name) {
    for (auto &[known, used] : all)
      if (known == name)
        return used;
    return all.emplace_back(name, Used()).second;
  }

  json::Array toJson() {
    json::Array result;
    for (auto &[name, used] : all) {
      llvm::sort(used.lines);
      json::Object entry = std::move(used.data);
      entry["name"] = name;
      entry["tiles"] = json::Array(used.tiles);
      entry["ops"] = json::Array(used.ops);
      entry["lines"] = json::Array(used.lines);
      result.push_back(std::move(entry));
    }
    return result;
  }

private:
  std::vector<std::pair<std::string, Used>> all;
};

} // namespace

static std::string toText(mlir::Attribute attribute) {
  std::string text;
  raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

static json::Object describe(const gpu::LinearLayout &layout) {
  return json::Object{{"shape", json::Array(layout.getShape())},
                      {"register", toBases(layout.getBases(gpu::InDim::Register))},
                      {"lane", toBases(layout.getBases(gpu::InDim::Lane))},
                      {"warp", toBases(layout.getBases(gpu::InDim::Warp))}};
}

/// Offsets of single bits of each coordinate: any offset is the XOR of those of its bits.
static json::Object describe(const gpu::SharedLayout &layout) {
  json::Array offsets;
  SmallVector<int64_t> coord(layout.getShape().size(), 0);
  for (size_t d = 0; d < coord.size(); ++d) {
    json::Array images;
    for (int64_t bit = 1; bit < layout.getShape()[d]; bit *= 2) {
      coord[d] = bit;
      images.push_back(int64_t(layout.getOffset(coord)));
    }
    coord[d] = 0;
    offsets.push_back(std::move(images));
  }
  return json::Object{{"shape", json::Array(layout.getShape())},
                      {"order", json::Array(layout.getOrder())},
                      {"element_bytes", layout.getElementBytes()},
                      {"swizzle", layout.getSwizzle()},
                      {"bytes", layout.getBytes()},
                      {"offsets", std::move(offsets)}};
}

json::Object describeLayouts(KernelOp kernel, FileTable &files, Encodings &encodings) {
  Collection registers, shared;
  auto add = [&](mlir::Operation *op, mlir::Type type) {
    Used *used = nullptr;
    std::string tile;
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      auto layout = dyn_cast_or_null<gpu::LinearAttr>(tensor.getEncoding());
      if (!layout)
        return;
      used = &registers.get(encodings.getName(toText(layout)));
      if (used->data.empty())
        used->data = describe(layout.getLayout());
      tile = nameTile(tensor.getShape(), tensor.getElementType());
    } else if (auto memory = dyn_cast<gpu::MemDescType>(type)) {
      tile = nameTile(memory.getShape(), memory.getElementType());
      used = &shared.get(encodings.getName(toText(memory.getLayout())) + " " + tile);
      if (used->data.empty())
        used->data = describe(gpu::getSharedLayout(memory));
    } else {
      return;
    }
    addOnce(used->tiles, std::move(tile));
    addOnce(used->ops, op->getName().getStringRef().str());
    if (unsigned line = getSourceLine(op, files))
      addOnce(used->lines, line);
  };
  kernel.getBody().walk<WalkOrder::PreOrder>([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      add(op, type);
    for (mlir::Type type : op->getOperandTypes())
      add(op, type);
  });
  return json::Object{{"registers", registers.toJson()}, {"shared", shared.toJson()}};
}

} // namespace tile::report
