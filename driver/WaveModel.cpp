// A rough guess at how well a kernel's grid fills a GPU.
#include "driver/WaveModel.h"
#include "runtime/src/Manifest.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace llvm;

namespace tile {

double estimateWaves(const std::string &manifestPath, const TuneShape &shape) {
  auto file = MemoryBuffer::getFile(manifestPath);
  std::string error;
  std::optional<runtime::Manifest> manifest = file ? runtime::parseManifest((*file)->getBuffer().str(), error) : std::nullopt;
  if (!manifest || manifest->kernels.empty())
    return 0;
  const runtime::Kernel &kernel = manifest->kernels.back();
  runtime::Bindings bindings;
  for (const auto &[name, extent] : shape)
    bindings.emplace(name, extent);
  double programs = 1, processors = manifest->target == "sm_80" ? 108 : 132;
  for (const runtime::Expr &axis : kernel.grid) {
    std::optional<int64_t> extent = axis.evaluate(bindings, error);
    if (!extent || *extent <= 0)
      return 0;
    programs *= double(*extent);
  }
  double busiest = std::ceil(programs / processors);
  double spills = kernel.launch.spillBytes ? 1.5 : 1;
  return busiest * processors / programs * spills;
}

} // namespace tile
