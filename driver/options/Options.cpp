// Parses the command line with the table of Options.td, and checks it.
//
// The order, in which a later step may rely on the earlier ones:
//   parseOptions   @files are opened, the words matched against Options.td
//     calls that only ask:  help, completion, version, explain CODE: printed here, no Options
//     lsp                   takes no further words
//   OptionsParser::parse
//     command and inputs
//     takeWords / takeRequest -> CompileRequest -> copyRequest      (OptionsRequest.cpp)
//     kinds of output, target, processor level, messages, run and tune
//     what the command allows: checkCompile, checkPackages, ...
//
// Each check prints its message by fail() and gives up: a call with two mistakes hears of the
// first. Nothing here reads a source, so the messages cannot depend on one.
#include "codegen/Assemble.h"
#include "codegen/HostLevels.h"
#include "driver/options/OptionsParser.h"
#include "driver/support/Version.h"
#include "frontend/Diag/Example.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"
#include "passes/FormerNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;

namespace tile {
namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "driver/options/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "driver/options/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr OptTable::Info infoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "driver/options/Options.inc"
#undef OPTION
};

class TilecTable : public GenericOptTable {
public:
  TilecTable() : GenericOptTable(OptionStrTable, OptionPrefixesTable, infoTable) {}
};

} // namespace

const OptTable &getOptionTable() {
  static const TilecTable table;
  return table;
}

//===--- Groups of options ------------------------------------------------===//

bool OptionsParser::checkSpelling() {
  for (const Arg *unknown : arguments.filtered(OPT_UNKNOWN)) {
    std::string spelling = unknown->getAsString(arguments), nearest;
    // In edits: more than two are another word.
    if (table.findNearest(spelling, nearest) <= 2)
      return fail("unknown option '" + spelling + "'; did you mean '" + nearest + "'?");
    return fail("unknown option '" + spelling + "'; see tilec --help");
  }
  return true;
}

bool OptionsParser::parseNumber(OptionID id, StringRef name, uint64_t limit, uint64_t &value) {
  if (const Arg *argument = arguments.getLastArg(id))
    if (StringRef(argument->getValue()).getAsInteger(10, value) || value > limit)
      return fail(name + " takes a number from 0 to " + Twine(limit) + ", found '" +
                  argument->getValue() + "'");
  return true;
}

/// Appends to `pairs`. A name twice is a mistake of the call, since nobody could say which one
/// counts.
bool OptionsParser::parsePair(const Arg &argument, std::vector<NameValue> &pairs) {
  auto [name, value] = StringRef(argument.getValue()).split('=');
  if (name.empty() || !StringRef(argument.getValue()).contains('='))
    return fail("expected NAME=VALUE after " + argument.getSpelling() + ", found '" +
                argument.getValue() + "'");
  for (const NameValue &pair : pairs)
    if (pair.first == name)
      return fail("'" + name + "' is given twice by " + argument.getSpelling());
  pairs.emplace_back(name.trim().str(), value.trim().str());
  return true;
}

bool OptionsParser::parseStage(StringRef option, StringRef name, bool isEmit,
                               std::optional<Stage> &stage) {
  if (name.empty())
    return true;
  stage = findStage(name);
  if (stage)
    return true;
  std::vector<std::string> kinds(getStageNames().begin(), getStageNames().end());
  if (isEmit)
    kinds.push_back("package");
  std::string near = suggest(name.str(), kinds);
  return fail(option + " takes " + joinWords(kinds, "or") + ", found '" + name + "'" +
              (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

/// `--cpu`, and what files for other machines are compiled for without it.
bool OptionsParser::parseLevel(Options &options) {
  std::vector<std::string> levels;
  for (StringRef level : getHostLevels())
    levels.push_back(level.str());
  bool hasCPU = options.isCPU() || is_contained(options.targets, "cpu");
  if (!options.cpu.empty()) {
    if (levels.empty())
      return fail("this tilec has no levels for --cpu: it compiles for the processor it runs on");
    if (!is_contained(levels, options.cpu))
      return fail("--cpu takes " + joinWords(levels, "or") + ", found '" + options.cpu + "'");
    return hasCPU || fail("--cpu goes with --target cpu");
  }
  bool isFile = options.command == Options::Command::Compile &&
                (options.cSource || options.emit == Stage::Obj ||
                 (!options.emit && stageOfFile(options.output) == Stage::Obj));
  if (options.isCPU() && isFile)
    options.cpu = getDefaultHostLevel().str();
  return true;
}

bool OptionsParser::parseOutName(Options &options) {
  StringRef name = options.outName;
  if (name.empty() && !arguments.hasArg(OPT_out_name))
    return true;
  bool isName = !name.empty() && !isDigit(name.front()) &&
                all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
  if (!isName)
    return fail("--out-name takes letters, digits and _, with no digit first, found '" + name +
                "'");
  return options.cSource || fail("--out-name goes with C, -o NAME.c");
}

bool OptionsParser::parseMessages(Options &options) {
  for (StringRef warning : options.warnings) {
    StringRef code = warning;
    if (!code.consume_front("error="))
      code.consume_front("no-");
    if (warning != "error" && !findDiagnostic(code))
      return fail("no diagnostic is called '" + code + "', in -W" + warning);
  }
  std::string wrong;
  if (!options.remarksRegex.empty() && !Regex(options.remarksRegex).isValid(wrong))
    return fail("'" + options.remarksRegex + "' is no regular expression: " + wrong);
  StringRef format = request.diagnosticsFormat;
  if (format != "text" && format != "json" && format != "sarif")
    return fail("--diagnostics-format takes text, json or sarif, found '" + format + "'");
  options.json = format == "json";
  options.sarif = format == "sarif";
  StringRef color = arguments.getLastArgValue(OPT_color, "auto");
  if (color != "auto" && color != "always" && color != "never")
    return fail("--color takes auto, always or never, found '" + color + "'");
  const char *noColor = getenv("NO_COLOR");
  options.color = color == "always" || (color == "auto" && !(noColor && *noColor) &&
                                        sys::Process::StandardErrHasColors());
  return true;
}

/// `tilec inspect FILE` and `tilec link FILE... -o NAME.tilepkg`.
bool OptionsParser::checkPackages(Options &options) {
  if (options.command == Options::Command::Inspect)
    return options.inputs.size() == 1 ||
           fail("tilec inspect takes one file, found " + Twine(options.inputs.size()));
  if (options.output.empty())
    return fail("tilec link needs -o NAME.tilepkg or -o NAME.c");
  return true;
}

/// The outputs and their paths, and whether they go together.
bool OptionsParser::checkCompile(Options &options) {
  if (!parseArgItems(options))
    return false;
  for (const std::string &input : options.inputs)
    if (input != "-" && sys::fs::equivalent(input, options.output))
      return fail("-o names the input '" + input +
                  "', which would be overwritten; name another file");
  if (options.package) {
    if (options.inputs.size() > 1 && !options.output.empty())
      return fail("-o names one file, but there are " + Twine(options.inputs.size()) +
                  " inputs; join packages with tilec link");
    if (options.targets.empty())
      options.targets = {options.target};
    if (options.targets.size() > 1 && is_contained(options.inputs, "-"))
      return fail("a package of several targets is compiled from a file, not from standard input");
    return true;
  }
  if (options.cSource) {
    if (options.emit && *options.emit != (options.isCPU() ? Stage::Obj : Stage::Cubin) &&
        (*options.emit != Stage::PTX || options.isCPU()))
      return fail("C carries a cubin, PTX or object file: --emit=" + getStageName(*options.emit) +
                  " does not go with a .c file");
    if (options.inputs.size() > 1)
      return fail("-o names one file, but there are " + Twine(options.inputs.size()) + " inputs");
    if (options.targets.empty())
      options.targets = {options.target};
    if (options.targets.size() > 1 && is_contained(options.targets, "cpu"))
      return fail("C for the CPU stands alone: leave cpu out of --target, or write a package");
    if (options.targets.size() > 1 && is_contained(options.inputs, "-"))
      return fail("C for several targets is compiled from a file, not from standard input");
    return true;
  }
  if (!options.emit && !options.output.empty()) {
    options.emit = stageOfFile(options.output);
    if (!options.emit)
      return fail(
          "cannot tell from '" + options.output +
          "' what to write: end it in .cubin, .ptx, .c, .ll, .mlir or .o, or add --emit=KIND");
  }
  bool printsPasses = options.printAfterAll || !options.printAfter.empty();
  if (!options.emit && !options.stopAfter && printsPasses)
    options.stopAfter = Stage::LLVM;
  if (!options.emit && !options.stopAfter && !options.printPipeline && !options.printABI &&
      !arguments.hasArg(OPT_print_request))
    return fail("nothing to write: name an output as in -o NAME.cubin, or a kind as in --emit=ptx; "
                "see tilec --help");
  if (options.inputs.size() > 1 && !options.output.empty())
    return fail("-o names one file, but there are " + Twine(options.inputs.size()) + " inputs");
  std::optional<Stage> last = options.stopAfter ? options.stopAfter : options.emit;
  // A call that stops early asks about the source: parameters, contracts, grid.
  Stage least = options.stopAfter ? Stage::Tile : Stage::LLVM;
  if (options.printABI && last && *last < least)
    return fail("--print-abi says what the finished code takes, which '" + getStageName(*last) +
                "' comes before: leave out --emit and --stop-after, or name a later stage");
  if (last && options.isCPU() &&
      is_contained({Stage::GPU, Stage::PTX, Stage::Cubin, Stage::Sass}, *last))
    return fail("target cpu has no stage '" + getStageName(*last) + "'");
  if (last == Stage::Obj && !options.isCPU())
    return fail("object files are for --target cpu, not for " + options.target);
  if (options.depfile && options.depfilePath.empty() &&
      (options.output.empty() || options.output == "-"))
    return fail("-MD needs -MF FILE where the output is not a file");
  return true;
}

/// --diff takes two sources or documents, or a source and one or two configurations.
bool OptionsParser::checkDifference(const Options &options) {
  size_t configs = count_if(options.inputs, [](StringRef word) { return word.contains('='); });
  size_t count = options.inputs.size();
  bool areLast = count > 0 && !StringRef(options.inputs.front()).contains('=');
  if ((count == 2 && configs <= 1 && areLast) || (count == 3 && configs == 2 && areLast))
    return true;
  return fail("--diff takes two sources, A.tile B.tile, two documents of --json, or a source and "
              "one or two configurations, FILE.tile warps=4 warps=8; found " +
              (count ? join(options.inputs, " ") : std::string("none")));
}

bool OptionsParser::parse(Options &options) {
  if (!checkSpelling())
    return false;
  options.inputs = arguments.getAllArgValues(OPT_INPUT);
  static const std::pair<StringRef, Options::Command> commands[] = {
      {"run", Options::Command::Run},         {"tune", Options::Command::Tune},
      {"explain", Options::Command::Explain}, {"check", Options::Command::Check},
      {"fmt", Options::Command::Format},      {"inspect", Options::Command::Inspect},
      {"link", Options::Command::Link},       {"fix", Options::Command::Fix},
      {"debug", Options::Command::Debug}};
  const std::string word = options.inputs.empty() ? "" : options.inputs.front();
  for (const auto &[name, command] : commands)
    // The first word that is no option, wherever it stands: `tilec -O2 run` is a `run`. A file with
    // a command's name is given as ./run.
    if (word == name)
      options.command = command;
  if (options.command != Options::Command::Compile) {
    options.inputs.erase(options.inputs.begin());
  } else if (!options.inputs.empty() && word != "-" && !StringRef(word).contains('.') &&
             !sys::fs::exists(word)) {
    std::string near = suggest(word, getCommandNames());
    return fail("'" + word + "' is no file, and no command; " +
                (near.empty() ? "there are " + joinWords(getCommandNames(), "and")
                              : "did you mean '" + near + "'?"));
  }
  options.debugAdapter = arguments.hasArg(OPT_dap);
  if (options.inputs.empty() && options.debugAdapter && options.command == Options::Command::Debug)
    return true; // the launch request names it
  if (!(arguments.hasArg(OPT_request) ? takeRequest(options) : takeWords(options)))
    return false;
  copyRequest(options);
  if (options.inputs.empty())
    return fail("no input file; see tilec --help");
  bool takesOne = is_contained({Options::Command::Run, Options::Command::Tune,
                                Options::Command::Explain, Options::Command::Debug},
                               options.command);
  options.explainDiff = arguments.hasArg(OPT_diff);
  options.explainPage = arguments.getLastArgValue(OPT_html).str();
  for (const Arg *argument : arguments.filtered(OPT_diff, OPT_html, OPT_profile))
    if (options.command != Options::Command::Explain)
      return fail(argument->getSpelling() + " belongs to `tilec explain`");
  if (options.explainDiff && !checkDifference(options))
    return false;
  options.profile = arguments.getLastArgValue(OPT_profile).str();
  if (!options.profile.empty() && (options.explainDiff || arguments.hasArg(OPT_stop_after)))
    return fail(Twine("--profile needs the code that was profiled: it does not go with ") +
                (options.explainDiff ? "--diff" : "--stop-after"));
  if (takesOne && options.inputs.size() > 1 && !options.explainDiff)
    return fail("tilec " + word + " takes one file, found " + Twine(options.inputs.size()));

  StringRef kind = request.emitted;
  options.cSource = StringRef(options.output).ends_with(".c");
  options.package =
      kind == "package" || (kind.empty() && StringRef(options.output).ends_with(".tilepkg"));
  if ((!options.package && !parseStage("--emit", kind, /*isEmit=*/true, options.emit)) ||
      !parseStage("--stop-after", request.lastStage, /*isEmit=*/false, options.stopAfter) ||
      !parseTarget(options) || !parseLevel(options) || !parseOutName(options) ||
      !parseMessages(options) || !parseRun(options))
    return false;
  if (!options.depfilePath.empty() && !options.depfile)
    return fail("-MF needs -MD");
  options.dumpDirectory = arguments.getLastArgValue(OPT_dump_dir).str();
  options.verbose = arguments.hasArg(OPT_v);
  options.printAfterAll = arguments.hasArg(OPT_print_ir_after_all);
  for (const std::string &names : arguments.getAllArgValues(OPT_print_ir_after))
    for (StringRef name : llvm::split(names, ','))
      options.printAfter.push_back(getPresentPassName(name.trim()).str());
  options.printPipeline = arguments.hasArg(OPT_print_pipeline);
  options.timeReport = arguments.hasArg(OPT_time_report);
  // A folder of such a name is asked for as ./off.
  auto cachePart = [&](OptSpecifier option, const char *variable) {
    const char *preset = getenv(variable);
    StringRef given = arguments.getLastArgValue(option, preset ? preset : "");
    return given == "off" || given == "none" ? std::string() : given.str();
  };
  options.cacheFolder = cachePart(OPT_cache, "TILE_CACHE");
  options.cacheCommand = cachePart(OPT_cache_command, "TILE_CACHE_COMMAND");
  options.explainCache = arguments.hasArg(OPT_explain_cache);
  uint64_t megabytes = options.cacheMegabytes, jobs = options.jobs;
  if (!parseNumber(OPT_cache_size, "--cache-size", 1 << 20, megabytes) ||
      !parseNumber(OPT_j, "-j", 1024, jobs))
    return false;
  options.cacheMegabytes = unsigned(megabytes);
  options.jobs = unsigned(jobs);
  options.makesRepro = arguments.hasArg(OPT_repro);
  options.repro = arguments.getLastArgValue(OPT_repro).str();
  options.crash = arguments.getLastArgValue(OPT_debug_crash).str();
  if (!options.crash.empty() &&
      !is_contained({"memory", "fatal", "verifier", "exception"}, StringRef(options.crash)))
    return fail("--debug-crash takes memory, fatal, verifier or exception, found '" +
                options.crash + "'");
  options.extract = arguments.getLastArgValue(OPT_extract).str();
  options.verify = arguments.getLastArgValue(OPT_verify).str();
  if (!options.verify.empty() && options.command != Options::Command::Inspect)
    return fail("--verify belongs to `tilec inspect`");
  options.printSettings = arguments.hasArg(OPT_print_settings);
  options.explainAsJson = arguments.hasArg(OPT_json);
  if (options.explainAsJson && options.command != Options::Command::Explain)
    return fail("--json belongs to `tilec explain`");
  if (options.command == Options::Command::Format) {
    options.formatCheck = arguments.hasArg(OPT_fmt_check);
    return (options.output.empty() && !options.emit && !options.package) ||
           fail("tilec fmt rewrites its files, and standard input to standard output: leave out -o "
                "and --emit");
  }
  if (options.command == Options::Command::Explain || options.command == Options::Command::Check) {
    if (!options.output.empty() || options.emit || options.package)
      return fail("tilec " + word +
                  (word == "check" ? " writes no file" : " writes to standard output") +
                  ": leave out -o and --emit");
    if (options.command == Options::Command::Explain)
      noteGuess(options);
    return parseArgItems(options);
  }
  if (options.command == Options::Command::Compile) {
    if (!checkCompile(options))
      return false;
    std::optional<Stage> last = options.stopAfter ? options.stopAfter : options.emit;
    if (options.package || options.cSource || (last && *last >= Stage::GPU))
      noteGuess(options);
    return true;
  }
  if (options.command == Options::Command::Fix) {
    if (is_contained(options.inputs, "-"))
      return fail("tilec fix changes files: name one, not standard input");
    return options.output.empty() || fail("tilec fix changes the files themselves: leave out -o");
  }
  return options.command == Options::Command::Run || options.command == Options::Command::Tune ||
         options.command == Options::Command::Debug || checkPackages(options);
}

//===--- Settings ---------------------------------------------------------===//

void OptionsParser::printSettings(const Options &options, raw_ostream &stream) const {
  auto print = [&](StringRef name, const Twine &value, std::initializer_list<OptionID> ids,
                   const char *variable = nullptr) {
    std::string field = name == "target" ? "targets" : name == "ptxas" ? "ptxas_path" : name.str();
    std::replace(field.begin(), field.end(), '-', '_');
    bool isGiven = any_of(ids, [&](OptionID id) { return arguments.hasArg(id); });
    const char *fromEnvironment = variable ? getenv(variable) : nullptr;
    std::string source = isGiven                               ? "command line"
                         : given.contains(field)               ? "request"
                         : fromEnvironment && *fromEnvironment ? variable
                                                               : "default";
    stream << left_justify(name, 20) << left_justify(value.str(), 28) << source << "\n";
  };
  auto list = [](const auto &items, auto text) {
    std::string joined;
    for (const auto &item : items)
      joined += (joined.empty() ? "" : ",") + text(item);
    return joined.empty() ? std::string("-") : joined;
  };
  auto orNone = [](const std::string &text) { return text.empty() ? std::string("-") : text; };
  Expected<std::string> ptxas = findPtxas(options.ptxasPath, options.executable);
  std::string assembler = ptxas ? orNone(*ptxas) : toString(ptxas.takeError());
  const char *linker = getenv("TILE_LINKER");
  print("target", options.targets.empty() ? options.target : join(options.targets, ","),
        {OPT_target, OPT_gpu}, "TILE_TARGET");
  print("level", Twine(options.level), {OPT_O});
  print("defines",
        list(options.defines, [](const NameValue &each) { return each.first + "=" + each.second; }),
        {OPT_D});
  print("shape",
        list(options.extents,
             [](const auto &each) { return each.first + "=" + std::to_string(each.second); }),
        {OPT_shape});
  print("divisors",
        list(options.divisors,
             [](const auto &each) { return each.first + "=" + std::to_string(each.second); }),
        {OPT_divisors});
  print("arguments", list(options.argItems, [](const ArgItem &each) { return each.text; }),
        {OPT_arg});
  print("variants", list(options.variants, [](const VariantRequest &each) { return each.name; }),
        {OPT_variant, OPT_variants});
  print("generic", options.generic ? "true" : "false", {OPT_no_generic});
  // Attributes: --with, then --config, then the source's `with`, then `tune`.
  print("attributes",
        list(options.attributes,
             [](const NameValue &each) { return each.first + "=" + each.second; }),
        {OPT_with});
  print("config", orNone(options.config), {OPT_config});
  print("includes", list(options.includes, [](const std::string &each) { return each; }), {OPT_I});
  print("ptxas", assembler, {OPT_ptxas_path}, "TILE_PTXAS");
  print("ptxas-flags", list(options.ptxasFlags, [](const std::string &each) { return each; }),
        {OPT_Xptxas});
  print("linker", linker && *linker ? linker : "LLD", {}, "TILE_LINKER");
  print("cache", orNone(options.cacheFolder), {OPT_cache}, "TILE_CACHE");
  print("cache-command", orNone(options.cacheCommand), {OPT_cache_command}, "TILE_CACHE_COMMAND");
  print("cache-size", Twine(options.cacheMegabytes), {OPT_cache_size});
  print("jobs", Twine(options.jobs), {OPT_j});
  print("remarks",
        options.passReport ? (options.remarks ? "true,passes" : "passes")
                           : (options.remarks ? "true" : "false"),
        {OPT_remarks, OPT_remarks_eq});
  print("warnings", list(options.warnings, [](const std::string &each) { return each; }),
        {OPT_W, OPT_Werror, OPT_Werror_eq});
  print("error-limit", Twine(options.errorLimit), {OPT_error_limit});
  print("diagnostics-format",
        options.sarif  ? "sarif"
        : options.json ? "json"
                       : "text",
        {OPT_diagnostics_format});
  print("color", options.color ? "true" : "false", {OPT_color}, "NO_COLOR");
}

static int explain(StringRef code) {
  std::optional<diag::ID> id = findDiagnostic(code);
  for (const char *letter : {"E", "W", "R"}) // 201 is E0201
    if (!id && !code.empty() && code.size() <= 4 && all_of(code, isDigit))
      id = findDiagnostic(letter + std::string(4 - code.size(), '0') + code.str());
  if (!id) {
    errs() << "tilec: error: no diagnostic is called '" << code << "'\n";
    return exitCall;
  }
  const DiagnosticInfo &info = diagnosticInfo(*id);
  outs() << info.code << " (" << info.name << ")"
         << (StringRef(info.message) == "{0}" ? "" : ": " + std::string(info.message)) << "\n\n"
         << info.explain << "\n";
  if (const DiagnosticExample *example = findExample(info.code))
    printExample(outs(), *example);
  return exitDone;
}

/// The words of one argument, as they would be given again.
static std::vector<std::string> render(const Arg &argument, const InputArgList &arguments) {
  ArgStringList words;
  argument.render(arguments, words);
  return std::vector<std::string>(words.begin(), words.end());
}

std::optional<Options> parseOptions(int argc, const char *const *argv, int &exitCode) {
  const OptTable &table = getOptionTable();
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *> words(argv + 1, argv + argc);
  cl::ExpansionContext expansion(allocator, cl::TokenizeGNUCommandLine);
  if (Error error = expansion.expandResponseFiles(words)) {
    errs() << "tilec: error: " << toString(std::move(error)) << "\n";
    exitCode = exitCall;
    return std::nullopt;
  }
  unsigned missingIndex, missingCount;
  InputArgList arguments = table.ParseArgs(words, missingIndex, missingCount);
  // --check takes a word of `tilec tune` and none of `tilec fmt`. Which command it is is known once
  // the options in front of its word are.
  if (std::vector<std::string> found = arguments.getAllArgValues(OPT_INPUT);
      !found.empty() && found.front() == "fmt") {
    for (const char *&word : words)
      if (StringRef(word) == "--check")
        word = "--fmt-check";
    arguments = table.ParseArgs(words, missingIndex, missingCount);
  }
  exitCode = exitDone;
  if (missingCount) {
    errs() << "tilec: error: " << arguments.getArgString(missingIndex) << " needs a value\n";
    exitCode = exitCall;
    return std::nullopt;
  }
  std::vector<std::string> inputs = arguments.getAllArgValues(OPT_INPUT);
  std::string word = inputs.empty() ? "" : inputs.front();
  if (arguments.hasArg(OPT_help, OPT_help_hidden)) {
    printHelp(table, word, arguments.hasArg(OPT_help_hidden));
    return std::nullopt;
  }
  if (word == "help" || word == "completion") {
    std::string topic = inputs.size() > 1 ? inputs[1] : "";
    exitCode = word == "help" ? printTopic(table, topic) : printCompletion(table, topic);
    return std::nullopt;
  }
  if (arguments.hasArg(OPT_version) || word == "version") {
    printVersion(outs());
    return std::nullopt;
  }
  if (const Arg *code = arguments.getLastArg(OPT_explain)) {
    exitCode = explain(code->getValue());
    return std::nullopt;
  }
  Options options;
  if (word == "lsp") {
    options.command = Options::Command::Serve;
    // Editors' libraries add --stdio, which is all that there is.
    for (StringRef each : ArrayRef<const char *>(words))
      if (each != "lsp" && each != "--stdio") {
        errs() << "tilec: error: tilec lsp takes no '" << each
               << "': the editor names files and settings\n";
        exitCode = exitCall;
        return std::nullopt;
      }
    return options;
  }
  static int anchor;
  options.executable = sys::fs::getMainExecutable(argv[0], &anchor);
  OptionsParser parser(table, arguments);
  bool good = parser.parse(options);
  if (arguments.hasArg(OPT_print_settings)) { // a call that only asks needs nothing to write
    parser.printSettings(options, outs());
    exitCode = exitDone;
    // Those of the kernels hang on the file, which may not be there.
    if (!good || options.command != Options::Command::Compile || options.inputs.size() != 1 ||
        !sys::fs::exists(options.inputs.front()))
      return std::nullopt;
    return options;
  }
  if (!good) {
    exitCode = exitCall;
    return std::nullopt;
  }
  if (arguments.hasArg(OPT_print_request)) {
    exitCode = printRequest(options) ? exitDone : exitCall;
    return std::nullopt;
  }
  for (const Arg *argument : arguments)
    if (!argument->getOption().matches(OPT_repro))
      for (const std::string &word : render(*argument, arguments))
        options.reproArguments.push_back(word);
  return options;
}

} // namespace tile
