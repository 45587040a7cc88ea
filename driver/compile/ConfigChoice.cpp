// The cost model as the choice of configurations sees it.
#include "driver/compile/ConfigChoice.h"
#include <limits>
#include <map>

using namespace llvm;

namespace tile {

RateConfigs makeConfigRater(const std::string &target, const GPUCard *card) {
  std::optional<cost::TargetLimits> limits = cost::findTargetLimits(target, card);
  if (!limits || !limits->target)
    return {};
  return [limits](KernelOp kernel, const cost::Extents &extents, ArrayRef<TuneConfig> configs) {
    cost::KernelWork work = cost::analyzeWork(kernel, extents, *limits);
    std::vector<RatedConfig> result;
    for (const TuneConfig &config : configs) {
      cost::Schedule schedule = cost::Schedule::of(kernel);
      for (const auto &[name, value] : config)
        schedule.set(name, value);
      cost::CostEstimate estimate = cost::estimateCost(work, schedule, *limits);
      result.push_back({config, estimate.milliseconds, estimate.reason});
    }
    return result;
  };
}

std::vector<cost::CostEstimate>
estimateConfigs(const ast::Program &program, const ast::KernelDecl &kernel,
                const ElaborateOptions &options, const std::vector<TuneConfig> &configs,
                const TuneShape &shape, const SourceManager &sources, mlir::MLIRContext &context) {
  std::vector<cost::CostEstimate> result;
  cost::Extents extents(shape.begin(), shape.end());
  std::optional<cost::TargetLimits> limits = cost::findTargetLimits(options.target);
  for (const TuneConfig &config : configs) {
    ElaborateOptions own = options;
    own.kernel = kernel.name.text;
    own.rate = {};
    own.config.insert(own.config.end(), config.begin(), config.end());
    DiagnosticEngine quiet(sources);
    std::optional<Elaborated> elaborated = elaborate(program, own, quiet, context);
    if (elaborated && limits)
      if (auto kernels = elaborated->module->getOps<KernelOp>(); !kernels.empty()) {
        result.push_back(cost::estimateCost(*kernels.begin(), extents, *limits));
        continue;
      }
    cost::CostEstimate &failed = result.emplace_back();
    failed.valid = false;
    failed.milliseconds = std::numeric_limits<double>::infinity();
    failed.reason = quiet.all().empty() ? "it does not compile" : quiet.all().front().message;
  }
  return result;
}

} // namespace tile
