// --help by command, and `tilec help TOPIC`.
#include "driver/options/Help.h"
#include "driver/compile/Stage.h"
#include "driver/options/HelpTable.h"
#include "driver/options/Options.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;

namespace tile {

ArrayRef<CommandHelp> getCommands() {
  static const CommandHelp commands[] = {
      {"", DefaultVis, "compile kernels", "FILE.tile... -o OUT [option...]",
       "  tilec softmax.tile -D BLOCK=1024 --target sm_90a -o softmax.cubin\n"
       "  tilec matmul.tile --target sm_80,sm_90a,cpu --variant decode:M=1..=16:8,BM=16 -o "
       "matmul.tilepkg\n"},
      {"run", RunVis, "run a kernel on this machine",
       "FILE.tile --arg x=x.npy --out y=y.npy [option...]",
       "  tilec run softmax.tile -D BLOCK=1024 --arg x=x.npy --out y=y.npy --device cpu\n"
       "  tilec run matmul.tile --random M=100,N=200,K=300 --device cuda --time\n"},
      {"debug", DebugVis, "step through one program of a kernel on the CPU",
       "FILE.tile --arg x=x.npy [option...]",
       "  tilec debug softmax.tile --random M=4,N=100 --program 2\n"},
      {"tune", TuneVis, "measure configurations and keep the best",
       "FILE.tile --shape M=4096,N=4096 [option...]",
       "  tilec tune matmul.tile -D T=f16 --shape M=4096,N=4096,K=4096 --device cuda -o "
       "matmul.json\n"},
      {"explain", ExplainVis, "say how a kernel will run, and why",
       "FILE.tile [--shape M=16,N=8192] [option...]",
       "  tilec explain matmul.tile -D T=f16 --shape M=16,N=8192,K=8192\n"},
      {"fix", FixVis, "put the changes that errors and warnings propose into the sources",
       "FILE.tile... [option...]", "  tilec fix softmax.tile\n"},
      {"check", CheckVis, "say what is wrong with sources, without an output",
       "FILE.tile... [option...]", "  tilec check softmax.tile\n"},
      {"fmt", FormatVis, "bring sources into the one layout; --check: say which are not in it",
       "[--check] FILE.tile...", "  tilec fmt softmax.tile\n"},
      {"lsp", 0, "serve an editor: the language server, over standard input and output",
       "[--stdio]", ""},
      {"inspect", InspectVis, "say what a package or binary holds", "FILE.tilepkg [option...]",
       "  tilec inspect matmul.tilepkg --extract parts\n"},
      {"link", LinkVis, "join packages", "A.tilepkg B.tilepkg -o C.tilepkg",
       "  tilec link add.tilepkg matmul.tilepkg -o all.tilepkg\n"},
      {"help", 0, "explain a topic; without one, list them", "[TOPIC]", ""},
      {"completion", 0, "print a script that completes tilec's options", "bash|zsh|fish",
       "  eval \"$(tilec completion bash)\"\n"},
      {"version", 0, "print the version and the targets", "", ""}};
  return commands;
}

const std::vector<std::string> &getCommandNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const CommandHelp &command : getCommands())
      if (!command.name.empty())
        all.push_back(command.name.str());
    return all;
  }();
  return names;
}

static const CommandHelp &findCommand(StringRef name) {
  for (const CommandHelp &command : getCommands())
    if (command.name == name)
      return command;
  return getCommands().front();
}

/// Long lines are broken at a blank, so that a page fits a terminal.
static void printWrapped(StringRef text, raw_ostream &stream) {
  constexpr size_t widest = 100, indentation = 26; // where LLVM puts the help of long options
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    size_t indent = 0;
    while (indent + line.size() > widest) {
      size_t blank = line.take_front(widest - indent + 1).rfind(' ');
      if (blank == StringRef::npos || line.take_front(blank).trim().empty())
        break;
      stream.indent(unsigned(indent)) << line.take_front(blank) << "\n";
      line = line.drop_front(blank + 1);
      indent = indentation;
    }
    stream.indent(unsigned(indent)) << line << "\n";
    text = rest;
  }
}

void printHelp(const OptTable &table, StringRef name, bool hidden) {
  const CommandHelp &command = findCommand(name);
  std::string usage =
      "tilec " + (command.name + (command.name.empty() ? "" : " ")).str() + command.usage.str();
  std::string title =
      ("tilec" + (command.name.empty() ? "" : " " + command.name) + ": " + command.summary).str();
  if (command.visibility) {
    std::string page;
    raw_string_ostream stream(page);
    table.printHelp(stream, usage.c_str(), title.c_str(), hidden, /*ShowAllAliases=*/false,
                    opt::Visibility(command.visibility));
    printWrapped(page, outs());
  } else
    outs() << "OVERVIEW: " << title << "\n\nUSAGE: " << usage << "\n";
  if (command.name.empty()) {
    outs() << "\nCOMMANDS (tilec COMMAND --help prints the options of one):\n";
    for (const CommandHelp &each : getCommands())
      if (!each.name.empty())
        outs() << "  " << left_justify(each.name, 12) << each.summary << "\n";
  }
  if (!command.examples.empty())
    outs() << "\nEXAMPLES:\n" << command.examples;
  outs() << "\nMore: tilec help TOPIC, for " << joinWords(getTopicNames(), "or")
         << ".\n@FILE reads options from FILE.\n";
}

//===--- Topics -----------------------------------------------------------===//

static const std::pair<StringRef, StringRef> topics[] = {
    {"args",
     "Items of --arg, --variant and --variants when compiling\n\n"
     "  M=1..=4096:2048   M is 1 to 4096, and 2048 is what the kernel is tuned for; also 1..=4096\n"
     "  K=1024            K is 1024, or the compile-time parameter K is\n"
     "  K%8               K is a multiple of 8\n"
     "  align(a)=128      the address of a is a multiple of 128 bytes\n"
     "  x=f16[M,1024]     x has this dtype and these dimensions\n\n"
     "An item of --arg holds for every call; launches check it. --variant NAME:ITEM,... adds code "
     "for\n"
     "calls of which all its items hold, beside the generic code, unless --no-generic leaves that "
     "out.\n"},
    {"config",
     "Where the values of tuned names come from, highest first\n\n"
     "  1. -D NAME=VALUE; of attributes --with NAME=VALUE\n"
     "  2. --config NAME=VALUE,...; or FILE.json: {\"BM\": 64, \"warps\": 4}, or a result of tilec "
     "tune\n"
     "  3. the first `config` block of the source that fits the target\n"
     "  4. on a GPU, the choice of the cost model for --shape, else for `opt`\n"
     "  5. the parameter's default, the attribute's own choice\n\n"
     "A result of tilec tune that no longer fits the source is left out with the warning W0605.\n"},
    {"environment",
     "Variables that tilec and the runtime read\n\n"
     "  TILE_CACHE          the compile cache's folder, as --cache; off: no cache\n"
     "  TILE_CACHE_COMMAND  a program that keeps results elsewhere, as --cache-command\n"
     "  TILE_PTXAS          the ptxas program, as --ptxas-path; none: binaries are PTX, for the\n"
     "                      driver's assembler\n"
     "  TILE_TARGET         the target of a compilation, as --target (default: the GPU of this "
     "machine)\n"
     "  TILE_LINKER         the linker of packages for the CPU (default: the LLD in tilec)\n"
     "  TILE_HOME           Python: where Tile is installed\n"
     "  TILE_LIBCUDA        the runtime: the CUDA driver's library\n"
     "  TILE_NO_NATIVE      Python: not empty: do without the C part of the module\n"
     "  NO_COLOR            not empty: no colours\n\n"
     "Options come before variables; tilec --print-settings says where each setting came from.\n"},
    {"exit-codes",
     "Exit codes\n\n"
     "  0   done\n"
     "  1   the source or the data is wrong\n"
     "  2   the call is wrong, or a file cannot be read or written\n"
     "  70  an internal error: a mistake of tilec, which packs what a report needs\n"},
    {"kinds",
     "What --emit and the ending of -o ask for, in the order in which a compilation makes them\n\n"
     "  ast .ast            the source as it was parsed\n"
     "  tile .mlir          the tile dialect\n"
     "  tile-opt            the same after the passes that no target needs\n"
     "  gpu                 layouts, pipelines and shared memory (GPU)\n"
     "  llvm .ll            LLVM IR\n"
     "  ptx .ptx            NVIDIA's assembly, with a manifest NAME.ptx.json\n"
     "  cubin .cubin        machine code of a GPU, with a manifest\n"
     "  sass .sass          the same as text, by nvdisasm or cuobjdump\n"
     "  obj .o              machine code of the CPU, with a manifest\n"
     "  package .tilepkg    the code of all targets and variants, with everything a launch needs\n"
     "  .c                  C that holds the code, and a header\n\n"
     "--print-pipeline lists the passes between them, --print-ir-after=PASS shows what one made, "
     "and\n"
     "--dump-dir keeps every kind.\n"}};

std::vector<std::string> getTopicNames() {
  std::vector<std::string> names;
  for (const auto &[name, text] : topics)
    names.push_back(name.str());
  names.push_back("man");
  return names;
}

int printTopic(const OptTable &table, StringRef topic) {
  if (topic.empty()) {
    outs() << "tilec --help lists the commands, tilec COMMAND --help the options of one.\n\n"
              "tilec help TOPIC:\n";
    for (const auto &[name, text] : topics)
      outs() << "  " << left_justify(name, 14) << text.split('\n').first << "\n";
    outs() << "  man           The manual page, for man -l\n";
    return exitDone;
  }
  if (topic == "man") {
    printManual(table, outs());
    return exitDone;
  }
  for (const auto &[name, text] : topics)
    if (name == topic) {
      outs() << text;
      return exitDone;
    }
  if (is_contained(getCommandNames(), topic)) {
    printHelp(table, topic, /*hidden=*/false);
    return exitDone;
  }
  std::vector<std::string> all = getTopicNames();
  std::string near = suggest(topic, all);
  errs() << "tilec: error: there is no topic '" << topic << "'; "
         << (near.empty() ? "there are " + joinWords(all, "and") + ", and the commands"
                          : "did you mean '" + near + "'?")
         << "\n";
  return exitCall;
}

} // namespace tile
