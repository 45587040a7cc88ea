// The tie between a manifest and its binary: a hash of the bytes, against mix-ups and damage (not
// against forgery: docs/Packages.md).
#ifndef TILE_MANIFEST_HASH_H
#define TILE_MANIFEST_HASH_H

#include <string>
#include <string_view>

namespace tile::runtime {

/// "xxh3-128:" and the 32 hexadecimal digits of XXH3's canonical form, as `xxhsum -H2` prints it.
std::string contentHash(std::string_view bytes);

} // namespace tile::runtime

#endif
