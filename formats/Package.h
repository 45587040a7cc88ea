// A package: the binaries of one or more targets with what the launcher must know of them, in one
// file (docs/Packages.md).
#ifndef TILE_FORMATS_PACKAGE_H
#define TILE_FORMATS_PACKAGE_H

#include "manifest/Error.h"
#include "manifest/Manifest.h"

#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

struct PackageFile {
  /// Of a module: "cubin", "ptx" or "so". Of a source: empty.
  std::string kind;
  /// Inside the archive: letters, digits, `._-+=`, and `/` between names.
  std::string path;
  std::string bytes;
};

/// The code of one target.
struct PackageModule {
  Manifest manifest;
  /// The level of x86-64 that code for the CPU needs: "x86-64-v3".
  std::string cpu;
  std::vector<PackageFile> files;

  const PackageFile *find(std::string_view kind) const;
};

struct Package {
  std::string compiler;
  std::vector<PackageModule> modules;
  std::vector<PackageFile> sources;
};

/// The version of the format that is written and read.
constexpr int packageVersion = 2;

/// Most bytes of all files inside a package together, as they are when unpacked.
constexpr uint64_t largestPackage = uint64_t(1) << 30;

/// manifest.json of a package.
std::string toJson(const Package &package);
/// The whole file. Equal packages give equal bytes.
Error writePackage(const Package &package, std::string &bytes);
/// Reads and checks a whole file: structure, version, lengths, hashes. `name` stands in
/// messages.
Error readPackage(std::string_view bytes, const std::string &name, Package &package);

} // namespace tile::runtime

#endif
