// How long the front end takes in process: `front-end-bench FILE.tile [REPEATS]` parses, checks and
// formats a file again and again, and prints the milliseconds of this thread's processor time as
// JSON: `first_ms` of the first time, when ANTLR's tables are made, `ms` the median of the others.
// Checking is what needs no code: names, functions, and of each kernel all instances' signatures,
// contracts, grids, attributes and bodies.
#include "frontend/Check/BodyChecker.h"
#include "frontend/Parse/Format.h"
#include "frontend/Parse/Parser.h"
#include "frontend/Sema/CheckFunctions.h"
#include "frontend/Sema/UnusedNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <ctime>

using namespace tile;

static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
}

static void check(const ast::Program &program, DiagnosticEngine &diagnostics) {
  Modules modules(program, diagnostics);
  checkFunctions(program, modules, diagnostics);
  reportUnusedNames(program, diagnostics);
  SemaOptions options;
  options.target = "sm_90a";
  for (const ast::DeclPtr &decl : program.decls)
    if (auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl.get())) {
      Evaluator evaluator(modules, *kernel, options, diagnostics);
      for (const Instance &instance : KernelSema(evaluator).chooseInstances()) {
        runtime::Kernel record;
        (void)BodyChecker(modules, *kernel, options, diagnostics).check(instance, {}, record);
      }
    }
}

int main(int count, char **arguments) {
  SourceManager sources;
  std::string error = "the first argument is a file";
  std::optional<FileID> file =
      count > 1 ? sources.addFile(arguments[1], error) : std::optional<FileID>();
  int repeats = count > 2 ? std::max(2, std::atoi(arguments[2])) : 50;
  if (!file) {
    llvm::errs() << "front-end-bench: " << error << "\n";
    return 2;
  }
  std::vector<double> parsing, checking, both, formatting;
  for (int i = 0; i < repeats; ++i) {
    DiagnosticEngine diagnostics(sources);
    double begin = now();
    std::unique_ptr<ast::Program> program = parseFile(sources, *file, diagnostics);
    double parsed = now();
    if (program)
      check(*program, diagnostics);
    double checked = now();
    bool isFormatted = formatFile(sources, *file, diagnostics).has_value();
    double formatted = now();
    if (diagnostics.hasErrors() || !isFormatted) {
      llvm::errs() << "front-end-bench: '" << arguments[1] << "' has errors: tilec check "
                   << arguments[1] << "\n";
      return 1;
    }
    parsing.push_back(parsed - begin);
    checking.push_back(checked - parsed);
    both.push_back(checked - begin);
    formatting.push_back(formatted - checked);
  }
  llvm::outs() << "[";
  llvm::StringRef separator;
  for (auto [what, times] :
       {std::pair("parsing", &parsing), std::pair("checking", &checking),
        std::pair("parsing and checking", &both), std::pair("formatting", &formatting)}) {
    double first = times->front();
    times->erase(times->begin());
    llvm::sort(*times);
    llvm::outs() << separator << "{\"what\": \"" << what
                 << "\", \"first_ms\": " << llvm::format("%.2f", first)
                 << ", \"ms\": " << llvm::format("%.2f", (*times)[times->size() / 2]) << "}";
    separator = ", ";
  }
  llvm::outs() << "]\n";
  return 0;
}
