// The entry of elaboration: which kernels, which instances, and what applies to the file as a
// whole.
#include "frontend/Lower/Elaborate.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Lower/ChooseConfig.h"
#include "frontend/Lower/Elaborator.h"
#include "frontend/Sema/MatchItems.h"
#include "frontend/Sema/UnusedNames.h"
#include "frontend/Sema/Words.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tile;

/// Every -D must name a compile-time parameter of some chosen kernel.
static void checkDefines(const std::vector<const ast::KernelDecl *> &kernels,
                         const ElaborateOptions &options, tile::DiagnosticEngine &diagnostics) {
  std::vector<std::string> known;
  for (const ast::KernelDecl *kernel : kernels)
    for (const ast::StaticParam &param : kernel->statics)
      known.push_back(param.name.text);
  auto check = [&](const std::pair<std::string, std::string> &define,
                   const std::vector<std::string> &known) {
    if (llvm::is_contained(known, define.first))
      return;
    DiagnosticBuilder report = diagnostics.report(diag::unknownDefine, tile::Range(), define.first);
    std::string near = suggest(define.first, known);
    if (!near.empty())
      report.note("did you mean '" + near + "'?");
    else if (!known.empty())
      report.note("there are " + joinWords(known, "and"));
  };
  for (const auto &define : options.defines)
    check(define, known);
  known.insert(known.end(),
               {"warps", "stages", "grouped", "consumers", "occupancy", "maxreg", "persistent"});
  for (const auto &setting : options.config)
    check(setting, known);
  for (const TuneConfig &config : options.tuned.configs)
    for (const auto &setting : config)
      check(setting, known);
  for (const auto &[name, value] : options.attributes) {
    if (llvm::is_contained(getKernelAttributeNames(), name))
      continue;
    DiagnosticBuilder report =
        diagnostics.report(diag::unknownAttribute, tile::Range(), "kernel", name);
    if (std::string near = suggest(name, getKernelAttributeNames()); !near.empty())
      report.note("did you mean '" + near + "'?");
    else if (llvm::is_contained(known, name))
      report.note("'" + name + "' is a compile-time parameter: -D " + name + "=" + value);
    else
      report.note("there are " + joinWords(getKernelAttributeNames(), "and"));
  }
}

/// Adds the record of one version of an instance, under a symbol of its own, unless the command
/// line rules it out. False after an error.
static bool addVersion(Modules &modules, const ast::KernelDecl &kernel,
                       const ElaborateOptions &options, tile::DiagnosticEngine &diagnostics,
                       const Instance &instance, const Variant &variant, Elaborated &result,
                       std::vector<runtime::Kernel> &records) {
  ModuleOp module = *result.module;
  runtime::Kernel record;
  ElaborateOptions own = options;
  Instance chosen = instance;
  std::optional<ConfigChoice> choice =
      chooseConfig(modules, kernel, options, diagnostics, module.getContext(), instance, variant);
  if (choice) {
    const TuneConfig &config = choice->rated.front().config;
    own.config.insert(own.config.end(), config.begin(), config.end());
    for (Instance &each : Elaborator(modules, kernel, own, diagnostics, module).chooseInstances())
      if (each.symbol == instance.symbol)
        chosen = std::move(each);
  }
  Elaborator elaborator(modules, kernel, own, diagnostics, module);
  if (!elaborator.elaborateInstance(chosen, variant, record))
    return elaborator.isRuledOut();
  if (choice) {
    choice->symbol = record.symbol;
    result.choices.push_back(std::move(*choice));
  }
  records.push_back(std::move(record));
  return true;
}

/// Does a record without facts take calls that a generic one is for: are their dtypes and constant
/// dimensions the same?
static bool hidesGeneric(const runtime::Kernel &record,
                         const std::vector<runtime::Kernel> &generic) {
  return llvm::any_of(generic, [&](const runtime::Kernel &other) {
    return record.params.size() == other.params.size() &&
           llvm::all_of(llvm::zip(record.params, other.params), [](const auto &pair) {
             const auto &[a, b] = pair;
             return a.dtype == b.dtype && a.dims == b.dims;
           });
  });
}

/// All instances of one kernel: variants of the command line, those of the source, the generic
/// ones.
static bool elaborateKernel(Modules &modules, const ast::KernelDecl &kernel,
                            const ElaborateOptions &options, tile::DiagnosticEngine &diagnostics,
                            std::map<std::string, bool> &used, Elaborated &result) {
  MatchedItems common;
  if (!matchItems(kernel, options.arguments, diagnostics, common, used))
    return false;
  ElaborateOptions chosen = options;
  chosen.defines.insert(chosen.defines.end(), common.defines.begin(), common.defines.end());
  chosen.arguments = common.facts;
  std::vector<runtime::Kernel> requested, specialized, generic;
  // Of tuned configurations the first comes last: it is for what the others are not for.
  size_t configs = std::max<size_t>(1, chosen.tuned.configs.size());
  if (!chosen.tuned.configs.empty())
    chosen.config = chosen.tuned.configs.front();
  std::vector<Instance> instances =
      Elaborator(modules, kernel, chosen, diagnostics, *result.module).chooseInstances();
  for (size_t i = 0; i < configs; ++i) {
    ElaborateOptions own = chosen;
    Variant plain;
    if (configs > 1) {
      plain.tuned = (i + 1) % configs;
      own.config = chosen.tuned.configs[*plain.tuned];
    }
    for (const Instance &instance :
         configs > 1
             ? Elaborator(modules, kernel, own, diagnostics, *result.module).chooseInstances()
             : instances) {
      // The generic one first: a kernel must type-check without its variants' facts. Instances
      // mostly repeat each other's errors: one is enough.
      if (!addVersion(modules, kernel, own, diagnostics, instance, plain, result, generic))
        return false;
      for (Variant variant :
           Elaborator(modules, kernel, own, diagnostics, *result.module).listVariants()) {
        variant.tuned = plain.tuned;
        if (!addVersion(modules, kernel, own, diagnostics, instance, variant, result, specialized))
          return false;
      }
    }
  }
  for (const VariantRequest &request : options.variants) {
    MatchedItems matched;
    if (!matchItems(kernel, request.items, diagnostics, matched, used))
      return false;
    if (matched.facts.empty() && matched.defines.empty()) // it is about other kernels
      continue;
    ElaborateOptions own = chosen;
    own.defines.insert(own.defines.end(), matched.defines.begin(), matched.defines.end());
    Variant variant;
    variant.name = request.name;
    variant.items = matched.facts;
    std::vector<Instance> versions =
        Elaborator(modules, kernel, own, diagnostics, *result.module).chooseInstances();
    for (const Instance &instance : versions)
      if (!addVersion(modules, kernel, own, diagnostics, instance, variant, result, requested))
        return false;
    if (versions.empty())
      return false;
  }
  if (options.generic)
    for (const runtime::Kernel &record : requested)
      if (record.facts.empty() && hidesGeneric(record, generic)) {
        diagnostics.report(diag::badArgument, tile::Range(), record.variant,
                           "the variant holds for every call, so that the generic one would never "
                           "run; say when it is meant, "
                           "as in M=1..16, or add --no-generic");
        return false;
      }
  if (!options.generic) {
    for (const runtime::Kernel &record : generic)
      if (Operation *op = SymbolTable::lookupSymbolIn(result.module->getOperation(), record.symbol))
        op->erase();
    generic.clear();
  }
  for (std::vector<runtime::Kernel> *list : {&requested, &specialized, &generic})
    for (runtime::Kernel &record : *list)
      result.manifest.kernels.push_back(std::move(record));
  return !instances.empty();
}

/// Every name of --arg and --variant must be one of some chosen kernel.
static void reportUnknownItems(const std::vector<const ast::KernelDecl *> &kernels,
                               const std::map<std::string, bool> &used,
                               tile::DiagnosticEngine &diagnostics) {
  std::vector<std::string> known;
  for (const ast::KernelDecl *kernel : kernels)
    for (std::string &name : itemNames(*kernel))
      known.push_back(std::move(name));
  for (const auto &[name, isKnown] : used) {
    if (isKnown)
      continue;
    DiagnosticBuilder report = diagnostics.report(diag::badArgument, tile::Range(), name,
                                                  "no kernel declares '" + name + "'");
    std::string near = suggest(name, known);
    if (!near.empty())
      report.note("did you mean '" + near + "'?");
    else if (!known.empty())
      report.note("there are " + joinWords(known, "and"));
  }
}

std::optional<Elaborated> tile::elaborate(const ast::Program &program,
                                          const ElaborateOptions &options,
                                          tile::DiagnosticEngine &diagnostics,
                                          MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
  unsigned errors = diagnostics.errors();
  Modules modules(program, diagnostics);
  std::vector<const ast::KernelDecl *> kernels;
  std::vector<std::string> names;
  for (const ast::DeclPtr &decl : program.decls)
    if (auto *kernel = dyn_cast<ast::KernelDecl>(decl.get())) {
      names.push_back(kernel->name.text);
      if (options.kernel.empty() || options.kernel == kernel->name.text)
        kernels.push_back(kernel);
    }
  if (names.empty()) {
    diagnostics.report(diag::noKernel, program.range);
  } else if (kernels.empty()) {
    DiagnosticBuilder report =
        diagnostics.report(diag::unknownKernel, tile::Range(), options.kernel);
    report.note("it has '" + llvm::join(names, "', '") + "'");
  }
  if (diagnostics.errors() == errors)
    checkDefines(kernels, options, diagnostics);
  if (diagnostics.errors() != errors)
    return std::nullopt;

  bool failed = false;
  Elaborated result;
  result.module = ModuleOp::create(UnknownLoc::get(&context));
  std::map<std::string, bool> used; // names of --arg and --variant; true where a kernel has them
  for (const ast::KernelDecl *kernel : kernels)
    failed |= !elaborateKernel(modules, *kernel, options, diagnostics, used, result);
  reportUnknownItems(kernels, used, diagnostics);
  if (failed || diagnostics.errors() != errors)
    return std::nullopt;
  reportUnusedNames(program, diagnostics);
  if (diagnostics.errors() != errors) // -Werror
    return std::nullopt;
  return result;
}

std::optional<TuneSpace> tile::readTuneSpace(const ast::Program &program,
                                             const ast::KernelDecl &kernel,
                                             const ElaborateOptions &options,
                                             tile::DiagnosticEngine &diagnostics,
                                             MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  Modules modules(program, diagnostics);
  return Elaborator(modules, kernel, options, diagnostics, *module).readTuneSpace();
}
