// One compilation, stage by stage.
#ifndef TILE_DRIVER_COMPILE_COMPILE_H
#define TILE_DRIVER_COMPILE_COMPILE_H

#include "driver/Session.h"
#include "driver/compile/Stage.h"
#include "frontend/Ast/Decl.h"
#include "frontend/Lower/Elaborate.h"
#include "frontend/Parse/Imports.h"
#include "manifest/Manifest.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Report/PassReport.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <map>
#include <memory>
#include <set>

namespace mlir {
class OpPassManager;
class PassManager;
} // namespace mlir

namespace tile {

namespace runtime {
struct Package;
} // namespace runtime

class HostTarget;
struct Cubin;
class NVPTXTarget;

class Compiler;

/// What LLVM's functions say of registers: how many at most.
inline constexpr llvm::StringLiteral mostRegistersName = "nvvm.maxnreg";

/// Is told how a compilation goes. It changes nothing.
class CompileObserver {
public:
  virtual ~CompileObserver() = default;
  virtual void afterStage(Stage stage, Compiler &compiler) {}
  /// `passes` are about to run, under the name that --time-report has for them.
  virtual void addPasses(llvm::StringRef pipeline, mlir::PassManager &passes) {}
  /// The passes for the GPU are about to run once more, with more warps or fewer blocks; what they
  /// make is kept or thrown away.
  virtual void beginRetry() {}
  virtual void endRetry(bool kept, Compiler &compiler) {}
};

/// Compiles one file. Each step needs the one before it; a step that returns false has reported
/// why.
class Compiler {
public:
  Compiler(const Options &options, Session &session, llvm::StringRef path);
  ~Compiler();

  /// Runs every stage up to and including `last`.
  bool run(Stage last);

  /// The steps, in the order of Stage.h: read and parse; elaborate; target-independent passes
  /// (optimize); lowerToGPU; lowerToLLVM; optimizeLLVM; emitPTX; emitCubin, which takes
  /// lowerToGPU to emitPTX again for kernels that spill (FurtherTries.cpp). The passes of each
  /// are listed in passes/Pipelines.cpp, those of LLVM in codegen/NVPTX.cpp and Optimize.cpp.
  bool parse();
  bool elaborate();
  bool optimize();
  bool lowerToGPU();
  bool assignLayouts();
  bool lowerToLLVM();
  bool optimizeLLVM();
  bool emitPTX();
  bool emitCubin();
  bool disassemble();
  bool emitObject();

  /// The result of the last step, as text or bytes.
  std::string getProduct(Stage stage);

  /// Tells `newObserver` of every stage from now on; it must outlive the compilation.
  void setObserver(CompileObserver *newObserver) { observer = newObserver; }

  /// Actual arguments of a run: the elaborator deduces compile-time parameters from them and makes
  /// one instance.
  void setArguments(std::map<std::string, std::string> dtypes,
                    std::map<std::string, std::vector<int64_t>> shapes);

  /// Extents by name that the kernel is to run with: a result of `tilec tune` has configurations by
  /// shape.
  void setExtents(std::vector<std::pair<std::string, int64_t>> newExtents) {
    extents = std::move(newExtents);
  }

  /// Drops the kernels for which `keep` is false.
  void keepKernels(llvm::function_ref<bool(const runtime::Kernel &)> keep);

  /// The text of the source; after parse().
  llvm::StringRef getSource() const;
  const ast::Program *getProgram() const { return program.get(); }
  runtime::Manifest &getManifest() { return manifest; }
  mlir::ModuleOp getModule() { return *module; }
  /// What passes for the GPU began with, tiles of several programs joined; null for the CPU, and
  /// before lowerToGPU.
  mlir::ModuleOp getWidened() { return beforeLayouts ? *beforeLayouts : mlir::ModuleOp(); }
  /// How the cost model chose; after elaborate().
  const std::vector<ConfigChoice> &getChoices() const { return choices; }
  const HostTarget &getHost() const { return *host; }
  std::unique_ptr<llvm::Module> takeLLVMModule() { return std::move(llvmModule); }
  std::unique_ptr<llvm::LLVMContext> takeLLVMContext() { return std::move(llvmContext); }

private:
  /// Runs a pipeline on the module with our diagnostics; `name` is for messages and the time
  /// report.
  bool runPasses(llvm::StringRef name, llvm::function_ref<void(mlir::OpPassManager &)> populate);
  bool runStages(Stage last);
  bool joinTiles();
  bool runSilently(llvm::function_ref<bool()> run, std::vector<mlir::Diagnostic> &said);
  void keepForTries();
  void reportAssembler(llvm::Error error);
  void reportSpills(const runtime::Kernel &kernel);
  std::optional<Cubin> assemblePTX();
  class Tries; ///< further ones, of kernels that spill (FurtherTries.cpp)
  void dropUnusable(ElaborateOptions &request);
  void reportMasks();
  bool dump(Stage stage);
  void fillLaunch();

  const Options &options;
  Session &session;
  std::string path;
  FileID file = FileID::none;
  std::unique_ptr<ast::Program> program;
  ImportLoader imports; ///< owns what `program` imports
  std::map<std::string, std::string> dtypes;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::vector<std::pair<std::string, int64_t>> extents;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::Manifest manifest;
  std::vector<ConfigChoice> choices;
  std::optional<PassReport> report; ///< --remarks=passes
  bool printsLLVM = false;
  // The module from which a second try starts, and as it was before programs were joined.
  mlir::OwningOpRef<mlir::ModuleOp> beforeLayouts, beforeWidening;
  runtime::Manifest unlaunched;              ///< before fillLaunch()
  std::map<std::string, int64_t> planned;    ///< bytes of shared memory that the model reckons with
  std::map<std::string, int64_t> freeWarps;  ///< kernels whose warps nobody asked for: their number
  std::map<std::string, int64_t> freeBlocks; ///< the same of blocks that share a multiprocessor
  std::set<std::string> freeProducers;       ///< kernels whose producer keeps the usual number
  std::set<std::string> copiesInParts;       ///< kernels whose copies stand between steps
  std::map<std::string, int64_t> recomputed; ///< values of recomputeName
  std::map<std::string, int64_t> registers;  ///< those that the assembler is asked for
  bool retries = false;                      ///< a failure is no error now
  std::unique_ptr<llvm::LLVMContext> llvmContext; // before llvmModule: it must die last
  std::unique_ptr<llvm::Module> llvmModule;
  std::unique_ptr<HostTarget> host; // one of the two
  std::unique_ptr<NVPTXTarget> gpu;
  std::string ptx, binary, sass;
  CompileObserver *observer = nullptr;
};

/// Compiles every input as the options say and writes the outputs. Returns the exit code.
int compileAll(const Options &options, Session &session);

/// `tilec check`: parses and checks every input, all its kernels and functions, and writes nothing.
/// Returns the exit code.
int checkFiles(const Options &options, Session &session);

/// `tilec fmt`: brings every input into the one layout. Returns the exit code.
int formatFiles(const Options &options, Session &session);

/// The bytes of a package of the file for all targets; its sources and the diagnostics of its parts
/// go to `session`.
bool buildPackage(const Options &options, Session &session, const std::string &input,
                  runtime::Package &package);
bool compilePackage(const Options &options, Session &session, const std::string &input,
                    std::string &bytes);

/// `--repro`: runs the call once more and packs it with its outcome. Returns the exit code of the
/// call.
int makeRepro(const Options &options, Session &session);

/// `tilec inspect` and `tilec link`. They return the exit code.
int inspectPackage(const Options &options, Session &session);
int linkPackages(const Options &options, Session &session);

/// Compiles `input` for all targets to C: the source as files[""], the header as files["=.h"], and
/// the object that the source calls on the CPU as files["=.o"].
bool compileC(const Options &options, Session &session, const std::string &input,
              std::map<std::string, std::string> &files);

/// The same from a package.
bool writePackageAsC(const runtime::Package &package, const Options &options, Session &session,
                     std::map<std::string, std::string> &files);

/// Reports names of --print-ir-after that no pass has. False if there are any.
bool checkPassNames(const Options &options, Session &session);

/// Prints the passes that would run for these options.
void printPipelines(const Options &options);

/// `tilec run`. Completes the options with what it finds out: the kernel, the device's target.
/// Returns the exit code.
int runKernel(Options &options, Session &session);

/// Tells what a try that stays has said. False where an error is among it, or a warning is one.
bool sayAfterwards(std::vector<mlir::Diagnostic> &said, mlir::MLIRContext &context,
                   Session &session);

} // namespace tile

#endif
