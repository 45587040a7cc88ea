// Reads and writes #tile_gpu.schedule.
#include "passes/TileGPU/Schedule/LoopSchedule.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

/// Entries stand in the order of the products in the loop's body; `order` says how they are issued.
LoopSchedule LoopSchedule::of(scf::ForOp loop) {
  LoopSchedule schedule;
  schedule.products = llvm::to_vector(loop.getBody()->getOps<WgmmaOp>());
  auto attribute = loop->getAttrOfType<ScheduleAttr>(ScheduleAttr::name);
  if (attribute && !schedule.products.empty()) {
    schedule.places.assign(attribute.getProducts().begin(), attribute.getProducts().end());
    schedule.words = attribute.getWords();
    return schedule;
  }
  // Without an attribute: as the loop stands.
  for (auto [i, product] : llvm::enumerate(schedule.products)) {
    ProductPlace &place = schedule.places.emplace_back();
    place.order = int64_t(i);
    if (product.getAsync())
      place.flight = 0;
  }
  return schedule;
}

/// By the products that stand there now: passes may have moved them, and each keeps its entry.
void LoopSchedule::setOn(scf::ForOp loop) const {
  SmallVector<ProductPlace> standing;
  for (WgmmaOp product : loop.getBody()->getOps<WgmmaOp>())
    standing.push_back(places[size_t(llvm::find(products, product) - products.begin())]);
  loop->setAttr(ScheduleAttr::name,
                ScheduleAttr::get(loop.getContext(), ArrayRef<ProductPlace>(standing), words));
}

bool LoopSchedule::isStaged() const {
  return llvm::any_of(places, [](const ProductPlace &place) { return place.stage > 0; });
}

/// Asked by the passes that realise a part of the schedule, which leave alone what is in flight
/// already.
bool LoopSchedule::leaves(int64_t flight) const {
  return llvm::any_of(llvm::zip(products, places), [&](auto each) {
    return !WgmmaOp(std::get<0>(each)).getAsync() && std::get<1>(each).flight == flight;
  });
}

SmallVector<WgmmaOp> LoopSchedule::getIssueOrder() const {
  SmallVector<WgmmaOp> order(products.size());
  for (auto [product, place] : llvm::zip(products, places))
    order[size_t(place.order)] = product;
  return order;
}

ProductPlace &LoopSchedule::placeOf(WgmmaOp product) {
  return places[size_t(llvm::find(products, product) - products.begin())];
}

/// True of loops inside of the given region of a specialised kernel.
static bool isIn(scf::ForOp loop, Region &(WarpSpecializeOp::*getRegion)()) {
  auto split = loop->getParentOfType<WarpSpecializeOp>();
  return split && (split.*getRegion)().isAncestor(loop->getParentRegion());
}

bool tile::gpu::isOfConsumers(scf::ForOp loop) {
  return isIn(loop, &WarpSpecializeOp::getConsumer);
}
bool tile::gpu::isOfProducer(scf::ForOp loop) { return isIn(loop, &WarpSpecializeOp::getProducer); }
