// The inside of a compilation as JSON: stages as text with places, passes, and each kernel as it
// stands before it becomes code for one thread.
#include "driver/explain/Document.h"
#include "codegen/Assemble.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "driver/explain/Explain.h"
#include "mlir/Pass/PassManager.h"
#include "target/Target.h"

using namespace llvm;

namespace tile {

/// The pass before which a kernel is still made of tiles, with its layouts and shared memory.
static constexpr StringLiteral lastLayoutPass = "convert-tile-gpu-to-vector";

DocumentCollector::DocumentCollector(const Options &options, Session &session, bool whole)
    : options(options), session(session), whole(whole) {
  passes.before = [this](StringRef pass, mlir::Operation *op) {
    if (auto module = dyn_cast<mlir::ModuleOp>(op); module && pass == lastLayoutPass)
      atLastLayout(module);
  };
}

namespace {

/// Is told when a pass is about to run; keeps no log.
class Watcher : public mlir::PassInstrumentation {
public:
  explicit Watcher(const report::PassLog &passes) : passes(passes) {}
  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override {
    passes.before(pass->getArgument(), op);
  }

private:
  const report::PassLog &passes;
};

} // namespace

void DocumentCollector::addPasses(StringRef pipeline, mlir::PassManager &manager) {
  if (!whole)
    return manager.addInstrumentation(std::make_unique<Watcher>(passes));
  manager.addInstrumentation(passes.watch(pipeline == "tile passes"     ? "tile-opt"
                                          : pipeline == "layout passes" ? "gpu"
                                                                        : "llvm"));
}

void DocumentCollector::beginRetry() {
  first = Attempt{passes.runs, listings, kernels};
  erase_if(passes.runs, [](const report::PassRun &run) { return run.stage != "tile-opt"; });
  erase_if(listings, [](const report::Listing &listing) {
    return listing.stage == "gpu" || listing.stage == "ptx";
  });
  kernels.clear();
}

void DocumentCollector::endRetry(bool kept, Compiler &compiler) {
  if (kept) {
    if (whole)
      listings.push_back(report::listPTX(compiler.getProduct(Stage::PTX), files));
  } else {
    passes.runs = std::move(first->runs);
    listings = std::move(first->listings);
    kernels = std::move(first->kernels);
  }
  first.reset();
}

void DocumentCollector::afterStage(Stage now, Compiler &compiler) {
  static constexpr StringLiteral titles[] = {"", "tile IR", "tile IR, optimised"};
  if (now == Stage::Ast)
    files.getNumber(session.getSources().name(FileID(0))); // the input is file 0
  if (!whole)
    return;
  if (now == Stage::Tile || now == Stage::TileOpt) {
    listings.push_back(report::listModule(compiler.getModule(), getStageName(now),
                                          titles[size_t(now)], files, encodings));
  } else if (now == Stage::PTX) {
    listings.push_back(report::listPTX(compiler.getProduct(Stage::PTX), files));
    missing = "no assembler was found: ptxas makes the machine code; see tilec help environment";
  } else if (now == Stage::Cubin) {
    disassemble(compiler.getProduct(Stage::Cubin));
  }
}

void DocumentCollector::disassemble(const std::string &cubin) {
  Expected<std::string> text = tile::disassemble(cubin, options.ptxasPath, options.executable,
                                                 options.verbose ? &session.getStream() : nullptr,
                                                 /*lines=*/true);
  missing = text ? "" : toString(text.takeError());
  if (text)
    listings.push_back(report::listSass(*text, files));
}

report::BlockRates DocumentCollector::getRates() const {
  report::BlockRates rates;
  std::optional<cost::TargetLimits> limits = cost::findTargetLimits(options.target, options.card);
  if (!limits)
    return rates;
  // The table has 10^9 in a second for the whole machine: that many in a nanosecond.
  auto ofOne = [&](double rate) { return std::max(rate / double(limits->processors), 1e-3); };
  rates.copied = ofOne(limits->cache);
  rates.tensor16 = ofOne(limits->tensor16);
  rates.tensor8 = ofOne(limits->tensor8 ? limits->tensor8 : limits->tensor16);
  rates.tf32 = ofOne(limits->tensorTF32);
  rates.vector = ofOne(limits->vector32 / 2);
  rates.special = ofOne(limits->special);
  return rates;
}

void DocumentCollector::atLastLayout(mlir::ModuleOp module) {
  if (whole)
    listings.push_back(report::listModule(module, "gpu", "tile_gpu IR", files, encodings));
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    json::Object &inside = kernels[kernel.getSymName().str()];
    inside["schedules"] = report::describeSchedules(kernel, files);
    if (!whole)
      continue;
    json::Object ops;
    for (const auto &[name, count] : report::countOps(kernel))
      ops[name] = count;
    inside["ops"] = std::move(ops);
    inside["layouts"] = report::describeLayouts(kernel, files, encodings);
    const GPUTarget *target = findGPUTarget(options.target);
    inside["shared_memory"] =
        report::describeSharedMemory(kernel, files, target ? target->limits.sharedPerBlock() : 0);
    inside["timeline"] = report::describeTimeline(kernel, files, getRates());
  }
}

json::Object DocumentCollector::takeShared() {
  json::Array texts, stages;
  const SourceManager &sources = session.getSources();
  for (const std::string &name : files.getNames()) {
    json::Object entry{{"name", name}};
    for (size_t i = 0; i < sources.size(); ++i)
      if (report::isSameFile(sources.name(FileID(i)), name))
        entry["text"] = sources.text(FileID(i)).str();
    texts.push_back(std::move(entry));
  }
  for (const report::Listing &listing : listings)
    stages.push_back(listing.toJson());
  json::Object result{
      {"sources", std::move(texts)}, {"listings", std::move(stages)}, {"passes", passes.toJson()}};
  if (!missing.empty())
    result["missing"] = json::Object{{"sass", missing}};
  return result;
}

json::Object DocumentCollector::takeKernel(StringRef symbol) {
  return std::move(kernels[symbol.str()]);
}

} // namespace tile
