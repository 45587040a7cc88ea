// The report of `tilec explain`: text for people, JSON for tools.
#include "driver/explain/Explain.h"
#include "driver/tune/TuneConfig.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace tile {

/// "1.23 GB": a number with the prefix that keeps it between 1 and 1000.
static std::string withUnit(double value, StringRef unit) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  for (; value >= 1000 && i + 1 < std::size(prefixes); ++i)
    value /= 1000;
  return formatv(value < 10 ? "{0:f2} {1}{2}" : "{0:f0} {1}{2}", value, prefixes[i], unit).str();
}

static std::string toTime(double milliseconds) {
  return milliseconds < 1 ? formatv("{0:f1} us", milliseconds * 1e3).str()
                          : formatv("{0:f3} ms", milliseconds).str();
}

static std::string toShape(const cost::Extents &extents) {
  return join(
      map_range(extents,
                [](const auto &each) { return each.first + "=" + std::to_string(each.second); }),
      ", ");
}

static size_t countUsable(const ConfigChoice &choice) {
  return count_if(choice.rated,
                  [](const RatedConfig &each) { return std::isfinite(each.milliseconds); });
}

static void printConfiguration(const Explanation &each, raw_ostream &stream) {
  auto row = [&](StringRef title, const Twine &text) {
    stream << "  " << left_justify(title, 15) << text << "\n";
  };
  std::string byWhom;
  for (const KernelSetting &setting : each.settings)
    byWhom += (byWhom.empty() ? "" : ", ") + setting.name + "=" + setting.value + " (" +
              setting.source + ")";
  row("settings", byWhom.empty() ? "none" : byWhom);
  if (!each.choice)
    return;
  const std::vector<RatedConfig> &rated = each.choice->rated;
  size_t usable = countUsable(*each.choice);
  row("chosen",
      toText(rated.front().config) + ", the best of " + Twine(usable) + " by the model" +
          (usable < rated.size() ? Twine("; ") + Twine(rated.size() - usable) + " cannot be used"
                                 : Twine("")));
  constexpr size_t shown = 4;
  for (size_t i = 1; i < std::min(usable, shown); ++i) {
    double more = (rated[i].milliseconds / rated.front().milliseconds - 1) * 100;
    std::string time = toTime(rated[i].milliseconds);
    row(i == 1 ? "next" : "", toText(rated[i].config) + ": " + time + ", " +
                                  formatv("{0:f0}% ", std::abs(more)).str() +
                                  (more < 0 ? "less, but more at extents around these" : "more"));
  }
  if (usable < rated.size())
    row("left out", toText(rated[usable].config) + ": " + rated[usable].reason);
}

static void printEstimate(const Explanation &each, const cost::TargetLimits &limits,
                          raw_ostream &stream) {
  auto row = [&](StringRef title, const Twine &text) {
    stream << "  " << left_justify(title, 15) << text << "\n";
  };
  const cost::CostEstimate &estimate = each.estimate;
  if (!estimate.valid) {
    row("estimate", "none: " + estimate.reason);
    return;
  }
  row("estimate", toTime(estimate.milliseconds) + ", bound by " + estimate.bound + "; roofline " +
                      toTime(estimate.rooflineMilliseconds));
  row("work", withUnit(estimate.dramBytes, "B") + " from and to memory, " +
                  withUnit(estimate.l2Bytes, "B") + " through L2, " +
                  withUnit(estimate.operations, "operations"));
  std::string joined;
  raw_string_ostream factors(joined);
  interleave(each.joined, factors, " x ");
  if (limits.target)
    row("grid",
        Twine(estimate.programs) +
            formatv(" programs in {0:f2} waves; the last leaves {1:f0}% of the machine idle",
                    estimate.waves, estimate.idle * 100)
                .str() +
            (joined.empty() ? "" : "; each is " + joined + " of the source's") +
            (each.sharesTrips ? "; a launch shares a loop's trips among several" : ""));
}

namespace {

/// Blocks that a multiprocessor holds at once.
struct Occupancy {
  int64_t blocks, percent; ///< of its threads
  const char *bound;
};

} // namespace

/// By the results of the passes and ptxas, or by the model's expectation.
static std::optional<Occupancy> findOccupancy(const Explanation &each,
                                              const cost::TargetLimits &limits) {
  const cost::CostEstimate &estimate = each.estimate;
  int64_t threads = each.compiled ? int64_t(each.compiled->threads) : estimate.threads;
  int64_t shared = each.compiled ? int64_t(each.compiled->sharedBytes) : estimate.sharedBytes;
  int64_t registers = each.assembled ? int64_t(each.compiled->registers) : estimate.registers;
  if (!limits.target || threads <= 0)
    return std::nullopt;
  std::pair<int64_t, const char *> bounds[] = {
      {limits.threads / threads, "threads"},
      {limits.registers / std::max<int64_t>(registers * threads, 1), "registers"},
      {limits.sharedBytes / (shared + 1024), "shared memory"},
      {limits.blocks, "the number of blocks"}};
  auto least = *std::min_element(std::begin(bounds), std::end(bounds));
  return Occupancy{least.first, least.first * threads * 100 / limits.threads, least.second};
}

/// The results of the passes and ptxas, or the model's expectation.
static void printBlock(const Explanation &each, const cost::TargetLimits &limits,
                       raw_ostream &stream) {
  auto row = [&](StringRef title, const Twine &text) {
    stream << "  " << left_justify(title, 15) << text << "\n";
  };
  const cost::CostEstimate &estimate = each.estimate;
  int64_t threads = each.compiled ? int64_t(each.compiled->threads) : estimate.threads;
  int64_t shared = each.compiled ? int64_t(each.compiled->sharedBytes) : estimate.sharedBytes;
  int64_t registers = each.assembled ? int64_t(each.compiled->registers) : estimate.registers;
  row("block",
      Twine(threads) + " threads, " + Twine(estimate.warps) + " warps compute" +
          (estimate.stages ? Twine(", ") + Twine(estimate.stages) + " stages of loads run ahead"
                           : Twine("")));
  row("registers",
      each.assembled
          ? Twine(registers) + " a thread on entry, " +
                (each.computingRegisters ? Twine(each.computingRegisters) + " where it computes, "
                                         : Twine("")) +
                (each.compiled->spillBytes ? Twine(each.compiled->spillBytes) + " bytes of spills"
                                           : Twine("no spills")) +
                "; the model: " + Twine(estimate.registers) + " of " + Twine(estimate.registerLimit)
          : "about " + Twine(registers) + " of " + Twine(estimate.registerLimit) +
                " a thread (no ptxas)");
  row("shared memory", Twine(shared) + " bytes");
  if (std::optional<Occupancy> found = findOccupancy(each, limits))
    row("occupancy", Twine(found->blocks) + (found->blocks == 1 ? " block" : " blocks") +
                         " on a multiprocessor, " + Twine(found->percent) +
                         "% of its threads; bound by " + found->bound);
}

static void printInstructions(const Explanation &each, raw_ostream &stream) {
  if (!each.compiled)
    return;
  const InstructionCounts &found = each.instructions;
  std::vector<std::string> parts;
  parts.push_back(found.wgmma ? "wgmma" : found.mma ? "mma.sync" : "no tensor cores");
  parts.push_back(found.bulkLoads && found.asyncLoads ? "loads by TMA and cp.async"
                  : found.bulkLoads                   ? "loads by TMA"
                  : found.asyncLoads                  ? "loads by cp.async"
                                                      : "loads by threads");
  parts.push_back(found.bulkStores ? "stores by TMA" : "stores by threads");
  stream << "  " << left_justify("instructions", 15) << join(parts, ", ") << "\n";
}

/// The schedules of loops with products.
static void printSchedules(const Explanation &each, raw_ostream &stream) {
  const json::Array *schedules = each.inside.getArray("schedules");
  if (!schedules)
    return;
  std::string title = "schedule";
  for (const json::Value &entry : *schedules) {
    const json::Object &loop = *entry.getAsObject();
    stream << "  " << left_justify(title, 15) << "line " << *loop.getInteger("line") << ": "
           << *loop.getString("schedule") << "\n";
    title.clear();
  }
}

/// The limit that keeps the kernel from the roofline, as far as the numbers show it: a name for
/// tools, and a sentence.
static std::vector<std::pair<std::string, std::string>>
listCosts(const Explanation &each, const cost::TargetLimits &limits) {
  std::vector<std::pair<std::string, std::string>> costs;
  const cost::CostEstimate &estimate = each.estimate;
  if (!limits.target || !estimate.valid)
    return costs;
  constexpr double muchIdle = 0.2, fewWaves = 4;
  if (estimate.idle > muchIdle && estimate.waves < fewWaves)
    costs.emplace_back("tail", formatv("the last of {0:f2} waves leaves {1:f0}% of the machine "
                                       "idle: other tile sizes, or a split loop, "
                                       "give another number of programs",
                                       estimate.waves, estimate.idle * 100)
                                   .str());
  constexpr int64_t fewThreads =
      4; // a quarter of a multiprocessor's threads hides what loads wait for
  int64_t threads = estimate.threads * estimate.blocks;
  if (!estimate.stages && threads * fewThreads < limits.threads)
    costs.emplace_back("occupancy", ("only " + Twine(threads) + " of " + Twine(limits.threads) +
                                     " threads of a multiprocessor wait for loads at once: smaller "
                                     "tiles, or fewer registers a thread")
                                        .str());
  if (each.assembled && each.compiled->spillBytes)
    costs.emplace_back("spills",
                       (Twine(each.compiled->spillBytes) +
                        " bytes of a thread go through memory: smaller tiles, or more warps")
                           .str());
  return costs;
}

void printExplanations(ArrayRef<Explanation> all, const Options &options,
                       const SourceManager &sources, raw_ostream &stream) {
  cost::TargetLimits limits = *cost::findTargetLimits(options.target, options.card);
  for (const Explanation &each : all) {
    stream << each.symbol << " for " << options.target << " (" << limits.device
           << (limits.isOwnDevice || options.card ? "" : ", the nearest that there are figures of")
           << ") at " << toShape(each.extents) << "\n";
    printConfiguration(each, stream);
    printEstimate(each, limits, stream);
    if (!options.isCPU()) {
      printBlock(each, limits, stream);
      printInstructions(each, stream);
      printSchedules(each, stream);
    }
    std::string title = "costs";
    for (const auto &[name, sentence] : listCosts(each, limits)) {
      stream << "  " << left_justify(title, 15) << name << ": " << sentence << "\n";
      title.clear();
    }
    for (const Diagnostic &remark : each.remarks) {
      stream << "  " << left_justify(&remark == &each.remarks.front() ? "remarks" : "", 15)
             << remark.code() << " ";
      if (remark.range.isValid())
        stream << "line " << sources.begin(remark.range).line << ": ";
      stream << remark.message << "\n";
    }
  }
}

static json::Object toObject(ArrayRef<std::pair<std::string, std::string>> config) {
  json::Object result;
  for (const auto &[name, value] : config)
    result[name] = value;
  return result;
}

/// Peak rates of the machine, for a roofline.
static json::Object describeDevice(const cost::TargetLimits &limits) {
  return json::Object{{"name", limits.device},
                      {"processors", limits.processors},
                      {"clock_ghz", limits.clock},
                      {"memory_gbps", limits.memory},
                      {"cache_gbps", limits.cache},
                      {"threads", limits.threads},
                      {"blocks", limits.blocks},
                      {"registers", limits.registers},
                      {"shared_bytes", limits.sharedBytes}};
}

static json::Object describeEstimate(const Explanation &each) {
  const cost::CostEstimate &estimate = each.estimate;
  if (!estimate.valid)
    return json::Object{{"valid", false}, {"reason", estimate.reason}};
  return json::Object{{"valid", true},
                      {"ms", estimate.milliseconds},
                      {"roofline_ms", estimate.rooflineMilliseconds},
                      {"bound", estimate.bound},
                      {"dram_bytes", estimate.dramBytes},
                      {"l2_bytes", estimate.l2Bytes},
                      {"operations", estimate.operations},
                      {"peak_gops", each.peak},
                      {"peak_name", each.peakName},
                      {"programs", estimate.programs},
                      {"joined_programs", json::Array(each.joined)},
                      {"waves", estimate.waves},
                      {"idle", estimate.idle},
                      {"threads", estimate.threads},
                      {"warps", estimate.warps},
                      {"stages", estimate.stages},
                      {"registers", estimate.registers},
                      {"register_limit", estimate.registerLimit},
                      {"given_registers", estimate.givenRegisters},
                      {"shared_bytes", estimate.sharedBytes},
                      {"blocks", estimate.blocks}};
}

static json::Object describeCompiled(const Explanation &each, const cost::TargetLimits &limits) {
  json::Object compiled{{"threads", each.compiled->threads},
                        {"shared_bytes", each.compiled->sharedBytes},
                        {"wgmma", each.instructions.wgmma > 0},
                        {"mma", each.instructions.mma > 0},
                        {"tma_loads", each.instructions.bulkLoads > 0},
                        {"async_loads", each.instructions.asyncLoads > 0},
                        {"tma_stores", each.instructions.bulkStores > 0}};
  if (each.assembled) {
    compiled["registers"] = each.compiled->registers;
    compiled["spill_bytes"] = each.compiled->spillBytes;
  }
  if (each.computingRegisters)
    compiled["computing_registers"] = each.computingRegisters;
  if (std::optional<Occupancy> found = findOccupancy(each, limits))
    compiled["occupancy"] = json::Object{
        {"blocks", found->blocks}, {"percent", found->percent}, {"bound", found->bound}};
  return compiled;
}

static json::Object describeKernel(Explanation &each, const cost::TargetLimits &limits,
                                   const SourceManager &sources) {
  json::Object shape, kernel = std::move(each.inside);
  kernel["symbol"] = each.symbol;
  for (const auto &[name, extent] : each.extents)
    shape[name] = extent;
  kernel["shape"] = std::move(shape);
  json::Array settings, candidates, remarks, costs;
  for (const KernelSetting &setting : each.settings)
    settings.push_back(
        json::Object{{"name", setting.name}, {"value", setting.value}, {"source", setting.source}});
  kernel["settings"] = std::move(settings);
  if (each.choice)
    for (const RatedConfig &rated : each.choice->rated) {
      json::Object entry{{"config", toObject(rated.config)}};
      if (std::isfinite(rated.milliseconds))
        entry["ms"] = rated.milliseconds;
      else
        entry["reason"] = rated.reason;
      candidates.push_back(std::move(entry));
    }
  kernel["candidates"] = std::move(candidates);
  kernel["estimate"] = describeEstimate(each);
  if (each.compiled)
    kernel["compiled"] = describeCompiled(each, limits);
  for (const auto &[name, sentence] : listCosts(each, limits))
    costs.push_back(json::Object{{"name", name}, {"message", sentence}});
  kernel["costs"] = std::move(costs);
  for (const Diagnostic &remark : each.remarks) {
    json::Object entry{{"code", remark.code()}, {"message", remark.message}};
    if (remark.range.isValid())
      entry["line"] = sources.begin(remark.range).line;
    remarks.push_back(std::move(entry));
  }
  kernel["remarks"] = std::move(remarks);
  return kernel;
}

json::Object makeDocument(MutableArrayRef<Explanation> all, const Options &options,
                          const SourceManager &sources) {
  cost::TargetLimits limits = *cost::findTargetLimits(options.target, options.card);
  json::Array kernels;
  for (Explanation &each : all)
    kernels.push_back(describeKernel(each, limits, sources));
  return json::Object{{"schema", 2},
                      {"target", options.target},
                      {"card", limits.device},
                      {"device", describeDevice(limits)},
                      {"kernels", std::move(kernels)}};
}

} // namespace tile
