// The cost model as the choice of configurations sees it: `tilec` without tuning, `tilec explain`,
// and the order in which `tilec tune` looks at candidates.
#ifndef TILE_DRIVER_COMPILE_CONFIGCHOICE_H
#define TILE_DRIVER_COMPILE_CONFIGCHOICE_H

#include "driver/tune/TuneConfig.h"
#include "passes/Analysis/CostModel/CostModel.h"

namespace tile {

/// A rating of configurations for a target, on `card` or, without one, on the card that stands for
/// the target. Empty for the CPU, whose kernels keep their parameters' defaults.
RateConfigs makeConfigRater(const std::string &target, const GPUCard *card = nullptr);

/// Estimates every configuration of `configs` for a launch of these extents, in their order.
/// `options` says what else binds the kernel: definitions, target. Configurations that cannot be
/// elaborated are not valid.
std::vector<cost::CostEstimate>
estimateConfigs(const ast::Program &program, const ast::KernelDecl &kernel,
                const ElaborateOptions &options, const std::vector<TuneConfig> &configs,
                const TuneShape &shape, const SourceManager &sources, mlir::MLIRContext &context);

} // namespace tile

#endif
