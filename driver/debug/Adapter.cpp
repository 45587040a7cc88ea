// `tilec debug --dap`: the debug adapter protocol, for editors. One request after the other; while
// the kernel runs, nobody is listened to, as a program ends by itself.
// https://microsoft.github.io/debug-adapter-protocol/specification
//
//   request or event             from, to
//   launch                       nothing -> loaded; breakpoints can be set from here on
//   configurationDone            loaded -> running
//   stopped (in a probe's call)  running -> stopped
//   continue, next, stepIn, ..   stopped -> running
//   exited, terminated           running -> loaded, at the program's end
//
// A stop is a callback of the kernel, so the requests of a stopped program are handled in a loop of
// their own (atStop) below the kernel's frames. The outer loop (run) goes on when the kernel
// returns.
#include "driver/debug/Adapter.h"
#include "driver/debug/Debug.h"
#include "driver/support/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <cstdlib>

using namespace llvm;

namespace tile::debug {
namespace {

constexpr int64_t theThread = 1; ///< that a client sees

class Adapter {
public:
  explicit Adapter(const Options &options) : given(options) {}

  // Starting is left to this loop, not done in handle(): the answer to configurationDone has to be
  // on its way before the kernel takes the thread.
  int run() {
    while (!ended && handleNext()) {
      if (!starts)
        continue;
      starts = false;
      start();
    }
    return exitDone;
  }

private:
  /// False when there is nothing more to handle.
  bool handleNext() {
    std::optional<json::Object> request = channel.read();
    if (!request)
      return false;
    StringRef command = request->getString("command").value_or("");
    const json::Object empty;
    const json::Object *arguments = request->getObject("arguments");
    handle(*request, command, arguments ? *arguments : empty);
    return true;
  }

  // Answers each request exactly once, by respond or refuse: a client waits for each of its
  // numbers.
  void handle(const json::Object &request, StringRef command, const json::Object &arguments) {
    if (command == "initialize")
      return initialize(request);
    if (command == "launch")
      return launch(request, arguments);
    if (command == "disconnect" || command == "terminate") {
      channel.respond(request);
      ended = true;
      // Probes have no way to end a kernel early, and its frames cannot be unwound.
      if (running) { // with the kernel on the stack
        (void)finish(outs());
        std::_Exit(exitDone);
      }
      return;
    }
    // Everything below asks the debugger, which a kernel brings with it. Clients send breakpoints
    // only after the event "initialized", which `launch` sends.
    if (!kernel)
      return channel.refuse(request, "no kernel is launched yet");
    if (command == "setBreakpoints")
      return setBreakpoints(request, arguments);
    if (command == "setExceptionBreakpoints")
      return setExceptionBreakpoints(request, arguments);
    if (command == "dataBreakpointInfo")
      return describeData(request, arguments);
    if (command == "setDataBreakpoints")
      return setDataBreakpoints(request, arguments);
    if (command == "configurationDone") {
      channel.respond(request);
      starts = true;
      return;
    }
    if (command == "threads")
      return channel.respond(
          request, json::Object{{"threads", json::Array{json::Object{
                                                {"id", theThread},
                                                {"name", "program " + std::to_string(program)}}}}});
    if (command == "stackTrace")
      return listFrames(request);
    if (command == "scopes")
      return listScopes(request, arguments);
    if (command == "variables")
      return listVariables(request, arguments);
    if (command == "evaluate")
      return evaluate(request, arguments);
    if (command == "exceptionInfo")
      return channel.respond(
          request, json::Object{{"exceptionId", "NaN"},
                                {"breakMode", "always"},
                                {"description", lastStop},
                                {"details",
                                 json::Object{{"message", kernel->getDebugger().explainValue()}}}});
    if (command == "continue" || command == "next" || command == "stepIn" || command == "stepOut") {
      if (!running)
        return channel.refuse(request, "the program does not run");
      resume = command == "continue" ? Resume::Continue
               : command == "next"   ? Resume::Next
               : command == "stepIn" ? Resume::Step
                                     : Resume::Finish;
      return channel.respond(request, json::Object{{"allThreadsContinued", true}});
    }
    channel.refuse(request, "tilec does not know the request '" + command + "'");
  }

  //===--- Starting -------------------------------------------------------===//

  void initialize(const json::Object &request) {
    json::Array filters;
    filters.push_back(
        json::Object{{"filter", "nan"},
                     {"label", "First NaN"},
                     {"supportsCondition", true},
                     {"conditionDescription", "a variable's name: only its values count"}});
    filters.push_back(json::Object{{"filter", "inf"}, {"label", "First infinity"}});
    channel.respond(request, json::Object{{"supportsConfigurationDoneRequest", true},
                                          {"supportsConditionalBreakpoints", true},
                                          {"supportsDataBreakpoints", true},
                                          {"supportsEvaluateForHovers", true},
                                          {"supportsExceptionInfoRequest", true},
                                          {"supportsExceptionFilterOptions", true},
                                          {"supportTerminateDebuggee", true},
                                          {"exceptionBreakpointFilters", std::move(filters)}});
  }

  /// {"program": "k.tile", "args": ["--arg", "x=x.npy"], "programId": 3, "stopOnEntry": true}
  /// The words behind "args" are those of `tilec debug`, so that both have one set of options and
  /// checks. Without any of its own, the request means the call by which this adapter was started.
  /// Messages go to standard error and as events: clients show one or the other.
  /// What a launch makes stands in local variables until all of it is known to work: a launch that
  /// is refused leaves the one before as it is.
  void launch(const json::Object &request, const json::Object &arguments) {
    if (running) // its frames are below this one
      return channel.refuse(request, "the program of the launch before is stopped, not at its end: "
                                     "continue it, or disconnect, then launch");
    auto newOptions = std::make_unique<Options>(given);
    std::vector<std::string> words = {"tilec", "debug"};
    if (std::optional<StringRef> path = arguments.getString("program"))
      words.push_back(path->str());
    if (const json::Array *more = arguments.getArray("args"))
      for (const json::Value &each : *more)
        words.push_back(each.getAsString().value_or("").str());
    if (words.size() > 2) {
      std::vector<const char *> pointers;
      for (const std::string &word : words)
        pointers.push_back(word.c_str());
      int code = 0;
      std::optional<Options> parsed = parseOptions(int(pointers.size()), pointers.data(), code);
      if (!parsed)
        return channel.refuse(request,
                              "wrong arguments; standard error says what is wrong with them");
      *newOptions = std::move(*parsed);
      newOptions->executable = given.executable;
    }
    if (newOptions->inputs.empty())
      return channel.refuse(request, "expected \"program\", the file of the kernel");
    auto newSession = std::make_unique<Session>(*newOptions, errs());
    auto loaded = std::make_unique<DebuggedKernel>();
    if (!loaded->load(*newOptions, *newSession)) {
      for (const Diagnostic &each : newSession->getDiagnostics().all())
        channel.sendEvent("output",
                          json::Object{{"category", "stderr"}, {"output", each.message + "\n"}});
      return channel.refuse(request,
                            "the kernel cannot be compiled for these arguments; standard error "
                            "says why");
    }
    int64_t number = arguments.getInteger("programId").value_or(int64_t(newOptions->debugProgram));
    if (number < 0 || number >= loaded->getPrograms())
      return channel.refuse(request, "the grid has " + Twine(loaded->getPrograms()) +
                                         " programs, found " + Twine(number));
    program = number;
    // Whatever refers to another goes first: variables to the kernel, and it to the session.
    variables = std::make_unique<VariableTree>(loaded->getDebugger());
    kernel = std::move(loaded);
    session = std::move(newSession);
    options = std::move(newOptions);
    stopOnEntry = arguments.getBoolean("stopOnEntry").value_or(false);
    kernel->getDebugger().stopped = [this](const Stop &stop) { return atStop(stop); };
    channel.respond(request);
    channel.sendEvent("initialized");
  }

  void start() {
    running = true;
    kernel->getDebugger().begin(stopOnEntry);
    // Returns when the program has ended: all stops happen inside of this call.
    bool done = kernel->run(program);
    running = false;
    if (done)
      (void)kernel->writeOutputs();
    channel.sendEvent("exited", json::Object{{"exitCode", session->getExitCode()}});
    channel.sendEvent("terminated");
  }

  // Blocks the kernel until a request says how to go on. A client that disconnects here takes the
  // process with it: nobody would read the results of the rest.
  Resume atStop(const Stop &stop) {
    lastStop = stop.text;
    json::Object body{{"reason", stop.reason},
                      {"threadId", theThread},
                      {"allThreadsStopped", true},
                      {"text", stop.text}};
    if (!stop.text.empty())
      body["description"] = stop.text;
    if (stop.breakpoint)
      body["hitBreakpointIds"] = json::Array{stop.breakpoint};
    channel.sendEvent("stopped", std::move(body));
    resume.reset();
    while (!resume && handleNext())
      continue;
    if (!resume) { // the client has gone
      (void)finish(outs());
      std::_Exit(exitDone);
    }
    return *resume;
  }

  //===--- Breakpoints ----------------------------------------------------===//

  void clear(function_ref<bool(const Breakpoint &)> which) {
    llvm::erase_if(kernel->getDebugger().breakpoints, which);
  }

  json::Object add(StringRef text, unsigned line = 0) {
    std::string error;
    unsigned id = kernel->getDebugger().addBreakpoint(text, error);
    json::Object result{{"verified", id != 0}};
    if (id)
      result["id"] = id;
    else
      result["message"] = error;
    if (line)
      result["line"] = line;
    return result;
  }

  /// The name by which the compiler knows a file that the client names by a whole path.
  /// Locations in IR have the path of the call's words, or `std/NAME.tile` for the library, whose
  /// copies an editor opens under a path of its own. Another file keeps its path as it is.
  std::string findFile(StringRef path) const {
    StringRef input = kernel->getDebugger().getInput();
    if (path.ends_with(input) || input.ends_with(path))
      return input.str();
    size_t std = path.rfind("std/");
    return std == StringRef::npos ? path.str() : path.substr(std).str();
  }

  // The list replaces all breakpoints of that file: the protocol has no request for a single one.
  // Answers have the order of the requests, and a line that is refused keeps its place.
  void setBreakpoints(const json::Object &request, const json::Object &arguments) {
    const json::Object *source = arguments.getObject("source");
    std::string file = findFile(source ? source->getString("path").value_or("") : "");
    clear([&](const Breakpoint &each) {
      return each.kind == Breakpoint::Kind::Line && each.file == file;
    });
    json::Array result;
    if (const json::Array *requested = arguments.getArray("breakpoints"))
      for (const json::Value &each : *requested) {
        const json::Object *entry = each.getAsObject();
        int64_t line = entry ? entry->getInteger("line").value_or(0) : 0;
        StringRef condition = entry ? entry->getString("condition").value_or("") : "";
        std::string text =
            std::to_string(line) + (condition.empty() ? "" : " if " + condition.str());
        result.push_back(add(text, unsigned(line)));
        if (result.back().getAsObject()->getBoolean("verified").value_or(false))
          // addBreakpoint reads texts without a file; the breakpoint that it made is the last.
          kernel->getDebugger().breakpoints.back().file = file;
      }
    channel.respond(request, json::Object{{"breakpoints", std::move(result)}});
  }

  void setExceptionBreakpoints(const json::Object &request, const json::Object &arguments) {
    clear([](const Breakpoint &each) {
      return each.kind == Breakpoint::Kind::NaN || each.kind == Breakpoint::Kind::Infinity;
    });
    json::Array result;
    if (const json::Array *filters = arguments.getArray("filters"))
      for (const json::Value &each : *filters)
        result.push_back(add(each.getAsString().value_or("")));
    if (const json::Array *more = arguments.getArray("filterOptions"))
      for (const json::Value &each : *more)
        if (const json::Object *option = each.getAsObject())
          result.push_back(add((option->getString("filterId").value_or("") + " " +
                                option->getString("condition").value_or(""))
                                   .str()));
    channel.respond(request, json::Object{{"breakpoints", std::move(result)}});
  }

  void describeData(const json::Object &request, const json::Object &arguments) {
    StringRef name = arguments.getString("name").value_or("");
    channel.respond(request, json::Object{{"dataId", name},
                                          {"description", name.str() + " changes"},
                                          {"accessTypes", json::Array{"write"}}});
  }

  void setDataBreakpoints(const json::Object &request, const json::Object &arguments) {
    clear([](const Breakpoint &each) { return each.kind == Breakpoint::Kind::Change; });
    json::Array result;
    if (const json::Array *requested = arguments.getArray("breakpoints"))
      for (const json::Value &each : *requested)
        if (const json::Object *entry = each.getAsObject())
          result.push_back(add(entry->getString("dataId").value_or("")));
    channel.respond(request, json::Object{{"breakpoints", std::move(result)}});
  }

  //===--- Inspection of values -------------------------------------------===//

  void listFrames(const json::Object &request) {
    json::Array frames;
    for (auto [i, place] : enumerate(kernel->getDebugger().getFrames())) {
      json::Object source{{"name", place.file}, {"path", place.file}};
      frames.push_back(json::Object{{"id", int64_t(i)},
                                    {"name", i + 1 == kernel->getDebugger().getFrames().size()
                                                 ? kernel->getName()
                                                 : "called at " + place.file},
                                    {"line", place.line},
                                    {"column", place.column},
                                    {"source", std::move(source)}});
    }
    int64_t count = int64_t(frames.size());
    channel.respond(request,
                    json::Object{{"stackFrames", std::move(frames)}, {"totalFrames", count}});
  }

  void listScopes(const json::Object &request, const json::Object &arguments) {
    // The number that listFrames gave: a frame's index, 0 the innermost.
    int64_t frame = arguments.getInteger("frameId").value_or(0);
    json::Array scopes;
    scopes.push_back(json::Object{{"name", "Variables"},
                                  {"presentationHint", "locals"},
                                  {"variablesReference", firstFrameReference + frame},
                                  {"expensive", false}});
    scopes.push_back(json::Object{{"name", "Tensors"},
                                  {"presentationHint", "arguments"},
                                  {"variablesReference", argumentsReference},
                                  {"expensive", false}});
    channel.respond(request, json::Object{{"scopes", std::move(scopes)}});
  }

  void listVariables(const json::Object &request, const json::Object &arguments) {
    int64_t reference = arguments.getInteger("variablesReference").value_or(0);
    channel.respond(request, json::Object{{"variables", variables->list(reference)}});
  }

  void evaluate(const json::Object &request, const json::Object &arguments) {
    std::string error;
    StringRef text = arguments.getString("expression").value_or("");
    if (text.trim() == "cause")
      return channel.respond(request, json::Object{{"result", kernel->getDebugger().explainValue()},
                                                   {"variablesReference", 0}});
    std::optional<Query> query = readQuery(text, error);
    std::optional<Elements> found =
        query ? kernel->getDebugger().getElements(*query, error) : std::nullopt;
    if (!found)
      return channel.refuse(request, error);
    std::string result = found->values.size() == 1 ? showNumber(found->values[0], found->isFloat)
                                                   : kernel->getDebugger().show(*query);
    channel.respond(request, json::Object{{"result", result}, {"variablesReference", 0}});
  }

  const Options &given;
  // Destroyed from the last to the first: variables refer to the kernel, it to the session, and
  // that to the options.
  std::unique_ptr<Options> options;
  std::unique_ptr<Session> session;
  std::unique_ptr<DebuggedKernel> kernel;
  std::unique_ptr<VariableTree> variables;
  Channel channel;
  std::optional<Resume> resume;
  std::string lastStop;
  int64_t program = 0;
  bool starts = false, running = false, ended = false, stopOnEntry = false;
};

} // namespace

int runDebugAdapter(const Options &options) { return Adapter(options).run(); }

} // namespace tile::debug
