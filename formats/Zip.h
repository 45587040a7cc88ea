// ZIP archives in memory, through minizip: what packages are made of.
#ifndef TILE_FORMATS_ZIP_H
#define TILE_FORMATS_ZIP_H

#include "manifest/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

struct ZipEntry {
  std::string path;
  std::string bytes;
};

/// An archive of `entries`, in their order and without times: equal entries give equal bytes.
/// Entries are deflated. Fails only for want of memory.
Error writeZip(const std::vector<ZipEntry> &entries, std::string &archive);

/// Does `bytes` begin as an archive does?
bool isZip(std::string_view bytes);

/// Most entries of an archive that is read.
constexpr size_t maxZipEntries =
    65534; // an archive counts them in 16 bits, and 65535 means elsewhere

/// Reads single entries out of an archive that must outlive it. Never trusts what the archive says
/// of sizes.
class ZipReader {
public:
  /// `name` stands in messages. TILE_ERROR_BINARY for what is no archive, a truncated one, or one
  /// in which two entries have one path: readers do not agree on which of them counts.
  static Error open(std::string_view archive, std::string name, ZipReader &reader);
  ~ZipReader();
  ZipReader() = default;
  ZipReader(const ZipReader &) = delete;
  ZipReader &operator=(const ZipReader &) = delete;

  /// The entry of that path, at most `limit` bytes. TILE_ERROR_BINARY where it is missing, damaged
  /// or larger.
  Error read(const std::string &path, uint64_t limit, std::string &bytes);

private:
  struct Stream {
    std::string_view archive;
    uint64_t position = 0;
  };
  struct Place {
    uint64_t directory = 0, number = 0;
  };
  Error listEntries();

  Stream stream;
  std::string name;
  void *handle = nullptr;
  std::map<std::string, Place, std::less<>> entries;
};

} // namespace tile::runtime

#endif
