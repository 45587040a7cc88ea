// A kernel's checks without a compiler around them: source text in, a checked version or messages
// out.
#ifndef TILE_TEST_UNIT_SEMA_CHECKEDKERNEL_H
#define TILE_TEST_UNIT_SEMA_CHECKEDKERNEL_H

#include "frontend/Parse/Parser.h"
#include "frontend/Sema/KernelSema.h"

#include "gtest/gtest.h"

#include <stdexcept>

namespace tile {

class Checked {
public:
  explicit Checked(llvm::StringRef text, SemaOptions options = {})
      : options(std::move(options)), file(sources.addText("test.tile", text)),
        program(parseFile(sources, file, diagnostics)) {
    if (!program)
      throw std::invalid_argument(messages()); // the test's own text does not parse
    modules.emplace(*program, diagnostics);
    for (const ast::DeclPtr &decl : program->decls)
      if (auto *each = llvm::dyn_cast<ast::KernelDecl>(decl.get()))
        kernel = each;
  }

  /// Questions to the kernel, each on its own.
  std::vector<Instance> instances() {
    Evaluator evaluator(*modules, *kernel, options, diagnostics);
    return KernelSema(evaluator).chooseInstances();
  }
  std::optional<std::vector<Variant>> variants() {
    Evaluator evaluator(*modules, *kernel, options, diagnostics);
    return KernelSema(evaluator).listVariants();
  }
  std::optional<TuneSpace> tuneSpace() {
    Evaluator evaluator(*modules, *kernel, options, diagnostics);
    return KernelSema(evaluator).readTuneSpace();
  }
  std::optional<CheckedKernel> check(const Instance &instance, const Variant &variant = {}) {
    Evaluator evaluator(*modules, *kernel, options, diagnostics);
    KernelSema sema(evaluator);
    std::optional<CheckedKernel> checked = sema.check(instance, variant);
    ruledOut = sema.isRuledOut();
    return checked;
  }
  /// The only instance, without a variant.
  std::optional<CheckedKernel> check() {
    std::vector<Instance> all = instances();
    return all.size() == 1 ? check(all.front()) : std::nullopt;
  }

  /// Code, place and message of each report.
  std::string messages() const {
    std::string out;
    for (const Diagnostic &each : diagnostics.all()) {
      LineColumn place = sources.begin(each.range);
      out += std::string(each.code()) + " " + std::to_string(place.line) + ":" +
             std::to_string(place.column) + " " + each.message + "\n";
    }
    return out;
  }

  SemaOptions options;
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  FileID file;
  std::unique_ptr<ast::Program> program;
  std::optional<Modules> modules;
  const ast::KernelDecl *kernel = nullptr;
  bool ruledOut = false;
};

} // namespace tile

#endif
