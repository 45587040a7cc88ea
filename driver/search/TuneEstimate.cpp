// The cost model's estimates for the configurations of a search.
#include "driver/search/TuneEstimate.h"
#include "driver/compile/ConfigChoice.h"
#include "driver/support/Jobs.h"
#include <limits>
#include <map>

using namespace llvm;

namespace tile {

/// Infinite where a configuration does not elaborate or the model says that it cannot run; empty
/// for a target without a model.
std::vector<std::vector<double>>
estimateSpace(const ast::Program &program, const ast::KernelDecl &kernel,
              const ElaborateOptions &options, const std::vector<TuneConfig> &configs,
              const std::vector<TuneShape> &shapes, const SourceManager &sources) {
  RateConfigs rate = makeConfigRater(options.target);
  if (!rate)
    return {};
  // Configurations with the same compile-time parameters are elaborated once.
  std::map<TuneConfig, std::vector<size_t>> groups;
  for (size_t c = 0; c < configs.size(); ++c) {
    TuneConfig parameters;
    for (const auto &setting : configs[c])
      if (any_of(kernel.statics,
                 [&](const ast::StaticParam &param) { return param.name.text == setting.first; }))
        parameters.push_back(setting);
    groups[parameters].push_back(c);
  }
  std::vector<std::vector<size_t>> members;
  for (auto &[parameters, group] : groups)
    members.push_back(std::move(group));
  std::vector<std::vector<double>> result(
      configs.size(), std::vector<double>(shapes.size(), std::numeric_limits<double>::infinity()));
  // Each job writes rows of its own group only, and has a context of its own.
  runJobs(0, members.size(), [&](size_t g) {
    ElaborateOptions own = options;
    own.kernel = kernel.name.text;
    own.config = configs[members[g].front()];
    DiagnosticEngine quiet(sources);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    std::optional<Elaborated> elaborated = elaborate(program, own, quiet, context);
    if (!elaborated)
      return;
    auto kernels = elaborated->module->getOps<KernelOp>();
    if (kernels.empty())
      return;
    std::vector<TuneConfig> group;
    for (size_t c : members[g])
      group.push_back(configs[c]);
    for (size_t s = 0; s < shapes.size(); ++s) {
      std::map<std::string, int64_t> extents(shapes[s].begin(), shapes[s].end());
      std::vector<RatedConfig> rated = rate(*kernels.begin(), extents, group);
      for (size_t i = 0; i < rated.size() && i < group.size(); ++i)
        result[members[g][i]][s] = rated[i].milliseconds;
    }
  });
  return result;
}

} // namespace tile
