// fuzz-package: whatever the bytes, a package is read or refused, and one that is read is written
// and read again with the same contents.
#include "formats/Package.h"
#include "readers.h"

using namespace tile::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Package package;
  if (Error error = readPackage(asText(data, size), "input", package)) {
    require(!error.message.empty(), "a refusal without a reason");
    return 0;
  }
  std::string bytes;
  require(!writePackage(package, bytes), "a package that was read cannot be written");
  Package again;
  require(!readPackage(bytes, "written", again), "a package that was written cannot be read");
  require(toJson(again) == toJson(package), "reading and writing changes a package");
  return 0;
}
