// Kernels whose threads spill are compiled again, from the passes for the GPU to the assembler.
//
//   the file   k1 (spills) k2 k3 (spills)   one cubin, which says who spills
//   a try      k1 k3                        alone; each is decided on alone
//   the file   k1' k2 k3                    once more at the end, if a try paid for some
//
// Tries go on from what paid before: first with fewer registers of the producer or more of all
// threads, then with values computed again instead of kept, then with another launch or with stores
// in parts. A try of all kernels of a file needs no other compilation at the end if it pays for
// all. Tries are silent: what passes say they have said on the first compilation.
#include "codegen/Assemble.h"
#include "codegen/Host.h"
#include "codegen/NVPTX.h"
#include "codegen/RecomputeAcrossLoops.h"
#include "dialect/AttributeNames.h"
#include "dialect/Tile/TileDialect.h"
#include "driver/compile/Compile.h"
#include "passes/TileGPU/LaunchFit.h"

using namespace mlir;

namespace tile {

/// Bytes of stores and loads that a thread may spill without a warning.
static constexpr unsigned mostSilentSpills = 64;

/// How many warps a block of a further try has at most.
static constexpr int64_t mostWarps = 16;

struct Compiler::Tries {
  Cubin whole;                            ///< of the file, at last
  std::vector<KernelResources> resources; ///< of each kernel's best try
  LaunchesBySymbol accepted;              ///< what those were compiled with
  bool pending = false;                   ///< whether `whole` lacks some of it
  std::set<std::string> seen;             ///< PTX: the assembler's answer to it is known
};

void Compiler::reportSpills(const runtime::Kernel &kernel) {
  session.getDiagnostics()
      .report(diag::registersSpill, session.getLine(kernel.file, kernel.line), kernel.symbol,
              std::to_string(kernel.launch.spillBytes), std::to_string(kernel.launch.registers))
      .note(
          "smaller tiles or more warps leave each thread less to hold: `tilec explain` shows what "
          "other configurations cost");
}

/// None after an error, which is reported on the first try alone.
std::optional<Cubin> Compiler::assemblePTX() {
  AssembleOptions request;
  request.arch = options.target;
  request.level = options.level;
  request.ptxasPath = options.ptxasPath;
  request.executablePath = options.executable;
  request.flags = options.ptxasFlags;
  if (options.verbose)
    request.log = &session.getStream();
  llvm::Expected<Cubin> cubin = assemble(ptx, request);
  if (cubin)
    return std::move(*cubin);
  if (retries)
    llvm::consumeError(cubin.takeError());
  else
    reportAssembler(cubin.takeError());
  return std::nullopt;
}

/// What the assembler says of a kernel; null if nothing.
static const KernelResources *findResources(ArrayRef<KernelResources> all, StringRef symbol) {
  auto found =
      llvm::find_if(all, [&](const KernelResources &each) { return each.symbol == symbol; });
  return found == all.end() ? nullptr : &*found;
}

/// The bytes that a thread of the kernel spills.
static unsigned getSpills(ArrayRef<KernelResources> all, StringRef symbol) {
  const KernelResources *found = findResources(all, symbol);
  return found ? found->spillBytes : 0;
}

/// Does a further try of a kernel pay? Fewer blocks, and values that are computed again behind
/// loops, cost nothing that spills do not. More warps cost: each multiplies a narrower tile, reads
/// more of the operands for it, and has fewer registers. So do parts of a store, each of which
/// waits for memory. What is spilled behind a loop, as by most epilogues, is cheap beside that, so
/// no less than half of it must go.
static bool pays(StringRef attribute, unsigned first, unsigned second) {
  bool costs = attribute == requestedWarpsName || attribute == gpu::storePartsName;
  return costs ? 2 * second <= first : second < first;
}

/// The passes for the GPU again, from `beforeLayouts`, with attributes by symbol: of these kernels
/// alone, or of `all`. `module`, `manifest` and `ptx` are those of this try then.
bool Compiler::compileWith(const LaunchesBySymbol &launches, bool all) {
  manifest = unlaunched;
  llvmModule.reset(); // before its context
  module = beforeLayouts->clone();
  if (!all)
    keepKernels([&](const runtime::Kernel &kernel) { return launches.count(kernel.symbol) != 0; });
  recomputed.clear();
  registers.clear();
  for (KernelOp kernel : module->getOps<KernelOp>()) {
    auto found = launches.find(kernel.getSymName().str());
    if (found == launches.end())
      continue;
    for (const auto &[attribute, value] : found->second)
      if (attribute == recomputeName)
        recomputed[found->first] = value;
      else if (attribute == mostRegistersName)
        registers[found->first] = value;
      else
        kernel->setAttr(attribute, Builder(kernel).getI64IntegerAttr(value));
  }
  return lowerToGPU() && lowerToLLVM() && optimizeLLVM() && emitPTX();
}

namespace {

/// What belongs to one PTX: launch parameters in the manifest do, too.
struct Compiled {
  runtime::Manifest manifest;
  std::string ptx;
};

} // namespace

/// Compiles kernels again, each with what paid for it before and what `wanted` says beside that,
/// and keeps what pays.
void Compiler::tryAgain(Tries &tries, const Launches &wanted) {
  if (wanted.empty())
    return;
  LaunchesBySymbol launches;
  for (const auto &[symbol, launch] : wanted) {
    launches[symbol] = tries.accepted[symbol];
    launches[symbol][launch.first] = launch.second;
  }
  bool all = wanted.size() == manifest.kernels.size();
  Compiled first{manifest, ptx};
  if (observer)
    observer->beginRetry();
  std::optional<Cubin> second;
  if (compileWith(launches, all) && tries.seen.insert(ptx).second)
    second = assemblePTX();
  unsigned paying = 0;
  for (const auto &[symbol, launch] : wanted)
    if (const KernelResources *found = second ? findResources(second->kernels, symbol) : nullptr;
        found && pays(launch.first, getSpills(tries.resources, symbol), found->spillBytes)) {
      ++paying;
      tries.accepted[symbol] = launches[symbol];
      for (KernelResources &each : tries.resources)
        if (each.symbol == symbol)
          each = *found;
    }
  bool isWhole = all && paying == wanted.size();
  if (observer)
    observer->endRetry(isWhole, *this);
  if (isWhole) {
    tries.whole = std::move(*second);
    tries.pending = false;
    return;
  }
  tries.pending |= paying != 0;
  manifest = std::move(first.manifest);
  ptx = std::move(first.ptx);
}

/// The whole file with what paid for some of its kernels.
void Compiler::finishTries(Tries &tries) {
  if (!tries.pending)
    return;
  Compiled first{manifest, ptx};
  if (observer)
    observer->beginRetry();
  std::optional<Cubin> second;
  if (compileWith(tries.accepted, /*all=*/true))
    second = assemblePTX();
  if (observer)
    observer->endRetry(second.has_value(), *this);
  if (second) {
    tries.whole = std::move(*second);
    return;
  }
  manifest = std::move(first.manifest);
  ptx = std::move(first.ptx);
}

/// Where threads spill anything beside a producer that keeps the usual number of registers, it
/// gives them more of these: that costs nothing if it needs no more itself.
Compiler::Launches Compiler::askForLeanProducer(const Tries &tries) const {
  Launches wanted;
  for (const std::string &symbol : freeProducers)
    if (getSpills(tries.resources, symbol))
      wanted[symbol] = {gpu::producerRegistersName, gpu::fewestProducerRegisters};
  return wanted;
}

/// Where threads spill although there are more registers than they use, for the assembler wanted
/// room for one more block, it is asked for the next larger number, if three in four blocks are
/// left.
Compiler::Launches Compiler::askForRegisters(const Tries &tries) const {
  constexpr unsigned granule = 8;
  const GPULimits &limits = findGPUTarget(options.target)->limits;
  Launches wanted;
  for (const KernelResources &resources : tries.resources)
    for (const runtime::Kernel &kernel : manifest.kernels) {
      if (kernel.symbol != resources.symbol || !resources.spillBytes)
        continue;
      auto more = int64_t(llvm::alignTo(resources.registers + 1, granule));
      auto countBlocks = [&](int64_t registers) {
        return std::min(limits.threadsPerProcessor / int64_t(kernel.launch.threads),
                        limits.registersPerProcessor / (registers * kernel.launch.threads));
      };
      if (more <= limits.registersPerThread &&
          4 * countBlocks(more) >= 3 * countBlocks(more - granule))
        wanted[kernel.symbol] = {mostRegistersName, more};
    }
  return wanted;
}

/// Where threads spill, what LLVM keeps across loops is computed again behind them, from
/// `mostOperations` at most.
Compiler::Launches Compiler::askForRecomputing(const Tries &tries, int64_t mostOperations) const {
  Launches wanted;
  for (const runtime::Kernel &kernel : manifest.kernels) {
    auto accepted = tries.accepted.find(kernel.symbol);
    if (getSpills(tries.resources, kernel.symbol) > mostSilentSpills &&
        (accepted == tries.accepted.end() || !accepted->second.count(recomputeName)))
      wanted[kernel.symbol] = {recomputeName, mostOperations};
  }
  return wanted;
}

/// Where threads spill and the passes chose how many blocks share a multiprocessor, fewer leave
/// each thread more registers; where they chose the number of warps, twice as many hold half as
/// much each.
Compiler::Launches Compiler::askForOtherLaunch(const Tries &tries) const {
  Launches wanted;
  for (const auto &[symbol, warps] : freeWarps)
    if (2 * warps <= mostWarps && getSpills(tries.resources, symbol) > mostSilentSpills)
      wanted[symbol] = {requestedWarpsName, 2 * warps};
  for (const auto &[symbol, blocks] : freeBlocks)
    if (getSpills(tries.resources, symbol) > mostSilentSpills)
      wanted[symbol] = {occupancyName, blocks - 1};
  return wanted;
}

/// Where threads spill in the end, what is computed from products and from tiles of memory is
/// stored in four parts.
Compiler::Launches Compiler::askForParts(const Tries &tries) const {
  constexpr int64_t parts = 4;
  Launches wanted;
  for (const runtime::Kernel &kernel : manifest.kernels)
    if (getSpills(tries.resources, kernel.symbol) > mostSilentSpills)
      wanted[kernel.symbol] = {gpu::storePartsName, parts};
  return wanted;
}

bool Compiler::emitCubin() {
  Phase phase(options, "cubin");
  std::optional<Cubin> cubin = assemblePTX();
  if (!cubin)
    return false;
  Tries tries;
  tries.resources = cubin->kernels;
  tries.whole = std::move(*cubin);
  tries.seen.insert(ptx);
  {
    retries = true;
    mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return success(); });
    tryAgain(tries, askForLeanProducer(tries));
    tryAgain(tries, askForRegisters(tries));
    // ptxas's answers to fewer values jump: where the first number does not help, the second may.
    for (int64_t mostOperations : {24, 12})
      tryAgain(tries, askForRecomputing(tries, mostOperations));
    tryAgain(tries, askForOtherLaunch(tries));
    tryAgain(tries, askForParts(tries));
    finishTries(tries);
    retries = false;
  }
  if (session.getDiagnostics().hasErrors())
    return false;
  for (const std::string &warning : tries.whole.warnings)
    session.getDiagnostics().report(diag::assemblerWarning, Range(), warning);
  // Registers and spills are known from the assembler alone; with PTX the manifest has 0 for both.
  for (const KernelResources &resources : tries.whole.kernels)
    for (runtime::Kernel &kernel : manifest.kernels)
      if (kernel.symbol == resources.symbol) {
        kernel.launch.registers = resources.registers;
        kernel.launch.spillBytes = resources.spillBytes;
        if (resources.spillBytes > mostSilentSpills)
          reportSpills(kernel);
      }
  binary = std::move(tries.whole.bytes);
  return !session.getDiagnostics().hasErrors();
}

} // namespace tile
