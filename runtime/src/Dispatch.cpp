// Choice of the instance that a call runs, by the launcher's core.
#include "runtime/src/Module.h"

#include <algorithm>

using namespace tile::runtime;

/// The launcher's core is C: the list goes through as a pointer, with a function that reads it.
using Instances = std::vector<const tile_instance *>;

static const tk_kernel *getTables(const void *list, int index) {
  return &(*static_cast<const Instances *>(list))[size_t(index)]->validator->getTables();
}

Error tile_kernel::select(const Instances &instances, const tile_argument *arguments, size_t count,
                          const tile_instance *&instance) const {
  instance = instances.front();
  if (instances.size() == 1)
    return {};
  // Its buffers stay, so that a launch allocates nothing. They suffice for every instance.
  thread_local Plan scratch;
  tk_kernel most = {};
  // The largest tables of all instances: the core writes its plan for one after the other into this
  // memory.
  for (const tile_instance *each : instances) {
    const tk_kernel &tables = each->validator->getTables();
    most.grid_count = std::max(most.grid_count, tables.grid_count);
    most.slot_count = std::max(most.slot_count, tables.slot_count);
    most.stride_count = std::max(most.stride_count, tables.stride_count);
    most.param_count = std::max(most.param_count, tables.param_count);
    most.argument_count = std::max(most.argument_count, tables.argument_count);
  }
  tk_plan plan = scratch.view(most);
  int chosen = 0;
  if (tile_code code =
          tk_select(getTables, &instances, int(instances.size()), arguments, count, &plan, &chosen))
    return lastError(code);
  instance = instances[size_t(chosen)];
  return {};
}
