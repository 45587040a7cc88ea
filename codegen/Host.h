// LLVM IR to machine code of this computer: in memory, or as an object file.
#ifndef TILE_CODEGEN_HOST_H
#define TILE_CODEGEN_HOST_H

#include "codegen/FailedAssert.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <cstdint>
#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
class JITTargetMachineBuilder;
} // namespace llvm::orc

namespace tile {

/// A kernel on the CPU: runs programs begin to end - 1 of its grid. args[i] points to the i-th
/// machine argument's value.
using HostKernel = void (*)(const void *const *args, int64_t begin, int64_t end);

/// LLVM's code generator for the processor that this runs on, or for all of a level of x86-64.
class HostTarget {
public:
  /// `level` is 0 to 3; `cpu` is "x86-64-v3" or another that LLVM knows, empty for the processor at
  /// hand.
  static llvm::Expected<HostTarget> create(int level, llvm::StringRef cpu = "");
  HostTarget(HostTarget &&);
  ~HostTarget();

  /// Gives `module` this target's triple, data layout and processor, and optimises it.
  llvm::Error optimize(llvm::Module &module);

  /// The object file of an optimised module.
  llvm::Expected<std::string> emitObject(llvm::Module &module);

  /// Width of the widest vector registers in bits.
  unsigned getVectorBits() const;

  const llvm::orc::JITTargetMachineBuilder &getBuilder() const { return *builder; }

private:
  HostTarget();
  std::unique_ptr<llvm::orc::JITTargetMachineBuilder> builder;
  std::unique_ptr<llvm::TargetMachine> machine;
  int level = 2;
};

/// A function of this program that code in memory may call, or data that it may refer to.
struct HostSymbol {
  llvm::StringRef name;
  void *address;
  bool isFunction = true;
};

/// Machine code in memory; its kernels live as long as it does.
class HostCode {
public:
  /// Takes an optimised module and the context that it lives in.
  static llvm::Expected<HostCode> create(std::unique_ptr<llvm::Module> module,
                                         std::unique_ptr<llvm::LLVMContext> context,
                                         const HostTarget &target,
                                         llvm::ArrayRef<HostSymbol> symbols = {});
  HostCode(HostCode &&);
  ~HostCode();

  /// The kernel of that symbol; compiles it at the first call.
  llvm::Expected<HostKernel> lookup(llvm::StringRef symbol);
  /// The first assert that failed in any kernel so far; null where none has.
  const FailedAssert *getFailedAssert() const {
    return failed && failed->message ? failed : nullptr;
  }

private:
  explicit HostCode(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const FailedAssert *failed = nullptr; // in the module's memory
};

} // namespace tile

#endif
