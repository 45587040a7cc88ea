// The requests of the command line.
#ifndef TILE_DRIVER_OPTIONS_OPTIONS_H
#define TILE_DRIVER_OPTIONS_OPTIONS_H

#include "driver/compile/Stage.h"
#include "frontend/Sema/ArgItem.h"
#include "target/Target.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tile {

/// Exit codes of tilec.
enum ExitCode { exitDone = 0, exitWrong = 1, exitCall = 2, exitInternal = 70 };

/// NAME=VALUE.
using NameValue = std::pair<std::string, std::string>;

/// The requests to `tilec tune`.
struct TuneOptions {
  std::vector<std::vector<std::pair<std::string, int64_t>>>
      shapes; ///< extents by name, one list for each --shape
  std::vector<std::string>
      configs;           ///< of --config: measure only configurations that one of these fits
  std::string directory; ///< of binaries, outputs to compare with, and the log
  std::vector<std::string> logs; ///< to merge instead of measuring
  std::string check = "default"; ///< what results are compared with: default, cpu or none
  bool exhaustive = false, precompile = false, force = false;
  double timeout = 60, budget = 0; ///< seconds for one candidate, and for all; 0: no end
  bool hasTimeout = false;         ///< `timeout` was asked for
  unsigned variants = 1;           ///< configurations to keep
  unsigned jobs = 0;               ///< compilations at a time; 0: one for each processor
  unsigned shard = 0, shards = 1;
  std::string objective = "geomean"; ///< of the choice of what to keep: geomean or worst
  std::string csv, plot;             ///< files that show the log
  uint64_t memory = 0; ///< megabytes of address space for a worker on the CPU; 0: no limit
  bool serve = false;  ///< this is a worker
};

struct Options {
  enum class Command {
    Compile,
    Run,
    Inspect,
    Link,
    Tune,
    Explain,
    Check,
    Format,
    Fix,
    Serve,
    Debug
  };
  Command command = Command::Compile;
  std::vector<std::string> inputs;
  std::string executable; ///< path of this program

  // Output.
  std::string output;
  std::optional<Stage> emit;
  bool cSource = false;             ///< write C that carries the code, of all targets, and a header
  bool package = false;             ///< write a package, of all targets; `emit` is then not set
  std::string target;               ///< a GPU's name, or "cpu"
  std::vector<std::string> targets; ///< of a package, in order, each once
  std::string outName;              ///< functions of C begin with this and _; empty: with nothing
  const GPUCard *card = nullptr; ///< --gpu: whose figures the cost model takes; null: see getCard()
  std::string cpu;               ///< level of x86-64 to compile for; empty: this processor
  bool withSource = false;
  std::string extract; ///< where `tilec inspect` writes the files; empty: nowhere
  std::string
      verify; ///< a public key, or its file: `tilec inspect` checks the signature; empty: no
  int level = 3;
  bool depfile = false;
  std::string depfilePath;
  std::string ptxasPath;
  std::vector<std::string> ptxasFlags; ///< of -Xptxas, in order

  // Kernel.
  std::vector<NameValue> defines;
  std::string kernel;
  std::vector<ArgItem> argItems;
  std::vector<VariantRequest> variants;
  bool generic = true;
  std::string config; ///< --config: NAME=VALUE,... or a result of `tilec tune`
  std::vector<NameValue>
      attributes; ///< --with: kernel attributes, before those of the source and of --config
  std::vector<std::pair<std::string, int64_t>>
      extents; ///< --shape of a compilation: what configurations are chosen for
  std::vector<std::pair<std::string, int64_t>>
      divisors; ///< --divisors: of extents of the calls that code is for
  std::vector<std::string> includes;
  bool debug = false; ///< keep `print` and `assert`

  bool formatCheck = false; ///< `tilec fmt --check`: say what is not formatted, write nothing

  // Messages.
  std::vector<std::string>
      warnings; ///< what stood after -W, in order: "CODE", "no-CODE", "error", "error=CODE"
  bool remarks = false;
  std::string remarksRegex;
  bool passReport = false; ///< --remarks=passes
  unsigned errorLimit = 20;
  bool json = false, sarif = false; ///< --diagnostics-format, else text
  bool color = false;

  // Looking inside.
  std::optional<Stage> stopAfter;
  std::string dumpDirectory;
  bool printPipeline = false, printABI = false, timeReport = false, explainCache = false;
  bool verbose = false;                ///< commands and steps go to standard error
  bool printAfterAll = false;          ///< the module goes to standard error after every pass,
  std::vector<std::string> printAfter; ///< or after these
  bool printSettings =
      false; ///< the settings of the call are printed; those of its kernels are asked for
  bool explainAsJson = false; ///< `tilec explain --json`

  // Building much.
  std::string cacheFolder; ///< empty: no cache
  unsigned cacheMegabytes = 1024;
  std::string cacheCommand; ///< reads and writes a store elsewhere; empty: none
  unsigned jobs = 1;        ///< 0: one for each processor
  bool makesRepro = false;  ///< --repro is given
  std::string repro;        ///< where it writes; empty: tile-repro-HASH.zip in the temporary folder
  std::string crash;        ///< --debug-crash: how to fail on purpose; empty: not
  std::vector<std::string> reproArguments; ///< the call without it

  // Run.
  std::vector<NameValue> arguments, outputs;
  std::string device = "cpu";     ///< or "cuda"
  std::vector<unsigned> ordinals; ///< of GPUs, of --device cuda:0,cuda:1; empty: not named
  std::vector<std::pair<std::string, int64_t>> random;
  bool hasRandom = false, time = false, quiet = false;
  uint64_t seed = 0;
  unsigned threads = 0;            ///< 0: one for each processor
  std::vector<NameValue> expected; ///< --expect: outputs to compare with
  double tolerance = 1e-2;         ///< of the largest element expected
  std::string image;               ///< a compiled kernel to run instead of compiling
  std::string measureFile;         ///< where times go, as JSON
  double giveUp = 0; ///< milliseconds from which a kernel is too slow to be timed; 0: none

  TuneOptions tune;

  // Explain and debug.
  bool explainDiff = false;  ///< `tilec explain --diff`: compare two
  std::string profile;       ///< `tilec explain --profile`: a report of ncu as CSV; empty: none
  std::string explainPage;   ///< `tilec explain --html`: the page's file; empty: none
  uint64_t debugProgram = 0; ///< `tilec debug`: the program that is followed
  bool debugAdapter = false; ///< `tilec debug --dap`

  bool isCPU() const { return target == "cpu"; }
};

/// Reads the command line. Returns nothing where the call is done, its exit code in `exitCode`:
/// after --help, --version and --explain, and after a wrong call, which has been reported on
/// standard error.
std::optional<Options> parseOptions(int argc, const char *const *argv, int &exitCode);

} // namespace tile

#endif
