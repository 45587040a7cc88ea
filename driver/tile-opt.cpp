// tile-opt: runs passes and pipelines of the compiler on MLIR files, for tests and for looking
// inside.
#include "dialect/TileGPU/TileGPUDialect.h"
#include "driver/Dialects.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/FormerNames.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "target/TestTargets.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;

/// Reports `array<index: …>`, of which MLIR's parser asks a width that `index` has not; false if it
/// is there.
static bool checkArrays(const MemoryBuffer &file) {
  StringRef text = file.getBuffer(), rest = text;
  while (true) {
    size_t at = rest.find_first_of("/\"a");
    if (at == StringRef::npos)
      return true;
    rest = rest.drop_front(at);
    if (rest.starts_with("//")) {
      rest = rest.drop_front(std::min(rest.find('\n'), rest.size()));
    } else if (rest.consume_front("\"")) {
      while (!rest.empty() && rest.front() != '"')
        rest = rest.drop_front(rest.front() == '\\' && rest.size() > 1 ? 2 : 1);
      rest = rest.drop_front(!rest.empty());
    } else if (rest.consume_front("array")) {
      StringRef element = rest.ltrim();
      if (!element.consume_front("<") || !element.ltrim().starts_with("index"))
        continue;
      SourceMgr sources;
      sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(file), SMLoc());
      sources.PrintMessage(SMLoc::getFromPointer(rest.data()), SourceMgr::DK_Error,
                           "the elements of a dense array are integers or floats, found index");
      return false;
    } else {
      rest = rest.drop_front();
    }
  }
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tile::registerDialects(registry);
  static llvm::cl::opt<bool> testTargets(
      "test-targets", llvm::cl::desc("Know the invented GPU of target/TestTargets.cpp too"));
  registry.addExtension(+[](mlir::MLIRContext *, tile::gpu::TileGPUDialect *dialect) {
    if (testTargets)
      dialect->addTargets(tile::getTestTargets());
  });
  mlir::registerTransformsPasses();
  mlir::arith::registerArithPasses();
  tile::registerTilePasses();
  tile::registerPipelines();
  InitLLVM init(argc, argv);
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i)
    words.push_back(i ? tile::renameFormerPasses(argv[i]) : argv[i]);
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  argv = pointers.data();
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "the tile compiler's pass runner\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  std::string problem;
  std::unique_ptr<MemoryBuffer> file = mlir::openInputFile(input, &problem);
  std::unique_ptr<ToolOutputFile> out = file ? mlir::openOutputFile(output, &problem) : nullptr;
  if (!out) {
    errs() << problem << "\n";
    return 1;
  }
  if (!checkArrays(*file) ||
      mlir::failed(mlir::MlirOptMain(out->os(), std::move(file), registry, config)))
    return 1;
  out->keep();
  return 0;
}
