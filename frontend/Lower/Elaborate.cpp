// The entry of elaboration: which kernels, which instances, and what applies to the file as a whole.
#include "frontend/Lower/Elaborate.h"
#include "frontend/Lower/Elaborator.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Sema/Words.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tile;

/// Imports are refused; names are declared once.
static void checkDeclarations(const ast::Program &program, tile::DiagnosticEngine &diagnostics) {
  std::map<std::string, tile::Range> seen;
  for (const ast::DeclPtr &decl : program.decls) {
    if (isa<ast::ImportDecl>(*decl)) {
      diagnostics.report(diag::comesLater, decl->range, "`import`");
      continue;
    }
    auto [earlier, isNew] = seen.emplace(decl->name.text, decl->name.range);
    if (!isNew)
      diagnostics.report(diag::redefinition, decl->name.range, decl->name.text).note(earlier->second, "first defined here");
  }
}

/// Every -D must name a compile-time parameter of some chosen kernel.
static void checkDefines(const std::vector<const ast::KernelDecl *> &kernels, const ElaborateOptions &options,
                         tile::DiagnosticEngine &diagnostics) {
  std::vector<std::string> known;
  for (const ast::KernelDecl *kernel : kernels)
    for (const ast::StaticParam &param : kernel->statics)
      known.push_back(param.name.text);
  auto check = [&](const std::pair<std::string, std::string> &define, const std::vector<std::string> &known) {
    if (llvm::is_contained(known, define.first))
      return;
    DiagnosticBuilder report = diagnostics.report(diag::unknownDefine, tile::Range(), define.first);
    std::string near = suggest(define.first, known);
    if (!near.empty())
      report.note("did you mean '" + near + "'?");
    else if (!known.empty())
      report.note("there are " + joinWords(known, "and"));
  };
  for (const auto &define : options.defines)
    check(define, known);
  known.insert(known.end(), {"warps", "stages", "grouped", "consumers", "occupancy", "maxreg", "persistent"});
  for (const auto &setting : options.config)
    check(setting, known);
}

std::optional<Elaborated> tile::elaborate(const ast::Program &program, const ElaborateOptions &options,
                                          tile::DiagnosticEngine &diagnostics, MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  unsigned errors = diagnostics.errors();
  checkDeclarations(program, diagnostics);
  std::vector<const ast::KernelDecl *> kernels;
  std::vector<std::string> names;
  for (const ast::DeclPtr &decl : program.decls)
    if (auto *kernel = dyn_cast<ast::KernelDecl>(decl.get())) {
      names.push_back(kernel->name.text);
      if (options.kernel.empty() || options.kernel == kernel->name.text)
        kernels.push_back(kernel);
    }
  if (names.empty()) {
    diagnostics.report(diag::noKernel, program.range);
  } else if (kernels.empty()) {
    DiagnosticBuilder report = diagnostics.report(diag::unknownKernel, tile::Range(), options.kernel);
    report.note("it declares " + joinWords(names, "and"));
  }
  if (diagnostics.errors() == errors)
    checkDefines(kernels, options, diagnostics);
  if (diagnostics.errors() != errors)
    return std::nullopt;

  bool failed = false;
  Elaborated result;
  result.module = ModuleOp::create(UnknownLoc::get(&context));
  for (const ast::KernelDecl *kernel : kernels) {
    std::vector<Instance> instances = Elaborator(program, *kernel, options, diagnostics, *result.module).chooseInstances();
    failed = failed || instances.empty();
    for (const Instance &instance : instances) {
      runtime::Kernel record;
      // Instances mostly repeat each other's errors: one is enough.
      if (!Elaborator(program, *kernel, options, diagnostics, *result.module).elaborateInstance(instance, record)) {
        failed = true;
        break;
      }
      result.manifest.kernels.push_back(std::move(record));
    }
  }
  if (failed || diagnostics.errors() != errors)
    return std::nullopt;
  return result;
}

std::optional<TuneSpace> tile::readTuneSpace(const ast::Program &program, const ast::KernelDecl &kernel, const ElaborateOptions &options,
                                             tile::DiagnosticEngine &diagnostics, MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  return Elaborator(program, kernel, options, diagnostics, *module).readTuneSpace();
}
