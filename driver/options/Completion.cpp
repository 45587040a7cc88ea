// Scripts that complete tilec's command line, and its manual page.
//
// Everything is made of the table of Options.td and of getCommands(): a new option needs nothing
// here. The shells differ in what they ask: bash gets words alone, zsh and fish the help of each
// option as well. HelpHidden leaves an option out of all three and of the manual page.
#include "driver/options/Help.h"
#include "driver/options/HelpTable.h"
#include "driver/options/Options.h"
#include "driver/support/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;

namespace tile {
namespace {

/// One option as a user types it.
struct Listed {
  std::string spelling; ///< "--emit", "-o"
  std::string help, meta;
  bool takesValue;
};

} // namespace

/// The options of a command, in the table's order; aliases and developers' options are left out.
static std::vector<Listed> listOptions(const OptTable &table, unsigned visibility) {
  std::vector<Listed> result;
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    Option option = table.getOption(OptSpecifier(id));
    const char *help = table.getOptionHelpText(OptSpecifier(id));
    if (!option.isValid() || option.getKind() == Option::GroupClass || !help ||
        option.hasFlag(HelpHidden) || !option.hasVisibilityFlag(visibility))
      continue;
    const char *meta = table.getOptionMetaVar(OptSpecifier(id));
    result.push_back({option.getPrefixedName().str(), help, meta ? meta : "",
                      option.getKind() != Option::FlagClass});
  }
  return result;
}

static std::string joinSpellings(const std::vector<Listed> &options) {
  std::string text;
  for (const Listed &option : options)
    text += (text.empty() ? "" : " ") + option.spelling;
  return text;
}

static void printBash(const OptTable &table) {
  outs() << "# bash completion for tilec. From: tilec completion bash\n"
            "_tilec() {\n"
            "  local word=\"${COMP_WORDS[COMP_CWORD]}\" command=\"${COMP_WORDS[1]}\" words\n"
            "  case \"$command\" in\n";
  for (const CommandHelp &command : getCommands().drop_front())
    outs() << "    " << command.name << ") words=\""
           << (command.name == "completion" ? "bash zsh fish"
               : command.name == "help"     ? join(getTopicNames(), " ")
                                            : joinSpellings(listOptions(table, command.visibility)))
           << "\" ;;\n";
  outs() << "    *) words=\"" << joinSpellings(listOptions(table, DefaultVis)) << "\" ;;\n"
         << "  esac\n"
            "  if [ \"$COMP_CWORD\" = 1 ]; then words=\"$words";
  for (const CommandHelp &command : getCommands().drop_front())
    outs() << " " << command.name;
  outs() << "\"; fi\n"
            "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
            "  if [ \"${word#-}\" = \"$word\" ]; then COMPREPLY+=($(compgen -f -- \"$word\")); fi\n"
            "}\n"
            "complete -o filenames -F _tilec tilec\n";
}

/// A text between single quotes.
static std::string quote(StringRef text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

static void printZsh(const OptTable &table) {
  auto escape = [](StringRef text) { // _arguments gives brackets and colons a meaning
    std::string result;
    for (char c : text)
      result += (StringRef("[]:\\").contains(c) ? "\\" : "") + std::string(1, c);
    return result;
  };
  outs() << "#compdef tilec\n# zsh completion for tilec. From: tilec completion zsh\n"
            "_tilec() {\n  local -a commands\n  commands=(\n";
  for (const CommandHelp &command : getCommands().drop_front())
    outs() << "    " << quote((command.name + ":" + command.summary).str()) << "\n";
  outs() << "  )\n  if (( CURRENT == 2 )); then _describe command commands; fi\n"
            "  case \"${words[2]}\" in\n";
  for (const CommandHelp &command : getCommands()) {
    if (command.visibility == 0)
      continue;
    if (command.name.empty())
      continue;
    outs() << "    " << command.name << ") _arguments";
    for (const Listed &option : listOptions(table, command.visibility))
      outs() << " \\\n      "
             << quote("*" + option.spelling + "[" + escape(option.help) + "]" +
                      (option.takesValue ? ":" + escape(option.meta) + ":_files" : ""));
    outs() << " \\\n      '*:file:_files' ;;\n";
  }
  outs() << "    *) _arguments";
  for (const Listed &option : listOptions(table, DefaultVis))
    outs() << " \\\n      "
           << quote("*" + option.spelling + "[" + escape(option.help) + "]" +
                    (option.takesValue ? ":" + escape(option.meta) + ":_files" : ""));
  outs()
      << " \\\n      '*:file:_files' ;;\n  esac\n}\n"
         "if [ \"$funcstack[1]\" = _tilec ]; then _tilec \"$@\"; else compdef _tilec tilec; fi\n";
}

static void printFish(const OptTable &table) {
  outs() << "# fish completion for tilec. From: tilec completion fish\n";
  std::string names;
  for (const CommandHelp &command : getCommands().drop_front()) {
    names += (names.empty() ? "" : " ") + command.name.str();
    outs() << "complete -c tilec -n __fish_use_subcommand -a " << command.name << " -d "
           << quote(command.summary) << "\n";
  }
  for (const CommandHelp &command : getCommands()) {
    if (command.visibility == 0)
      continue;
    std::string condition = command.name.empty()
                                ? "not __fish_seen_subcommand_from " + names
                                : "__fish_seen_subcommand_from " + command.name.str();
    for (const Listed &option : listOptions(table, command.visibility)) {
      StringRef name = StringRef(option.spelling).ltrim('-');
      bool isLong = StringRef(option.spelling).starts_with("--");
      outs() << "complete -c tilec -n " << quote(condition) << " "
             << (isLong             ? "-l "
                 : name.size() == 1 ? "-s "
                                    : "-o ")
             << name.rtrim('=') << (option.takesValue ? " -r" : "") << " -d " << quote(option.help)
             << "\n";
    }
  }
}

int printCompletion(const OptTable &table, StringRef shell) {
  if (shell == "bash")
    printBash(table);
  else if (shell == "zsh")
    printZsh(table);
  else if (shell == "fish")
    printFish(table);
  else {
    errs() << "tilec: error: tilec completion takes bash, zsh or fish, found '" << shell << "'\n";
    return exitCall;
  }
  return exitDone;
}

//===--- The manual page --------------------------------------------------===//

/// Text as troff shows it.
static std::string escapeTroff(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
  if (StringRef(result).starts_with(".") || StringRef(result).starts_with("'"))
    result = "\\&" + result;
  return result;
}

void printManual(const OptTable &table, raw_ostream &stream) {
  stream << ".TH TILEC 1 \"\" \"" << getCompilerVersion() << "\" \"Tile\"\n"
         << ".SH NAME\ntilec \\- compiles kernels of the tile language\n.SH SYNOPSIS\n";
  for (const CommandHelp &command : getCommands())
    stream << ".B tilec" << (command.name.empty() ? "" : " ") << command.name << "\n"
           << escapeTroff(command.usage) << "\n.br\n";
  stream << ".SH COMMANDS\n";
  for (const CommandHelp &command : getCommands().drop_front())
    stream << ".TP\n.B " << command.name << "\n" << escapeTroff(command.summary) << "\n";
  for (const CommandHelp &command : getCommands()) {
    if (command.visibility == 0)
      continue;
    stream << ".SH \"OPTIONS" << (command.name.empty() ? "" : " OF TILEC ") << command.name.upper()
           << "\"\n";
    for (const Listed &option : listOptions(table, command.visibility)) {
      bool isJoined = StringRef(option.spelling).ends_with("=");
      stream << ".TP\n\\fB" << escapeTroff(option.spelling) << "\\fR"
             << (option.meta.empty() || isJoined ? "" : " ");
      if (!option.meta.empty())
        stream << "\\fI" << escapeTroff(option.meta) << "\\fR";
      stream << "\n" << escapeTroff(option.help) << "\n";
    }
  }
  stream << ".SH \"EXIT STATUS\"\n0 done, 1 the source or the data is wrong, 2 the call is wrong "
            "or a file cannot be read or written, 70 an internal error.\n";
}

} // namespace tile
