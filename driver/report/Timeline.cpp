// The program of a block as steps, and the bars that come of playing them.
#include "driver/report/Timeline.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace tile::report {

StringRef getName(BarKind kind) {
  static constexpr const char *names[] = {"copy",   "product", "arithmetic", "reduction",
                                          "access", "wait",    "hold"};
  return names[size_t(kind)];
}

/// Trips of an innermost loop that are played, and steps of an agent at most.
static constexpr int playedTrips = 8;
static constexpr size_t mostSteps = 4000;

static bool hasLoop(mlir::Operation *op) {
  return op
      ->walk([&](mlir::Operation *inner) {
        return inner != op && isa<scf::ForOp, scf::WhileOp>(inner) ? WalkResult::interrupt()
                                                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The operations of a block in the order of a run: of a conditional the first branch, of an
/// innermost loop some trips, of others one.
/// A loop's trips are alike from some trip on, and a page has room for a few.
static void listSteps(Block &block, int trip, std::vector<Step> &steps) {
  for (mlir::Operation &op : block) {
    if (steps.size() >= mostSteps)
      return;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      bool inner = !hasLoop(&op);
      for (int t = 0; t < (inner ? playedTrips : 1); ++t)
        listSteps(*loop.getBody(), inner ? t : trip, steps);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      bool inner = !hasLoop(&op);
      for (int t = 0; t < (inner ? playedTrips : 1); ++t)
        listSteps(*loop.getAfterBody(), inner ? t : trip, steps);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      listSteps(*branch.thenBlock(), trip, steps);
    } else if (op.getNumRegions() == 0 || isa<ScanOp, ReduceByOp>(op)) {
      steps.push_back({&op, trip});
    }
  }
}

/// The producer is the first agent, consumers follow: run() counts them so.
static std::vector<Agent> makeAgents(KernelOp kernel) {
  std::vector<Agent> agents;
  Block &body = kernel.getBody().front();
  gpu::WarpSpecializeOp parts;
  for (auto each : body.getOps<gpu::WarpSpecializeOp>())
    parts = each;
  if (!parts) {
    agents.emplace_back("all warps", 1, 0);
    listSteps(body, -1, agents.back().steps);
    return agents;
  }
  agents.emplace_back("producer", 1, 0);
  listSteps(parts.getProducer().front(), -1, agents.back().steps);
  auto warps = kernel->getAttrOfType<IntegerAttr>(gpu::numWarpsName);
  unsigned groups = std::max<unsigned>(1, warps ? warps.getInt() / 4 : 1);
  for (unsigned g = 0; g < groups; ++g) {
    agents.emplace_back("warpgroup " + std::to_string(g), groups, g);
    listSteps(parts.getConsumer().front(), -1, agents.back().steps);
  }
  return agents;
}

json::Object describeTimeline(KernelOp kernel, FileTable &files, const BlockRates &rates) {
  Machine machine(rates, files);
  machine.agents = makeAgents(kernel);
  machine.run();
  std::vector<std::string> rows;
  json::Array bars;
  double end = 0;
  for (const Bar &bar : machine.bars) {
    if (!is_contained(rows, bar.row))
      rows.push_back(bar.row);
    end = std::max(end, bar.end);
  }
  // Copies first, then agents, then slots: top down as data moves.
  auto rank = [&](const std::string &row) {
    for (auto [i, agent] : enumerate(machine.agents))
      if (row == agent.name)
        return 2 + int(i);
    return row == "copies" ? 0 : row == "tensor cores" ? 1 : 100;
  };
  llvm::sort(rows, [&](const auto &a, const auto &b) {
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
  for (const Bar &bar : machine.bars)
    bars.push_back(json::Object{{"row", int64_t(find(rows, bar.row) - rows.begin())},
                                {"kind", getName(bar.kind)},
                                {"start", std::round(bar.start)},
                                {"end", std::round(bar.end)},
                                {"label", bar.label},
                                {"line", bar.line},
                                {"trip", bar.trip}});
  json::Array names(rows);
  return json::Object{{"unit", "ns"},
                      {"trips", playedTrips},
                      {"end", std::round(end)},
                      {"rows", std::move(names)},
                      {"bars", std::move(bars)}};
}

} // namespace tile::report
