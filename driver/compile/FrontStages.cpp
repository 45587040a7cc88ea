// The first stages of a compilation: from the text of a source to the tile dialect.
#include "dialect/AttributeNames.h"
#include "dialect/ProgramNames.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "driver/compile/Compile.h"
#include "driver/compile/ConfigChoice.h"
#include "driver/support/Version.h"
#include "driver/tune/SourceTexts.h"
#include "driver/tune/TuneConfig.h"
#include "frontend/Parse/Parser.h"
#include "library/Library.h"
#include <set>

using namespace mlir;

namespace tile {

bool Compiler::parse() {
  Phase phase(options, "parse");
  std::string error;
  std::optional<FileID> added = session.getSources().addFile(path, error);
  if (!added)
    return session.failCall("cannot read '" + path + "': " + error);
  file = *added;
  program = parseFile(session.getSources(), file, session.getDiagnostics());
  return program && imports.load(*program) && !session.getDiagnostics().hasErrors();
}

StringRef Compiler::getSource() const { return session.getSources().text(file); }

void Compiler::setArguments(std::map<std::string, std::string> newDtypes,
                            std::map<std::string, std::vector<int64_t>> newShapes) {
  dtypes = std::move(newDtypes);
  shapes = std::move(newShapes);
}

/// A result of `tilec tune` that no longer fits the source is left out with a warning, where that
/// is what keeps the source from being compiled.
/// Elaborates twice on the side, in contexts of its own, before it decides: only a result that is
/// to blame is dropped, never one beside another mistake.
void Compiler::dropUnusable(ElaborateOptions &request) {
  auto findProblem = [&](const ElaborateOptions &tried) -> std::optional<std::string> {
    mlir::MLIRContext own(context.getDialectRegistry(), MLIRContext::Threading::DISABLED);
    DiagnosticEngine quiet(session.getSources());
    if (tile::elaborate(*program, tried, quiet, own) && !quiet.hasErrors())
      return std::nullopt;
    for (const tile::Diagnostic &each : quiet.all())
      if (each.severity == Severity::error)
        return each.message;
    return "it does not compile";
  };
  std::optional<std::string> problem = findProblem(request);
  ElaborateOptions without = request;
  without.config.clear();
  without.tuned = {};
  if (!problem || findProblem(without))
    return;
  session.getDiagnostics().report(diag::unusableConfig, Range(), options.config, *problem);
  request = std::move(without);
}

/// Versions are compiled for the extents that their configuration was chosen for, else for those of
/// --shape, where their contract allows these: how many programs a launch has decides how many
/// blocks share a multiprocessor, and how many work on one program.
static void setExpectedExtents(ModuleOp module, ArrayRef<ConfigChoice> choices,
                               const std::map<std::string, int64_t> &asked) {
  std::map<std::string, const ConfigChoice *> bySymbol;
  for (const ConfigChoice &choice : choices)
    bySymbol[choice.symbol] = &choice;
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    auto choice = bySymbol.find(kernel.getSymName().str());
    const auto &extents = choice == bySymbol.end() ? asked : choice->second->extents;
    auto expect = [&](DimAttr dim) {
      auto found = extents.find(dim.getName().str());
      if (found == extents.end())
        return dim;
      int64_t extent = found->second;
      bool possible = extent >= dim.getMin() && extent <= dim.getMax() &&
                      extent % std::max<int64_t>(dim.getMultipleOf(), 1) == 0;
      return possible ? DimAttr::get(dim.getContext(), dim.getName(), dim.getMin(), dim.getMax(),
                                     extent, dim.getMultipleOf())
                      : dim;
    };
    SmallVector<Attribute> dims;
    for (auto dim : kernel.getDims().getAsRange<DimAttr>())
      dims.push_back(expect(dim));
    kernel.setDimsAttr(ArrayAttr::get(kernel.getContext(), dims));
    kernel.walk([&](DimOp dim) { dim.setDimAttr(expect(dim.getDim())); });
    if (auto guessed = kernel->getAttrOfType<ArrayAttr>(guessedName)) {
      SmallVector<Attribute> left = llvm::filter_to_vector(
          guessed, [&](Attribute name) { return !extents.count(cast<StringAttr>(name).str()); });
      kernel->setAttr(guessedName, ArrayAttr::get(kernel.getContext(), left));
    }
  }
}

bool Compiler::elaborate() {
  Phase phase(options, "elaborate");
  ElaborateOptions request;
  request.defines.assign(options.defines.begin(), options.defines.end());
  request.kernel = options.kernel;
  request.target = options.target;
  request.arguments = options.argItems;
  request.variants = options.variants;
  request.generic = options.generic;
  bool isResult;
  if (!readConfig(options, collectTexts(*program, session.getSources()), extents, session,
                  request.config, request.tuned, isResult))
    return false;
  request.attributes.assign(options.attributes.begin(), options.attributes.end());
  request.rate = makeConfigRater(options.target, options.card);
  request.extents = extents.empty() ? options.extents : extents;
  request.divisors.insert(options.divisors.begin(), options.divisors.end());
  request.keepsGeneric = options.command == Options::Command::Run;
  request.dtypes = dtypes;
  request.shapes = shapes;
  request.debug = options.debug;
  request.probes = options.command == Options::Command::Debug;
  request.checksAll = options.command == Options::Command::Check;
  request.lints = options.level > 0 && session.getDiagnostics().isEnabled(diag::paddingReduced);
  if (isResult)
    dropUnusable(request);
  std::optional<Elaborated> result =
      tile::elaborate(*program, request, session.getDiagnostics(), context);
  if (!result || session.getDiagnostics().hasErrors())
    return session.getDiagnostics().hasErrors()
               ? false
               : session.failInternal("elaboration failed without a message");
  module = std::move(result->module);
  if (const GPUTarget *target = findGPUTarget(options.target)) {
    context.loadDialect<gpu::TileGPUDialect>();
    (*module)->setAttr(gpu::TargetAttr::name, gpu::TargetAttr::get(&context, target));
    if (options.card)
      (*module)->setAttr(gpu::processorsName,
                         mlir::Builder(&context).getI64IntegerAttr(options.card->processors));
  }
  manifest = std::move(result->manifest);
  choices = std::move(result->choices);
  setExpectedExtents(*module, choices, {options.extents.begin(), options.extents.end()});
  manifest.compiler = getCompilerVersion();
  manifest.target = options.target;
  manifest.cpu = options.isCPU() ? options.cpu : "";
  return true;
}

/// Module and manifest stay in step: each kernel of one has its record in the other.
void Compiler::keepKernels(llvm::function_ref<bool(const runtime::Kernel &)> keep) {
  std::set<std::string> kept;
  llvm::erase_if(manifest.kernels, [&](const runtime::Kernel &kernel) { return !keep(kernel); });
  for (const runtime::Kernel &kernel : manifest.kernels)
    kept.insert(kernel.symbol);
  for (KernelOp kernel : llvm::make_early_inc_range(module->getOps<KernelOp>()))
    if (!kept.count(kernel.getSymName().str()))
      kernel.erase();
}

} // namespace tile
