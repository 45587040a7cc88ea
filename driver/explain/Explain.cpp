// `tilec explain`: asks the cost model and the compiler itself, and gathers the remarks.
//
//   ask       elaborates, and rates each version by the cost model     settings, estimate
//   compile   once more, through all stages, in a session of its own   resources, remarks, listings
//   report    text, or the document (--json, --html, --diff, --profile)
//
// Two compilations: the first, up to the tile dialect, has the kernels that the model rates.
// --stop-after ends after it.
#include "driver/explain/Explain.h"
#include "codegen/Assemble.h"
#include "dialect/AttributeNames.h"
#include "dialect/JoinedNames.h"
#include "driver/compile/ConfigChoice.h"
#include "driver/explain/Document.h"
#include "driver/explain/Profile.h"
#include "driver/support/Output.h"
#include "driver/tune/SourceTexts.h"
#include "frontend/Source/ParseJson.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace tile {

//===--- Settings ---------------------------------------------------------===//

static bool names(ArrayRef<std::pair<std::string, std::string>> settings, StringRef name) {
  return any_of(settings, [&](const auto &setting) { return setting.first == name; });
}

/// Attributes of kernels as the language spells them, and as the IR does.
static constexpr std::pair<StringLiteral, StringLiteral> attributeNames[] = {
    {"warps", requestedWarpsName}, {"stages", stagesName},   {"consumers", consumersName},
    {"occupancy", occupancyName},  {"grouped", groupedName}, {"maxreg", maxRegistersName}};

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
  // From the strongest to the weakest: each overrides those below.
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

//===--- Facts from PTX ---------------------------------------------------===//

/// The text of one kernel of a PTX module.
static StringRef findEntry(StringRef ptx, StringRef symbol) {
  size_t begin = ptx.find((".entry " + symbol + "(").str());
  if (begin == StringRef::npos)
    return "";
  return ptx.slice(begin, ptx.find(".entry ", begin + 1));
}

/// By the text, as ptxas reports no counts: each counted name occurs in one kind of instruction.
static InstructionCounts countInstructions(StringRef text) {
  InstructionCounts found;
  found.wgmma = text.count("wgmma.mma_async");
  found.mma = text.count("mma.sync.aligned");
  found.bulkLoads = text.count("d.shared::cluster.global.");
  found.asyncLoads = text.count("cp.async.ca.") + text.count("cp.async.cg.");
  found.bulkStores = text.count("d.global.shared::cta.");
  return found;
}

/// Registers that the threads which compute ask for: the only ones that get more than on entry.
static unsigned findComputingRegisters(StringRef text) {
  StringRef rest = text.split("setmaxnreg.inc.sync.aligned.u32").second.ltrim();
  unsigned registers = 0;
  rest.consumeInteger(10, registers);
  return registers;
}

//===--- The command ------------------------------------------------------===//

/// The rate of the units that do most of the kernel's operations: tensor cores where it has
/// products that they take.
static void findPeak(KernelOp op, const cost::TargetLimits &limits, Explanation &found) {
  found.peak = limits.vector32;
  found.peakName = "f32 arithmetic";
  double most = 0;
  for (const cost::LoopWork &loop : cost::analyzeWork(op, found.extents, limits).loops)
    for (const cost::DotWork &dot : loop.dots)
      if (dot.tensorCores && dot.getOperations() > most) {
        most = dot.getOperations();
        found.peak = dot.isTF32                            ? limits.tensorTF32
                     : dot.bits <= 8 && limits.tensor8 > 0 ? limits.tensor8
                                                           : limits.tensor16;
        found.peakName = dot.isTF32      ? "tensor cores, tf32"
                         : dot.bits <= 8 ? "tensor cores, 8 bits"
                                         : "tensor cores, 16 bits";
      }
}

/// Elaborates and asks the model. False after an error.
static bool ask(Compiler &compiler, const Options &options, Session &session,
                std::vector<Explanation> &all) {
  if (!compiler.run(Stage::Tile))
    return false;
  TuneConfig pinned;
  TunedConfigs tuned;
  bool isResult;
  if (!readConfig(options, collectTexts(*compiler.getProgram(), session.getSources()),
                  options.extents, session, pinned, tuned, isResult))
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
    found.declared = decl ? decl->range : Range();
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
    cost::TargetLimits limits = *cost::findTargetLimits(options.target, options.card);
    found.estimate = cost::estimateCost(op, found.extents, limits);
    findPeak(op, limits, found);
  }
  return true;
}

static bool contains(Range kernel, Range place) {
  return kernel.isValid() && kernel.file == place.file && kernel.begin <= place.begin &&
         place.begin < kernel.end;
}

/// A remark says which kernels it is about, or, if it is the assembler's, stands inside of one or
/// quotes its symbol; one that does nothing of that is about all.
static bool isOf(const Diagnostic &remark, const Explanation &kernel, ArrayRef<Explanation> all,
                 const Session &session) {
  if (ArrayRef<std::string> kernels = session.getKernels(remark); !kernels.empty())
    return is_contained(kernels, kernel.symbol);
  if (!contains(kernel.declared, remark.range) &&
      any_of(all, [&](const Explanation &each) { return contains(each.declared, remark.range); }))
    return false;
  auto quotes = [&](StringRef name) {
    return StringRef(remark.message).contains(("'" + name + "'").str());
  };
  return quotes(kernel.symbol) ||
         none_of(all, [&](const Explanation &each) { return quotes(each.symbol); });
}

/// Remarks, and warnings of passes: those of the source have been printed by `asked`.
static bool isReported(const Diagnostic &diagnostic, Session &asked) {
  if (diagnostic.severity == Severity::remark)
    return true;
  return diagnostic.severity == Severity::warning &&
         none_of(asked.getDiagnostics().all(), [&](const Diagnostic &each) {
           return each.range == diagnostic.range && each.message == diagnostic.message;
         });
}

/// Compiles, and adds what came out. False after an error.
static bool compile(const Options &options, Session &session, Session &asked,
                    std::vector<Explanation> &all, DocumentCollector &collector) {
  Compiler compiler(options, session, options.inputs.front());
  compiler.setObserver(&collector);
  bool assembles = hasAssembler(options.ptxasPath, options.executable);
  if (!compiler.run(options.isCPU() ? Stage::LLVM : assembles ? Stage::Cubin : Stage::PTX))
    return false;
  std::string ptx = options.isCPU() ? "" : compiler.getProduct(Stage::PTX);
  for (Explanation &each : all) {
    if (mlir::ModuleOp widened = compiler.getWidened())
      if (auto op = widened.lookupSymbol<KernelOp>(each.symbol)) {
        if (auto joined = op->getAttrOfType<mlir::DenseI64ArrayAttr>(gpu::joinedProgramsName))
          each.joined = joined.asArrayRef().vec();
        if (op->hasAttr(gpu::widenedName)) {
          op.getBody().walk([&](mlir::scf::ForOp loop) {
            each.sharesTrips |= loop->hasAttr(splitAutomaticName);
          });
          cost::TargetLimits limits = *cost::findTargetLimits(options.target, options.card);
          each.estimate = cost::estimateCost(op, each.extents, limits);
        }
      }
    for (const runtime::Kernel &record : compiler.getManifest().kernels)
      if (record.symbol == each.symbol)
        each.compiled = record.launch;
    each.assembled = assembles && !options.isCPU();
    StringRef entry = findEntry(ptx, each.symbol);
    each.instructions = countInstructions(entry);
    each.computingRegisters = findComputingRegisters(entry);
    for (const Diagnostic &diagnostic : session.getDiagnostics().all())
      if (isReported(diagnostic, asked) && isOf(diagnostic, each, all, session))
        each.remarks.push_back(diagnostic);
    each.inside = collector.takeKernel(each.symbol);
  }
  return true;
}

/// Asks the model, compiles unless --stop-after is given, and makes the report: text, or the
/// document. Nothing after an error, which `session` has reported.
static std::optional<std::string> explainOne(const Options &given, Session &session,
                                             json::Object *document) {
  Options options = given;
  std::vector<Explanation> all;
  Compiler compiler(options, session, options.inputs.front());
  if (!ask(compiler, options, session, all))
    return std::nullopt;
  std::string text;
  raw_string_ostream stream(text);
  auto report = [&](const SourceManager &sources) {
    printExplanations(all, options, sources, stream);
    if (document)
      *document = makeDocument(all, options, sources);
  };
  if (options.stopAfter) {
    report(session.getSources());
    return text;
  }
  // Remarks and warnings are part of the report, and are not printed a second time.
  options.remarks = true;
  std::string messages;
  raw_string_ostream said(messages);
  Session own(options, said);
  DocumentCollector collector(options, own, /*whole=*/document);
  if (!compile(options, own, session, all, collector)) {
    session.getStream() << messages;
    session.adopt(own.getExitCode());
    return std::nullopt;
  }
  report(own.getSources());
  if (document)
    for (auto &[key, value] : collector.takeShared())
      (*document)[key] = std::move(value);
  return text;
}

/// A document that an earlier call wrote, for --diff.
static bool readDocument(const std::string &path, Session &session, json::Object &document) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return session.failCall("cannot read '" + path + "': " + buffer.getError().message());
  Expected<json::Value> value = parseJson((*buffer)->getBuffer());
  json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object || !object->getArray("kernels")) {
    consumeError(value.takeError());
    return session.failData("'" + path +
                            "' is no document of `tilec explain --json`: expected an object "
                            "with \"kernels\"");
  }
  document = std::move(*object);
  return true;
}

/// One side of --diff: a source, a document, or a configuration of the first source.
static bool explainSide(const Options &given, Session &session, const std::string &word,
                        json::Object &document) {
  Options options = given;
  options.inputs = {StringRef(word).contains('=') ? given.inputs.front() : word};
  if (StringRef(word).contains('='))
    options.config = given.config.empty() ? word : given.config + "," + word;
  bool good = StringRef(word).ends_with(".json")
                  ? readDocument(word, session, document)
                  : explainOne(options, session, &document).has_value();
  document["title"] = word;
  return good;
}

/// Writes the page to --html, or prints the JSON.
static int writeDocument(const Options &options, Session &session, json::Object document,
                         const std::string &title) {
  json::Value value(std::move(document));
  if (options.explainAsJson)
    outs() << formatv("{0:2}", value) << "\n";
  if (!options.explainPage.empty())
    writeFiles({{options.explainPage, makePage(value, title)}}, session);
  return session.getExitCode();
}

static int explainDifference(const Options &options, Session &session) {
  // `k.tile warps=8` compares with the choice for k.tile, `k.tile warps=4 warps=8` the two.
  std::vector<std::string> words = options.inputs;
  if (words.size() == 3)
    words.erase(words.begin());
  json::Object a, b;
  if (!explainSide(options, session, words[0], a) || !explainSide(options, session, words[1], b))
    return session.getExitCode();
  json::Object comparison = compareDocuments(std::move(a), std::move(b));
  if (!options.explainAsJson && options.explainPage.empty()) {
    printComparison(comparison, outs());
    return session.getExitCode();
  }
  return writeDocument(options, session, std::move(comparison), words[0] + " and " + words[1]);
}

/// Joins the report of --profile to a document. False after an error.
static bool addProfile(const Options &options, Session &session, json::Object &document) {
  auto buffer = MemoryBuffer::getFile(options.profile);
  if (!buffer)
    return session.failCall("cannot read '" + options.profile +
                            "': " + buffer.getError().message());
  Expected<std::vector<profile::Kernel>> kernels =
      profile::read((*buffer)->getBuffer(), options.profile);
  if (!kernels)
    return session.failData(toString(kernels.takeError()));
  if (Error error = profile::join(*kernels, options.profile, document))
    return session.failData(toString(std::move(error)));
  return true;
}

int explainKernels(const Options &options, Session &session) {
  if (options.targets.size() > 1)
    session.getStream() << "tilec: note: explaining for " << options.target << " only\n";
  if (options.explainDiff)
    return explainDifference(options, session);
  if (!options.profile.empty() && options.isCPU())
    return session.failCall("--profile takes a report of a GPU, and the target is the CPU"),
           session.getExitCode();
  bool asDocument = options.explainAsJson || !options.explainPage.empty();
  json::Object document;
  std::optional<std::string> text =
      explainOne(options, session, asDocument || !options.profile.empty() ? &document : nullptr);
  if (!text || (!options.profile.empty() && !addProfile(options, session, document)))
    return session.getExitCode();
  if (asDocument)
    return writeDocument(options, session, std::move(document), options.inputs.front());
  outs() << *text;
  if (!options.profile.empty())
    profile::print(document, outs());
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
