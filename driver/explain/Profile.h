// `tilec explain --profile`: the page "source" of Nsight Compute, as ncu exports it to CSV, joined
// to the lines of the source. docs/Explain.md has the commands.
#ifndef TILE_DRIVER_EXPLAIN_PROFILE_H
#define TILE_DRIVER_EXPLAIN_PROFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace tile::profile {

/// Counts of one instruction, or of one line.
struct Counts {
  int64_t samples = 0;                   ///< warps found here by the sampler, stalled or not
  int64_t executed = 0;                  ///< executions, one for each warp
  std::map<std::string, int64_t> stalls; ///< samples by the reason that ncu gives

  void add(const Counts &other);
};

/// One row of the report: of an instruction its offset in the kernel and its text, of a source line
/// its file and number.
struct Row {
  uint64_t offset = 0;
  std::string text;
  std::string file;
  unsigned line = 0;
  Counts counts;
};

/// One kernel; rows of several launches are added up.
struct Kernel {
  std::string name;
  bool hasInstructions = false; ///< rows are instructions (of ncu's view "sass"), else source lines
  unsigned launches = 0;
  std::vector<Row> rows;
};

/// Reads a CSV export. Fails, with the command that exports it, for anything else.
llvm::Expected<std::vector<Kernel>> read(llvm::StringRef text, llvm::StringRef path);

/// Adds "profile" to a document of `tilec explain`: counts by source line, and by line of the SASS
/// listing where the report has instructions. Fails where the report is of other kernels or code.
llvm::Error join(llvm::ArrayRef<Kernel> kernels, llvm::StringRef path,
                 llvm::json::Object &document);

/// The counts of `document` by source line, as text.
void print(const llvm::json::Object &document, llvm::raw_ostream &stream);

} // namespace tile::profile

#endif
