// Runs the stages of one compilation: tile dialect (FrontStages.cpp), target dialects, LLVM,
// machine code.
//
//   text -> ast -> tile -> tile-opt -+-> gpu -> llvm -> ptx -> cubin -> sass
//                                    +--------> llvm -> obj                     on the CPU
//
// Where threads of a cubin spill, gpu to cubin run once more for their kernels (FurtherTries.cpp).
//
// A step returns false after a diagnostic, never without one, but for a second try, which is
// silent: callers only pass the failure on. Products of a stage stay readable (getProduct) until a
// later step takes their input apart: the module is one object that each stage changes in place, so
// a stage is dumped before the next one runs.
#include "driver/compile/Compile.h"
#include "codegen/Assemble.h"
#include "codegen/CSource.h"
#include "codegen/Host.h"
#include "codegen/NVPTX.h"
#include "codegen/RecomputeAcrossLoops.h"
#include "codegen/Translate.h"
#include "dialect/AttributeNames.h"
#include "dialect/CPUAttributeNames.h"
#include "dialect/JoinedNames.h"
#include "dialect/RowNames.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "driver/Dialects.h"
#include "driver/check/PaddingWarnings.h"
#include "driver/support/Output.h"
#include "frontend/Ast/Printer.h"
#include "frontend/Diag/Suggest.h"
#include "library/Library.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Analysis/CostModel/CostModel.h"
#include "passes/Pipelines.h"
#include "passes/TileGPU/LaunchFit.h"
#include "passes/TileGPU/PartCount.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tile {

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  registerTranslations(registry);
  return registry;
}

/// One thread: passes work on kernels of a few thousand operations, and several compilations run
/// beside each other instead (runJobs).
Compiler::Compiler(const Options &options, Session &session, llvm::StringRef path)
    : options(options), session(session), path(path),
      imports(session.getSources(), session.getDiagnostics(), options.includes, getLibrary()),
      context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler([&session](mlir::Diagnostic &diagnostic) {
    session.report(diagnostic);
    return success();
  });
}

Compiler::~Compiler() = default;

bool Compiler::run(Stage last) {
  // Remarks on masked accesses are decided by the GPU's passes, which take some masks away.
  if (!options.isCPU() && last >= Stage::GPU)
    session.hold(diag::maskedAccess);
  bool done = runStages(last);
  // Where the GPU's passes were not reached.
  session.release([](StringRef, Location) { return true; });
  session.reportRemarks(/*several=*/manifest.kernels.size() > 1);
  return done;
}

bool Compiler::runStages(Stage last) {
  printsLLVM = last == Stage::LLVM || !options.dumpDirectory.empty();
  using Step = std::pair<Stage, bool (Compiler::*)()>;
  static const Step gpuSteps[] = {
      {Stage::Ast, &Compiler::parse},        {Stage::Tile, &Compiler::elaborate},
      {Stage::TileOpt, &Compiler::optimize}, {Stage::GPU, &Compiler::lowerToGPU},
      {Stage::LLVM, &Compiler::lowerToLLVM}, {Stage::LLVM, &Compiler::optimizeLLVM},
      {Stage::PTX, &Compiler::emitPTX},      {Stage::Cubin, &Compiler::emitCubin},
      {Stage::Sass, &Compiler::disassemble}};
  static const Step cpuSteps[] = {
      {Stage::Ast, &Compiler::parse},         {Stage::Tile, &Compiler::elaborate},
      {Stage::TileOpt, &Compiler::optimize},  {Stage::LLVM, &Compiler::lowerToLLVM},
      {Stage::LLVM, &Compiler::optimizeLLVM}, {Stage::Obj, &Compiler::emitObject}};
  for (const auto &[stage, step] :
       options.isCPU() ? llvm::ArrayRef<Step>(cpuSteps) : llvm::ArrayRef<Step>(gpuSteps)) {
    if (stage > last)
      break;
    if (options.verbose && step != &Compiler::optimizeLLVM)
      session.getStream() << "tilec: " << path << ": " << getStageName(stage) << "\n";
    if (!(this->*step)() || (step != &Compiler::lowerToLLVM && !dump(stage)))
      return false;
    if (observer && step != &Compiler::lowerToLLVM)
      observer->afterStage(stage, *this);
  }
  if (report) // which lowerToLLVM takes
    report->emit(*module);
  report.reset();
  return true;
}

//===--- MLIR -------------------------------------------------------------===//

/// --debug-crash: the mistakes that the compiler may make, on purpose.
static void failOnPurpose(StringRef how, ModuleOp module) {
  if (how == "fatal")
    llvm::report_fatal_error("asked for by --debug-crash");
  if (how == "exception")
    throw std::runtime_error("asked for by --debug-crash");
  if (how == "memory")
    *const_cast<volatile int *>(static_cast<int *>(nullptr)) = 1;
  for (KernelOp kernel : module.getOps<KernelOp>()) // "verifier"
    kernel->setAttr(SymbolTable::getVisibilityAttrName(), UnitAttr::get(module.getContext()));
}

bool Compiler::runPasses(llvm::StringRef name, llvm::function_ref<void(OpPassManager &)> populate) {
  Phase phase(options, name);
  PassManager passes(&context);
  passes.enableVerifier(
      false); // once at the end is enough to keep a wrong module from becoming wrong numbers
  populate(passes);
  if (report)
    report->watch(passes);
  if (observer)
    observer->addPasses(name, passes);
  if (options.printAfterAll || !options.printAfter.empty())
    passes.enableIRPrinting([](Pass *, Operation *) { return false; },
                            [this](Pass *pass, Operation *) {
                              return options.printAfterAll ||
                                     llvm::is_contained(options.printAfter, pass->getArgument());
                            },
                            /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false,
                            /*printAfterOnlyOnFailure=*/false, session.getStream());
  if (!options.crash.empty())
    failOnPurpose(options.crash, *module);
  if (succeeded(passes.run(*module)) && succeeded(verify(*module)))
    return !session.getDiagnostics().hasErrors(); // -Werror
  if (retries)
    return false;
  return session.getDiagnostics().hasErrors()
             ? false
             : session.failInternal("a pass of '" + name + "' failed without a message");
}

// The pipelines with their options filled in, which MLIR does not let one copy.

static void addOptimizePasses(OpPassManager &passes, const Options &options) {
  OptimizeOptions chosen;
  chosen.level = options.level;
  populateOptimizePipeline(passes, chosen);
}

static void addCPUPasses(OpPassManager &passes, const Options &options, unsigned vectorBits) {
  CPUOptions chosen;
  chosen.vectorBits = vectorBits;
  populateCPUPipeline(passes, chosen);
}

/// Bytes of shared memory of each kernel's block, of kernels as the model sees them when it
/// chooses.
static std::map<std::string, int64_t> planMemory(ModuleOp module, const Options &options) {
  std::map<std::string, int64_t> planned;
  std::optional<cost::TargetLimits> limits = cost::findTargetLimits(options.target, options.card);
  if (limits && limits->target)
    for (KernelOp kernel : module.getOps<KernelOp>())
      if (cost::CostEstimate found = cost::estimateCost(kernel, {}, *limits); found.valid)
        planned[kernel.getSymName().str()] = found.sharedBytes;
  return planned;
}

bool Compiler::optimize() {
  planned = planMemory(*module, options);
  if (!runPasses("tile passes", [&](OpPassManager &passes) { addOptimizePasses(passes, options); }))
    return false;
  if (options.level > 0) // without, nothing is proven to exist
    reportPadding(*module, session);
  return !session.getDiagnostics().hasErrors();
}

/// What LLVM's functions say of how many blocks share a multiprocessor.
static constexpr StringLiteral leastBlocksName = "nvvm.minctasm";

/// Runs passes of a try that may not stay; `said` has what they would have told.
bool Compiler::runSilently(llvm::function_ref<bool()> run, std::vector<mlir::Diagnostic> &said) {
  llvm::SaveAndRestore silent(retries, true);
  ScopedDiagnosticHandler hold(&context, [&](mlir::Diagnostic &each) {
    said.push_back(std::move(each));
    return success();
  });
  return run();
}

bool sayAfterwards(std::vector<mlir::Diagnostic> &said, mlir::MLIRContext &context,
                   Session &session) {
  for (mlir::Diagnostic &each : said)
    context.getDiagEngine().emit(std::move(each));
  return !session.getDiagnostics().hasErrors();
}

bool Compiler::lowerToGPU() {
  if (options.passReport && !retries)
    report.emplace(context);
  if (!(retries ? assignLayouts() : joinTiles()))
    return false;
  if (!retries)
    for (KernelOp kernel : beforeLayouts->getOps<KernelOp>())
      if (KernelOp laidOut = module->lookupSymbol<KernelOp>(kernel.getSymName());
          laidOut && !kernel->hasAttr(occupancyName))
        if (auto blocks = laidOut->getAttrOfType<IntegerAttr>(occupancyName))
          freeBlocks[kernel.getSymName().str()] = blocks.getInt();
  if (!retries)
    for (KernelOp kernel : beforeLayouts->getOps<KernelOp>())
      if (!kernel->hasAttr(requestedWarpsName) && !kernel->hasAttr(consumersName))
        if (KernelOp laidOut = module->lookupSymbol<KernelOp>(kernel.getSymName()))
          if (auto warps = laidOut->getAttrOfType<IntegerAttr>(gpu::numWarpsName))
            freeWarps[kernel.getSymName().str()] = warps.getInt();
  if (!retries)
    module->walk([&](gpu::WarpSpecializeOp split) {
      if (!split->hasAttr(gpu::producerRegistersName))
        freeProducers.insert(split->getParentOfType<KernelOp>().getSymName().str());
    });
  if (!retries)
    module->walk([&](gpu::AsyncCopyOp copy) {
      if (copy.getPart())
        copiesInParts.insert(copy->getParentOfType<KernelOp>().getSymName().str());
    });
  reportMasks();
  return true;
}

/// Remarks on masks are for accesses that still have one: what TMA copies has none, or one that it
/// takes for nothing.
void Compiler::reportMasks() {
  DenseSet<std::pair<StringRef, Location>> masked; // looked up only
  for (KernelOp kernel : module->getOps<KernelOp>())
    kernel.walk([&](Operation *op) {
      if (isa<LoadOp, StoreOp, GatherOp, ScatterOp, AtomicOp, gpu::AsyncCopyOp, gpu::ClearFromOp>(
              op))
        masked.insert({kernel.getSymName(), op->getLoc()});
    });
  session.release(
      [&](StringRef kernel, Location location) { return masked.contains({kernel, location}); });
}

bool Compiler::lowerToLLVM() {
  bool done;
  if (options.isCPU()) {
    llvm::Expected<HostTarget> target = HostTarget::create(options.level, options.cpu);
    if (!target)
      return session.failInternal(target.takeError());
    host = std::make_unique<HostTarget>(std::move(*target));
    done = runPasses("CPU passes", [&](OpPassManager &passes) {
      addCPUPasses(passes, options, host->getVectorBits());
    });
  } else {
    done = runPasses("places", populatePlacesPipeline);
    if (report)
      report->emit(*module);
    report.reset();
    done = done && runPasses("NVVM passes", populateNVVMPipeline);
  }
  if (!done)
    return false;
  fillLaunch();
  Phase phase(options, "translation to LLVM IR");
  llvmContext = std::make_unique<llvm::LLVMContext>();
  llvmContext->setDiscardValueNames(!printsLLVM); // they take time
  llvmModule = translateToLLVM(*module, *llvmContext);
  if (llvmModule || retries)
    return llvmModule != nullptr;
  return session.getDiagnostics().hasErrors()
             ? false
             : session.failInternal("no LLVM IR came out of the passes");
}

/// Tensor maps are the last arguments of a kernel's function.
/// Sets what it finds, and clears what an earlier try left: the manifest may be filled twice.
static void fillTensorMaps(runtime::Kernel &kernel, ArrayAttr maps) {
  kernel.tensorMaps.clear();
  llvm::erase_if(kernel.arguments, [](const runtime::Argument &argument) {
    return argument.kind == runtime::Argument::Kind::TensorMap;
  });
  if (!maps)
    return;
  // A map names a parameter by its place among those of the ABI, which leaves out fixed scalars.
  std::vector<std::string> machineParams;
  for (const runtime::Argument &argument : kernel.arguments)
    if (argument.kind == runtime::Argument::Kind::Param)
      machineParams.push_back(argument.name);
  for (auto map : maps.getAsRange<gpu::TensorMapAttr>()) {
    runtime::TensorMap &entry = kernel.tensorMaps.emplace_back();
    entry.param = machineParams[map.getParam()];
    entry.order.assign(map.getOrder().begin(), map.getOrder().end());
    entry.box.assign(map.getBox().begin(), map.getBox().end());
    entry.swizzle = unsigned(map.getSwizzle());
    entry.steps.assign(map.getSteps().begin(), map.getSteps().end());
    kernel.arguments.push_back(
        {runtime::Argument::Kind::TensorMap, "", unsigned(kernel.tensorMaps.size() - 1)});
  }
}

/// Arithmetic of countParts() on expressions of the manifest.
struct ExprMath {
  using Value = runtime::Expr;
  using Op = runtime::Expr::Op;
  static Value constant(int64_t value) { return Value(value); }
  static Value mul(Value a, Value b) { return Value::make(Op::Mul, a, b); }
  static Value div(Value a, Value b) { return Value::make(Op::Div, a, b); }
  static Value min(Value a, Value b) { return Value::make(Op::Min, a, b); }
  static Value max(Value a, Value b) { return Value::make(Op::Max, a, b); }
};

/// The number of parts on a grid: as the kernel itself computes it.
static runtime::Expr getSplitParts(const std::vector<runtime::Expr> &grid, int64_t wanted,
                                   int64_t most, bool ahead) {
  using runtime::Expr;
  using Op = runtime::Expr::Op;
  Expr programs(1);
  for (const Expr &extent : grid)
    programs = Expr::make(Op::Mul, programs,
                          Expr::make(Op::Max, Expr::make(Op::Min, extent, Expr(wanted)), Expr(1)));
  return gpu::countParts(ExprMath(), programs, wanted, most, ahead);
}

/// Where one program is several of the source, the launch starts as many fewer.
static void fillJoined(runtime::Kernel &kernel, LLVM::LLVMFuncOp function) {
  using runtime::Expr;
  auto joined = function->getAttrOfType<DenseI64ArrayAttr>(gpu::joinedProgramsName);
  for (size_t axis = 0; joined && axis < kernel.grid.size(); ++axis)
    if (int64_t programs = joined[int64_t(axis)]; programs > 1)
      kernel.grid[axis] = Expr::make(Expr::Op::CeilDiv, kernel.grid[axis], Expr(programs));
}

/// Blocks that are a cluster have programs in pairs: the launch starts an even number along the
/// axes of the cluster, where blocks do not take programs themselves.
static void fillPairs(runtime::Kernel &kernel, LLVM::LLVMFuncOp function) {
  using runtime::Expr;
  if (auto axes = function->getAttrOfType<DenseI64ArrayAttr>(gpu::pairedAxesName))
    for (int64_t axis : axes.asArrayRef()) {
      Expr pairs = Expr::make(Expr::Op::CeilDiv, kernel.grid[size_t(axis)], Expr(2));
      kernel.grid[size_t(axis)] = Expr::make(Expr::Op::Mul, pairs, Expr(2));
    }
}

/// The parts of a split loop are one more axis of the grid, and need memory to exchange their sums
/// unless they are a cluster; blocks that take programs need a count.
static void fillScratch(runtime::Kernel &kernel, LLVM::LLVMFuncOp function) {
  if (auto parts = function->getAttrOfType<IntegerAttr>(gpu::splitPartsName)) {
    auto programs = function->getAttrOfType<IntegerAttr>(gpu::splitProgramsName);
    kernel.grid.push_back(programs ? getSplitParts(kernel.grid, programs.getInt(), parts.getInt(),
                                                   function->hasAttr(gpu::splitAheadName))
                                   : runtime::Expr(parts.getInt()));
  }
  auto bytes = function->getAttrOfType<IntegerAttr>(gpu::scratchBytesName);
  if (!bytes)
    return;
  kernel.launch.scratchBytes = unsigned(bytes.getInt());
  kernel.launch.scratchShared = !function->hasAttr(gpu::splitPartsName);
  kernel.arguments.push_back({runtime::Argument::Kind::Scratch, {}, 0});
}

/// What of a block's shared memory a launch needs: rows of fewer trips than there are slots leave
/// the last ones unused.
static void fillShared(runtime::Kernel &kernel, LLVM::LLVMFuncOp function) {
  using runtime::Expr;
  auto bytes = function->getAttrOfType<IntegerAttr>(gpu::sharedBytesName);
  auto byRow = function->getAttrOfType<DenseI64ArrayAttr>(gpu::sharedByRowName);
  if (bytes)
    kernel.launch.sharedBytes = bytes.getInt();
  if (!bytes || !byRow)
    return;
  int64_t number = byRow[0], step = byRow[1], none = byRow[2], always = byRow[3];
  int64_t first = byRow[4], bytesOfSlot = byRow[5], slots = byRow[6];
  for (const runtime::Argument &argument : kernel.arguments) {
    if (argument.kind != runtime::Argument::Kind::Dim || number-- > 0)
      continue;
    // The bytes of the slots, times 0 or 1 for whether there is a trip that uses one.
    Expr extent = Expr::makeName(argument.name);
    Expr trips =
        Expr::make(Expr::Op::Min, Expr::make(Expr::Op::CeilDiv, extent, Expr(step)), Expr(slots));
    Expr bytesOfSlots = Expr::make(
        Expr::Op::Add, Expr::make(Expr::Op::Mul, std::move(trips), Expr(bytesOfSlot)), Expr(first));
    Expr used = Expr::make(Expr::Op::Min, Expr::make(Expr::Op::Div, extent, Expr(none + 1)),
                           Expr(int64_t(1)));
    kernel.launch.sharedTaken = Expr::make(
        Expr::Op::Add, Expr::make(Expr::Op::Mul, std::move(used), std::move(bytesOfSlots)),
        Expr(always));
    return;
  }
}

/// Memory for the tiles of a kernel on the CPU.
static void fillHostScratch(runtime::Kernel &kernel, LLVM::LLVMFuncOp function) {
  auto bytes = function->getAttrOfType<IntegerAttr>(cpu::scratchBytesName);
  if (!bytes)
    return;
  kernel.launch.scratchBytes = unsigned(bytes.getInt());
  kernel.arguments.push_back({runtime::Argument::Kind::Scratch, {}, 0});
}

/// Takes the launch configuration from what the passes wrote on each function.
void Compiler::fillLaunch() {
  for (runtime::Kernel &kernel : manifest.kernels) {
    auto function = module->lookupSymbol<LLVM::LLVMFuncOp>(kernel.symbol);
    if (!function)
      continue;
    if (auto threads =
            function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName()))
      kernel.launch.threads = threads[0];
    fillShared(kernel, function);
    kernel.launch.persistent = function->hasAttr(gpu::persistentGridName);
    if (auto cluster =
            function->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getClusterDimAttrName()))
      kernel.launch.cluster = cluster[0];
    fillJoined(kernel, function);
    fillPairs(kernel, function);
    fillScratch(kernel, function);
    fillHostScratch(kernel, function);
    fillTensorMaps(kernel, function->getAttrOfType<ArrayAttr>(gpu::tensorMapsName));
  }
}

//===--- LLVM -------------------------------------------------------------===//

bool Compiler::optimizeLLVM() {
  Phase phase(options, "LLVM passes");
  if (options.isCPU()) {
    if (llvm::Error error = host->optimize(*llvmModule))
      return session.failInternal(std::move(error));
    return true;
  }
  llvm::Expected<NVPTXTarget> target =
      NVPTXTarget::create(*findGPUTarget(options.target), options.level);
  if (!target)
    return session.failInternal(target.takeError());
  gpu = std::make_unique<NVPTXTarget>(std::move(*target));
  for (const auto &[symbol, mostOperations] : recomputed)
    if (llvm::Function *function = llvmModule->getFunction(symbol))
      function->addFnAttr(recomputeName, std::to_string(mostOperations));
  for (const auto &[symbol, number] : registers)
    if (llvm::Function *function = llvmModule->getFunction(symbol);
        function && !function->hasFnAttribute(leastBlocksName) &&
        !function->hasFnAttribute(mostRegistersName))
      function->addFnAttr(mostRegistersName, std::to_string(number));
  if (llvm::Error error = gpu->optimize(*llvmModule))
    return session.failInternal(std::move(error));
  return true;
}

bool Compiler::emitPTX() {
  Phase phase(options, "PTX");
  llvm::Expected<std::string> text = gpu->emitPTX(*llvmModule);
  if (!text)
    return session.failInternal(text.takeError());
  ptx = std::move(*text);
  return true;
}

/// An assembler's error, at the place in the source that the refused PTX comes from.
void Compiler::reportAssembler(llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error),
      [&](const NoAssembler &missing) {
        session.getDiagnostics().report(diag::noAssembler, Range(), missing.message());
      },
      [&](const RefusedPTX &refused) {
        std::vector<SourcePlace> places = findSourcePlaces(ptx, refused.getLine());
        auto getRange = [&](const SourcePlace &place) {
          return session.getLine(place.file, place.line, place.column);
        };
        Range range = places.empty() ? Range() : getRange(places.front());
        DiagnosticBuilder report =
            session.getDiagnostics().report(diag::assemblerFailed, range, refused.message());
        if (range.isValid() && session.getSources().text(range).contains("ptx("))
          report.note("the text of `ptx` goes to the assembler as it stands");
        for (const SourcePlace &call : llvm::ArrayRef(places).drop_front(places.empty() ? 0 : 1))
          if (Range place = getRange(call); place.isValid())
            report.note(place, "called from here");
      },
      [&](const llvm::ErrorInfoBase &other) {
        session.getDiagnostics().report(diag::assemblerFailed, Range(), other.message());
      });
}

bool Compiler::disassemble() {
  Phase phase(options, "sass");
  llvm::Expected<std::string> text =
      tile::disassemble(binary, options.ptxasPath, options.executable,
                        options.verbose ? &session.getStream() : nullptr);
  if (!text)
    return session.failCall(llvm::toString(text.takeError()));
  sass = std::move(*text);
  return true;
}

bool Compiler::emitObject() {
  Phase phase(options, "object file");
  // Functions that C calls keep the names that C gives them.
  if (options.cSource && !options.outName.empty())
    for (const runtime::Kernel &kernel : manifest.kernels)
      if (llvm::Function *function = llvmModule->getFunction(kernel.symbol))
        function->setName(prefixC(options.outName, kernel.symbol));
  llvm::Expected<std::string> bytes = host->emitObject(*llvmModule);
  if (!bytes)
    return session.failInternal(bytes.takeError());
  binary = std::move(*bytes);
  return true;
}

//===--- Products ---------------------------------------------------------===//

std::string Compiler::getProduct(Stage stage) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  switch (stage) {
  case Stage::Ast:
    ast::print(*program, session.getSources(), stream);
    break;
  case Stage::Tile:
  case Stage::TileOpt:
  case Stage::GPU:
    module->print(stream);
    stream << "\n";
    break;
  case Stage::LLVM:
    llvmModule->print(stream, nullptr);
    break;
  case Stage::PTX:
    return ptx;
  case Stage::Sass:
    return sass;
  case Stage::Cubin:
  case Stage::Obj:
    return binary;
  }
  return text;
}

bool Compiler::dump(Stage stage) {
  if (options.dumpDirectory.empty())
    return true;
  if (std::error_code error = llvm::sys::fs::create_directories(options.dumpDirectory))
    return session.failCall("cannot make the folder '" + options.dumpDirectory +
                            "': " + error.message());
  llvm::SmallString<128> name(options.dumpDirectory);
  llvm::sys::path::append(name,
                          (path == "-" ? "stdin" : llvm::sys::path::stem(path)) + getEnding(stage));
  return writeFiles({{name.str().str(), getProduct(stage)}}, session);
}

/// Calls `take` with the name of each stage that passes make, and its pipeline.
static void
forEachPipeline(const Options &options,
                llvm::function_ref<void(llvm::StringRef name, OpPassManager &passes)> take) {
  auto call = [&](llvm::StringRef name, llvm::function_ref<void(OpPassManager &)> populate) {
    OpPassManager passes(ModuleOp::getOperationName());
    populate(passes);
    take(name, passes);
  };
  call("tile-opt", [&](OpPassManager &passes) { addOptimizePasses(passes, options); });
  if (options.isCPU()) {
    llvm::Expected<HostTarget> target = HostTarget::create(options.level, options.cpu);
    unsigned bits = target ? target->getVectorBits() : 128;
    llvm::consumeError(target.takeError());
    call("llvm", [&](OpPassManager &passes) { addCPUPasses(passes, options, bits); });
    return;
  }
  call("gpu", [](OpPassManager &passes) {
    populateWidenPipeline(passes);
    populateTileGPUPipeline(passes);
  });
  call("llvm", [](OpPassManager &passes) {
    populatePlacesPipeline(passes);
    populateNVVMPipeline(passes);
  });
}

void printPipelines(const Options &options) {
  forEachPipeline(options, [](llvm::StringRef name, OpPassManager &passes) {
    llvm::outs() << name << ": ";
    passes.printAsTextualPipeline(llvm::outs());
    llvm::outs() << "\n";
  });
}

bool checkPassNames(const Options &options, Session &session) {
  if (options.printAfter.empty())
    return true;
  std::vector<std::string> names;
  std::set<std::string> targets(options.targets.begin(), options.targets.end());
  targets.insert(options.target);
  for (const std::string &target : targets) {
    Options own = options;
    own.target = target;
    forEachPipeline(own, [&](llvm::StringRef, OpPassManager &passes) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      passes.printAsTextualPipeline(stream);
      // Options stand in braces, which may be nested.
      size_t depth = 0;
      std::string word;
      for (char c : text + ",") {
        depth += c == '{';
        bool isName = depth == 0 && (llvm::isAlnum(c) || c == '-' || c == '_');
        if (isName)
          word += c;
        else if (!word.empty())
          names.push_back(std::move(word)), word.clear();
        depth -= c == '}' && depth > 0;
      }
    });
  }
  for (const std::string &name : options.printAfter)
    if (!llvm::is_contained(names, name)) {
      std::string near = suggest(name, names);
      return session.failCall("no pass is called '" + name + "', in --print-ir-after; " +
                              (near.empty() ? "--print-pipeline lists those that run"
                                            : "did you mean '" + near + "'?"));
    }
  return true;
}

} // namespace tile
