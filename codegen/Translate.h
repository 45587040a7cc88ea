// From the LLVM dialect to LLVM IR, and how LLVM's own diagnostics become errors.
#ifndef TILE_CODEGEN_TRANSLATE_H
#define TILE_CODEGEN_TRANSLATE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile {

/// Adds the interfaces that translate builtin, llvm and nvvm operations to LLVM IR.
void registerTranslations(mlir::DialectRegistry &registry);

/// Translates a module in the LLVM and NVVM dialects. Null if it holds anything else; MLIR
/// diagnostics say what.
std::unique_ptr<llvm::Module> translateToLLVM(mlir::ModuleOp module, llvm::LLVMContext &context);

/// Collects the errors that LLVM reports while it lives, in place of LLVM's habit to print them and
/// exit.
class LLVMDiagnostics {
public:
  explicit LLVMDiagnostics(llvm::LLVMContext &context);
  ~LLVMDiagnostics();
  LLVMDiagnostics(const LLVMDiagnostics &) = delete;
  LLVMDiagnostics &operator=(const LLVMDiagnostics &) = delete;

  /// All errors reported so far as one, or success.
  llvm::Error takeError();

private:
  llvm::LLVMContext &context;
  std::string errors;
};

/// An error whose message is `text`.
llvm::Error makeError(const llvm::Twine &text);

} // namespace tile

#endif
