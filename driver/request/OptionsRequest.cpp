// Compile requests: made of the command line's words, or read by --request, and printed.
//
// words (takeWords) ---+
//                      +-> CompileRequest (copyRequest) -> Options (makeRequest) -> CompileRequest
// JSON (takeRequest) --+
//
// Both ways in pass through one structure, so that a request means exactly what the words mean.
// makeRequest is the inverse of the reading, which the tests compare field by field.
#include "driver/options/OptionsParser.h"
#include "frontend/Source/ParseJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace llvm::opt;

namespace tile {

/// True for an option whose value a request holds. `tune` takes some words for itself, which say
/// what to try; `run` and `debug` give arguments by --arg.
bool isOfRequest(const Option &option, Options::Command command) {
  static const OptionID runOwn[] = {OPT_arg}, tuneOwn[] = {OPT_arg, OPT_shape, OPT_config, OPT_o};
  auto isOneOf = [&](ArrayRef<OptionID> ids) {
    return any_of(ids, [&](OptionID id) { return option.getID() == id; });
  };
  bool isOwn = command == Options::Command::Tune
                   ? isOneOf(tuneOwn)
                   : (command == Options::Command::Run || command == Options::Command::Debug) &&
                         isOneOf(runOwn);
  bool isOption = option.getKind() != Option::GroupClass &&
                  option.getKind() != Option::InputClass &&
                  option.getKind() != Option::UnknownClass;
  return isOption && !isOwn && option.hasVisibilityFlag(DefaultVis) &&
         !option.hasFlag(OptionFlag::Beside);
}

//===--- From words -------------------------------------------------------===//

/// --with warps=8,persistent; a name alone is true.
bool OptionsParser::takeAttributes() {
  for (const Arg *argument : arguments.filtered(OPT_with)) {
    SmallVector<StringRef> items;
    StringRef(argument->getValue()).split(items, ',');
    for (StringRef item : items) {
      StringRef name = item.trim().split('=').first, value = item.trim().split('=').second;
      bool hasValue = item.contains('=');
      if (name.empty() || (hasValue && value.empty()))
        return fail("--with takes NAME=VALUE,..., as in warps=8,stages=3, found '" +
                    Twine(argument->getValue()) + "'");
      if (any_of(request.attributes, [&](const NameValue &known) { return known.first == name; }))
        return fail("'" + name + "' is given twice by --with");
      request.attributes.emplace_back(name.str(), hasValue ? value.str() : "true");
    }
  }
  return true;
}

/// --variant and --variants, in their order.
bool OptionsParser::takeVariants() {
  std::string error;
  for (const Arg *argument : arguments.filtered(OPT_variant, OPT_variants)) {
    if (argument->getOption().matches(OPT_variants)) {
      if (!readVariants(argument->getValue()))
        return false;
      continue;
    }
    std::optional<VariantRequest> variant =
        parseVariant(argument->getValue(), request.asked.size() + 1, error);
    if (!variant)
      return fail("--variant: " + error);
    runtime::CompileRequest::Variant &asked = request.asked.emplace_back();
    asked.name = variant->name;
    for (const ArgItem &item : variant->items)
      asked.items.push_back(item.text);
  }
  return true;
}

/// A file {"variants": [{"name": "decode", "args": ["M=1..=16:8", "BM=16"]}]}.
bool OptionsParser::readVariants(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + path + "': " + buffer.getError().message());
  Expected<json::Value> parsed = parseJson((*buffer)->getBuffer());
  if (!parsed)
    return fail("'" + path + "' is no JSON: " + toString(parsed.takeError()));
  const json::Object *top = parsed->getAsObject();
  const json::Array *list = top ? top->getArray("variants") : nullptr;
  if (!list)
    return fail("'" + path +
                "': expected {\"variants\": [{\"name\": NAME, \"args\": [ITEM, ...]}, ...]}");
  for (const json::Value &entry : *list) {
    const json::Object *object = entry.getAsObject();
    std::optional<StringRef> name = object ? object->getString("name") : std::nullopt;
    const json::Array *items = object ? object->getArray("args") : nullptr;
    runtime::CompileRequest::Variant &asked = request.asked.emplace_back();
    std::string error;
    bool areStrings = name && items;
    for (const json::Value &item : items ? *items : json::Array()) {
      std::optional<StringRef> word = item.getAsString();
      areStrings &= word.has_value();
      for (StringRef text : splitItems(word.value_or("")))
        asked.items.push_back(text.trim().str());
    }
    if (!areStrings)
      return fail("'" + path + "': a variant needs a \"name\" and \"args\", a list of strings");
    if (name->empty() || !all_of(*name, [](char c) { return isAlnum(c) || c == '_'; }))
      return fail("'" + path +
                  "': the name of a variant is a word of letters, digits and _, found '" + *name +
                  "'");
    asked.name = name->str();
    if (!parseVariant(asked.name + ":" + join(asked.items, ","), request.asked.size(), error))
      return fail("'" + path + "': variant '" + *name + "': " + error);
  }
  return true;
}

/// The request that the words of the command line make.
bool OptionsParser::takeWords(const Options &options) {
  request.inputs = options.inputs;
  auto takeText = [&](OptionID id) { return arguments.getLastArgValue(id).str(); };
  bool isTune = options.command == Options::Command::Tune, // whose words say what to try
      isRun = isTune || options.command == Options::Command::Run ||
              options.command == Options::Command::Debug; // whose arguments are tensors
  request.output = takeText(OPT_o);
  request.emitted = takeText(OPT_emit);
  request.lastStage = takeText(OPT_stop_after);
  request.printABI = arguments.hasArg(OPT_print_abi);
  request.depfile = arguments.hasArg(OPT_MD);
  request.depfilePath = takeText(OPT_MF);
  request.withSource = arguments.hasArg(OPT_with_source);
  request.outName = takeText(OPT_out_name);
  request.targets = splitTargets(takeText(OPT_target));
  if (request.targets.empty() && arguments.hasArg(OPT_target))
    return fail("--target needs a name");
  request.gpu = takeText(OPT_gpu);
  request.cpu = takeText(OPT_cpu);
  uint64_t level = uint64_t(request.level), limit = request.errorLimit;
  if (!parseNumber(OPT_O, "-O", 3, level) ||
      !parseNumber(OPT_error_limit, "--error-limit", 1000000, limit))
    return false;
  request.level = int(level);
  request.errorLimit = unsigned(limit);
  request.ptxasPath = takeText(OPT_ptxas_path);
  request.ptxasFlags = arguments.getAllArgValues(OPT_Xptxas);
  request.kernel = takeText(OPT_kernel);
  for (const Arg *argument : arguments.filtered(OPT_D))
    if (!parsePair(*argument, request.defines))
      return false;
  std::vector<std::string> configs = arguments.getAllArgValues(OPT_config);
  if (!isTune && configs.size() > 1)
    return fail("--config is given twice, as '" + configs[0] + "' and as '" + configs[1] +
                "'; one build takes one configuration, as in --config BM=128,warps=8 or --config "
                "FILE.json. Only tilec tune takes several");
  if (!isTune)
    request.config = takeText(OPT_config);
  for (const Arg *argument : arguments.filtered(OPT_shape))
    if (!isTune && !parseExtents("--shape", argument->getValue(), request.extents))
      return false;
  for (const Arg *argument : arguments.filtered(OPT_divisors))
    if (!parseExtents("--divisors", argument->getValue(), request.divisors))
      return false;
  if (!isRun)
    request.argTexts = arguments.getAllArgValues(OPT_arg);
  request.generic = !arguments.hasArg(OPT_no_generic);
  request.includes = arguments.getAllArgValues(OPT_I);
  request.debug = arguments.hasArg(OPT_g);
  for (const Arg *argument : arguments.filtered(OPT_W, OPT_Werror, OPT_Werror_eq))
    request.warnings.push_back(argument->getOption().matches(OPT_Werror) ? "error"
                               : argument->getOption().matches(OPT_Werror_eq)
                                   ? std::string("error=") + argument->getValue()
                                   : std::string(argument->getValue()));
  for (const Arg *argument : arguments.filtered(OPT_remarks, OPT_remarks_eq)) {
    bool hasValue = argument->getOption().matches(OPT_remarks_eq);
    if (hasValue && StringRef(argument->getValue()) == "passes") {
      request.passReport = true;
      continue;
    }
    request.remarks = true;
    if (hasValue)
      request.remarksRegex = argument->getValue();
  }
  request.diagnosticsFormat = arguments.getLastArgValue(OPT_diagnostics_format, "text").str();
  return takeAttributes() && takeVariants();
}

//===--- From JSON --------------------------------------------------------===//

/// The request of --request; words that a request holds may not stand beside it.
bool OptionsParser::takeRequest(const Options &options) {
  for (const Arg *argument : arguments)
    if (isOfRequest(argument->getOption(), options.command))
      return fail("'" + argument->getAsString(arguments) +
                  "' is something that a request says: put it there, or leave --request out "
                  "(tilec ... --print-request prints a request)");
  if (!options.inputs.empty())
    return fail("the request names the files: put '" + options.inputs.front() +
                "' into its \"inputs\", or leave --request out");
  std::string path = arguments.getLastArgValue(OPT_request).str(), error;
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read the request '" + path + "': " + buffer.getError().message());
  std::optional<runtime::CompileRequest> read =
      parseCompileRequest((*buffer)->getBuffer(), given, error);
  if (!read)
    return fail("the request '" + path + "': " + error);
  request = std::move(*read);
  if (request.inputs.empty())
    return fail("the request '" + path +
                "' has no \"inputs\": name the files to compile, as in \"inputs\": [\"a.tile\"]");
  if (path == "-" && is_contained(request.inputs, "-"))
    return fail("the request is standard input, so its \"inputs\" cannot be: name a file, or give "
                "the request as a file");
  if (options.command == Options::Command::Tune) {
    for (const char *field : {"output", "shape", "config", "arguments"})
      if (given.contains(field))
        return fail("the request '" + path + "' has \"" + field +
                    "\", which tilec tune takes as words: leave it out, see tilec tune --help");
    request.output = arguments.getLastArgValue(OPT_o).str();
  }
  return true;
}

//===--- To options and back ----------------------------------------------===//

/// What needs no reading.
void OptionsParser::copyRequest(Options &options) const {
  options.inputs = request.inputs;
  options.output = request.output;
  options.printABI = request.printABI;
  options.depfile = request.depfile;
  options.depfilePath = request.depfilePath;
  options.withSource = request.withSource;
  options.outName = request.outName;
  options.cpu = request.cpu;
  options.level = request.level;
  options.ptxasPath = request.ptxasPath;
  options.ptxasFlags = request.ptxasFlags;
  options.kernel = request.kernel;
  options.defines = request.defines;
  options.attributes = request.attributes;
  options.config = request.config;
  options.extents = request.extents;
  options.divisors = request.divisors;
  options.generic = request.generic;
  options.includes = request.includes;
  options.debug = request.debug;
  options.warnings = request.warnings;
  options.remarks = request.remarks;
  options.remarksRegex = request.remarksRegex;
  options.passReport = request.passReport;
  options.errorLimit = request.errorLimit;
}

runtime::CompileRequest makeRequest(const Options &options) {
  runtime::CompileRequest request;
  request.inputs = options.inputs;
  request.output = options.output;
  request.emitted = options.package ? "package"
                    : options.emit  ? getStageName(*options.emit).str()
                                    : std::string();
  request.lastStage = options.stopAfter ? getStageName(*options.stopAfter).str() : std::string();
  request.printABI = options.printABI;
  request.depfile = options.depfile;
  request.depfilePath = options.depfilePath;
  request.withSource = options.withSource;
  request.outName = options.outName;
  request.targets = options.targets;
  if (request.targets.empty() && !options.target.empty())
    request.targets = {options.target};
  request.gpu = options.card ? std::string(options.card->name) : std::string();
  request.cpu = options.cpu;
  request.level = options.level;
  request.ptxasPath = options.ptxasPath;
  request.ptxasFlags = options.ptxasFlags;
  request.kernel = options.kernel;
  request.defines = options.defines;
  request.attributes = options.attributes;
  request.config = options.config;
  request.extents = options.extents;
  request.divisors = options.divisors;
  for (const ArgItem &item : options.argItems)
    request.argTexts.push_back(item.text);
  for (const VariantRequest &variant : options.variants) {
    runtime::CompileRequest::Variant &asked = request.asked.emplace_back();
    asked.name = variant.name;
    for (const ArgItem &item : variant.items)
      asked.items.push_back(item.text);
  }
  request.generic = options.generic;
  request.includes = options.includes;
  request.debug = options.debug;
  request.warnings = options.warnings;
  request.remarks = options.remarks;
  request.remarksRegex = options.remarksRegex;
  request.passReport = options.passReport;
  request.errorLimit = options.errorLimit;
  request.diagnosticsFormat = options.json ? "json" : options.sarif ? "sarif" : "text";
  return request;
}

bool printRequest(const Options &options) {
  std::string text, error;
  bool good = runtime::toJson(makeRequest(options), text, error);
  if (good)
    outs() << text;
  else
    errs() << "tilec: error: a request is JSON, but " << error << "; rename what it names\n";
  return good;
}

/// Empty where no request was given.
std::string getRequestPath(const Options &options) {
  const std::vector<std::string> &words = options.reproArguments;
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--request")
      return words[i + 1];
  return "";
}

} // namespace tile
