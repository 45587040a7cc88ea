// fuzz-signature: whatever the bytes, they are no signature by this key of another content than its
// own.
#include "formats/Signature.h"
#include "readers.h"

using namespace tile::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *key = "RWRtvT19hYkXxTh7zMfwAqh8Z00Io/3CPKb5/yupQKrgFw04a1NSZOmW";
  std::string comment;
  Error error = verifySignature("a package\n", asText(data, size), key, "input", comment);
  require(!error == error.message.empty(), "a refusal without a reason");
  require(bool(verifySignature("another\n", asText(data, size), key, "input", comment)),
          "a forgery");
  verifySignature("a package\n", "", asText(data, size), "input", comment);
  return 0;
}
