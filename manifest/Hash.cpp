// XXH3 out of the published header, compiled in: there is no library to find when a program starts.
#include "manifest/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tile::runtime {

/// Canonical, so that machines of either byte order agree. Tells a changed file, not a forged one.
std::string contentHash(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  std::string text = "xxh3-128:";
  for (unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace tile::runtime
