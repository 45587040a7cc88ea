// fuzz-manifest: whatever the bytes, a manifest is read or refused, and one that is read is written
// and read again as the same text.
#include "manifest/Manifest.h"
#include "readers.h"

using namespace tile::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string error;
  std::optional<Manifest> manifest = parseManifest(asText(data, size), error);
  if (!manifest) {
    require(!error.empty(), "a refusal without a reason");
    return 0;
  }
  std::string text = toJson(*manifest);
  std::optional<Manifest> again = parseManifest(text, error);
  require(again.has_value(), "a manifest that was written cannot be read");
  require(toJson(*again) == text, "reading and writing changes a manifest");
  return 0;
}
