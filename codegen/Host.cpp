// Optimises LLVM IR for the host's processor, writes object files, and runs code through ORC.
//
//   for `tilec run`   HostCode: this processor's features, compiled into memory, by LLJIT
//   for -o NAME.o     emitObject: a level of the family (HostLevels), position-independent
//
// Code in memory finds functions in this order: our conversions of 16-bit floats (Libcalls) and the
// caller's symbols, then those of the process. An object file may need only the symbols that each
// system has (HostSymbols).
#include "codegen/Host.h"
#include "codegen/HostSymbols.h"
#include "codegen/Libcalls.h"
#include "codegen/Optimize.h"
#include "codegen/Translate.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace llvm;

namespace tile {

HostTarget::HostTarget() = default;
HostTarget::HostTarget(HostTarget &&) = default;
HostTarget::~HostTarget() = default;

/// `cpu` empty: the processor at hand with all of its features. Else a level, and nothing beyond.
Expected<HostTarget> HostTarget::create(int level, StringRef cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  Expected<orc::JITTargetMachineBuilder> detected = orc::JITTargetMachineBuilder::detectHost();
  if (!detected)
    return detected.takeError();
  detected->setCodeGenOptLevel(getCodegenLevel(level));
  detected->setRelocationModel(Reloc::PIC_);
  if (!cpu.empty()) {
    detected->setCPU(cpu == "armv8-a" ? "generic" : cpu.str());
    detected->getFeatures() = SubtargetFeatures();
  }
  // Their conversions to bf16 take subnormal numbers for zero.
  if (detected->getTargetTriple().isX86())
    for (const char *flushing : {"avx512bf16", "avxneconvert"})
      detected->getFeatures().AddFeature(flushing, /*Enable=*/false);
  HostTarget target;
  target.level = level;
  target.builder = std::make_unique<orc::JITTargetMachineBuilder>(std::move(*detected));
  Expected<std::unique_ptr<TargetMachine>> machine = target.builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  target.machine = std::move(*machine);
  return target;
}

unsigned HostTarget::getVectorBits() const {
  StringRef features = machine->getTargetFeatureString();
  StringRef cpu = machine->getTargetCPU();
  if (features.contains("+avx512f") || cpu == "x86-64-v4")
    return 512;
  return features.contains("+avx2") || cpu == "x86-64-v3" ? 256 : 128;
}

/// LLVM reports errors to the context, not to its caller: LLVMDiagnostics collects them while it
/// lives.
Error HostTarget::optimize(Module &module) {
  LLVMDiagnostics diagnostics(module.getContext());
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  // Without the processor on each function LLVM takes the oldest of its family, and vectorises for
  // that.
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", std::to_string(getVectorBits()));
  }
  PipelineOptions options;
  options.level = level;
  runPipeline(module, *machine, options);
  return diagnostics.takeError();
}

Expected<std::string> HostTarget::emitObject(Module &module) {
  LLVMDiagnostics diagnostics(module.getContext());
  SmallString<0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    return makeError("LLVM cannot write object files for " + machine->getTargetTriple().str());
  passes.run(module);
  if (Error error = diagnostics.takeError())
    return error;
  if (Error error = checkHostSymbols(bytes))
    return error;
  return bytes.str().str();
}

HostCode::HostCode(std::unique_ptr<orc::LLJIT> jit) : jit(std::move(jit)) {}
HostCode::HostCode(HostCode &&) = default;
HostCode::~HostCode() = default;

Expected<HostCode> HostCode::create(std::unique_ptr<Module> module,
                                    std::unique_ptr<LLVMContext> context, const HostTarget &target,
                                    ArrayRef<HostSymbol> own) {
  Expected<std::unique_ptr<orc::LLJIT>> jit = orc::LLJITBuilder()
                                                  .setJITTargetMachineBuilder(target.getBuilder())
                                                  .setPlatformSetUp(orc::setUpInactivePlatform)
                                                  .create();
  if (!jit)
    return jit.takeError();
  orc::JITDylib &library = (*jit)->getMainJITDylib();
  orc::SymbolMap symbols;
  for (const Libcall &call : getLibcalls())
    symbols[(*jit)->mangleAndIntern(call.name)] = {orc::ExecutorAddr::fromPtr(call.address),
                                                   JITSymbolFlags::Exported |
                                                       JITSymbolFlags::Callable};
  for (const HostSymbol &symbol : own)
    symbols[(*jit)->mangleAndIntern(symbol.name)] = {
        orc::ExecutorAddr::fromPtr(symbol.address),
        symbol.isFunction ? JITSymbolFlags::Exported | JITSymbolFlags::Callable
                          : JITSymbolFlags::Exported};
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  bool asserts = recordAsserts(*module);
  if (Error error =
          (*jit)->addIRModule(orc::ThreadSafeModule(std::move(module), std::move(context))))
    return error;
  HostCode code(std::move(*jit));
  if (asserts) {
    Expected<orc::ExecutorAddr> record = code.jit->lookup(failedAssertName);
    if (!record)
      return record.takeError();
    code.failed = record->toPtr<const FailedAssert *>();
  }
  return code;
}

/// Compiles when it is asked first. The pointer is good as long as this object lives.
Expected<HostKernel> HostCode::lookup(StringRef symbol) {
  Expected<orc::ExecutorAddr> address = jit->lookup(symbol);
  if (!address)
    return address.takeError();
  return address->toPtr<HostKernel>();
}

} // namespace tile
