// The target of a compilation: --target, --gpu, TILE_TARGET, else the GPU of this machine.
//
//   --target                      any number of names in a package or in C, else one
//   -o NAME.o, --emit=obj         the CPU, whatever the environment says
//   --gpu                         the target of that card
//   TILE_TARGET                   for commands that write code; `run` and `tune` go by --device
//   the GPU of this machine
//   the fallback of target/       with a note, unless the target changes nothing (noteGuess)
//
// The first that says something decides. --gpu beside --target only picks the card whose numbers
// the cost model takes, and must run the target's code.
#include "driver/options/NativeTarget.h"
#include "driver/options/OptionsParser.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace llvm::opt;

namespace tile {

/// Adds one name of --target.
bool OptionsParser::addTarget(StringRef name, Options &options) {
  std::string target = name.str();
  if (name == "native") {
    Expected<NativeTarget> native = findNativeTarget();
    if (!native)
      return fail("--target native needs a GPU in this machine: " + toString(native.takeError()) +
                  "; name the target, or the card by --gpu (tilec --version lists both)");
    target = std::string(native->target->name);
    // --gpu has the word: `native` may be compiled for another card of the same architecture.
    if (!options.card)
      options.card = native->card;
  } else if (name != "cpu" && !findGPUTarget(name)) {
    std::vector<std::string> names;
    for (const GPUTarget &known : getGPUTargets())
      names.emplace_back(known.name);
    names.insert(names.end(), {"cpu", "native"});
    if (const GPUCard *card = findCard(name))
      return fail("unknown target '" + name + "'; it is a card: --target " +
                  StringRef(card->target) + ", or --gpu '" + name + "'");
    std::string nearest = suggest(name, names);
    return fail("unknown target '" + name + "'; " +
                (nearest.empty() ? "there are " + joinWords(names, "and")
                                 : "did you mean '" + nearest + "'?"));
  }
  if (!is_contained(options.targets, target))
    options.targets.push_back(std::move(target));
  return true;
}

/// --gpu: a card by a part of its name, or by the name that a driver gives it, which is what
/// scripts have. A request names the card of the process that wrote it, for commands too that find
/// theirs by --device.
bool OptionsParser::parseCard(Options &options) {
  if (request.gpu.empty())
    return true;
  if (options.command != Options::Command::Compile &&
      options.command != Options::Command::Explain && !given.contains("gpu"))
    return fail("--gpu belongs to compilation and `tilec explain`");
  options.card = findCard(request.gpu);
  if (!options.card)
    options.card = findCardOfDevice(request.gpu);
  if (options.card)
    return true;
  std::string names;
  for (const GPUCard &card : getGPUCards())
    names += (names.empty() ? "" : ", ") + std::string(card.name);
  return fail("--gpu knows no card, or several, by '" + request.gpu + "'; there are " + names);
}

/// The target without an option: the GPU of this machine, else the fallback of target/.
void OptionsParser::chooseTarget(Options &options) {
  options.target = std::string(getFallbackTarget().name);
  if (options.command != Options::Command::Compile && options.command != Options::Command::Explain)
    return; // they choose by --device
  Expected<NativeTarget> native = findNativeTarget();
  if (!native) {
    consumeError(native.takeError());
    guessed = true;
    return;
  }
  options.target = std::string(native->target->name);
  options.card = native->card;
}

void OptionsParser::noteGuess(const Options &options) const {
  if (!guessed || options.isCPU() || options.json)
    return;
  errs() << "tilec: note: neither --target nor a GPU in this machine: compiling for "
         << options.target << " (" << StringRef(findGPUTarget(options.target)->products)
         << "); --target or TILE_TARGET chooses another\n";
}

std::vector<std::string> OptionsParser::splitTargets(StringRef text) {
  std::vector<std::string> names;
  for (StringRef name : llvm::split(text, ','))
    if (!name.trim().empty())
      names.push_back(name.trim().str());
  return names;
}

/// True if a card of `device` runs code for `target`: PTX without a suffix runs on newer cards too.
static bool runs(const GPUTarget &device, const GPUTarget &target) {
  return target.suffix ? device.capability() == target.capability()
                       : device.capability() >= target.capability();
}

bool OptionsParser::parseTarget(Options &options) {
  if (!parseCard(options))
    return false;
  // Where kernels run at once, --device has the word.
  const bool writes =
      options.command == Options::Command::Compile || options.command == Options::Command::Explain;
  const char *variable = writes ? getenv("TILE_TARGET") : nullptr;
  std::vector<std::string> names = request.targets;
  if (names.empty() && (options.emit == Stage::Obj ||
                        (!options.emit && stageOfFile(options.output) == Stage::Obj))) {
    if (options.card)
      return fail("object files are for the CPU, and --gpu names the " +
                  StringRef(options.card->name) + ": leave out --gpu, or name a .cubin or .ptx");
    options.target = "cpu";
    return true;
  }
  if (names.empty() && options.card)
    names = {std::string(options.card->target)};
  if (names.empty() && variable && *variable)
    names = splitTargets(variable);
  if (names.empty()) {
    if (variable && *variable)
      return fail("TILE_TARGET names no target: set it to one of tilec --version, or unset it");
    chooseTarget(options);
    return true;
  }
  for (const std::string &name : names)
    if (!addTarget(name, options))
      return false;
  options.target = options.targets.front();
  const GPUTarget *of = options.card ? findGPUTarget(options.card->target) : nullptr;
  if (of && !any_of(options.targets, [&](const std::string &name) {
        const GPUTarget *target = findGPUTarget(name);
        return target && runs(*of, *target);
      }))
    return fail("--gpu names a card for " + StringRef(of->name) + ", the " +
                StringRef(options.card->name) + ", but --target is " + options.target +
                ", whose code it does not run");
  if (options.targets.size() > 1 && !options.package && !options.cSource &&
      options.command == Options::Command::Compile)
    return fail("several targets need a package, -o NAME.tilepkg, or C, -o NAME.c");
  return true;
}

} // namespace tile
