// `tilec explain`: asks the cost model and the compiler itself, and gathers the remarks.
#include "driver/explain/Explain.h"
#include "codegen/Assemble.h"
#include "dialect/AttributeNames.h"
#include "driver/compile/ConfigChoice.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace tile {

//===--- Settings
//--------------------------------------------------------------------------------------------------===//

static bool names(ArrayRef<std::pair<std::string, std::string>> settings, StringRef name) {
  return any_of(settings, [&](const auto &setting) { return setting.first == name; });
}

/// Attributes of kernels as the language spells them, and as the IR does.
static constexpr std::pair<StringLiteral, StringLiteral> attributeNames[] = {
    {"warps", askedWarpsName},    {"stages", stagesName},   {"consumers", consumersName},
    {"occupancy", occupancyName}, {"grouped", groupedName}, {"maxreg", maxRegistersName}};

/// The names that the kernel's configuration of its own for this target may set.
static bool isInSourceConfig(const ast::KernelDecl *decl, StringRef name) {
  auto *tune = decl ? decl->clause<ast::TuneClause>() : nullptr;
  return tune && any_of(tune->items, [&](const ast::TuneItem &item) {
           return item.kind == ast::TuneItem::Kind::Config &&
                  any_of(item.settings,
                         [&](const auto &setting) { return setting.name.text == name; });
         });
}

static std::vector<KernelSetting> listSettings(const Options &options, const TuneConfig &pinned,
                                               const runtime::Kernel &record, KernelOp op,
                                               const ast::KernelDecl *decl,
                                               const ConfigChoice *choice) {
  auto *with = decl ? decl->clause<ast::WithClause>() : nullptr;
  auto sourceOf = [&](StringRef name, bool isAttribute) -> std::string {
    if (names(options.defines, name))
      return "command line";
    if (names(pinned, name))
      return "--config";
    if (choice && names(choice->rated.front().config, name))
      return "model";
    if (!choice && isInSourceConfig(decl, name))
      return "source";
    if (isAttribute && with && any_of(with->attributes, [&](const ast::Attribute &each) {
          return each.name.text == name;
        }))
      return "source";
    return isAttribute ? "source" : "default";
  };
  std::vector<KernelSetting> result;
  for (const auto &[name, value] : record.constants)
    result.push_back({name, runtime::toString(value), sourceOf(name, false)});
  for (const auto &[name, irName] : attributeNames)
    if (auto value = op->getAttrOfType<mlir::IntegerAttr>(irName))
      result.push_back({name.str(), std::to_string(value.getInt()), sourceOf(name, true)});
  if (op->hasAttr(persistentName))
    result.push_back({"persistent", "true", sourceOf("persistent", true)});
  return result;
}

//===--- What PTX has
//----------------------------------------------------------------------------------------------===//

/// The text of one kernel of a PTX module.
static StringRef findEntry(StringRef ptx, StringRef symbol) {
  size_t begin = ptx.find((".entry " + symbol + "(").str());
  if (begin == StringRef::npos)
    return "";
  return ptx.slice(begin, ptx.find(".entry ", begin + 1));
}

static InstructionCounts countInstructions(StringRef text) {
  InstructionCounts found;
  found.wgmma = text.count("wgmma.mma_async");
  found.mma = text.count("mma.sync.aligned");
  found.bulkLoads = text.count("d.shared::cluster.global.");
  found.bulkStores = text.count("d.global.shared::cta.");
  return found;
}

//===--- The command
//-----------------------------------------------------------------------------------------------===//

/// Elaborates and asks the model. False after an error.
static bool ask(Compiler &compiler, const Options &options, Session &session,
                std::vector<Explanation> &all) {
  if (!compiler.run(Stage::Tile))
    return false;
  TuneConfig pinned;
  TunedConfigs tuned;
  bool isResult;
  if (!readConfig(options, compiler.getSource(), options.extents, session, pinned, tuned, isResult))
    return false;
  for (const runtime::Kernel &record : compiler.getManifest().kernels) {
    auto op = compiler.getModule().lookupSymbol<KernelOp>(record.symbol);
    const ast::KernelDecl *decl = nullptr;
    for (const ast::DeclPtr &each : compiler.getProgram()->decls)
      if (auto *kernel = dyn_cast<ast::KernelDecl>(each.get());
          kernel && kernel->name.text == record.name)
        decl = kernel;
    Explanation &found = all.emplace_back();
    found.symbol = record.symbol;
    for (const ConfigChoice &choice : compiler.getChoices())
      if (choice.symbol == record.symbol)
        found.choice = choice;
    for (auto dim : op.getDims().getAsRange<DimAttr>())
      found.extents[dim.getName().str()] = dim.getOpt();
    for (const auto &[name, extent] : options.extents)
      if (auto known = found.extents.find(name); known != found.extents.end())
        known->second = extent;
    for (const runtime::Param &param : record.params)
      for (const auto &[name, value] : options.extents)
        if (name == param.name && param.min)
          found.extents[name] = value;
    if (found.choice)
      found.extents = found.choice->extents;
    found.settings =
        listSettings(options, pinned, record, op, decl, found.choice ? &*found.choice : nullptr);
    found.estimate = cost::estimateCost(op, found.extents,
                                        *cost::findTargetLimits(options.target, options.card));
  }
  return true;
}

/// A remark that names another version of the kernel is of that one; one that names none is of all.
static bool isOf(const Diagnostic &remark, StringRef symbol, ArrayRef<Explanation> all) {
  auto quotes = [&](StringRef name) {
    return StringRef(remark.message).contains(("'" + name + "'").str());
  };
  return quotes(symbol) ||
         none_of(all, [&](const Explanation &each) { return quotes(each.symbol); });
}

/// Compiles, and adds what came out. False after an error.
static bool compile(const Options &options, Session &session, std::vector<Explanation> &all) {
  Compiler compiler(options, session, options.inputs.front());
  bool assembles = hasAssembler(options.ptxasPath, options.executable);
  if (!compiler.run(options.isCPU() ? Stage::LLVM : assembles ? Stage::Cubin : Stage::PTX))
    return false;
  std::string ptx = options.isCPU() ? "" : compiler.getProduct(Stage::PTX);
  for (Explanation &each : all) {
    for (const runtime::Kernel &record : compiler.getManifest().kernels)
      if (record.symbol == each.symbol)
        each.compiled = record.launch;
    each.assembled = assembles && !options.isCPU();
    each.instructions = countInstructions(findEntry(ptx, each.symbol));
    for (const Diagnostic &diagnostic : session.getDiagnostics().all())
      if (diagnostic.severity == Severity::remark && isOf(diagnostic, each.symbol, all))
        each.remarks.push_back(diagnostic);
  }
  return true;
}

int explainKernels(const Options &given, Session &session) {
  Options options = given;
  if (options.targets.size() > 1)
    session.getStream() << "tilec: note: explaining for " << options.target << " only\n";
  std::vector<Explanation> all;
  Compiler compiler(options, session, options.inputs.front());
  if (!ask(compiler, options, session, all))
    return session.getExitCode();
  if (!options.stopAfter) {
    // Remarks are part of the report, and are not printed a second time.
    options.remarks = true;
    std::string messages;
    raw_string_ostream stream(messages);
    Session own(options, stream);
    if (!compile(options, own, all)) {
      session.getStream() << messages;
      session.adopt(own.getExitCode());
      return session.getExitCode();
    }
    (options.explainAsJson ? printExplanationsAsJson : printExplanations)(all, options,
                                                                          own.getSources(), outs());
    return session.getExitCode();
  }
  (options.explainAsJson ? printExplanationsAsJson
                         : printExplanations)(all, options, session.getSources(), outs());
  return session.getExitCode();
}

int printKernelSettings(const Options &options, Session &session) {
  std::vector<Explanation> all;
  Compiler compiler(options, session, options.inputs.front());
  if (!ask(compiler, options, session, all))
    return session.getExitCode();
  for (const Explanation &each : all)
    for (const KernelSetting &setting : each.settings)
      outs() << left_justify(each.symbol + "." + setting.name, 40) << " "
             << left_justify(setting.value, 20) << setting.source << "\n";
  return session.getExitCode();
}

} // namespace tile
