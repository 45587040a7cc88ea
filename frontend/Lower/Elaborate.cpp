// The entry of elaboration: which kernels, which instances, and what applies to the file as a
// whole.
//
//   kernel matmul[T in {f16, bf16}] specialize M in 1..=16      --variant big:N=8192
//
//   for each dtype   a version of --variant    each is a tile.kernel and a record of the manifest,
//                    one for `specialize`      and a launch tries them in this order
//                    the generic one
//
// Order of checks: names of the call (-D, --with, --shape, --divisors), functions, kernels one
// after the other, unused names. Each kernel is emitted into the module of the result; after an
// error anywhere the module is dropped as a whole, so that no kernel of it is ever lowered.
#include "frontend/Lower/Elaborate.h"
#include "frontend/Ast/Walk.h"
#include "frontend/Check/BodyChecker.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Lower/AlignedRows.h"
#include "frontend/Lower/ChooseConfig.h"
#include "frontend/Lower/Elaborator.h"
#include "frontend/Sema/CheckFunctions.h"
#include "frontend/Sema/Limits.h"
#include "frontend/Sema/MatchItems.h"
#include "frontend/Sema/UnusedNames.h"
#include "frontend/Sema/Words.h"
#include "target/Target.h"

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
  llvm::append_range(known, getTunableAttributeNames());
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

/// Does a record without facts take calls that a generic one is for: are their dtypes and constant
/// dimensions the same?
/// A launch tries the records in their order and takes the first that fits: one without facts in
/// front of the generic one would take all of its calls.
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

/// Does every call that `later` takes fit `earlier` too, by all that a launch chooses by?
static bool takesAllOf(const runtime::Kernel &earlier, const runtime::Kernel &later) {
  auto sameFact = [](const auto &pair) {
    const auto &[a, b] = pair;
    return a.condition == b.condition && a.param == b.param && a.align == b.align;
  };
  auto fits = [](const auto &pair) {
    const auto &[a, b] = pair;
    if (a.name != b.name || a.kind != b.kind || a.dtype != b.dtype ||
        a.dims.size() != b.dims.size())
      return false;
    return llvm::all_of(llvm::zip(a.dims, b.dims), [](const auto &extents) {
      const auto &[x, y] = extents;
      return !x.isInteger() || x == y;
    });
  };
  return earlier.facts.size() == later.facts.size() &&
         earlier.params.size() == later.params.size() &&
         llvm::all_of(llvm::zip(earlier.facts, later.facts), sameFact) &&
         llvm::all_of(llvm::zip(earlier.params, later.params), fits);
}

namespace {

/// All versions of one kernel.
class KernelVersions {
public:
  KernelVersions(Modules &modules, const ast::KernelDecl &kernel,
                 tile::DiagnosticEngine &diagnostics, Elaborated &result,
                 std::map<std::string, tile::Range> &symbols)
      : modules(modules), kernel(kernel), diagnostics(diagnostics), result(result),
        symbols(symbols) {}

  /// Variants of the command line, those of the source, the generic ones. False after an error.
  bool run(const ElaborateOptions &options, std::map<std::string, bool> &used);

private:
  using Records = std::vector<runtime::Kernel>;

  bool addVersion(const ElaborateOptions &options, const Instance &instance, const Variant &variant,
                  Records &records);
  std::optional<bool> checkVersion(const ElaborateOptions &options, const Instance &instance,
                                   const Variant &variant, Records &records);
  bool addSource(const ElaborateOptions &chosen, const std::vector<Instance> &instances);
  bool addAligned(const ElaborateOptions &options, const Instance &instance, const Variant &plain);
  void adviseRows(KernelOp version, RowRequest request);
  bool addRequests(const ElaborateOptions &options, const ElaborateOptions &chosen,
                   std::map<std::string, bool> &used);
  bool checkSymbol(const std::string &symbol, const runtime::Kernel &record,
                   const Variant &variant);
  bool checkDistinct(const Records &records);
  bool checkCount();
  void checkOutputs();

  /// Asks the checks of the declaration, which emit code only where types alone do not decide.
  template <typename Result>
  Result ask(const ElaborateOptions &options, Result (KernelSema::*what)());
  std::vector<Instance> chooseInstances(const ElaborateOptions &options) {
    return ask(options, &KernelSema::chooseInstances);
  }

  Modules &modules;
  const ast::KernelDecl &kernel;
  tile::DiagnosticEngine &diagnostics;
  Elaborated &result;
  std::map<std::string, tile::Range> &symbols; // of the module, and what has them
  Records requested, specialized, generic;
  std::set<const ast::Param *> written; // in some version
  size_t count = 0;
};

} // namespace

/// One symbol, one version.
bool KernelVersions::checkSymbol(const std::string &symbol, const runtime::Kernel &record,
                                 const Variant &variant) {
  tile::Range place = variant.clause ? variant.clause->range : kernel.name.range;
  auto [known, isNew] = symbols.emplace(symbol, place);
  if (isNew)
    return true;
  if (variant.clause && kernel.range.begin <= known->second.begin &&
      known->second.end <= kernel.range.end) {
    DiagnosticBuilder report = diagnostics.report(
        diag::badSpecialize, place,
        "the variant '" + record.variant + "' is asked for twice; a launch takes the first");
    if (known->second != place)
      report.note(known->second, "the first one is here");
  } else {
    diagnostics
        .report(diag::symbolClash, place, "kernel '" + kernel.name.text + "'", symbol,
                known->second == place ? "another version of it" : "another kernel")
        .note(known->second, "which is here");
  }
  return false;
}

/// "BETA = 0.5, K = 2": where the values of `record` are others than those of `other`.
static std::string describeDifference(const runtime::Kernel &record, const runtime::Kernel &other) {
  std::string text;
  for (const auto &[mine, theirs] : llvm::zip(record.constants, other.constants))
    if (mine.second != theirs.second)
      text += (text.empty() ? "" : ", ") + mine.first + " = " + runtime::toString(mine.second);
  return text;
}

/// Instances that differ in values which no launch can see (a float constant, a string): the first
/// would always be taken, and the others never run. Quadratic in the number of versions, which is
/// limited.
bool KernelVersions::checkDistinct(const Records &records) {
  for (size_t i = 1; i < records.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      std::string first = describeDifference(records[j], records[i]),
                  second = describeDifference(records[i], records[j]);
      if (first.empty() || !takesAllOf(records[j], records[i]))
        continue;
      diagnostics
          .report(diag::indistinctInstances, kernel.name.range, kernel.name.text, first, second)
          .note("a launch chooses by what it passes: parameters, their dtypes, ranks and constant "
                "extents, of which these have the same")
          .note("compile one value at a time, make it a scalar parameter, or say when each is "
                "meant: --variant NAME:RANGE,PARAMETER=VALUE");
      return false;
    }
  return true;
}

bool KernelVersions::checkCount() {
  if (++count <= limits::versions)
    return true;
  diagnostics
      .report(diag::tooLarge, kernel.name.range,
              "the versions of kernel '" + kernel.name.text + "'", limits::versions, "more")
      .note("every variant is made of every instance; fix values that are known with -D "
            "NAME=VALUE");
  return false;
}

template <typename Result>
Result KernelVersions::ask(const ElaborateOptions &options, Result (KernelSema::*what)()) {
  if (options.checksAll) {
    tile::DiagnosticEngine quiet(diagnostics.sources());
    BodyChecker checker(modules, kernel, options, quiet);
    Result answer = (checker.getSema().*what)();
    if (checker.isDecided() && quiet.all().empty())
      return answer;
    if (checker.isDecided()) {
      BodyChecker again(modules, kernel, options, diagnostics);
      return (again.getSema().*what)();
    }
  }
  return (Elaborator(modules, kernel, options, diagnostics, *result.module).getSema().*what)();
}

/// Checks one version without code, and adds its record. None where types alone do not decide, or
/// where code is wanted for more: the lint of padding reads it.
/// In silence first: what an undecided checker says is not to be believed.
std::optional<bool> KernelVersions::checkVersion(const ElaborateOptions &options,
                                                 const Instance &instance, const Variant &variant,
                                                 Records &records) {
  using Outcome = BodyChecker::Outcome;
  if (options.rate && kernel.clause<ast::TuneClause>())
    return std::nullopt;
  runtime::Kernel record;
  tile::DiagnosticEngine quiet(diagnostics.sources());
  BodyChecker checker(modules, kernel, options, quiet);
  Outcome outcome = checker.check(instance, variant, record);
  if (outcome == Outcome::Undecided ||
      (outcome == Outcome::Right && options.lints && checker.getFacts().reduces))
    return std::nullopt;
  if (!quiet.all().empty()) {
    runtime::Kernel again;
    (void)BodyChecker(modules, kernel, options, diagnostics).check(instance, variant, again);
  }
  if (outcome != Outcome::Right)
    return outcome == Outcome::RuledOut;
  if (!checkSymbol(record.symbol, record, variant))
    return false;
  written.insert(checker.getFacts().written.begin(), checker.getFacts().written.end());
  records.push_back(std::move(record));
  return true;
}

/// Adds the record of one version of an instance, under a symbol of its own, unless the command
/// line rules it out. False after an error.
/// Ruled out means that --arg contradicts the variant's facts: no error, and no record.
bool KernelVersions::addVersion(const ElaborateOptions &options, const Instance &instance,
                                const Variant &variant, Records &records) {
  ModuleOp module = *result.module;
  runtime::Kernel record;
  ElaborateOptions own = options;
  Instance chosen = instance;
  if (!checkCount())
    return false;
  if (options.checksAll)
    if (std::optional<bool> valid = checkVersion(options, instance, variant, records))
      return *valid;
  std::optional<ConfigChoice> choice =
      chooseConfig(modules, kernel, options, diagnostics, module.getContext(), instance, variant);
  if (choice) {
    const TuneConfig &config = choice->rated.front().config;
    own.config.insert(own.config.end(), config.begin(), config.end());
    for (Instance &each :
         Elaborator(modules, kernel, own, diagnostics, module).getSema().chooseInstances())
      if (each.symbol == instance.symbol)
        chosen = std::move(each);
  }
  Elaborator elaborator(modules, kernel, own, diagnostics, module);
  if (!elaborator.elaborateInstance(chosen, variant, record))
    return elaborator.getSema().isRuledOut();
  if (!checkSymbol(record.symbol, record, variant))
    return false;
  written.insert(elaborator.getWritten().begin(), elaborator.getWritten().end());
  if (choice) {
    choice->symbol = record.symbol;
    result.choices.push_back(std::move(*choice));
  }
  records.push_back(std::move(record));
  return true;
}

/// Says why a kernel whose tiles would gain by it has no version for aligned rows.
void KernelVersions::adviseRows(KernelOp version, RowRequest request) {
  if (!request.divisors.empty() || !diagnostics.isEnabled(diag::loweringRemark))
    return;
  request.advises = true;
  std::string facts, divisors;
  for (const ArgItem &item : findRowDivisors(version, request)) {
    facts += (facts.empty() ? "" : ", ") + item.text;
    divisors += (divisors.empty() ? "" : ",") + item.name + "=" + std::to_string(item.number);
  }
  if (!facts.empty())
    diagnostics.report(diag::loweringRemark, kernel.name.range,
                       "rows of tensors begin anywhere, and each tile asks whether vectors move "
                       "it; `specialize " +
                           facts + "` adds a version that need not ask, and --divisors " +
                           divisors + " makes it alone, where all calls have that");
}

/// Where only a divisor of rows is missing for vectors to move tiles, or for TMA to fetch operands
/// of products, adds the version for launches whose rows have it, as `specialize` would. Not where
/// the source or the call name variants themselves: whoever does decides on all of them.
bool KernelVersions::addAligned(const ElaborateOptions &options, const Instance &instance,
                                const Variant &plain) {
  const GPUTarget *target = findGPUTarget(options.target);
  if (!target || !options.variants.empty() || options.probes || options.checksAll ||
      generic.empty())
    return true;
  auto version = SymbolTable::lookupSymbolIn(result.module->getOperation(), generic.back().symbol);
  if (!version)
    return true;
  RowRequest request;
  request.extents.insert(options.extents.begin(), options.extents.end());
  request.divisors = options.divisors;
  request.choosesTiles = kernel.clause<ast::TuneClause>() != nullptr;
  request.fetches = target->hasAll({Feature::Tma, Feature::Wgmma, Feature::SetMaxRegisters});
  Variant aligned = plain;
  aligned.items = findRowDivisors(cast<KernelOp>(version), request);
  if (aligned.items.empty()) {
    adviseRows(cast<KernelOp>(version), request);
    return true;
  }
  for (const ArgItem &item : aligned.items)
    aligned.name += (aligned.name.empty() ? "" : ",") + item.text;
  // Where all calls have these divisors, the generic version would never run.
  bool isKnown = !options.keepsGeneric && llvm::all_of(aligned.items, [&](const ArgItem &item) {
    return options.divisors.count(item.name);
  });
  size_t before = specialized.size();
  if (!addVersion(options, instance, aligned, specialized))
    return false;
  if (isKnown && specialized.size() > before) {
    version->erase();
    symbols.erase(generic.back().symbol);
    generic.pop_back();
  }
  return true;
}

/// Generic versions and those of `specialize`, for each tuned configuration.
bool KernelVersions::addSource(const ElaborateOptions &chosen,
                               const std::vector<Instance> &instances) {
  // Of tuned configurations the first comes last: it is for what the others are not for.
  size_t configs = std::max<size_t>(1, chosen.tuned.configs.size());
  for (size_t i = 0; i < configs; ++i) {
    ElaborateOptions own = chosen;
    Variant plain;
    if (configs > 1) {
      plain.tuned = (i + 1) % configs;
      own.config = chosen.tuned.configs[*plain.tuned];
    }
    for (const Instance &instance : configs > 1 ? chooseInstances(own) : instances) {
      // The generic one first: a kernel must type-check without its variants' facts. Instances
      // mostly repeat each other's errors: one is enough.
      if (!addVersion(own, instance, plain, generic))
        return false;
      std::optional<std::vector<Variant>> variants = ask(own, &KernelSema::listVariants);
      if (!variants || (variants->empty() && !addAligned(own, instance, plain)))
        return false;
      for (Variant &variant : *variants) {
        variant.tuned = plain.tuned;
        if (!addVersion(own, instance, variant, specialized))
          return false;
      }
    }
  }
  return configs > 1 || checkDistinct(generic);
}

/// Versions that --variant asks for.
bool KernelVersions::addRequests(const ElaborateOptions &options, const ElaborateOptions &chosen,
                                 std::map<std::string, bool> &used) {
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
    std::vector<Instance> versions = chooseInstances(own);
    for (const Instance &instance : versions)
      if (!addVersion(own, instance, variant, requested))
        return false;
    if (versions.empty())
      return false;
  }
  if (!checkDistinct(requested))
    return false;
  if (options.generic)
    for (const runtime::Kernel &record : requested)
      if (record.facts.empty() && hidesGeneric(record, generic)) {
        diagnostics.report(diag::badArgument, tile::Range(), record.variant,
                           "the variant holds for every call, so that the generic one would never "
                           "run; say when it is meant, "
                           "as in M=1..=16, or add --no-generic");
        return false;
      }
  return true;
}

/// Warns of outputs that no version writes, and of a kernel that has none.
void KernelVersions::checkOutputs() {
  // What stands under a `const if` may be of an instance that this call does not make.
  // A name under any `const if` counts as written: a warning must not be wrong.
  std::set<std::string> perhaps;
  bool tells = false; // it prints or asserts
  ast::walk(kernel.body, [&](const ast::Expr &expr) {
    if (auto *call = dyn_cast<ast::CallExpr>(&expr))
      if (auto *callee = dyn_cast<ast::NameExpr>(call->callee.get()))
        tells |= callee->text == "print" || callee->text == "assert";
  });
  ast::walk(kernel.body, [&](const ast::Stmt &stmt) {
    auto *branch = dyn_cast<ast::IfStmt>(&stmt);
    if (!branch || !branch->isConst)
      return;
    auto add = [&](const ast::Expr &expr) {
      if (auto *name = dyn_cast<ast::NameExpr>(&expr))
        perhaps.insert(name->text);
    };
    ast::walk(branch->thenBlock, add);
    if (branch->elseBlock)
      ast::walk(*branch->elseBlock, add);
  });
  bool hasOutput = false;
  for (const ast::Param &param : kernel.params) {
    bool isOutput = param.access == ast::Access::out || param.access == ast::Access::inout;
    hasOutput |= isOutput;
    if (!isOutput || param.defaultValue || param.condition || written.count(&param) ||
        perhaps.count(param.name.text))
      continue;
    bool isOut = param.access == ast::Access::out;
    diagnostics
        .report(diag::neverWritten, param.name.range, param.name.text, isOut ? "out" : "inout")
        .note(isOut ? "write it, as in " + param.name.text + "[...] = v, or remove the parameter"
                    : "declare it `in`, or write it");
  }
  if (!hasOutput && !tells)
    diagnostics.report(diag::noOutput, kernel.name.range, kernel.name.text)
        .note("an output is declared `name: out T[...]`, or `inout` where it is read, too");
}

bool KernelVersions::run(const ElaborateOptions &options, std::map<std::string, bool> &used) {
  MatchedItems common;
  if (!matchItems(kernel, options.arguments, diagnostics, common, used))
    return false;
  ElaborateOptions chosen = options;
  chosen.defines.insert(chosen.defines.end(), common.defines.begin(), common.defines.end());
  chosen.arguments = common.facts;
  if (!chosen.tuned.configs.empty())
    chosen.config = chosen.tuned.configs.front();
  std::vector<Instance> instances = chooseInstances(chosen);
  if (!addSource(chosen, instances) || !addRequests(options, chosen, used))
    return false;
  if (!options.generic) {
    for (const runtime::Kernel &record : generic)
      if (Operation *op = SymbolTable::lookupSymbolIn(result.module->getOperation(), record.symbol))
        op->erase();
    generic.clear();
  }
  if (!instances.empty())
    checkOutputs();
  // The order in which a launch tries them (tk_select): --variant, `specialize`, generic.
  for (Records *list : {&requested, &specialized, &generic})
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

/// `x.stride.0`, `xs[1].stride.0`: a stride that nothing names.
static bool isStride(StringRef name, const ast::KernelDecl &kernel) {
  auto [tensor, axis] = name.split(".stride.");
  unsigned number;
  if (axis.getAsInteger(10, number))
    return false;
  return llvm::any_of(kernel.params, [&, tensor = tensor](const ast::Param &param) {
    return param.name.text == tensor.split('[').first && number < param.type.strides.size();
  });
}

/// Every name of --shape, --divisors and --random must be one of some chosen kernel.
static void checkExtents(const std::vector<const ast::KernelDecl *> &kernels,
                         const ElaborateOptions &options, tile::DiagnosticEngine &diagnostics) {
  std::vector<std::string> known;
  for (const ast::KernelDecl *kernel : kernels)
    for (std::string &name : itemNames(*kernel))
      known.push_back(std::move(name));
  std::vector<std::pair<std::string, int64_t>> given = options.extents;
  given.insert(given.end(), options.divisors.begin(), options.divisors.end());
  for (const auto &[name, extent] : given) {
    if (llvm::is_contained(known, name) ||
        llvm::any_of(kernels, [&, &name = name](const ast::KernelDecl *kernel) {
          return isStride(name, *kernel);
        }))
      continue;
    DiagnosticBuilder report =
        diagnostics.report(diag::badArgument, tile::Range(), name + "=" + std::to_string(extent),
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
  if (names.empty() && !(options.checksAll && options.kernel.empty())) {
    diagnostics.report(diag::noKernel, program.range);
  } else if (kernels.empty() && !names.empty()) {
    DiagnosticBuilder report =
        diagnostics.report(diag::unknownKernel, tile::Range(), options.kernel);
    report.note("it has '" + llvm::join(names, "', '") + "'");
  }
  if (diagnostics.errors() == errors)
    checkDefines(kernels, options, diagnostics);
  if (diagnostics.errors() == errors)
    checkExtents(kernels, options, diagnostics);
  if (options.checksAll)
    checkFunctions(program, modules, diagnostics);
  if (diagnostics.errors() != errors)
    return std::nullopt;

  bool failed = false;
  Elaborated result;
  result.module = ModuleOp::create(UnknownLoc::get(&context));
  std::map<std::string, bool> used; // names of --arg and --variant; true where a kernel has them
  std::map<std::string, tile::Range> symbols;
  for (const ast::KernelDecl *kernel : kernels)
    failed |= diagnostics.limitReached() ||
              !KernelVersions(modules, *kernel, diagnostics, result, symbols).run(options, used);
  reportUnknownItems(kernels, used, diagnostics);
  if (failed || diagnostics.errors() != errors)
    return std::nullopt;
  reportUnusedNames(program, diagnostics);
  if (diagnostics.errors() != errors) // -Werror
    return std::nullopt;
  return result;
}

/// For one kernel of an editor's file: as elaborate(), without the checks of the call and of the
/// file.
bool tile::checkKernel(Modules &modules, const ast::KernelDecl &kernel,
                       const ElaborateOptions &options, tile::DiagnosticEngine &diagnostics,
                       MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
  Elaborated result;
  result.module = ModuleOp::create(UnknownLoc::get(&context));
  std::map<std::string, bool> used;
  std::map<std::string, tile::Range> symbols;
  unsigned errors = diagnostics.errors();
  return KernelVersions(modules, kernel, diagnostics, result, symbols).run(options, used) &&
         diagnostics.errors() == errors;
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
  return Elaborator(modules, kernel, options, diagnostics, *module).getSema().readTuneSpace();
}
