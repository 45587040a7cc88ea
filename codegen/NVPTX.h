// LLVM IR with nvvm kernels to PTX.
#ifndef TILE_CODEGEN_NVPTX_H
#define TILE_CODEGEN_NVPTX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace tile {

/// A GPU architecture that the compiler knows: its name as ptxas spells it, and the PTX version
/// written for it, times 10.
struct GPUArch {
  llvm::StringRef name;
  int ptxVersion;
};

/// Every known architecture, oldest first.
llvm::ArrayRef<GPUArch> getGPUArchs();

/// The architecture called `name`, or null.
const GPUArch *findGPUArch(llvm::StringRef name);

/// LLVM's NVPTX backend, set up for one architecture.
class NVPTXTarget {
public:
  /// `arch` is a name of getGPUArchs(), `level` 0 to 3. Fails on an unknown architecture.
  static llvm::Expected<NVPTXTarget> create(llvm::StringRef arch, int level);

  /// Gives `module` this target's triple and data layout, splits wide vectors into registers and
  /// optimises.
  llvm::Error optimize(llvm::Module &module);

  /// The PTX text of an optimised module.
  llvm::Expected<std::string> emitPTX(llvm::Module &module);

private:
  NVPTXTarget(std::unique_ptr<llvm::TargetMachine> machine, int level)
      : machine(std::move(machine)), level(level) {}
  std::unique_ptr<llvm::TargetMachine> machine;
  int level;
};

} // namespace tile

#endif
