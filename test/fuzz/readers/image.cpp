// fuzz-image: whatever the bytes, they are a cubin, PTX, or refused.
#include "formats/Image.h"
#include "readers.h"

using namespace tile::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ImageKind kind;
  if (Error error = inspectImage(std::string(asText(data, size)), "input", kind))
    require(!error.message.empty(), "a refusal without a reason");
  return 0;
}
