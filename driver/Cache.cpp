// The compile cache. A call's key covers its source, its flags and the compiler. Under the key lies
// a list of the files that the compilation read with their hashes; key and hashes together name the
// entry, a ZIP archive, whose checksums tell a damaged one.
#include "driver/Cache.h"
#include "codegen/Assemble.h"
#include "driver/Version.h"
#include "formats/Zip.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"
#include <algorithm>
#include <cstdlib>

using namespace llvm;

namespace tile {

/// Raised whenever entries change their meaning.
static constexpr const char *layout = "tile-cache 1";

static std::string hashOf(StringRef bytes) {
  auto digest =
      SHA256::hash(ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return toHex(digest, /*LowerCase=*/true);
}

static std::optional<std::string> readAll(const Twine &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
}

/// What tells one build of a program from another: on this machine its path and time, between
/// machines its content.
static std::string identify(const std::string &program, bool byContent) {
  sys::fs::file_status status;
  if (program.empty() || sys::fs::status(program, status))
    return "none";
  if (byContent) {
    auto file = MemoryBuffer::getFile(program, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!file)
      return "none";
    StringRef bytes = (*file)->getBuffer();
    XXH128_hash_t hash = xxh3_128bits(arrayRefFromStringRef(bytes));
    return std::to_string(bytes.size()) + " " + utohexstr(hash.high64, /*LowerCase=*/true) +
           utohexstr(hash.low64, /*LowerCase=*/true);
  }
  return program + " " + std::to_string(status.getSize()) + " " +
         std::to_string(status.getLastModificationTime().time_since_epoch().count());
}

/// Everything of the options that can change a byte of what is written.
static std::string describeFlags(const Options &options) {
  std::string text;
  raw_string_ostream stream(text);
  stream << "-O" << options.level << " package=" << options.package
         << " emit=" << (options.emit ? int(*options.emit) : -1) << " target=" << options.target
         << " targets=" << join(options.targets, ",") << " cpu=" << options.cpu
         << " source=" << options.withSource << " kernel=" << options.kernel
         << " generic=" << options.generic << " debug=" << options.debug
         << " c=" << (options.cSource ? sys::path::filename(options.output).str() : std::string())
         << " config=" << options.config;
  if (StringRef(options.config).ends_with(".json"))
    stream << " " << hashOf(readAll(options.config).value_or(""));
  for (const auto &[name, extent] : options.extents)
    stream << " shape " << name << "=" << extent;
  for (const NameValue &define : options.defines)
    stream << " -D" << define.first << "=" << define.second;
  for (const NameValue &attribute : options.attributes)
    stream << " --with=" << attribute.first << "=" << attribute.second;
  for (const ArgItem &item : options.argItems)
    stream << " --arg=" << item.text;
  for (const VariantRequest &variant : options.variants) {
    stream << " --variant=" << variant.name << ":";
    for (const ArgItem &item : variant.items)
      stream << item.text << ",";
  }
  for (const std::string &include : options.includes)
    stream << " -I" << include;
  for (const std::string &warning : options.warnings)
    stream << " -W" << warning;
  if (options.remarks)
    stream << " --remarks=" << options.remarksRegex;
  return text;
}

Cache::Cache(const Options &options, const std::string &input) : options(options) {
  bool isPlain = (options.package || (options.emit && hasManifest(*options.emit))) &&
                 !options.stopAfter && !options.printABI && options.dumpDirectory.empty() &&
                 !options.timeReport && input != "-" && options.output != "-";
  if ((options.cacheFolder.empty() && options.cacheCommand.empty()) || !isPlain)
    return;
  std::optional<std::string> source = readAll(input);
  if (!source)
    return;
  bool hasFolder =
      !options.cacheFolder.empty() && !sys::fs::create_directories(options.cacheFolder);
  files = CacheStore(hasFolder ? options.cacheFolder : "", options.cacheCommand);
  if (!files.isOn())
    return;
  bool byContent = files.hasCommand();
  Expected<std::string> ptxas = findPtxas(options.ptxasPath, options.executable);
  std::string assembler = ptxas ? *ptxas : "none";
  if (!ptxas)
    consumeError(ptxas.takeError());
  const char *linker = std::getenv("TILE_LINKER");
  parts["source"] = hashOf(*source);
  parts["path"] = input;
  parts["options"] = describeFlags(options);
  parts["compiler"] =
      std::string(getCompilerVersion()) + " " + identify(options.executable, byContent);
  parts["assembler"] = identify(assembler, byContent);
  parts["processor"] = options.isCPU() && !options.package ? sys::getHostCPUName().str() : "";
  parts["linker"] = linker ? linker : "";
  std::string all = layout;
  for (const auto &[name, value] : parts)
    all += "\n" + name + "=" + value;
  key = hashOf(all);
  placeKey = hashOf(sys::path::filename(input).str() + "\n" + options.output);
}

std::optional<std::map<std::string, std::string>> Cache::find(std::vector<std::string> &sources) {
  std::optional<std::string> list = files.read(key + ".deps");
  if (!list) {
    explainMiss();
    if (files.hasCommand() && files.getProblem().empty())
      reason += "; nor does the cache command have it";
    return std::nullopt;
  }
  std::string all = key;
  SmallVector<StringRef> lines;
  StringRef(*list).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    auto [hash, path] = line.split(' ');
    std::optional<std::string> bytes = readAll(path);
    if (!bytes || hashOf(*bytes) != hash) {
      reason = "'" + path.str() + "', which it imports, has changed";
      return std::nullopt;
    }
    all += "\n" + line.str();
    sources.push_back(path.str());
  }
  std::string name = hashOf(all) + ".entry";
  std::optional<std::string> entry = files.read(name);
  if (!entry) {
    reason = "its entry was removed";
    return std::nullopt;
  }
  std::map<std::string, std::string> found;
  runtime::ZipReader zip;
  std::string names;
  constexpr uint64_t limit = uint64_t(1) << 31;
  bool good = !runtime::ZipReader::open(*entry, name, zip) && !zip.read("names", limit, names);
  SmallVector<StringRef> suffixes;
  StringRef(names).split(suffixes, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef suffix : suffixes)
    good = good && !zip.read(suffix.str(), limit, found[suffix.drop_front(3).str()]);
  if (!good || found.empty()) {
    reason = "its entry is damaged";
    files.removeLocal(name);
    return std::nullopt;
  }
  files.touch(name);
  return found;
}

void Cache::store(const std::map<std::string, std::string> &outputs, const SourceManager &sources) {
  std::string list, all = key;
  for (size_t i = 0; i < sources.size(); ++i) {
    std::string name = sources.name(FileID(i)).str();
    if (!sys::fs::exists(name)) // compiled into tilec: the compiler's own identity covers it
      continue;
    std::string line = hashOf(sources.text(FileID(i))) + " " + name;
    if (StringRef(list).contains(line + "\n"))
      continue;
    list += line + "\n";
    all += "\n" + line;
  }
  std::vector<runtime::ZipEntry> entries = {{"names", ""}};
  for (const auto &[suffix, bytes] : outputs) {
    entries.front().bytes += "out" + suffix + "\n";
    entries.push_back({"out" + suffix, bytes});
  }
  std::string archive;
  if (runtime::writeZip(entries, archive))
    return;
  // The list last: what it leads to is then there.
  files.write(hashOf(all) + ".entry", archive);
  files.write(key + ".deps", list);
  rememberParts();
  evict();
}

//===--- Explanations
//----------------------------------------------------------------------------------------------===//

/// What this call was made of, for the next one that misses.
void Cache::rememberParts() const {
  json::Object object;
  for (const auto &[name, value] : parts)
    object[name] = value;
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(object));
  files.writeLocal(placeKey + ".last", text);
}

void Cache::explainMiss() {
  reason = "nothing of that name has been compiled before";
  std::optional<std::string> text = files.readLocal(placeKey + ".last");
  if (!text)
    return;
  Expected<json::Value> last = json::parse(*text);
  if (!last) {
    consumeError(last.takeError());
    return;
  }
  std::string changed;
  for (const auto &[name, value] : parts) {
    std::optional<StringRef> known =
        last->getAsObject() ? last->getAsObject()->getString(name) : std::nullopt;
    if (known && *known == value)
      continue;
    changed += (changed.empty() ? "" : "; ") + ("the " + name + " changed");
    if (known && name != "source")
      changed += " from '" + known->str() + "' to '" + value + "'";
  }
  reason = changed.empty() ? "its entry was removed" : changed;
}

/// Now and then removes what was used longest ago, down to the limit.
void Cache::evict() const {
  if (key[0] != '0' || files.getFolder().empty()) // one store of 16
    return;
  struct File {
    std::string path;
    uint64_t size;
    sys::TimePoint<> time;
  };
  std::vector<File> all;
  uint64_t total = 0, limit = uint64_t(options.cacheMegabytes) << 20;
  std::error_code error;
  for (sys::fs::directory_iterator it(files.getFolder(), error), end; !error && it != end;
       it.increment(error)) {
    sys::fs::file_status status;
    if (sys::fs::status(it->path(), status) || status.type() != sys::fs::file_type::regular_file)
      continue;
    all.push_back({it->path(), status.getSize(), status.getLastModificationTime()});
    total += status.getSize();
  }
  std::sort(all.begin(), all.end(), [](const File &a, const File &b) {
    return std::tie(a.time, a.path) < std::tie(b.time, b.path);
  });
  for (const File &file : all) {
    if (total <= limit)
      return;
    sys::fs::remove(file.path);
    total -= file.size;
  }
}

} // namespace tile
