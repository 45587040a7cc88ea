// PTX to cubin: by the ptxas program, else by the nvJitLink library.
#ifndef TILE_CODEGEN_ASSEMBLE_H
#define TILE_CODEGEN_ASSEMBLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tile {

struct AssembleOptions {
  std::string arch;           ///< a name that ptxas knows
  int level = 3;              ///< 0 to 3
  std::string ptxasPath;      ///< the program to use; empty: look for one
  std::string executablePath; ///< where this compiler is: a .venv beside its project may hold ptxas
  std::vector<std::string> flags;   ///< given to the assembler as they stand, after our own
  llvm::raw_ostream *log = nullptr; ///< gets the commands that are run and what they print
};

/// The assembler's report on one kernel.
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

/// The assembler did not take the PTX.
class RefusedPTX : public llvm::ErrorInfo<RefusedPTX> {
public:
  static char ID;
  RefusedPTX(std::string assembler, std::string text, unsigned line)
      : assembler(std::move(assembler)), text(std::move(text)), line(line) {}
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  unsigned getLine() const { return line; }

private:
  std::string assembler, text;
  unsigned line; ///< of the PTX, from 1; 0 where the assembler names none
};

/// The first error in an assembler's output.
llvm::Error readRefusal(llvm::StringRef assembler, llvm::StringRef output);

/// A place in a source file, and the calls through which it came to be where it is.
struct SourcePlace {
  std::string file;
  unsigned line = 0, column = 0;
};

/// Where line `line` of the PTX comes from, by its .loc directives: the innermost place first, then
/// its calls. Empty where nothing is known.
std::vector<SourcePlace> findSourcePlaces(llvm::StringRef ptx, unsigned line);

/// The ptxas program: `explicitPath`, else $TILE_PTXAS, PATH, /usr/local/cuda/bin, .venv of the
/// project that `executablePath` lies in. Empty if there is none, or none is wanted. Fails if a
/// path that was asked for is no program.
llvm::Expected<std::string> findPtxas(llvm::StringRef explicitPath, llvm::StringRef executablePath);

/// Whether the word `none` stands in the place of ptxas: binaries are PTX then, which the driver
/// assembles.
bool wantsNoAssembler(llvm::StringRef explicitPath);

/// Whether assemble() would find a program or library.
bool hasAssembler(llvm::StringRef explicitPath, llvm::StringRef executablePath);

/// Assembles `ptx`. Errors carry the assembler's first message, not its whole output.
llvm::Expected<Cubin> assemble(llvm::StringRef ptx, const AssembleOptions &options);

/// nvJitLink's half of assemble(). It cannot keep `setmaxnreg`, and warns where that is lost.
llvm::Expected<Cubin> assembleWithNvJitLink(llvm::StringRef ptx, const AssembleOptions &options);

/// A cubin as the text of its machine code, by NVIDIA's nvdisasm or cuobjdump: beside ptxas, on the
/// PATH or in /usr/local/cuda/bin. An error says how to get one where there is none. With `lines`
/// only code is printed, and comments say from which line of the source it comes; by nvdisasm
/// alone.
llvm::Expected<std::string> disassemble(llvm::StringRef cubin, llvm::StringRef ptxasPath,
                                        llvm::StringRef executablePath, llvm::raw_ostream *log,
                                        bool lines = false);

/// Adds what an assembler's verbose log says of kernels and lost performance to `cubin`.
void parseAssemblerLog(llvm::StringRef log, Cubin &cubin);

} // namespace tile

#endif
