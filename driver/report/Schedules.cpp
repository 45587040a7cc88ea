// The schedules of a kernel's loops, as the passes have left them on the loops.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "driver/report/KernelReport.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace llvm;

namespace tile::report {

json::Array describeSchedules(KernelOp kernel, FileTable &files) {
  json::Array schedules;
  std::vector<std::pair<unsigned, std::string>> seen; // copies of one loop mostly have one schedule
  kernel.getBody().walk([&](mlir::LoopLikeOpInterface loop) {
    auto schedule = loop->getAttrOfType<gpu::ScheduleAttr>(gpu::ScheduleAttr::name);
    if (!schedule)
      return;
    std::pair each(getSourceLine(loop, files), schedule.describe());
    if (is_contained(seen, each))
      return;
    schedules.push_back(json::Object{{"line", each.first}, {"schedule", each.second}});
    seen.push_back(std::move(each));
  });
  return schedules;
}

} // namespace tile::report
