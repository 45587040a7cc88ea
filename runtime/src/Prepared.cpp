// Calls that are checked once: other addresses take the place of those that were checked, and only
// what is about addresses is looked at again.
//
//   checked when it is prepared    kinds, dtypes, ranks, extents, strides, contracts, the grid
//   looked at in every launch      null, alignment, overlap of spans, memory's place; scalars that
//                                  extents or contracts depend on must be as they were
#include "runtime/src/Module.h"

#include <algorithm>

using namespace tile::runtime;

namespace tile::runtime {

/// False means: check everything again; it is no error. Constant per argument, quadratic in
/// tensors, which are few.
bool Validator::mayReplace(const tile_argument *arguments, const uint64_t *values, size_t count,
                           const Plan &plan, bool unchecked) const {
  // Scalars whose values extents, strides or contracts have used: compared in their own width.
  for (const tk_slot &slot : slots)
    if (size_t param = size_t(slot.param);
        slot.form == TK_VALUE && param < count && arguments[param].kind != TILE_DEFAULT &&
        (arguments[param].bits ^ values[param]) << (64 - params[param].bits))
      return false;
  if (unchecked)
    return true;
  // Scalars and tensors without elements have no span.
  // The alignment is a power of two.
  for (size_t i = 0; i < count; ++i) {
    if (plan.spans[i] && (!values[i] || (values[i] & (params[i].align - 1))))
      return false;
    for (size_t j = 0; j < i && plan.spans[i]; ++j)
      //   [a, a + s) and [b, b + t) overlap, of s, t > 0, just if
      //   a - b + s - 1 < s + t - 1        unsigned
      if (values[i] - values[j] + plan.spans[i] - 1 < plan.spans[i] + plan.spans[j] - 1 &&
          plan.spans[j] && tk_must_differ(&tables, int(i), int(j)))
        return false;
  }
  return true;
}

/// Everything of the checked plan but addresses and scalars, without checking: `mayReplace` has
/// said that it holds.
void Validator::replace(const tile_argument *given, const uint64_t *values, size_t count,
                        const Plan &plan, Plan &result) const {
  result.empty = plan.empty;
  result.programs = plan.programs;
  result.sharedBytes = plan.sharedBytes;
  if (tables.map_count)
    result.strides = plan.strides;
  if (!plan.fills.empty() || !result.fills.empty())
    result.fills = plan.fills;
  for (size_t i = 0; i < plan.fills.size(); ++i)
    result.fills[i].data = reinterpret_cast<void *>(uintptr_t(values[plan.fillParams[i]]));
  result.cells = plan.cells;
  result.pointers.resize(plan.pointers.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    size_t param = size_t(arguments[i].index);
    // A default keeps the value that the manifest gives.
    if (arguments[i].kind == TK_ARG_PARAM && param < count && given[param].kind != TILE_DEFAULT)
      result.cells[i] = values[param];
    result.pointers[i] = &result.cells[i];
  }
}

} // namespace tile::runtime

/// Two lists of at most TILE_MAX_RANK numbers for each argument: `sizes` must not move, as
/// arguments point into it.
void tile_prepared::keep(const tile_argument *given, size_t count) {
  arguments.assign(given, given + count);
  auto isTensor = [](const tile_argument &argument) {
    return argument.kind == TILE_TENSOR && argument.rank > 0 && argument.rank <= TILE_MAX_RANK;
  };
  // Reserved first: the arguments point into it.
  sizes.reserve(2 * TILE_MAX_RANK * count);
  for (tile_argument &argument : arguments) {
    values.push_back(argument.kind == TILE_TENSOR ? uint64_t(uintptr_t(argument.data))
                                                  : argument.bits);
    for (const int64_t **list : {&argument.shape, &argument.strides}) {
      if (!isTensor(argument) || !*list)
        continue;
      sizes.insert(sizes.end(), *list, *list + argument.rank);
      *list = sizes.data() + sizes.size() - argument.rank;
    }
  }
}

/// The choice is made once; later launches with other addresses run the same instance.
Error tile_prepared::choose(const std::vector<const tile_instance *> &instances) {
  const tile_instance *chosen = nullptr;
  if (Error error = kernel->select(instances, arguments.data(), arguments.size(), chosen))
    return error;
  // Into a plan of its own: an error leaves the prepared call as it was.
  Plan checked;
  if (Error error = chosen->validator->check(arguments.data(), arguments.size(), checked))
    return error;
  instance = chosen;
  plan = std::move(checked);
  return {};
}

/// May be called again on a prepared call (tile_prepared_pin).
Error tile_module::prepare(const tile_kernel &kernel, const char *variant,
                           tile_prepared &prepared) {
  Place place;
  const std::vector<const tile_instance *> *list = nullptr;
  if (Error error = candidates(kernel, place, list))
    return error;
  if (!variant)
    return prepared.choose(*list);
  std::vector<const tile_instance *> wanted;
  std::string names;
  for (const tile_instance *instance : *list) {
    const std::string &known = instance->getKernel().variant;
    if (known == variant)
      wanted.push_back(instance);
    std::string quoted = "'" + known + "'";
    if (names.find(quoted) == std::string::npos)
      names += (names.empty() ? "" : ", ") + quoted;
  }
  if (wanted.empty())
    return Error(TILE_ERROR_KERNEL, kernel.name + ": '" + name + "' has no variant '" + variant +
                                        "' of it; there are " + names);
  return prepared.choose(wanted);
}

Error tile_prepared::launch(const uint64_t *given, size_t count, void *stream,
                            uint32_t flags) const {
  // NULL stands for the addresses and values that were prepared.
  if (!given) {
    given = values.data();
    count = values.size();
  }
  if (count != arguments.size())
    return Error(TILE_ERROR_COUNT, kernel->name + ": expected " + std::to_string(arguments.size()) +
                                       " values, as many as arguments were prepared, found " +
                                       std::to_string(count));
  // Their buffers stay, so that a launch allocates nothing.
  // Buffers of the thread, not of the call: several threads may launch one prepared call at the
  // same time.
  thread_local Plan fresh;
  thread_local std::vector<tile_argument> changed;
  const Validator &validator = *instance->validator;
  bool unchecked = flags & TILE_LAUNCH_UNCHECKED;
  bool isQuick = validator.mayReplace(arguments.data(), given, count, plan, unchecked);
  // Arguments in full are needed only by checks and tensor maps.
  bool needsArguments =
      !isQuick || (flags & TILE_LAUNCH_CHECK_MEMORY) || !instance->getKernel().tensorMaps.empty();
  if (needsArguments) {
    changed = arguments;
    for (size_t i = 0; i < count; ++i)
      if (changed[i].kind == TILE_TENSOR)
        changed[i].data = reinterpret_cast<void *>(uintptr_t(given[i]));
      else
        changed[i].bits = given[i];
  }
  if (isQuick)
    validator.replace(arguments.data(), given, count, plan, fresh);
  else if (Error error = validator.check(changed.data(), count, fresh, unchecked))
    return error;
  return kernel->module->execute(*kernel, *instance, changed.data(), count, fresh, stream, flags,
                                 {});
}

/// "[17, 64]".
static std::string list(const int64_t *numbers, int32_t count) {
  std::string text = "[";
  for (int32_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return text + "]";
}

/// Whether two tensors of one shape have equal strides along which something steps.
/// Strides of extents up to 1 step over nothing and may be anything.
static bool hasEqualStrides(const tile_argument &a, const tile_argument &b) {
  uint64_t dense = 1;
  for (int32_t axis = a.rank - 1; axis >= 0; --axis) {
    int64_t one = a.strides ? a.strides[axis] : int64_t(dense);
    int64_t other = b.strides ? b.strides[axis] : int64_t(dense);
    if (one != other && a.shape[axis] > 1)
      return false;
    dense *= uint64_t(a.shape[axis]);
  }
  return true;
}

/// Callers that have arguments as they come, with shapes: these must be as they were, and then only
/// addresses count.
Error tile_prepared::launch(const tile_argument *given, size_t count, void *stream,
                            uint32_t flags) const {
  // Its memory stays, so that a launch allocates nothing.
  thread_local std::vector<uint64_t> fresh;
  fresh.resize(count);
  for (size_t i = 0; i < std::min(count, arguments.size()); ++i) {
    const tile_argument &one = given[i], &known = arguments[i];
    auto differs = [&](tile_code code, const std::string &found, const std::string &expected) {
      return Error(code, kernel->name + ": '" + instance->getKernel().params[i].name + "' has " +
                             found + ", but was prepared with " + expected +
                             "; prepare another call, or launch the kernel itself");
    };
    fresh[i] = one.kind == TILE_TENSOR ? uint64_t(uintptr_t(one.data)) : one.bits;
    auto describe = [](const tile_argument &argument) {
      const char *name = tile_dtype_name(argument.dtype);
      return argument.kind == TILE_DEFAULT
                 ? std::string("no value")
                 : (argument.kind == TILE_TENSOR ? "a tensor of " : "a scalar of ") +
                       std::string(name ? name : "an unknown dtype");
    };
    if (one.kind != known.kind || (one.kind != TILE_DEFAULT && one.dtype != known.dtype))
      return differs(TILE_ERROR_DTYPE, describe(one), describe(known));
    if (one.kind != TILE_TENSOR)
      continue;
    if (one.rank != known.rank)
      return differs(TILE_ERROR_RANK, "rank " + std::to_string(one.rank),
                     "rank " + std::to_string(known.rank));
    if (one.rank && !one.shape)
      return differs(TILE_ERROR_CALL, "no shape", "shape " + list(known.shape, known.rank));
    if (one.rank && !std::equal(one.shape, one.shape + one.rank, known.shape))
      return differs(TILE_ERROR_DIM, "shape " + list(one.shape, one.rank),
                     "shape " + list(known.shape, known.rank));
    if ((one.strides || known.strides) && !hasEqualStrides(one, known))
      return differs(TILE_ERROR_STRIDE,
                     one.strides ? "strides " + list(one.strides, one.rank) : "dense strides",
                     known.strides ? "strides " + list(known.strides, known.rank)
                                   : "dense strides");
    // `bytes` is the size of the memory behind the pointer, where the caller knows it.
    if (one.bytes > 0 && plan.spans[i] > uint64_t(one.bytes))
      return differs(TILE_ERROR_DIM, "memory of " + std::to_string(one.bytes) + " bytes",
                     "a tensor that reaches over " + std::to_string(plan.spans[i]));
  }
  return launch(fresh.data(), count, stream, flags);
}
