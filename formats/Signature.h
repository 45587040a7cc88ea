// Signatures in minisign's format: Ed25519 over the BLAKE2b hash of a file, in a small text beside
// it. Made by the `minisign` program, checked here through libsodium.
#ifndef TILE_FORMATS_SIGNATURE_H
#define TILE_FORMATS_SIGNATURE_H

#include "manifest/Error.h"

#include <string>
#include <string_view>

namespace tile::runtime {

/// The suffix that a file's name gets in the name of its signature.
constexpr std::string_view signatureEnding = ".minisig";

/// Is `signature`, a whole .minisig file, that of `bytes` by the key? `key` is the key's one line
/// ("RW..."), or the .pub file with it. `name` stands in messages. TILE_ERROR_SIGNATURE where it is
/// not, the texts are malformed, or this build has no libsodium. `comment` gets the trusted
/// comment, which is signed too.
Error verifySignature(std::string_view bytes, std::string_view signature, std::string_view key,
                      const std::string &name, std::string &comment);

} // namespace tile::runtime

#endif
