// Translates modules of the LLVM dialect, and collects LLVM's diagnostics.
#include "codegen/Translate.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tile {

void registerTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

std::unique_ptr<llvm::Module> translateToLLVM(ModuleOp module, llvm::LLVMContext &context) {
  return translateModuleToLLVMIR(module, context, module.getName().value_or("tile"));
}

/// Takes the context's handler for its lifetime: two at once for one context would lose messages.
LLVMDiagnostics::LLVMDiagnostics(llvm::LLVMContext &context) : context(context) {
  auto collect = [](const llvm::DiagnosticInfo *info, void *self) {
    if (info->getSeverity() != llvm::DS_Error)
      return;
    std::string &errors = static_cast<LLVMDiagnostics *>(self)->errors;
    llvm::raw_string_ostream stream(errors);
    if (!errors.empty())
      stream << "; ";
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info->print(printer);
  };
  context.setDiagnosticHandlerCallBack(collect, this);
}

LLVMDiagnostics::~LLVMDiagnostics() { context.setDiagnosticHandlerCallBack(nullptr, nullptr); }

llvm::Error LLVMDiagnostics::takeError() {
  if (errors.empty())
    return llvm::Error::success();
  return makeError(std::exchange(errors, {}));
}

llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

} // namespace tile
