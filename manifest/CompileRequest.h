// A compilation as data: everything that decides what tilec makes of a source, and what it says of
// it. Command lines, the C interface, Python and `tilec tune` make one; docs/CompileRequest.md has
// its JSON.
#ifndef TILE_MANIFEST_COMPILEREQUEST_H
#define TILE_MANIFEST_COMPILEREQUEST_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tile::runtime {

/// The version of the format that is written and read.
constexpr int compileRequestVersion = 1;
constexpr const char *compileRequestFormat = "tile-compile-request";

struct CompileRequest {
  /// A variant of --variant: a name, and items as in "M=1..=16:8".
  struct Variant {
    std::string name;
    std::vector<std::string> items;
  };

  // What is read and written. Paths are relative to the folder at hand; "-" is a standard stream.
  std::vector<std::string> inputs;
  std::string output;
  std::string emitted;   ///< of --emit; empty: the ending of `output` says it
  std::string lastStage; ///< of --stop-after
  bool printABI = false;
  bool depfile = false;
  std::string depfilePath;
  bool withSource = false;
  std::string outName; ///< functions of C begin with this and _; empty: with nothing

  // The machine.
  std::vector<std::string> targets; ///< GPUs' names or "cpu", in order, each once
  std::string gpu;                  ///< words of a card's name
  std::string cpu;                  ///< level of processors to compile for; empty: this one
  int level = 3;
  std::string ptxasPath;
  std::vector<std::string> ptxasFlags;

  // The kernel.
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> defines;
  /// Kernel attributes, before those of the source and of `config`.
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string config; ///< NAME=VALUE,... or the path of a result of `tilec tune`
  std::vector<std::pair<std::string, int64_t>> extents; ///< for which configurations are chosen
  /// What divides extents of the calls that code is for; versions for others are left out.
  std::vector<std::pair<std::string, int64_t>> divisors;
  std::vector<std::string> argTexts; ///< of --arg, of a compilation
  std::vector<Variant> asked;        ///< variants
  bool generic = true;
  std::vector<std::string> includes;
  bool debug = false; ///< keep `print` and `assert`

  // Messages.
  /// As behind -W, in order: "CODE", "no-CODE", "error", "error=CODE".
  std::vector<std::string> warnings;
  bool remarks = false;
  std::string remarksRegex;
  bool passReport = false; ///< --remarks=passes
  unsigned errorLimit = 20;
  std::string diagnosticsFormat = "text";
};

/// Calls `visit(name, member)` for every field, in the order of the JSON, and `visit(name, member,
/// most)` for numbers from 0 to `most`. The one list that writers, readers and tests go by.
template <class Request, class Visitor> void visitFields(Request &request, Visitor &&visit) {
  visit("inputs", request.inputs);
  visit("output", request.output);
  visit("emit", request.emitted);
  visit("stop_after", request.lastStage);
  visit("print_abi", request.printABI);
  visit("depfile", request.depfile);
  visit("depfile_path", request.depfilePath);
  visit("with_source", request.withSource);
  visit("out_name", request.outName);
  visit("targets", request.targets);
  visit("gpu", request.gpu);
  visit("cpu", request.cpu);
  visit("level", request.level, 3);
  visit("ptxas_path", request.ptxasPath);
  visit("ptxas_flags", request.ptxasFlags);
  visit("kernel", request.kernel);
  visit("defines", request.defines);
  visit("attributes", request.attributes);
  visit("config", request.config);
  visit("shape", request.extents);
  visit("divisors", request.divisors);
  visit("arguments", request.argTexts);
  visit("variants", request.asked);
  visit("generic", request.generic);
  visit("includes", request.includes);
  visit("debug", request.debug);
  visit("warnings", request.warnings);
  visit("remarks", request.remarks);
  visit("remarks_regex", request.remarksRegex);
  visit("remarks_passes", request.passReport);
  visit("error_limit", request.errorLimit, 1000000);
  visit("diagnostics_format", request.diagnosticsFormat);
}

/// JSON in a fixed order of keys, without fields that have their defaults: equal requests give
/// equal bytes. Ends in a newline. None, with the field in `error`, where a text is no UTF-8.
bool toJson(const CompileRequest &request, std::string &text, std::string &error);

} // namespace tile::runtime

#endif
