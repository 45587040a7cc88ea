// The one document of `tilec explain`: all that text, page and comparison show, as JSON.
// docs/Explain.md has its keys.
#ifndef TILE_DRIVER_EXPLAIN_DOCUMENT_H
#define TILE_DRIVER_EXPLAIN_DOCUMENT_H

#include "driver/compile/Compile.h"
#include "driver/report/KernelReport.h"
#include "driver/report/PassLog.h"
#include <map>

namespace tile {

/// Watches a compilation and keeps what the document has of its inside.
class DocumentCollector : public CompileObserver {
public:
  /// With `whole` all that the document has; else what the text of `tilec explain` needs.
  DocumentCollector(const Options &options, Session &session, bool whole);

  void afterStage(Stage stage, Compiler &compiler) override;
  void addPasses(llvm::StringRef pipeline, mlir::PassManager &passes) override;
  void beginRetry() override;
  void endRetry(bool kept, Compiler &compiler) override;

  /// Adds the machine code of a cubin as text, or why there is none.
  void disassemble(const std::string &cubin);

  /// {"sources", "listings", "passes", "missing"}, which hold for all kernels.
  llvm::json::Object takeShared();
  /// {"schedules"}, and of the whole {"layouts", "shared_memory", "timeline"}, of one.
  llvm::json::Object takeKernel(llvm::StringRef symbol);

private:
  /// The parts of the document that a second try replaces.
  struct Attempt {
    std::vector<report::PassRun> runs;
    std::vector<report::Listing> listings;
    std::map<std::string, llvm::json::Object> kernels;
  };

  void atLastLayout(mlir::ModuleOp module);
  report::BlockRates getRates() const;

  const Options &options;
  Session &session;
  bool whole;
  report::FileTable files;
  report::Encodings encodings;
  report::PassLog passes;
  std::vector<report::Listing> listings;
  std::map<std::string, llvm::json::Object> kernels;
  std::optional<Attempt> first; ///< while there is a second
  std::string missing;          ///< why there is no SASS
};

/// The page that shows a document, in one file.
std::string makePage(const llvm::json::Value &document, llvm::StringRef title);

/// The differences of two documents, as JSON with the two inside: {"a", "b", "rows", …}.
llvm::json::Object compareDocuments(llvm::json::Object a, llvm::json::Object b);
void printComparison(const llvm::json::Object &comparison, llvm::raw_ostream &stream);

} // namespace tile

#endif
