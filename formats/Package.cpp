// Packages: a ZIP archive, its manifest, and the checks of both. No exception leaves this file.
//
//   manifest.json            format, version, compiler, modules, sources
//     modules[i]             target, files (kind, path, bytes, hash), kernels as in a manifest
//   code/TARGET.cubin ..     the files that modules name
//   source/NAME.tile ..      the sources, if they were asked for
//
// Files that the manifest names have the size and the hash that it says; if one has not, the
// package is refused as a whole.
#include "formats/Package.h"

#include "formats/Zip.h"
#include "manifest/Hash.h"
#include "manifest/Json.h"

#include <cstring>
#include <set>
#include <stdexcept>

namespace tile::runtime {

static constexpr const char *manifestPath = "manifest.json";

const PackageFile *PackageModule::find(std::string_view kind) const {
  for (const PackageFile &file : files)
    if (file.kind == kind)
      return &file;
  return nullptr;
}

//===--- Writing ----------------------------------------------------------===//

static Json describeFile(const PackageFile &file) {
  Json json = Json::object();
  if (!file.kind.empty())
    json["kind"] = file.kind;
  json["path"] = file.path;
  json["bytes"] = file.bytes.size();
  json["hash"] = contentHash(file.bytes);
  return json;
}

/// Keys in this order, one space of indentation: the same package makes the same text.
std::string toJson(const Package &package) {
  Json json = {
      {"format", "tile-package"}, {"version", packageVersion}, {"compiler", package.compiler}};
  json["modules"] = Json::array();
  for (const PackageModule &module : package.modules) {
    // The records are those of a binary's own manifest, under its version.
    Json entry = {{"target", module.manifest.target}, {"manifest_version", manifestVersion}};
    if (!module.cpu.empty())
      entry["cpu"] = module.cpu;
    entry["files"] = Json::array();
    for (const PackageFile &file : module.files)
      entry["files"].push_back(describeFile(file));
    entry["kernels"] = kernelsAsJson(module.manifest);
    json["modules"].push_back(std::move(entry));
  }
  if (!package.sources.empty())
    json["sources"] = Json::array();
  for (const PackageFile &source : package.sources)
    json["sources"].push_back(describeFile(source));
  // A byte that is no UTF-8 becomes a replacement character instead of an exception.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The manifest comes first, so that a reader finds it without a search.
Error writePackage(const Package &package, std::string &bytes) {
  std::vector<ZipEntry> entries = {{manifestPath, toJson(package)}};
  for (const PackageModule &module : package.modules)
    for (const PackageFile &file : module.files)
      entries.push_back({file.path, file.bytes});
  for (const PackageFile &source : package.sources)
    entries.push_back({source.path, source.bytes});
  return writeZip(entries, bytes);
}

//===--- Reading ----------------------------------------------------------===//

namespace {

/// Reads one package; the first problem ends it as an exception that readPackage turns into an
/// error.
/// Exceptions keep the reading of nested records flat; they never leave this file.
class Reader {
public:
  Reader(ZipReader &zip, const std::string &name) : zip(zip), name(name) {}
  void read(const Json &json, Package &package);

private:
  struct Problem : std::runtime_error {
    Problem(tile_code code, const std::string &text) : std::runtime_error(text), code(code) {}
    tile_code code;
  };
  friend Error tile::runtime::readPackage(std::string_view, const std::string &, Package &);

  [[noreturn]] void fail(const std::string &what, tile_code code = TILE_ERROR_MANIFEST) {
    throw Problem(code, "'" + name + "': manifest: " + what);
  }
  const Json &find(const Json &json, const char *key, const std::string &where) {
    if (!json.is_object() || !json.contains(key))
      fail(where + (json.is_object() ? ": missing key '" + std::string(key) + "'"
                                     : ": expected an object"));
    return json[key];
  }
  std::string readString(const Json &json, const char *key, const std::string &where) {
    const Json &value = find(json, key, where);
    if (!value.is_string())
      fail(where + "." + key + ": expected a string, found " + value.type_name());
    return value.get<std::string>();
  }
  const Json &readList(const Json &json, const char *key, const std::string &where) {
    const Json &value = find(json, key, where);
    if (!value.is_array())
      fail(where + "." + key + ": expected an array, found " + value.type_name());
    return value;
  }
  PackageFile readFile(const Json &json, const std::string &where, bool hasKind);
  PackageModule readModule(const Json &json, const std::string &where);

  ZipReader &zip;
  const std::string &name;
  // Of the package so far: a path may be named once.
  std::set<std::string> paths;
  uint64_t unpacked = 0; // bytes of the files so far
};

} // namespace

/// Paths go to disk in `tilec inspect --extract`: nothing absolute, no `..`.
/// Names of files of every system: letters, digits and a few signs.
static bool isPlainPath(const std::string &path) {
  if (path.empty() || path.size() > 255 || path.front() == '/' || path.back() == '/' ||
      path == manifestPath)
    return false;
  for (char c : path)
    if (!isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("._-+=/").find(c) == std::string_view::npos)
      return false;
  return ("/" + path + "/").find("/../") == std::string::npos &&
         ("/" + path + "/").find("/./") == std::string::npos &&
         path.find("//") == std::string::npos;
}

PackageFile Reader::readFile(const Json &json, const std::string &where, bool hasKind) {
  PackageFile file;
  if (hasKind) {
    file.kind = readString(json, "kind", where);
    if (file.kind != "cubin" && file.kind != "ptx" && file.kind != "so")
      fail(where + ".kind: expected cubin, ptx or so, found '" + file.kind + "'");
  }
  file.path = readString(json, "path", where);
  if (!isPlainPath(file.path) || !paths.insert(file.path).second)
    fail(where + ".path: '" + file.path + "' is no path inside a package, or is there twice");
  const Json &bytes = find(json, "bytes", where);
  // All files together, so that no manifest makes the reader unpack more than largestPackage.
  if (!bytes.is_number_unsigned() || bytes.get<uint64_t>() > largestPackage - unpacked)
    fail(where + ".bytes: expected a number, with those of the other files up to " +
         std::to_string(largestPackage));
  unpacked += bytes.get<uint64_t>();
  std::string hash = readString(json, "hash", where);
  // Unpacked with the manifest's size as the limit, then compared by size and hash.
  if (Error error = zip.read(file.path, bytes.get<uint64_t>(), file.bytes))
    throw Problem(error.code, error.message);
  if (file.bytes.size() != bytes.get<uint64_t>() || contentHash(file.bytes) != hash)
    throw Problem(TILE_ERROR_BINARY,
                  "'" + name + "' is damaged: '" + file.path +
                      "' is not the file that the manifest describes; build or copy it again");
  return file;
}

/// Kernels are read by the reader of manifests, which checks types and ranges.
PackageModule Reader::readModule(const Json &json, const std::string &where) {
  PackageModule module;
  readString(json, "target", where);
  readList(json, "kernels", where);
  std::string reason;
  std::optional<Manifest> parsed = readKernels(json, "manifest_version", reason);
  if (!parsed)
    throw Problem(TILE_ERROR_MANIFEST, "'" + name + "': " + where + ": " + reason);
  module.manifest = std::move(*parsed);
  if (json.contains("cpu"))
    module.cpu = readString(json, "cpu", where);
  const Json &files = readList(json, "files", where);
  for (size_t i = 0; i < files.size(); ++i)
    module.files.push_back(readFile(files[i], where + ".files[" + std::to_string(i) + "]", true));
  bool isCpu = module.manifest.target == "cpu";
  // Code for the CPU is a shared object, for GPUs a cubin or PTX.
  for (const PackageFile &file : module.files)
    if ((file.kind == "so") != isCpu)
      fail(where + ": a file of kind " + file.kind + " does not go with target " +
           module.manifest.target);
  if (module.files.empty())
    fail(where + ".files: expected at least one");
  return module;
}

void Reader::read(const Json &json, Package &package) {
  if (readString(json, "format", "file") != "tile-package")
    fail("expected format 'tile-package', found '" + json["format"].get<std::string>() + "'");
  const Json &version = find(json, "version", "file");
  if (!version.is_number_unsigned() || version.get<uint64_t>() == 0)
    fail("version: expected a positive number");
  // One version: packages are cheap to build again, and old records would need code that nobody
  // tests.
  if (version.get<uint64_t>() != packageVersion) {
    bool isNewer = version.get<uint64_t>() > packageVersion;
    fail("version " + std::to_string(version.get<uint64_t>()) + " is " +
         (isNewer ? "newer" : "older") + " than this runtime reads (" +
         std::to_string(packageVersion) + "): " +
         (isNewer ? "update the runtime, or build the package with an older tilec"
                  : "build the package again with the tilec that came with it"));
  }
  if (json.contains("compiler"))
    package.compiler = readString(json, "compiler", "file");
  const Json &modules = readList(json, "modules", "file");
  for (size_t i = 0; i < modules.size(); ++i) {
    package.modules.push_back(readModule(modules[i], "modules[" + std::to_string(i) + "]"));
    package.modules.back().manifest.compiler = package.compiler;
  }
  if (package.modules.empty())
    fail("modules: expected at least one");
  if (!json.contains("sources"))
    return;
  const Json &sources = readList(json, "sources", "file");
  for (size_t i = 0; i < sources.size(); ++i)
    package.sources.push_back(readFile(sources[i], "sources[" + std::to_string(i) + "]", false));
}

/// Either the whole package or an error; `package` may be filled in part on an error, and is then
/// not used.
Error readPackage(std::string_view bytes, const std::string &name, Package &package) {
  ZipReader zip;
  std::string manifest;
  if (Error error = ZipReader::open(bytes, name, zip))
    return error;
  // Its size is not known yet: the most that JSON may have.
  if (Error error = zip.read(manifestPath, JsonLimits().bytes, manifest))
    return error;
  std::string reason;
  std::optional<Json> json = parseJson(manifest, reason);
  if (!json)
    return Error(TILE_ERROR_MANIFEST, "'" + name + "': manifest: " + reason);
  try {
    Reader(zip, name).read(*json, package);
    return {};
  } catch (const Reader::Problem &problem) {
    return Error(problem.code, problem.what());
  } catch (const std::bad_alloc &) {
    return Error(TILE_ERROR_MEMORY, "'" + name + "': out of memory");
  } catch (const std::exception &problem) {
    return Error(TILE_ERROR_MANIFEST, "'" + name + "': manifest: " + problem.what());
  }
}

} // namespace tile::runtime
