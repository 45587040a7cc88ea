// Optimises LLVM IR for an NVIDIA GPU and prints PTX.
#include "codegen/NVPTX.h"
#include "codegen/Optimize.h"
#include "codegen/Translate.h"
#include "codegen/TruncateExtended.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/CodeGen/CodeGenTargetMachineImpl.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetMC();
extern "C" void LLVMInitializeNVPTXAsmPrinter();

using namespace llvm;

namespace tile {

/// Registers the backend once. Pointers to shared memory become 32 bits wide: half the registers
/// for addresses. The option is this backend's own; no option that another backend reads may be
/// set here, since options of LLVM are global.
static void initializeNVPTX() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    auto &options = cl::getRegisteredOptions();
    if (auto option = options.find("nvptx-short-ptr"); option != options.end())
      static_cast<cl::opt<bool> *>(option->second)->setValue(true);
  });
}

Expected<NVPTXTarget> NVPTXTarget::create(const GPUTarget &row, int level) {
  initializeNVPTX();
  Triple triple("nvptx64-nvidia-cuda");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeError(message);
  std::string features = "+ptx" + std::to_string(row.ptxVersion);
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, StringRef(row.processor), features, TargetOptions(),
                                  std::nullopt, std::nullopt, getCodegenLevel(level)));
  if (!machine)
    return makeError("LLVM has no code generator for '" + StringRef(row.processor) + "'");
  return NVPTXTarget(std::move(machine), level);
}

Error NVPTXTarget::optimize(Module &module) {
  LLVMDiagnostics diagnostics(module.getContext());
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  PipelineOptions options;
  options.level = level;
  options.scalarizeBits = 32; // what is left is one register: f32, or a pair of f16
  options.vectorizeLoops = false;
  options.kernels = true;
  runPipeline(module, *machine, options);
  return diagnostics.takeError();
}

namespace {

/// Takes the backend's passes and hands on all but a few, so that what these alone need is not
/// computed either. Straight-line strength reduction: half the backend's time, growing faster than
/// the code, for the same machine code after ptxas. Strength reduction of loops is left to ptxas,
/// too: here it takes a third of the time and keeps more addresses alive. Value numbering behind
/// the two takes a seventh of what is left and finds nothing that EarlyCSE, which follows, does
/// not. Sums of several terms are the same whether they are associated anew or not. What lies side
/// by side in memory was joined when accesses were made: the vectorizer of loads and stores finds
/// none of it.
class BackendPasses : public legacy::PassManager {
public:
  void add(Pass *pass) override {
    if (is_contained({"slsr", "gvn", "nary-reassociate", "loop-reduce", "load-store-vectorizer"},
                     nameOf(*pass)))
      delete pass;
    else
      legacy::PassManager::add(pass);
  }

private:
  static StringRef nameOf(const Pass &pass) {
    const PassInfo *info = PassRegistry::getPassRegistry()->getPassInfo(pass.getPassID());
    return info ? info->getPassArgument() : "";
  }
};

} // namespace

/// A name in a `.file` without the escapes that LLVM writes for quotes, backslashes and bytes
/// outside of ASCII: ptxas takes none. The name only tells people where a line is.
static std::string withoutEscapes(StringRef line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      text += line[i];
      continue;
    }
    text += '_';
    ++i;
    for (unsigned digits = 1; digits < 3 && i < line.size() && isDigit(line[i]); ++digits)
      ++i;
  }
  return text;
}

/// Gives each `.file "NAME"` a time and a size. Without them the assembler looks the source up and
/// writes its time into the cubin's line table, so that the same source would not always give the
/// same bytes.
static std::string fixFileTimes(StringRef text) {
  std::string fixed;
  fixed.reserve(text.size() + 64);
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    bool isLast = line.size() == text.size();
    if (line.starts_with("\t.file\t") && line.ends_with("\""))
      fixed += withoutEscapes(line) + ", 1, 1"; // 0 would mean that they are not known
    else
      fixed += line;
    if (!isLast)
      fixed += '\n';
    text = rest;
  }
  return fixed;
}

/// Strides that kernels write into tensor maps are counted in bytes by assemblers of PTX 8.5 and
/// later, in 16 bytes by those before: these must refuse the text.
static void requireStridesInBytes(std::string &text) {
  constexpr StringRef older = ".version 8.4", least = ".version 8.5";
  if (size_t at = text.find(older);
      at != std::string::npos && StringRef(text).contains("tensormap.replace"))
    text.replace(at, older.size(), least.str());
}

/// What `addPassesToEmitFile` adds, and one pass of ours right ahead of LLVM's preparation for
/// instruction selection. False if the backend cannot print PTX.
static bool addBackend(TargetMachine &machine, legacy::PassManager &passes,
                       raw_pwrite_stream &stream) {
  auto &target = static_cast<CodeGenTargetMachineImpl &>(machine);
  auto *functions = new MachineModuleInfoWrapperPass(&target);
  TargetPassConfig *config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(functions);
  // The last of the backend's own passes ahead of that preparation.
  const PassInfo *last =
      PassRegistry::getPassRegistry()->getPassInfo(StringRef("nvptx-ir-peephole"));
  if (last && machine.getOptLevel() != CodeGenOptLevel::None)
    config->insertPass(last->getTypeInfo(), createTruncateExtendedPass());
  if (config->addISelPasses())
    return false;
  config->addMachinePasses();
  config->setInitialized();
  if (target.addAsmPrinter(passes, stream, nullptr, CodeGenFileType::AssemblyFile,
                           functions->getMMI().getContext()))
    return false;
  passes.add(createFreeMachineFunctionPass());
  return true;
}

Expected<std::string> NVPTXTarget::emitPTX(Module &module) {
  LLVMDiagnostics diagnostics(module.getContext());
  SmallString<0> text;
  raw_svector_ostream stream(text);
  BackendPasses passes;
  if (!addBackend(*machine, passes, stream))
    return makeError("LLVM's NVPTX backend cannot print PTX");
  passes.run(module);
  if (Error error = diagnostics.takeError())
    return error;
  std::string fixed = fixFileTimes(text);
  requireStridesInBytes(fixed);
  return fixed;
}

} // namespace tile
