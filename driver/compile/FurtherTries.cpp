// Second tries: kernels whose joined tiles find no room get the source's ("Joined tiles" below),
// and those whose threads spill are compiled again, from the passes for the GPU to the assembler.
//
//   the file   k1 (spills) k2 k3 (spills)   one cubin, which says who spills
//   a try      k1 k3                        alone; each is decided on alone
//   the file   k1' k2 k3                    once more at the end, if a try paid for some
//
// Tries go on from what paid before: first with copies in one piece, fewer registers of the
// producer or more of all threads, then with values computed again instead of kept, then with
// another launch or with stores in parts. A try of all kernels of a file needs no other compilation
// at the end if it pays for all. Tries are silent: what passes say they have said on the first
// compilation.
#include "codegen/Assemble.h"
#include "codegen/Host.h"
#include "codegen/NVPTX.h"
#include "codegen/RecomputeAcrossLoops.h"
#include "dialect/AttributeNames.h"
#include "dialect/CopyNames.h"
#include "dialect/FetchNames.h"
#include "dialect/JoinedNames.h"
#include "dialect/PlanNames.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "driver/compile/Compile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/SharedPlan.h"

using namespace mlir;

namespace tile {

/// Bytes of stores and loads that a thread may spill without a warning.
static constexpr unsigned mostSilentSpills = 64;

/// How many warps a block of a further try has at most.
static constexpr int64_t mostWarps = 16;

class Compiler::Tries {
public:
  /// `whole` is the cubin of `compiler`'s PTX.
  Tries(Compiler &compiler, Cubin whole)
      : compiler(compiler), resources(whole.kernels), whole(std::move(whole)),
        seen({compiler.ptx}) {}

  /// The cubin of the file at last; the compiler's manifest and PTX belong to it.
  Cubin run();

private:
  /// An attribute of the launch and its value, or one of LLVM's function, by a kernel's symbol.
  using Launches = std::map<std::string, std::pair<StringRef, int64_t>>;
  using LaunchesBySymbol = std::map<std::string, std::map<StringRef, int64_t>>;

  unsigned getSpills(StringRef symbol) const;
  bool compileWith(const LaunchesBySymbol &launches, bool all);
  void tryAgain(const Launches &wanted);
  void finish();
  Launches askForWholeCopies() const;
  Launches askForLeanProducer() const;
  Launches askForRegisters() const;
  Launches askForRecomputing(int64_t mostOperations) const;
  Launches askForSourceTiles() const;
  Launches askForOtherLaunch() const;
  Launches askForParts() const;

  Compiler &compiler;
  std::vector<KernelResources> resources; ///< of each kernel's best try
  Cubin whole;                            ///< of the file
  std::set<std::string> seen;             ///< PTX: the assembler's answer to it is known
  LaunchesBySymbol accepted;              ///< what the best tries were compiled with
  bool pending = false;                   ///< whether `whole` lacks some of it
};

void Compiler::reportSpills(const runtime::Kernel &kernel) {
  DiagnosticBuilder warning = session.getDiagnostics().report(
      diag::registersSpill, session.getLine(kernel.file, kernel.line), kernel.symbol,
      std::to_string(kernel.launch.spillBytes), std::to_string(kernel.launch.registers));
  // What is asked for is kept: a little spilling may be worth a block.
  ModuleOp widened = getWidened();
  auto asks = widened ? widened.lookupSymbol<KernelOp>(kernel.symbol) : KernelOp();
  for (auto [attribute, name] :
       {std::pair(occupancyName, "occupancy"), std::pair(maxRegistersName, "maxreg")})
    if (auto value = asks ? asks->getAttrOfType<IntegerAttr>(attribute) : IntegerAttr())
      warning.note(llvm::Twine(name) + "(" + llvm::Twine(value.getInt()) +
                   ") bounds the registers of its threads");
  warning.note(
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

/// The bytes that a thread of the kernel spills in its best try.
unsigned Compiler::Tries::getSpills(StringRef symbol) const {
  const KernelResources *found = findResources(resources, symbol);
  return found ? found->spillBytes : 0;
}

/// Does a further try of a kernel pay? Fewer blocks, and values that are computed again behind
/// loops, cost nothing that spills do not. More warps cost: each multiplies a narrower tile, reads
/// more of the operands for it, and has fewer registers. So do the source's tiles, and parts of a
/// store, each of which waits for memory. What is spilled behind a loop, as by most epilogues, is
/// cheap beside that, so no less than half of it must go.
static bool pays(StringRef attribute, unsigned first, unsigned second) {
  bool costs = attribute == requestedWarpsName || attribute == gpu::storePartsName ||
               attribute == gpu::crowdedName;
  return costs ? 2 * second <= first : second < first;
}

/// Puts the kernel as the source has it, with tiles that were not joined, in its place.
static KernelOp takeSource(KernelOp kernel, ModuleOp source) {
  OpBuilder builder(kernel);
  Operation *found = SymbolTable::lookupSymbolIn(source, kernel.getSymNameAttr());
  auto taken = cast<KernelOp>(builder.clone(*found));
  taken->setAttr(gpu::crowdedName, builder.getUnitAttr());
  kernel.erase();
  return taken;
}

/// The passes for the GPU again, from `beforeLayouts`, with attributes by symbol: of these kernels
/// alone, or of `all`. `module`, `manifest` and `ptx` are those of this try then.
bool Compiler::Tries::compileWith(const LaunchesBySymbol &launches, bool all) {
  compiler.manifest = compiler.unlaunched;
  compiler.llvmModule.reset(); // before its context
  compiler.module = compiler.beforeLayouts->clone();
  if (!all)
    compiler.keepKernels(
        [&](const runtime::Kernel &kernel) { return launches.count(kernel.symbol) != 0; });
  compiler.recomputed.clear();
  compiler.registers.clear();
  for (KernelOp kernel : llvm::make_early_inc_range(compiler.module->getOps<KernelOp>())) {
    auto found = launches.find(kernel.getSymName().str());
    if (found == launches.end())
      continue;
    if (found->second.count(gpu::crowdedName))
      kernel = takeSource(kernel, *compiler.beforeWidening);
    for (const auto &[attribute, value] : found->second)
      if (attribute == gpu::crowdedName)
        continue;
      else if (attribute == recomputeName)
        compiler.recomputed[found->first] = value;
      else if (attribute == mostRegistersName)
        compiler.registers[found->first] = value;
      else {
        kernel->setAttr(attribute, Builder(kernel).getI64IntegerAttr(value));
        if (attribute != gpu::producerRegistersName) // which changes no bytes
          kernel->removeAttr(gpu::plannedBytesName);
      }
  }
  return compiler.lowerToGPU() && compiler.lowerToLLVM() && compiler.optimizeLLVM() &&
         compiler.emitPTX();
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
void Compiler::Tries::tryAgain(const Launches &wanted) {
  if (wanted.empty())
    return;
  LaunchesBySymbol launches;
  for (const auto &[symbol, launch] : wanted) {
    launches[symbol] = accepted[symbol];
    launches[symbol][launch.first] = launch.second;
  }
  bool all = wanted.size() == compiler.manifest.kernels.size();
  Compiled first{compiler.manifest, compiler.ptx};
  if (compiler.observer)
    compiler.observer->beginRetry();
  std::optional<Cubin> second;
  if (compileWith(launches, all) && seen.insert(compiler.ptx).second)
    second = compiler.assemblePTX();
  unsigned paying = 0;
  for (const auto &[symbol, launch] : wanted)
    if (const KernelResources *found = second ? findResources(second->kernels, symbol) : nullptr;
        found && pays(launch.first, getSpills(symbol), found->spillBytes)) {
      ++paying;
      accepted[symbol] = launches[symbol];
      for (KernelResources &each : resources)
        if (each.symbol == symbol)
          each = *found;
    }
  bool isWhole = all && paying == wanted.size();
  if (compiler.observer)
    compiler.observer->endRetry(isWhole, compiler);
  if (isWhole) {
    whole = std::move(*second);
    pending = false;
    return;
  }
  pending |= paying != 0;
  compiler.manifest = std::move(first.manifest);
  compiler.ptx = std::move(first.ptx);
}

/// The whole file with what paid for some of its kernels.
void Compiler::Tries::finish() {
  if (!pending)
    return;
  Compiled first{compiler.manifest, compiler.ptx};
  if (compiler.observer)
    compiler.observer->beginRetry();
  std::optional<Cubin> second;
  if (compileWith(accepted, /*all=*/true))
    second = compiler.assemblePTX();
  if (compiler.observer)
    compiler.observer->endRetry(second.has_value(), compiler);
  if (second) {
    whole = std::move(*second);
    return;
  }
  compiler.manifest = std::move(first.manifest);
  compiler.ptx = std::move(first.ptx);
}

/// Where threads spill, copies that stand between a product's steps stay whole: their places need
/// registers at the beginning of a trip alone then.
Compiler::Tries::Launches Compiler::Tries::askForWholeCopies() const {
  Launches wanted;
  for (const std::string &symbol : compiler.copiesInParts)
    if (getSpills(symbol) > mostSilentSpills)
      wanted[symbol] = {gpu::wholeCopiesName, 1};
  return wanted;
}

/// Where threads spill anything beside a producer that keeps the usual number of registers, it
/// gives them more of these: that costs nothing if it needs no more itself.
Compiler::Tries::Launches Compiler::Tries::askForLeanProducer() const {
  Launches wanted;
  for (const std::string &symbol : compiler.freeProducers)
    if (getSpills(symbol))
      wanted[symbol] = {gpu::producerRegistersName, gpu::fewestProducerRegisters};
  return wanted;
}

/// Where threads spill although there are more registers than they use, for the assembler wanted
/// room for one more block, it is asked for the next larger number, if three in four blocks are
/// left.
Compiler::Tries::Launches Compiler::Tries::askForRegisters() const {
  constexpr unsigned granule = 8;
  const GPULimits &limits = findGPUTarget(compiler.options.target)->limits;
  Launches wanted;
  for (const KernelResources &each : resources)
    for (const runtime::Kernel &kernel : compiler.manifest.kernels) {
      if (kernel.symbol != each.symbol || !each.spillBytes)
        continue;
      auto more = int64_t(llvm::alignTo(each.registers + 1, granule));
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
Compiler::Tries::Launches Compiler::Tries::askForRecomputing(int64_t mostOperations) const {
  Launches wanted;
  for (const runtime::Kernel &kernel : compiler.manifest.kernels) {
    auto found = accepted.find(kernel.symbol);
    if (getSpills(kernel.symbol) > mostSilentSpills &&
        (found == accepted.end() || !found->second.count(recomputeName)))
      wanted[kernel.symbol] = {recomputeName, mostOperations};
  }
  return wanted;
}

/// Where threads of joined programs spill, the source's tiles leave each thread more registers.
Compiler::Tries::Launches Compiler::Tries::askForSourceTiles() const {
  Launches wanted;
  for (KernelOp kernel : compiler.getWidened().getOps<KernelOp>())
    if (kernel->hasAttr(gpu::joinedProgramsName) &&
        getSpills(kernel.getSymName()) > mostSilentSpills)
      wanted[kernel.getSymName().str()] = {gpu::crowdedName, 1};
  return wanted;
}

/// Where threads spill and the passes chose how many blocks share a multiprocessor, fewer leave
/// each thread more registers; where they chose the number of warps, twice as many hold half as
/// much each.
Compiler::Tries::Launches Compiler::Tries::askForOtherLaunch() const {
  Launches wanted;
  for (const auto &[symbol, warps] : compiler.freeWarps)
    if (2 * warps <= mostWarps && getSpills(symbol) > mostSilentSpills)
      wanted[symbol] = {requestedWarpsName, 2 * warps};
  for (const auto &[symbol, blocks] : compiler.freeBlocks)
    if (getSpills(symbol) > mostSilentSpills)
      wanted[symbol] = {occupancyName, blocks - 1};
  return wanted;
}

/// Where threads spill in the end, what is computed from products and from tiles of memory is
/// stored in four parts.
Compiler::Tries::Launches Compiler::Tries::askForParts() const {
  constexpr int64_t parts = 4;
  Launches wanted;
  for (const runtime::Kernel &kernel : compiler.manifest.kernels)
    if (getSpills(kernel.symbol) > mostSilentSpills)
      wanted[kernel.symbol] = {gpu::storePartsName, parts};
  return wanted;
}

Cubin Compiler::Tries::run() {
  compiler.retries = true;
  // What passes say they have said on the first compilation.
  mlir::ScopedDiagnosticHandler quiet(&compiler.context,
                                      [](mlir::Diagnostic &) { return success(); });
  tryAgain(askForWholeCopies());
  tryAgain(askForLeanProducer());
  tryAgain(askForRegisters());
  // ptxas's answers to fewer values jump: where the first number does not help, the second may.
  for (int64_t mostOperations : {24, 12})
    tryAgain(askForRecomputing(mostOperations));
  tryAgain(askForSourceTiles());
  tryAgain(askForOtherLaunch());
  tryAgain(askForParts());
  finish();
  // What is reported of a kernel is what it was compiled from.
  for (KernelOp kernel : llvm::make_early_inc_range(compiler.getWidened().getOps<KernelOp>()))
    if (accepted[kernel.getSymName().str()].count(gpu::crowdedName))
      takeSource(kernel, *compiler.beforeWidening);
  compiler.retries = false;
  return std::move(whole);
}

bool Compiler::emitCubin() {
  Phase phase(options, "cubin");
  std::optional<Cubin> cubin = assemblePTX();
  if (!cubin)
    return false;
  cubin = Tries(*this, std::move(*cubin)).run();
  if (session.getDiagnostics().hasErrors())
    return false;
  for (const std::string &warning : cubin->warnings)
    session.getDiagnostics().report(diag::assemblerWarning, Range(), warning);
  // Registers and spills are known from the assembler alone; with PTX the manifest has 0 for both.
  for (const KernelResources &resources : cubin->kernels)
    for (runtime::Kernel &kernel : manifest.kernels)
      if (kernel.symbol == resources.symbol) {
        kernel.launch.registers = resources.registers;
        kernel.launch.spillBytes = resources.spillBytes;
        if (resources.spillBytes > mostSilentSpills)
          reportSpills(kernel);
      }
  binary = std::move(cubin->bytes);
  return !session.getDiagnostics().hasErrors();
}

//===--- Joined tiles -----------------------------------------------------===//
//
// tile-gpu-widen-tiles asks the cost model, which knows what instructions and memory take, not all
// that threads and shared memory hold in the end. What is written must compile whatever the model
// expects:
//
//   tiles -+-> joined -> layouts, places in shared memory -+-> on, as they are
//          |                                               |
//          +-----> as the source has them, of kernels <----+  no room
//
// The first try is silent, till it is known that it stays.

/// For a second try with another launch (tryOtherLaunch): what the passes chose cannot be undone in
/// the module itself.
void Compiler::keepForTries() {
  beforeLayouts = module->clone();
  unlaunched = manifest;
}

/// Whether places in shared memory are found for a module with layouts.
static bool hasPlaces(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createTileGPUAllocateShared());
  return succeeded(passes.run(*copy));
}

/// Whether rings are the reason that a kernel finds no place. The plan of rings counts bytes; where
/// all lie, with gaps between them, is known once everything is there.
static bool areRingsTooMany(KernelOp kernel, ModuleOp module, int64_t limit) {
  bool hasRings = false;
  int64_t sum = gpu::reservedBytes; // as if nothing shared bytes
  kernel.getBody().walk([&](Operation *op) {
    gpu::SharedNeed need = gpu::getSharedNeed(op);
    hasRings |= isa<gpu::RingOp>(op);
    sum += need.bytes + need.alignment;
  });
  if (!hasRings || sum <= limit)
    return false;
  OwningOpRef<ModuleOp> alone = ModuleOp::create(module.getLoc());
  (*alone)->setAttrs(module->getAttrDictionary());
  alone->push_back(kernel->clone());
  ScopedDiagnosticHandler silent(module.getContext(), [](mlir::Diagnostic &) { return success(); });
  return !hasPlaces(*alone);
}

/// The passes that lay tiles out. Kernels whose rings of fetches do not fit into shared memory go
/// through them once more, and load their tiles by themselves; of the first try nothing is said.
bool Compiler::assignLayouts() {
  auto run = [&] { return runPasses("layout passes", populateTileGPUPipeline); };
  if (retries)
    return run();
  std::vector<mlir::Diagnostic> held;
  bool done = runSilently(run, held), again = false;
  int64_t limit = findGPUTarget(options.target)->limits.sharedPerBlock();
  for (KernelOp kernel : beforeLayouts->getOps<KernelOp>()) {
    auto laidOut = module->lookupSymbol<KernelOp>(kernel.getSymName());
    if (!laidOut ||
        !(done ? areRingsTooMany(laidOut, *module, limit) : laidOut->hasAttr(gpu::loadsItselfName)))
      continue;
    kernel->setAttr(gpu::loadsItselfName, UnitAttr::get(&context));
    kernel->removeAttr(gpu::plannedBytesName);
    again = true;
  }
  if (again) {
    module = beforeLayouts->clone();
    if (report)
      report.emplace(context);
    return run();
  }
  bool ended = sayAfterwards(held, context, session);
  return done || !ended
             ? ended
             : session.failInternal("a pass of 'layout passes' failed without a message");
}

/// Marks the kernels that find no room: each is tried alone, from `joined`.
static void markCrowded(ModuleOp source, ModuleOp joined) {
  for (KernelOp kernel : source.getOps<KernelOp>()) {
    OwningOpRef<ModuleOp> alone = joined.clone();
    for (KernelOp other : llvm::make_early_inc_range(alone->getOps<KernelOp>()))
      if (other.getSymName() != kernel.getSymName())
        other.erase();
    PassManager passes(source.getContext());
    passes.enableVerifier(false);
    populateTileGPUPipeline(passes);
    if (failed(passes.run(*alone)) || !hasPlaces(*alone))
      kernel->setAttr(gpu::crowdedName, UnitAttr::get(source.getContext()));
  }
}

/// Joins tiles and gives them layouts.
bool Compiler::joinTiles() {
  for (KernelOp kernel : module->getOps<KernelOp>())
    if (auto found = planned.find(kernel.getSymName().str()); found != planned.end())
      kernel->setAttr(gpu::plannedBytesName, Builder(kernel).getI64IntegerAttr(found->second));
  beforeWidening = module->clone();
  OperationFingerPrint before(*module);
  if (!runPasses("widening", populateWidenPipeline))
    return false;
  keepForTries();
  if (OperationFingerPrint(*module) == before)
    return assignLayouts();
  std::vector<mlir::Diagnostic> said;
  auto joins = [&] {
    bool hasRoom = assignLayouts() && hasPlaces(*module);
    if (!hasRoom)
      markCrowded(*beforeWidening, *beforeLayouts);
    return hasRoom;
  };
  if (runSilently(joins, said))
    return sayAfterwards(said, context, session);
  module = beforeWidening->clone();
  if (report)
    report.emplace(context);
  if (!runPasses("widening", populateWidenPipeline))
    return false;
  keepForTries();
  return assignLayouts();
}

} // namespace tile
