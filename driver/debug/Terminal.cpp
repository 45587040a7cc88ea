// `tilec debug` in a terminal, or with commands from a file: a prompt, a command, its answer.
//
//   prompt, nothing runs  -- run, step -->  kernel.run: stops ask at a prompt of their own (atStop)
//           ^                                                |
//           +----------------- the program ends -------------+
//
// What is typed where no person sits is echoed: a transcript then reads as a session does.
#include "driver/debug/Debug.h"
#include "driver/support/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include <cstdlib>
#include <iostream>

using namespace llvm;

namespace tile::debug {
namespace {

constexpr StringLiteral help =
    "break LINE [if NAME[i, j] > X]   stop at a line; at a condition on a value (also: is nan)\n"
    "break nan [NAME], break inf      stop at the first NaN or infinity, of any value or of NAME\n"
    "break y[i, j]                    stop when an element of a tensor changes\n"
    "breaks, delete N                 list breakpoints, take one away\n"
    "program N                        follow program N of the grid, before `run`\n"
    "run                              start, or start again\n"
    "continue, step, next, finish     go on: to a breakpoint; by a statement; over calls; out of a "
    "call\n"
    "print NAME[i, 0..8]              a variable or tensor, or a part of it\n"
    "vars                             the variables that have a value here\n"
    "cause                            at a NaN: the operation that made it, and what it took\n"
    "where, up, down                  the calls; look at another one\n"
    "list                             the source around this place\n"
    "quit\n"
    "Commands may be cut short; an empty line repeats the last one.\n";

class Terminal {
public:
  Terminal(DebuggedKernel &kernel, const Options &options)
      : kernel(kernel), debugger(kernel.getDebugger()), program(int64_t(options.debugProgram)),
        echoes(!sys::Process::StandardInIsUserInput()) {
    debugger.stopped = [this](const Stop &stop) { return atStop(stop); };
  }

  int run(Session &session) {
    outs() << kernel.getName() << ": " << kernel.getPrograms() << " programs; `help` lists the "
           << "commands\n";
    // Each turn is one run of one program from its begin: memory of tensors is not set back between
    // runs, so a second run sees the outputs of the first.
    while (std::optional<Resume> resume = readCommands()) {
      if (program >= kernel.getPrograms()) {
        outs() << "the grid has " << kernel.getPrograms() << " programs, 0 to "
               << kernel.getPrograms() - 1 << "\n";
        continue;
      }
      running = true;
      debugger.begin(*resume != Resume::Continue);
      bool done = kernel.run(program);
      running = false;
      if (!done)
        return session.getExitCode();
      if (!leaves)
        outs() << "program " << program << " has ended\n";
      if (leaves)
        break;
    }
    if (!kernel.writeOutputs())
      return session.getExitCode();
    return session.getExitCode();
  }

private:
  Resume atStop(const Stop &stop) {
    if (leaves) // the program runs to its end, and nobody looks
      return Resume::Continue;
    frame = 0;
    if (!stop.text.empty())
      outs() << stop.text << "\n";
    printPlace();
    std::optional<Resume> resume = readCommands();
    if (resume)
      return *resume;
    // `quit` does not finish the kernel: the process ends with the kernel on its stack.
    leaves = true;
    (void)finish(outs());
    std::_Exit(exitDone);
  }

  void printPlace() {
    std::vector<SourceLine> frames = debugger.getFrames();
    if (frame >= frames.size())
      return;
    const SourceLine &place = frames[frame];
    outs() << place.file << ":" << place.line << ": " << getLine(place.file, place.line).trim()
           << "\n";
  }

  StringRef getLine(StringRef file, unsigned line) {
    StringRef text = kernel.getText(file);
    for (unsigned i = 1; i < line; ++i)
      text = text.split('\n').second;
    return text.split('\n').first;
  }

  void list() {
    std::vector<SourceLine> frames = debugger.getFrames();
    std::string file = frames.empty() ? debugger.getInput() : frames[frame].file;
    unsigned line = frames.empty() ? 1 : frames[frame].line;
    unsigned count = kernel.getText(file).count('\n');
    for (unsigned i = line > 5 ? line - 5 : 1; i <= std::min(line + 5, count); ++i)
      outs() << (i == line && !frames.empty() ? "> " : "  ") << format_decimal(i, 4) << "  "
             << getLine(file, i) << "\n";
  }

  /// Reads until the program is to go on. Nothing at `quit` and at the input's end.
  std::optional<Resume> readCommands() {
    while (true) {
      outs() << "(tile) ";
      outs().flush();
      std::string line;
      if (!std::getline(std::cin, line)) {
        outs() << "\n";
        return std::nullopt;
      }
      if (echoes)
        outs() << line << "\n";
      // Files of commands may have comments.
      StringRef text = StringRef(line).split('#').first.trim();
      if (text.empty())
        text = last;
      last = text.str();
      std::optional<Resume> resume;
      if (!execute(last, resume))
        return std::nullopt;
      if (resume)
        return resume;
    }
  }

  /// False at `quit`.
  bool execute(StringRef text, std::optional<Resume> &resume) {
    auto [word, rest] = text.split(' ');
    rest = rest.trim();
    static constexpr StringLiteral words[] = {
        "break", "breaks", "cause",   "continue", "delete", "down", "finish", "help", "list",
        "next",  "print",  "program", "quit",     "run",    "step", "up",     "vars", "where"};
    StringRef command;
    if (word == "c")
      word = "continue";
    if (word == "p")
      word = "print";
    // A whole word wins over one that begins with it (`break`, not `breaks`); of several that begin
    // with the letters given, the first by the alphabet is meant.
    for (StringRef each : words)
      if (each == word || (command.empty() && !word.empty() && each.starts_with(word)))
        command = each;
    if (text.empty())
      return true;
    if (command == "quit")
      return false;
    bool goes =
        command == "continue" || command == "step" || command == "next" || command == "finish";
    if (goes || command == "run") {
      if (command == "run" && running)
        outs() << "the program runs already: `continue` goes on, `quit` leaves\n";
      else
        // Before the first statement there is no depth that `next` could compare with.
        resume = command == "step"     ? Resume::Step
                 : command == "next"   ? (running ? Resume::Next : Resume::Step)
                 : command == "finish" ? Resume::Finish
                                       : Resume::Continue;
    } else if (command == "program") {
      setProgram(rest);
    } else if (command == "break") {
      std::string error;
      unsigned id = debugger.addBreakpoint(rest, error);
      outs() << (id ? "breakpoint " + std::to_string(id) + ": " + rest.str() : error) << "\n";
      if (id)
        texts[id] = rest.str();
    } else if (command == "breaks") {
      for (const Breakpoint &each : debugger.breakpoints)
        outs() << each.id << ": " << texts[each.id] << (each.used ? " (was reached)" : "") << "\n";
    } else if (command == "delete") {
      unsigned id = 0;
      bool known = !rest.getAsInteger(10, id) && texts.erase(id);
      llvm::erase_if(debugger.breakpoints, [&](const Breakpoint &each) { return each.id == id; });
      if (!known)
        outs() << "there is no breakpoint '" << rest << "'; `breaks` lists them\n";
    } else {
      show(command, rest, text);
    }
    return true;
  }

  void setProgram(StringRef rest) {
    int64_t number = 0;
    if (running)
      outs() << "a program runs: choose another one before `run`\n";
    else if (rest.getAsInteger(10, number) || number < 0 || number >= kernel.getPrograms())
      outs() << "expected a program from 0 to " << kernel.getPrograms() - 1 << ", found '" << rest
             << "'\n";
    else
      program = number;
  }

  void show(StringRef command, StringRef rest, StringRef text) {
    std::string error;
    if (command == "help") {
      outs() << help;
    } else if (command == "print" && !rest.empty()) {
      std::optional<Query> query = readQuery(rest, error);
      outs() << (query ? debugger.show(*query) : error) << "\n";
    } else if (command == "print" || command == "vars") {
      for (const auto &[name, site] : debugger.getVariables(frame)) {
        const Site &which = debugger.getSite(site);
        std::string shape =
            join(map_range(which.shape, [](int64_t e) { return std::to_string(e); }), ", ");
        outs() << name << ": " << which.dtype;
        if (which.shape.empty())
          outs() << " = " << StringRef(debugger.show({name, {}})).split(" = ").second << "\n";
        else
          outs() << "[" << shape << "]\n";
      }
    } else if (command == "cause") {
      outs() << debugger.explainValue() << "\n";
    } else if (command == "where") {
      for (auto [i, place] : enumerate(debugger.getFrames()))
        outs() << (i == frame ? "> " : "  ") << i << "  " << place.file << ":" << place.line << ":"
               << place.column << "  " << getLine(place.file, place.line).trim() << "\n";
    } else if (command == "up" || command == "down") {
      size_t count = debugger.getFrames().size();
      if (command == "up" ? frame + 1 < count : frame > 0)
        frame = command == "up" ? frame + 1 : frame - 1;
      printPlace();
    } else if (command == "list") {
      list();
    } else {
      outs() << "there is no command '" << text << "'; `help` lists them\n";
    }
  }

  DebuggedKernel &kernel;
  Debugger &debugger;
  int64_t program;
  bool echoes, running = false, leaves = false;
  size_t frame = 0;
  std::string last;
  // Breakpoints as they were typed, for `breaks`.
  std::map<unsigned, std::string> texts; ///< of breakpoints
};

} // namespace

int debugInTerminal(DebuggedKernel &kernel, const Options &options, Session &session) {
  return Terminal(kernel, options).run(session);
}

} // namespace tile::debug
