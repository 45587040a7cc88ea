// The parser of tilec's command line, for Options.cpp and the files beside it that parse one
// command's options.
#ifndef TILE_DRIVER_OPTIONS_OPTIONSPARSER_H
#define TILE_DRIVER_OPTIONS_OPTIONSPARSER_H

#include "driver/options/Help.h"
#include "driver/options/Options.h"
#include "driver/request/Request.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/raw_ostream.h"

namespace tile {

enum OptionID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "driver/options/Options.inc"
#undef OPTION
};

/// Flags of the table's own, above LLVM's.
enum OptionFlag : unsigned {
  /// Changes nothing of what is made of a source or said of it, so it is no part of a compile
  /// request and may stand beside one.
  Beside = 1 << 4
};

/// The table of Options.td.
const llvm::opt::OptTable &getOptionTable();

/// Is the option part of a compile request? `tilec run`, `tune` and `debug` take some of these as
/// their own.
bool isOfRequest(const llvm::opt::Option &option, Options::Command command);

/// Thrown away once the first mistake in the call is found; only Options*.cpp know it.
class OptionsParser {
public:
  OptionsParser(const llvm::opt::OptTable &table, const llvm::opt::InputArgList &arguments)
      : table(table), arguments(arguments) {}

  /// False once something is wrong; the message is then printed.
  bool parse(Options &options);

  /// One line for each setting: name, value, where the value comes from.
  void printSettings(const Options &options, llvm::raw_ostream &stream) const;

private:
  bool fail(const llvm::Twine &message) {
    llvm::errs() << "tilec: error: " << message << "\n";
    return false;
  }
  bool checkSpelling();
  bool takeWords(const Options &options);
  bool takeVariants();
  bool takeRequest(const Options &options);
  void copyRequest(Options &options) const;
  bool parseNumber(OptionID id, llvm::StringRef name, uint64_t limit, uint64_t &value);
  bool parsePair(const llvm::opt::Arg &argument, std::vector<NameValue> &pairs);
  bool parseStage(llvm::StringRef option, llvm::StringRef name, bool isEmit,
                  std::optional<Stage> &stage);
  bool parseTarget(Options &options);
  bool parseLevel(Options &options);
  bool parseOutName(Options &options);
  static std::vector<std::string> splitTargets(llvm::StringRef text);
  bool addTarget(llvm::StringRef name, Options &options);
  bool parseCard(Options &options);
  void chooseTarget(Options &options);
  void noteGuess(const Options &options) const;
  bool parseMessages(Options &options);
  bool parseRun(Options &options);
  bool parseArgItems(Options &options);
  bool checkDifference(const Options &options);
  bool takeAttributes();
  bool readVariants(const std::string &path);
  bool parseTune(Options &options);
  bool parseDevices(llvm::StringRef text, Options &options);
  bool parseExtents(llvm::StringRef option, llvm::StringRef text,
                    std::vector<std::pair<std::string, int64_t>> &extents);
  bool parseReal(OptionID id, llvm::StringRef name, double &value);
  bool checkCompile(Options &options);
  bool checkPackages(Options &options);

  const llvm::opt::OptTable &table;
  runtime::CompileRequest request; ///< of words or of --request, before its texts are read
  llvm::StringSet<> given;         ///< fields that --request has
  const llvm::opt::InputArgList &arguments;
  bool guessed = false; ///< neither the call nor this machine says what to compile for
};

} // namespace tile

#endif
