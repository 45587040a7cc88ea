// Each rule here is one of a pass, or of what lies in shared memory for an operation.
#include "passes/Analysis/CostModel/ExchangePlan.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tile::cost {

using Use = SharedTile::Use;

/// Where what threads exchange begins.
static constexpr int64_t line = gpu::sharedLine;

size_t ExchangePlan::add(int64_t bytes, unsigned start, unsigned end, int64_t alignment) {
  gpu::PlacedBytes &each = placed.emplace_back();
  each.bytes = bytes;
  each.alignment = alignment;
  each.start = start;
  each.end = end;
  return placed.size() - 1;
}

size_t ExchangePlan::addPersistent(int64_t bytes, unsigned start, unsigned end) {
  size_t number = add(bytes, start, end);
  placed[number].persistent = true;
  return number;
}

void ExchangePlan::addScratch(int64_t bytes, unsigned start, unsigned end, bool isApart) {
  for (size_t number : isApart ? ArrayRef<size_t>() : ArrayRef<size_t>(exchanges))
    if (gpu::PlacedBytes &each = placed[number]; each.start == start && each.end == end) {
      each.bytes = std::max(each.bytes, bytes);
      return;
    }
  exchanges.push_back(add(bytes, start, end, line));
}

int64_t ExchangePlan::placeAll(ArrayRef<gpu::PlacedBytes> more, bool persistentFirst) {
  SmallVector<gpu::PlacedBytes> all(placed);
  append_range(all, more);
  SmallVector<gpu::PlacedBytes *> pointers;
  for (gpu::PlacedBytes &each : all)
    pointers.push_back(&each);
  return gpu::place(pointers, persistentFirst);
}
void ExchangePlan::addExchanges() {
  for (const SharedTile &tile : shared.tiles)
    if ((tile.use == Use::Exchange && !(tile.isInWarps && found.warps == 1)) ||
        tile.use == Use::Result)
      addScratch(tile.bytes, tile.start, tile.end, tile.isApart);
}

void ExchangePlan::addColumns(const SharedTile &tile, int64_t bytes) {
  int number = tile.source < 0 ? int(&tile - shared.tiles.data()) : tile.source;
  auto [place, isNew] = columns.try_emplace(number, placed.size());
  if (isNew)
    exchanges.push_back(add(bytes, tile.start, tile.end, line));
  else
    placed[place->second].bytes += int64_t(alignTo(uint64_t(bytes), barrierBytes));
}

void ExchangePlan::addWords(const SharedTile &tile) {
  constexpr int64_t wordAlignment = 16; // of what is read together
  int64_t ofWarp = int64_t(shared.vector) * limits.warpThreads;
  if (found.warps < 2 || tile.extent <= ofWarp)
    return;
  int64_t parts = tile.isApart ? std::max<int64_t>(1, tile.extent / (ofWarp * found.warps)) : 1;
  exchanges.push_back(
      add(int64_t(alignTo(uint64_t(parts * found.warps * tile.bytes), wordAlignment)), tile.start,
          tile.end, tile.isApart ? line : wordAlignment));
}

void ExchangePlan::addAtomic(const SharedTile &tile) {
  int64_t lanes = limits.warpThreads, warps = found.warps;
  if (!tile.extent)
    return addScratch(tile.bytes, tile.start, tile.end);
  int64_t threads = tile.isInWarps ? lanes : lanes * warps;
  if (threads == lanes * warps && tile.extent >= threads)
    return; // no two threads have the same
  int64_t registers = std::max<int64_t>(1, tile.extent / threads);
  addScratch(registers * lanes * warps * (tile.bytes / tile.extent), tile.start, tile.end);
}

int64_t ExchangePlan::countWarpsAlong(const SharedTile &tile) const {
  int64_t ofWarp = int64_t(shared.vector) * limits.warpThreads;
  int64_t begin = std::max(tile.inner, ofWarp),
          end = std::min(tile.inner * tile.extent, ofWarp * found.warps);
  return end > begin ? end / begin : 1;
}

int64_t ExchangePlan::countCopies(int64_t elements) const {
  int64_t ofWarp = int64_t(shared.vector) * limits.warpThreads;
  return std::max<int64_t>(1, found.warps * ofWarp / std::max(elements, ofWarp));
}

bool ExchangePlan::holdsNeighbours(const SharedTile &tile) const {
  return tile.extent / (tile.inner * limits.warpThreads * found.warps) >= 2;
}

void ExchangePlan::addReduction(const SharedTile &tile) {
  constexpr int64_t wordBytes = 4, warpRows = 16;
  DotWork rows;
  rows.m = tile.operand.rows;
  rows.n = tile.operand.depth;
  int64_t sharing = 1;
  if (tile.operand.wgmma && found.warps % warpsOfWarpgroup == 0)
    sharing = rows.m < warpRows * warpsOfWarpgroup
                  ? found.warps // the product is computed transposed
                  : std::max<int64_t>(1, found.warps * warpRows / rows.m);
  else
    sharing = rows.n / getWarpTile(rows, found.warps, shared.rowsInWarps).second;
  if (sharing < 2)
    return;
  addScratch(rows.m * sharing * wordBytes, tile.start, tile.end);
}
bool ExchangePlan::addAllTurned() {
  bool any = false;
  for (const SharedTile &tile : shared.tiles)
    if (tile.use == Use::Turned && !tile.isCertain) {
      addTurned(tile);
      any = true;
    }
  return any;
}

void ExchangePlan::addTurned(const SharedTile &tile) {
  constexpr int64_t mostKept = 4096;
  bool isWhole = tile.extent <= tile.inner * limits.warpThreads;
  bool mayBeSpread = !tile.isInWarps && tile.extent > limits.warpThreads;
  if (!isWhole || (mayBeSpread && tile.bytes <= gpu::mostWords))
    addScratch(tile.bytes, tile.start, tile.end, /*isApart=*/true);
  if (!isWhole)
    return;
  int64_t bytes = int64_t(alignTo(uint64_t(tile.bytes), line)) * found.warps;
  bool endsProgram = tile.loop < 0 && persistent && found.bulkCopies;
  if (bytes > mostKept && !endsProgram)
    addInTurn(bytes, tile);
  else if (tile.loop >= 0)
    add(bytes, shared.loops[tile.loop].start, shared.loops[tile.loop].end, line);
  else if (persistent)
    addPersistent(bytes, 0, shared.operations);
  else
    addInTurn(bytes, tile);
}

void ExchangePlan::addInTurn(int64_t bytes, const SharedTile &tile) {
  for (size_t number : tile.isCertain ? ArrayRef<size_t>(turns) : ArrayRef<size_t>())
    if (gpu::PlacedBytes &each = placed[number]; each.start == tile.start) {
      each.bytes = std::max(each.bytes, bytes);
      return;
    }
  if (tile.isCertain)
    turns.push_back(placed.size());
  add(bytes, tile.start, tile.end, line);
}
int64_t ExchangePlan::placeBlock(int64_t limit) {
  for (size_t number : exchanges)
    placed[number].isScratch = true;
  SmallVector<gpu::PlacedBytes *> pointers;
  for (gpu::PlacedBytes &each : placed)
    pointers.push_back(&each);
  return gpu::placeBlock(pointers, limit, shared.reservesWords);
}

void ExchangePlan::addByLayout(const SharedTile &tile) {
  int64_t warps = countWarpsAlong(tile);
  switch (tile.use) {
  case Use::Reduction:
    return addReduction(tile);
  case Use::Atomic:
    return addAtomic(tile);
  case Use::Words:
    return addWords(tile);
  case Use::Turned:
    if (tile.isCertain && (tile.inner > 1 || found.warps > 1))
      addTurned(tile);
    return;
  case Use::Columns:
    if (warps > 1)
      addColumns(tile, tile.bytes * warps * countCopies(tile.whole));
    return;
  case Use::Shifted:
    if (holdsNeighbours(tile))
      addScratch(tile.bytes, tile.start, tile.end);
    return;
  case Use::Slice:
    if (warps > 1)
      addScratch(tile.bytes, tile.start, tile.end);
    return;
  default:
    return;
  }
}

} // namespace tile::cost
