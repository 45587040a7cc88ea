// Packages: a ZIP archive, its manifest, and the checks of both. No exception leaves this file.
#include "formats/Package.h"

#include "formats/Zip.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <stdexcept>

namespace tile::runtime {

using Json = nlohmann::ordered_json;

static constexpr const char *manifestPath = "manifest.json";

const PackageFile *PackageModule::find(std::string_view kind) const {
  for (const PackageFile &file : files)
    if (file.kind == kind)
      return &file;
  return nullptr;
}

//===- Writing
//-----------------------------------------------------------------------------------------------------===//

static Json describeFile(const PackageFile &file) {
  Json json = Json::object();
  if (!file.kind.empty())
    json["kind"] = file.kind;
  json["path"] = file.path;
  json["bytes"] = file.bytes.size();
  json["crc32"] = crc32Text(file.bytes);
  return json;
}

std::string toJson(const Package &package) {
  Json json = {
      {"format", "tile-package"}, {"version", packageVersion}, {"compiler", package.compiler}};
  json["modules"] = Json::array();
  for (const PackageModule &module : package.modules) {
    // The records are those of a binary's own manifest, under its version.
    Json manifest = Json::parse(toJson(module.manifest));
    Json entry = {{"target", module.manifest.target}, {"manifest_version", manifest["version"]}};
    if (!module.cpu.empty())
      entry["cpu"] = module.cpu;
    entry["files"] = Json::array();
    for (const PackageFile &file : module.files)
      entry["files"].push_back(describeFile(file));
    entry["kernels"] = manifest["kernels"];
    json["modules"].push_back(std::move(entry));
  }
  if (!package.sources.empty())
    json["sources"] = Json::array();
  for (const PackageFile &source : package.sources)
    json["sources"].push_back(describeFile(source));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Error writePackage(const Package &package, std::string &bytes) {
  std::vector<ZipEntry> entries = {{manifestPath, toJson(package)}};
  for (const PackageModule &module : package.modules)
    for (const PackageFile &file : module.files)
      entries.push_back({file.path, file.bytes});
  for (const PackageFile &source : package.sources)
    entries.push_back({source.path, source.bytes});
  return writeZip(entries, bytes);
}

//===- Reading
//-----------------------------------------------------------------------------------------------------===//

namespace {

/// Reads one package; the first problem ends it as an exception that readPackage turns into an
/// error.
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
  std::set<std::string> paths;
};

} // namespace

/// Paths go to disk in `tilec inspect --extract`: nothing absolute, no `..`.
static bool isPlainPath(const std::string &path) {
  if (path.empty() || path.size() > 255 || path.front() == '/' || path.back() == '/' ||
      path == manifestPath)
    return false;
  for (char c : path)
    if (!isalnum(static_cast<unsigned char>(c)) && !std::strchr("._-+=/", c))
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
  if (!bytes.is_number_unsigned() || bytes.get<uint64_t>() > largestPackageFile)
    fail(where + ".bytes: expected a number up to " + std::to_string(largestPackageFile));
  std::string crc = readString(json, "crc32", where);
  if (Error error = zip.read(file.path, bytes.get<uint64_t>(), file.bytes))
    throw Problem(error.code, error.message);
  if (file.bytes.size() != bytes.get<uint64_t>() || crc32Text(file.bytes) != crc)
    throw Problem(TILE_ERROR_BINARY,
                  "'" + name + "' is damaged: '" + file.path +
                      "' is not the file that the manifest describes; build or copy it again");
  return file;
}

PackageModule Reader::readModule(const Json &json, const std::string &where) {
  PackageModule module;
  Json manifest = {{"format", "tile-manifest"},
                   {"version", find(json, "manifest_version", where)},
                   {"target", readString(json, "target", where)},
                   {"kernels", readList(json, "kernels", where)}};
  std::string reason;
  std::optional<Manifest> parsed =
      parseManifest(manifest.dump(-1, ' ', false, Json::error_handler_t::replace), reason);
  if (!parsed)
    throw Problem(TILE_ERROR_MANIFEST, "'" + name + "': " + where + ": " + reason);
  module.manifest = std::move(*parsed);
  if (json.contains("cpu"))
    module.cpu = readString(json, "cpu", where);
  const Json &files = readList(json, "files", where);
  for (size_t i = 0; i < files.size(); ++i)
    module.files.push_back(readFile(files[i], where + ".files[" + std::to_string(i) + "]", true));
  bool isCpu = module.manifest.target == "cpu";
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
  if (version.get<uint64_t>() > packageVersion)
    fail("version " + std::to_string(version.get<uint64_t>()) +
         " is newer than this runtime reads (" + std::to_string(packageVersion) +
         "): update the runtime, or build the package with an older tilec");
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

Error readPackage(std::string_view bytes, const std::string &name, Package &package) {
  ZipReader zip;
  std::string manifest;
  if (Error error = ZipReader::open(bytes, name, zip))
    return error;
  constexpr uint64_t largestManifest = 64 << 20;
  if (Error error = zip.read(manifestPath, largestManifest, manifest))
    return error;
  try {
    auto limitDepth = [](int depth, Json::parse_event_t, Json &) {
      if (depth > 100)
        throw std::runtime_error("nested deeper than 100 levels");
      return true;
    };
    Reader(zip, name).read(Json::parse(manifest, limitDepth), package);
    return {};
  } catch (const Reader::Problem &problem) {
    return Error(problem.code, problem.what());
  } catch (const Json::parse_error &problem) {
    return Error(TILE_ERROR_MANIFEST, "'" + name + "': manifest: not valid JSON at byte " +
                                          std::to_string(problem.byte) + " of " +
                                          std::to_string(manifest.size()));
  } catch (const std::bad_alloc &) {
    return Error(TILE_ERROR_MEMORY, "'" + name + "': out of memory");
  } catch (const std::exception &problem) {
    return Error(TILE_ERROR_MANIFEST, "'" + name + "': manifest: " + problem.what());
  }
}

} // namespace tile::runtime
