// LLVM IR with nvvm kernels to PTX.
#ifndef TILE_CODEGEN_NVPTX_H
#define TILE_CODEGEN_NVPTX_H

#include "target/Target.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

namespace tile {

/// LLVM's NVPTX backend, set up for one target.
class NVPTXTarget {
public:
  /// `level` is 0 to 3. Fails where LLVM does not know the target's processor.
  static llvm::Expected<NVPTXTarget> create(const GPUTarget &row, int level);

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
