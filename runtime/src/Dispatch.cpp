// Choice of the instance that a call runs: the first that fits and whose facts hold, or why there
// is none.
#include "runtime/src/Module.h"

#include <algorithm>

using namespace tile::runtime;

/// "f16[8, 128], 0.5 as f32, default": the arguments of a call that fits nothing.
static std::string describeArguments(const tile_argument *arguments, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const tile_argument &argument = arguments[i];
    const char *dtype = tile_dtype_name(argument.dtype);
    text += i ? ", " : "";
    if (argument.kind == TILE_DEFAULT) {
      text += "default";
      continue;
    }
    text += dtype ? dtype : "?";
    if (argument.kind == TILE_SCALAR)
      continue;
    text += "[";
    for (int32_t axis = 0; axis < argument.rank && argument.shape; ++axis)
      text += (axis ? ", " : "") + std::to_string(argument.shape[axis]);
    text += "]";
  }
  return text;
}

/// Lists the instances that came nearest, each with what its own checks say. The later a check, the
/// nearer the call.
static Error describeMiss(const tile_kernel &kernel,
                          const std::vector<const tile_instance *> &instances,
                          const tile_argument *arguments, size_t count) {
  constexpr size_t shown = 4;
  struct Miss {
    size_t order;
    const tile_instance *instance;
    Error error;
  };
  std::vector<Miss> misses;
  Plan plan;
  for (const tile_instance *instance : instances)
    misses.push_back({misses.size(), instance, instance->validator->check(arguments, count, plan)});
  std::sort(misses.begin(), misses.end(), [](const Miss &a, const Miss &b) {
    return a.error.code != b.error.code ? a.error.code > b.error.code : a.order < b.order;
  });
  std::string message =
      kernel.name + ": no variant takes (" + describeArguments(arguments, count) + ")";
  for (size_t i = 0; i < std::min(misses.size(), shown); ++i) {
    const Kernel &record = misses[i].instance->getKernel();
    std::string reason = misses[i].error.message, prefix = record.name + ": ";
    if (reason.compare(0, prefix.size(), prefix) == 0)
      reason.erase(0, prefix.size());
    message += (i ? "; " : "; nearest: ") + misses[i].instance->validator->getSignature() +
               (record.variant.empty() ? "" : " variant " + record.variant) + ": " + reason;
  }
  if (misses.size() > shown)
    message += "; and " + std::to_string(misses.size() - shown) + " more";
  return Error(TILE_ERROR_INSTANCE, message);
}

Error tile_kernel::select(const std::vector<const tile_instance *> &instances,
                          const tile_argument *arguments, size_t count,
                          const tile_instance *&instance) const {
  instance = instances.front();
  if (instances.size() == 1)
    return {};
  if (count && !arguments)
    return Error(TILE_ERROR_CALL, name + ": the array of arguments is null");
  thread_local Plan scratch;
  size_t near = 0, rightCount = 0;
  const tile_instance *generic = nullptr; // the only one without facts whose dtypes are right
  for (const tile_instance *candidate : instances) {
    const Validator &validator = *candidate->validator;
    rightCount += validator.takesCount(count);
    Validator::Fit fit = validator.fits(arguments, count);
    if (fit == Validator::Fit::Yes && validator.holds(arguments, count, scratch)) {
      instance = candidate;
      return {};
    }
    if (fit != Validator::Fit::No && candidate->getKernel().facts.empty() && ++near == 1)
      generic = candidate;
  }
  // Where the dtypes leave one instance, or no count is right, an instance's own checks say best
  // what is wrong.
  if (near == 1)
    instance = generic;
  if (near == 1 || rightCount == 0)
    return {};
  return describeMiss(*this, instances, arguments, count);
}
