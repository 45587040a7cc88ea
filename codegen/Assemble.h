// PTX to cubin: by the ptxas program, else by the nvJitLink library.
#ifndef TILE_CODEGEN_ASSEMBLE_H
#define TILE_CODEGEN_ASSEMBLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tile {

struct AssembleOptions {
  std::string arch = "sm_90a";
  int level = 3;              ///< 0 to 3
  std::string ptxasPath;      ///< the program to use; empty: look for one
  std::string executablePath; ///< where this compiler is: a .venv beside its project may hold ptxas
};

/// What the assembler says of one kernel.
struct KernelResources {
  std::string symbol;
  unsigned registers = 0;
  unsigned spillBytes = 0; ///< stores and loads together
};

struct Cubin {
  std::string bytes;
  std::vector<KernelResources> kernels;
  std::vector<std::string> warnings; ///< performance the assembler gave up: its C75xx messages
  std::string assembler;             ///< the program or library that made it
};

/// No assembler exists on this machine: `tilec` says so and how to get one.
class NoAssembler : public llvm::ErrorInfo<NoAssembler> {
public:
  static char ID;
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// The ptxas program: `explicitPath`, else $TILE_PTXAS, PATH, /usr/local/cuda/bin, .venv of the
/// project that `executablePath` lies in. Empty if there is none. Fails if a path that was asked
/// for is no program.
llvm::Expected<std::string> findPtxas(llvm::StringRef explicitPath, llvm::StringRef executablePath);

/// Whether assemble() would find a program or library.
bool hasAssembler(llvm::StringRef explicitPath, llvm::StringRef executablePath);

/// Assembles `ptx`. Errors carry the assembler's first message, not its whole output.
llvm::Expected<Cubin> assemble(llvm::StringRef ptx, const AssembleOptions &options);

/// nvJitLink's half of assemble(). It cannot keep `setmaxnreg`, and warns where that is lost.
llvm::Expected<Cubin> assembleWithNvJitLink(llvm::StringRef ptx, const AssembleOptions &options);

/// Adds what an assembler's verbose log says of kernels and lost performance to `cubin`.
void parseAssemblerLog(llvm::StringRef log, Cubin &cubin);

} // namespace tile

#endif
