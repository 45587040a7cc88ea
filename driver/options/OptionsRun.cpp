// Options of `tilec run` and `tilec tune`, and the items that describe variants.
#include "driver/options/OptionsParser.h"
#include "frontend/Source/ParseJson.h"
#include "frontend/Source/ReadFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <unistd.h>

using namespace llvm;
using namespace llvm::opt;

namespace tile {

/// Appends: a second --shape adds dimensions to the first. Empty items and an empty text are fine.
bool OptionsParser::parseExtents(StringRef option, StringRef text,
                                 std::vector<std::pair<std::string, int64_t>> &extents) {
  SmallVector<StringRef> items;
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    auto [name, number] = item.split('=');
    int64_t extent;
    if (name.trim().empty() || number.trim().getAsInteger(10, extent) || extent < 0)
      return fail(option + " takes extents as in M=1000,N=777, found '" + item + "'");
    for (const auto &[known, before] : extents)
      if (known == name.trim())
        return fail("'" + known + "' is given twice by " + option + ", as " + Twine(before) +
                    " and as " + Twine(extent));
    extents.emplace_back(name.trim().str(), extent);
  }
  return true;
}

bool OptionsParser::parseReal(OptionID id, StringRef name, double &value) {
  const Arg *argument = arguments.getLastArg(id);
  if (!argument)
    return true;
  std::optional<double> number = readFloat(argument->getValue());
  // So written that NaN fails as well.
  if (!number || !(*number >= 0))
    return fail(name + " takes a number that is not negative, found '" + argument->getValue() +
                "'");
  value = *number;
  return true;
}

bool OptionsParser::parseTune(Options &options) {
  TuneOptions &tune = options.tune;
  for (const Arg *argument : arguments.filtered(OPT_shape))
    if (!parseExtents("--shape", argument->getValue(), tune.shapes.emplace_back()))
      return false;
  tune.configs = arguments.getAllArgValues(OPT_config);
  tune.directory = arguments.getLastArgValue(OPT_work).str();
  tune.logs = arguments.getAllArgValues(OPT_merge);
  tune.check = arguments.getLastArgValue(OPT_check, "default").str();
  if (tune.check != "default" && tune.check != "cpu" && tune.check != "none")
    return fail("--check takes default, cpu or none, found '" + tune.check + "'");
  tune.exhaustive = arguments.hasArg(OPT_exhaustive);
  tune.precompile = arguments.hasArg(OPT_precompile);
  tune.force = arguments.hasArg(OPT_force);
  tune.serve = arguments.hasArg(OPT_serve);
  tune.csv = arguments.getLastArgValue(OPT_csv).str();
  tune.plot = arguments.getLastArgValue(OPT_plot).str();
  tune.objective = arguments.getLastArgValue(OPT_objective, "geomean").str();
  if (tune.objective != "geomean" && tune.objective != "worst")
    return fail("--objective takes geomean or worst, found '" + tune.objective + "'");
  // A candidate that wants more than all memory would take others down with it.
  // In MiB.
  tune.memory = (uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE))) >> 20;
  uint64_t variants = 1, jobs = 0;
  tune.hasTimeout = arguments.hasArg(OPT_timeout);
  if (!parseReal(OPT_timeout, "--timeout", tune.timeout) ||
      !parseReal(OPT_budget, "--budget", tune.budget) ||
      !parseNumber(OPT_keep, "--keep", 64, variants) ||
      !parseNumber(OPT_jobs, "--jobs", 1024, jobs) ||
      !parseNumber(OPT_memory, "--memory", uint64_t(1) << 40, tune.memory))
    return false;
  tune.variants = std::max<uint64_t>(variants, 1);
  tune.jobs = jobs;
  if (const Arg *argument = arguments.getLastArg(OPT_shard)) {
    auto [index, count] = StringRef(argument->getValue()).split('/');
    if (index.getAsInteger(10, tune.shard) || count.getAsInteger(10, tune.shards) ||
        tune.shard >= tune.shards)
      return fail("--shard takes I/N with I below N, as in 0/4, found '" +
                  StringRef(argument->getValue()) + "'");
  }
  if (tune.precompile && options.device == "cuda" && options.target.empty())
    return fail("--precompile asks no GPU: name the one to compile for, as in --target sm_90a");
  if (tune.shapes.empty() && !tune.precompile && !tune.serve)
    return fail("tilec tune needs shapes to tune for: add --shape, as in --shape M=4096,N=4096");
  return true;
}

/// "cpu", "cuda", "cuda:1"; `tilec tune` takes several.
bool OptionsParser::parseDevices(StringRef text, Options &options) {
  SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    unsigned ordinal;
    bool isNumbered = name.consume_front("cuda:");
    // Several devices are numbered cards: `cpu,cuda:0` would mix times that nobody can compare.
    bool good = isNumbered
                    ? !name.getAsInteger(10, ordinal) && !is_contained(options.ordinals, ordinal)
                    : names.size() == 1 && (name == "cpu" || name == "cuda");
    if (!good)
      return fail("--device takes cpu, cuda or cuda:N, found '" + text + "'");
    if (isNumbered)
      options.ordinals.push_back(ordinal);
    options.device = isNumbered ? "cuda" : name.str();
  }
  return options.ordinals.size() < 2 || options.command == Options::Command::Tune ||
         fail("tilec run takes one device, found '" + text + "'");
}

bool OptionsParser::parseRun(Options &options) {
  bool isTune = options.command == Options::Command::Tune,
       isRun = options.command == Options::Command::Run ||
               options.command == Options::Command::Debug || isTune;
  auto groupOf = [](const Arg *argument) {
    return argument->getOption().getGroup().isValid() ? argument->getOption().getGroup().getID()
                                                      : 0u;
  };
  // --arg stands in the group of `run` for the help, but compilation takes it, too, with another
  // meaning: an item that describes an argument, not its value.
  for (const Arg *argument : arguments) {
    if (!isRun && !argument->getOption().matches(OPT_arg) && groupOf(argument) == OPT_run_group)
      return fail(argument->getSpelling() + " belongs to `tilec run`");
    if (!isTune && groupOf(argument) == OPT_tune_group)
      return fail(argument->getSpelling() + " belongs to `tilec tune`");
  }
  if (!isRun)
    return true;
  // Of a run there are the variants of the source: those of a call are for files.
  if (!request.generic)
    return fail("--no-generic belongs to compilation and `tilec explain`; leave it out: a run "
                "chooses among the variants of the source and the generic code");
  if (!request.asked.empty())
    return fail("--variant belongs to compilation and `tilec explain`; to run a variant, write "
                "`specialize` into the source");
  if (!isTune && !(options.output.empty() && request.emitted.empty()))
    return fail(StringRef(request.emitted.empty() ? "-o" : "--emit") +
                " does not go with `tilec run`; outputs are written by --out NAME=FILE");
  for (const Arg *argument : arguments.filtered(OPT_arg))
    if (!parsePair(*argument, options.arguments))
      return false;
  for (const Arg *argument : arguments.filtered(OPT_out))
    if (!parsePair(*argument, options.outputs))
      return false;
  bool hasTarget = !request.targets.empty();
  // `tilec tune --target sm_90a` means a card without a further word; `tilec run` computes on the
  // CPU unless it is told otherwise.
  if (!parseDevices(arguments.getLastArgValue(
                        OPT_device, isTune && hasTarget && !options.isCPU() ? "cuda" : "cpu"),
                    options))
    return false;
  if (options.device == "cpu" && hasTarget && !options.isCPU())
    return fail("--target " + options.target + " needs --device cuda");
  if (options.device == "cuda" && options.isCPU() && hasTarget)
    return fail("--target cpu needs --device cpu");
  if (options.device == "cuda" && !hasTarget)
    options.target.clear(); // that of the GPU that is there
  if (options.device == "cpu")
    options.target = "cpu";

  if (const Arg *argument = arguments.getLastArg(OPT_random)) {
    options.hasRandom = true;
    if (!parseExtents("--random", argument->getValue(), options.random))
      return false;
  }
  for (const Arg *argument : arguments.filtered(OPT_expect))
    if (!parsePair(*argument, options.expected))
      return false;
  if (!parseReal(OPT_tolerance, "--tolerance", options.tolerance) ||
      !parseReal(OPT_give_up, "--give-up", options.giveUp))
    return false;
  options.image = arguments.getLastArgValue(OPT_image).str();
  options.measureFile = arguments.getLastArgValue(OPT_measure).str();
  if (!options.image.empty() && options.device != "cuda")
    return fail("--image needs --device cuda");
  uint64_t threads = 0;
  if (!parseNumber(OPT_seed, "--seed", UINT64_MAX, options.seed) ||
      !parseNumber(OPT_threads, "--threads", 4096, threads))
    return false;
  options.threads = threads;
  if (!parseNumber(OPT_program, "--program", INT64_MAX, options.debugProgram))
    return false;
  if (options.command == Options::Command::Debug && options.device != "cpu")
    return fail("tilec debug follows a program on the CPU: leave out --device");
  options.quiet = arguments.hasArg(OPT_q);
  options.time = arguments.hasArg(OPT_time) || !options.measureFile.empty();
  return !isTune || parseTune(options);
}

/// Reads the texts of arguments and variants.
bool OptionsParser::parseArgItems(Options &options) {
  std::string error;
  for (const std::string &text : request.argTexts) {
    std::optional<ArgItem> item = parseArgItem(text, error);
    if (!item)
      return fail("--arg: " + error);
    options.argItems.push_back(std::move(*item));
  }
  StringSet<> names;
  for (const runtime::CompileRequest::Variant &asked : request.asked) {
    if (asked.name.empty() || !all_of(asked.name, [](char c) { return isAlnum(c) || c == '_'; }))
      return fail("the name of a variant is a word of letters, digits and _, found '" + asked.name +
                  "'");
    if (!names.insert(asked.name).second)
      return fail("two variants are called '" + asked.name + "'");
    VariantRequest &variant = options.variants.emplace_back();
    variant.name = asked.name;
    for (const std::string &text : asked.items) {
      std::optional<ArgItem> item = parseArgItem(text, error);
      if (!item)
        return fail("variant '" + asked.name + "': " + error);
      variant.items.push_back(std::move(*item));
    }
  }
  if (!options.generic && options.variants.empty())
    return fail("--no-generic needs a --variant that is left");
  return true;
}

} // namespace tile
