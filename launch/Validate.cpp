// The checks of one launch, which are the core's, and the plan that follows from them. The path
// without errors allocates nothing once the plan has its buffers.
#include "launch/Validate.h"

namespace tile::runtime {

/// The view points into this plan's buffers: it is good until the next call.
tk_plan Plan::view(const tk_kernel &kernel) {
  extents.resize(size_t(kernel.grid_count));
  values.resize(size_t(kernel.slot_count));
  strides.resize(size_t(kernel.stride_count));
  spans.resize(size_t(kernel.param_count));
  cells.resize(size_t(kernel.argument_count));
  tk_plan plan = {};
  plan.extents = extents.data();
  plan.values = values.data();
  plan.strides = strides.data();
  plan.spans = spans.data();
  plan.cells = cells.data();
  return plan;
}

Error Validator::check(const tile_argument *arguments, size_t count, Plan &plan,
                       bool unchecked) const {
  tk_plan view = plan.view(tables);
  if (tile_code code = tk_check(&tables, arguments, count, unchecked, &view))
    return lastError(code);
  // The view has addresses of the plan's buffers; plain values are copied back.
  plan.empty = view.empty;
  plan.programs = view.programs;
  plan.sharedBytes = view.shared_bytes;
  plan.fills.clear();
  plan.fillParams.clear();
  for (size_t i = 0; i < count; ++i) {
    Fill fill;
    if (!tables.params[i].fills || !tk_get_fill(&tables, arguments, &view, int(i), &fill))
      continue;
    plan.fillParams.push_back(uint32_t(i));
    plan.fills.push_back(fill);
  }
  // Anew at each check: a plan that served another kernel has another number of cells, or its
  // cells elsewhere.
  plan.pointers.resize(plan.cells.size());
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    int kind = tables.arguments[i].kind;
    plan.pointers[i] = kind == TK_ARG_MAP || kind == TK_ARG_SCRATCH ? nullptr : &plan.cells[i];
  }
  return {};
}

bool Validator::holds(const tile_argument *arguments, size_t count, Plan &scratch) const {
  tk_plan view = scratch.view(tables);
  return tk_holds(&tables, arguments, count, &view);
}

Validator::Fit Validator::fits(const tile_argument *arguments, size_t count) const {
  return Fit(tk_fits(&tables, arguments, count));
}

} // namespace tile::runtime
