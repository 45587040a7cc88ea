// Signatures of minisign: a vector that the program has made, and every change of it.
#include "formats/Signature.h"
#include "runtime/include/tile_runtime.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace tile::runtime;

static const std::string content = "a package\n";
static const std::string keyLine = "RWRtvT19hYkXxTh7zMfwAqh8Z00Io/3CPKb5/yupQKrgFw04a1NSZOmW";
static const std::string signature =
    "untrusted comment: signature from minisign secret key\n"
    "RURtvT19hYkXxdRs3lX/6BYKJh9KiHIEUD3VtIkmn+GNxBuwiR/"
    "UkevfLEnZ+ooEBGhOkqqHD88tw9EmAJfaDgVBdg8a1O01"
    "FgM=\n"
    "trusted comment: vector\n"
    "oSYcqGiZUyUZjq4doBXw60LQH3oPVybP5Wcw2tsIfL7yVuKG6Q5rcmrpE0QvCx7oiBScvkPvKhRsKZzc8x8PCw==\n";

static Error verify(const std::string &bytes, const std::string &text, const std::string &key) {
  std::string comment;
  Error error = verifySignature(bytes, text, key, "p", comment);
  EXPECT_EQ(comment, error ? "" : "vector");
  return error;
}

/// Builds without libsodium verify nothing, and say so.
static bool verifies() {
  return verify(content, signature, keyLine).message.find("no libsodium") == std::string::npos;
}

TEST(Signature, GoodOnes) {
  if (!verifies())
    return;
  EXPECT_FALSE(verify(content, signature, keyLine));
  EXPECT_FALSE(verify(content, signature, keyLine + "\n"));
  EXPECT_FALSE(
      verify(content, signature,
             "untrusted comment: minisign public key C51789857D3DBD6D\n" + keyLine + "\n"));
}

TEST(Signature, EveryChangeIsRefused) {
  if (!verifies())
    return;
  for (size_t i = 0; i < content.size(); ++i) {
    std::string changed = content;
    changed[i] ^= 1;
    EXPECT_EQ(verify(changed, signature, keyLine).code, TILE_ERROR_SIGNATURE) << i;
  }
  size_t second = signature.find('\n') + 1;
  for (size_t i = second; i < signature.size(); ++i) {
    std::string changed = signature;
    changed[i] ^= 1;
    EXPECT_EQ(verify(content, changed, keyLine).code, TILE_ERROR_SIGNATURE) << i;
    EXPECT_EQ(verify(content, signature.substr(0, i - 1), keyLine).code, TILE_ERROR_SIGNATURE) << i;
  }
  for (size_t i = 0; i < keyLine.size(); ++i) {
    std::string changed = keyLine;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(verify(content, signature, changed).code, TILE_ERROR_SIGNATURE) << i;
  }
  for (const char *key : {"", "RW", "no key at all", "untrusted comment: x"})
    EXPECT_NE(verify(content, signature, key).message.find("is no public key of minisign"),
              std::string::npos)
        << key;
  EXPECT_NE(verify(content, "", keyLine).message.find("no signature of minisign"),
            std::string::npos);
}

/// The runtime loads nothing before the signature is found good.
TEST(Signature, LoadSigned) {
  std::string path = ::testing::TempDir() + "tile-signature-test.tilepkg";
  tile_module *module = nullptr;
  auto load = [&](const char *key) {
    tile_error *error = tile_module_load_signed(path.c_str(), key, TILE_DEVICE_AUTO, &module);
    EXPECT_NE(error, nullptr);
    EXPECT_EQ(module, nullptr);
    std::string message = tile_error_message(error);
    tile_error_free(error);
    return message;
  };
  std::ofstream(path) << "PK\3\4 no package";
  std::remove((path + ".minisig").c_str());
  EXPECT_NE(load(keyLine.c_str()).find("tile-signature-test.tilepkg.minisig': No such file"),
            std::string::npos);
  if (verifies()) {
    std::ofstream(path + ".minisig") << signature;
    EXPECT_NE(load(keyLine.c_str()).find("its signature is not that of these bytes"),
              std::string::npos);
    std::remove((path + ".minisig").c_str());
  }
  std::ofstream(path) << content;
  EXPECT_NE(load(keyLine.c_str()).find("only packages are signed"), std::string::npos);
  EXPECT_NE(load(nullptr).find("public_key is null"), std::string::npos);
  std::remove(path.c_str());
}
