// The use that this compiler makes of a target's features, where several passes must agree.
#ifndef TILE_PASSES_TILEGPU_TARGETSUPPORT_H
#define TILE_PASSES_TILEGPU_TARGETSUPPORT_H

#include "target/Target.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace tile::gpu {

/// True if a producer warp copies tiles by TMA into rings while other warps compute. The ring's
/// barriers count bytes, the producer hands its registers on, and the products that read a ring are
/// those of wgmma: a target without one of these loads by its threads.
inline bool copiesAhead(const GPUTarget &target) {
  return target.hasAll(
      {Feature::Tma, Feature::TransactionBarriers, Feature::SetMaxRegisters, Feature::Wgmma});
}

/// The names of the targets for which `holds`, for a message: "sm_80, sm_86".
inline std::string listTargets(llvm::function_ref<bool(const GPUTarget &)> holds) {
  std::string names;
  for (const GPUTarget &target : getGPUTargets())
    if (holds(target))
      names += (names.empty() ? "" : ", ") + std::string(target.name);
  return names;
}

} // namespace tile::gpu

#endif
