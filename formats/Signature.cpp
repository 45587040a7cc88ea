// Reading of minisign's texts, and the check of both signatures in them: that of the file, and that
// of the first with the trusted comment.
#include "formats/Signature.h"

#include <array>
#include <cstring>
#include <optional>

#ifdef TILE_HAVE_SODIUM
#include <sodium.h>
#endif

namespace tile::runtime {

#ifdef TILE_HAVE_SODIUM

namespace {

constexpr size_t keyNumberBytes = 8;

///     public key    2 bytes "Ed", 8 key number, 32 key
///     signature     2 bytes "ED", 8 key number, 64 signature of the file's hash
///     fourth line   64 bytes: signature of (signature, trusted comment)
struct PublicKey {
  std::array<unsigned char, 2> algorithm;
  std::array<unsigned char, keyNumberBytes> number;
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> key;
};
struct FileSignature {
  std::array<unsigned char, 2> algorithm;
  std::array<unsigned char, keyNumberBytes> number;
  std::array<unsigned char, crypto_sign_BYTES> signature;
};
static_assert(sizeof(PublicKey) == 42 && sizeof(FileSignature) == 74, "the texts hold these bytes");

} // namespace

/// The next line of a text, without its end.
static std::string_view takeLine(std::string_view &text) {
  size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  return line;
}

/// Exactly the bytes of `value`, out of Base64.
/// libsodium takes no line breaks: the line is exactly the text of these bytes.
template <typename T> static bool decode(std::string_view line, T &value) {
  size_t length = 0;
  const char *end = nullptr;
  return sodium_base642bin(reinterpret_cast<unsigned char *>(&value), sizeof value, line.data(),
                           line.size(), nullptr, &length, &end,
                           sodium_base64_VARIANT_ORIGINAL) == 0 &&
         length == sizeof value && end == line.data() + line.size();
}

static std::string hexOf(const std::array<unsigned char, keyNumberBytes> &number) {
  std::string text;
  for (size_t i = number.size(); i-- > 0;) { // minisign prints it as a little-endian number
    text += "0123456789ABCDEF"[number[i] >> 4];
    text += "0123456789ABCDEF"[number[i] & 15];
  }
  return text;
}

Error verifySignature(std::string_view bytes, std::string_view signature, std::string_view key,
                      const std::string &name, std::string &comment) {
  auto fail = [&](const std::string &what) {
    return Error(TILE_ERROR_SIGNATURE, "'" + name + "': " + what);
  };
  if (sodium_init() < 0)
    return fail("libsodium cannot be initialised");
  constexpr std::string_view untrusted = "untrusted comment: ", trusted = "trusted comment: ";
  // A key is a file of two lines, or its second line alone.
  std::string_view line = takeLine(key);
  if (line.substr(0, untrusted.size()) == untrusted)
    line = takeLine(key);
  PublicKey known;
  if (!decode(line, known) || known.algorithm != std::array<unsigned char, 2>{'E', 'd'})
    return fail("the key is no public key of minisign, which is 56 characters that begin with RW");

  std::string_view first = takeLine(signature), second = takeLine(signature),
                   third = takeLine(signature), fourth = takeLine(signature);
  FileSignature file;
  std::array<unsigned char, crypto_sign_BYTES> whole;
  // Nothing may follow: what a program does not read would not be signed.
  if (first.substr(0, untrusted.size()) != untrusted ||
      third.substr(0, trusted.size()) != trusted || !decode(second, file) ||
      !decode(fourth, whole) || !signature.empty())
    return fail("its signature is no signature of minisign");
  // "ED": the signature is that of a BLAKE2b hash of 64 bytes, so that the file need not be signed
  // as a whole.
  if (file.algorithm != std::array<unsigned char, 2>{'E', 'D'})
    return fail("its signature is not of the hashed kind, which `minisign -S` makes since version "
                "0.10 (before, -SH); sign it again");
  if (file.number != known.number)
    return fail("it is signed with the key " + hexOf(file.number) + ", expected " +
                hexOf(known.number));
  unsigned char hash[crypto_generichash_BYTES_MAX];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char *>(bytes.data()),
                     bytes.size(), nullptr, 0);
  if (crypto_sign_verify_detached(file.signature.data(), hash, sizeof hash, known.key.data()) != 0)
    return fail(
        "its signature is not that of these bytes: one of the two was changed after signing");
  // The trusted comment is covered by the second signature, together with the first, so that
  // neither can be moved to another file.
  third.remove_prefix(trusted.size());
  std::string signedText(reinterpret_cast<const char *>(file.signature.data()),
                         file.signature.size());
  signedText += third;
  if (crypto_sign_verify_detached(whole.data(),
                                  reinterpret_cast<const unsigned char *>(signedText.data()),
                                  signedText.size(), known.key.data()) != 0)
    return fail("the trusted comment of its signature was changed");
  comment = third;
  return {};
}

#else

Error verifySignature(std::string_view, std::string_view, std::string_view, const std::string &name,
                      std::string &) {
  return Error(TILE_ERROR_SIGNATURE,
               "'" + name +
                   "': this build has no libsodium to verify signatures with; "
                   "use `minisign -V`");
}

#endif

} // namespace tile::runtime
