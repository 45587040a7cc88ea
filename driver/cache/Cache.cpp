// The compile cache. A call's key covers its source, its flags and the compiler. Under the key lies
// a list of the files that the compilation read with their hashes, and of the paths where it looked
// for imports in vain; key and list together name the entry, a ZIP archive, whose hashes tell a
// damaged one.
//
//   source, flags, compiler  -> key              -> list: files with hashes, paths not found
//   key, list as it is now   -> name of an entry -> outputs and messages
//
// A file that has changed gives another list, hence another entry. A key has one list, that of its
// latest store: with the old text back, the call compiles once more, and its entry is as before.
#include "driver/cache/Cache.h"
#include "codegen/Assemble.h"
#include "driver/support/Version.h"
#include "formats/Zip.h"
#include "frontend/Source/ParseJson.h"
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
static constexpr const char *layout = "tile-cache 2";

/// In the list of what a compilation read: the file was not there.
static constexpr StringLiteral absent = "-";

static std::string hashOf(StringRef bytes) {
  auto digest =
      SHA256::hash(ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return toHex(digest, /*LowerCase=*/true);
}

static std::optional<std::string> readAll(const Twine &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
}

/// The suffixes of an output's path: an entry with another name is not of this compiler.
static bool isEnding(StringRef ending) {
  return ending.empty() || ending == ".json" || ending == "=.h" || ending == "=.o";
}

/// Identity of one build of a program: on this machine its path and time, between
/// machines its content.
/// Reading a compiler of a hundred megabytes for each call would take longer than most
/// compilations; a cache that several machines share has no choice, as their times and paths
/// differ.
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

/// Everything of the options that can change a byte of what is written: one line each,
/// "WORDS\tVALUE" in the words that --explain-cache uses.
/// An option that changes a product and is missing here gives wrong hits. So
/// test/unit/Driver/OptionsTest.cpp has a change of each, and expects another text.
std::string describeFlags(const Options &options) {
  std::string text;
  raw_string_ostream stream(text);
  auto add = [&](StringRef words, const Twine &value) {
    std::string plain = value.str();
    std::replace(plain.begin(), plain.end(), '\n', ' ');
    stream << words << "\t" << plain << "\n";
  };
  add("the optimisation level", "-O" + Twine(options.level));
  add("the kind of output", options.package   ? "package"
                            : options.cSource ? "c"
                            : options.emit    ? getStageName(*options.emit)
                                              : StringRef("none"));
  add("the code inside of the output",
      options.emit ? getStageName(*options.emit) : StringRef("the usual"));
  if (options.cSource)
    add("the name of the output", sys::path::filename(options.output));
  add("what names in C begin with", options.outName);
  add("the target", options.targets.empty() ? options.target : join(options.targets, ","));
  add("the card", options.card ? std::string(options.card->name) : std::string());
  add("the processor level", options.cpu);
  add("--with-source", options.withSource ? "given" : "not given");
  add("--kernel", options.kernel);
  add("--no-generic", options.generic ? "not given" : "given");
  add("-g", options.debug ? "given" : "not given");
  add("--config", options.config);
  if (StringRef(options.config).ends_with(".json"))
    add("the file of --config", hashOf(readAll(options.config).value_or("")));
  std::string shape, defines, attributes, items, variants, folders, warnings, flags;
  for (const auto &[name, extent] : options.extents)
    shape += name + "=" + std::to_string(extent) + ",";
  for (const auto &[name, divisor] : options.divisors)
    shape += name + "%" + std::to_string(divisor) + ",";
  for (const NameValue &define : options.defines)
    defines += define.first + "=" + define.second + ",";
  for (const NameValue &attribute : options.attributes)
    attributes += attribute.first + "=" + attribute.second + ",";
  for (const ArgItem &item : options.argItems)
    items += item.text + " ";
  for (const VariantRequest &variant : options.variants) {
    variants += variant.name + ":";
    for (const ArgItem &item : variant.items)
      variants += item.text + ",";
    variants += " ";
  }
  for (const std::string &include : options.includes)
    folders += include + " ";
  for (const std::string &warning : options.warnings)
    warnings += warning + " ";
  for (const std::string &flag : options.ptxasFlags)
    flags += flag + " ";
  add("--shape", StringRef(shape).rtrim(','));
  add("-D", StringRef(defines).rtrim(','));
  add("--with", StringRef(attributes).rtrim(','));
  add("--arg", StringRef(items).rtrim());
  add("--variant", StringRef(variants).rtrim());
  add("-I", StringRef(folders).rtrim());
  add("-W", StringRef(warnings).rtrim());
  add("--remarks", options.remarks ? "given " + options.remarksRegex : "not given");
  add("--remarks=passes", options.passReport ? "given" : "not given");
  add("-Xptxas", StringRef(flags).rtrim());
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
  if (hasFolder)
    distrust = whyUnsafe(options.cacheFolder);
  hasFolder = hasFolder && distrust.empty();
  files = CacheStore(hasFolder ? options.cacheFolder : "", options.cacheCommand);
  if (!files.isOn())
    return;
  bool byContent = files.hasCommand();
  Expected<std::string> ptxas = findPtxas(options.ptxasPath, options.executable);
  std::string assembler = ptxas ? *ptxas : "none";
  if (!ptxas)
    consumeError(ptxas.takeError());
  if (wantsNoAssembler(options.ptxasPath))
    assembler = "none";
  const char *linker = std::getenv("TILE_LINKER");
  parts["source"] = hashOf(*source);
  parts["path"] = input;
  parts["options"] = describeFlags(options);
  parts["compiler"] =
      std::string(getCompilerVersion()) + " " + identify(options.executable, byContent);
  parts["assembler"] = identify(assembler, byContent);
  parts["processor"] = options.isCPU() && !options.package ? sys::getHostCPUName().str() : "";
  parts["linker"] = linker ? linker : "";
  // The parts are a map: their order is that of names, on every machine.
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
    all += "\n" + line.str();
    if (hash == absent && !path.empty()) {
      if (!sys::fs::exists(path))
        continue;
      // An import that now would be found earlier on the way.
      reason = "'" + path.str() + "', where it looked for an import in vain, is there now";
      return std::nullopt;
    }
    if (hash.size() != 64 || path.empty()) {
      reason = "its list of files is damaged";
      return std::nullopt;
    }
    std::optional<std::string> bytes = readAll(path);
    if (!bytes || hashOf(*bytes) != hash) {
      reason = "'" + path.str() + "', which it imports, " +
               (bytes ? "has changed" : "is no longer there");
      return std::nullopt;
    }
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
  SmallVector<StringRef> listed;
  StringRef(names).split(listed, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : listed) {
    auto [hash, entryName] = line.split(' ');
    StringRef ending = entryName;
    good = good && ending.consume_front("out") && isEnding(ending);
    if (!good)
      break;
    std::string &bytes = found[ending.str()];
    good = !zip.read(entryName.str(), limit, bytes) && hashOf(bytes) == hash;
  }
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
  for (const std::string &path : sources.getAbsent()) {
    std::string line = (absent + " " + path).str();
    list += line + "\n";
    all += "\n" + line;
  }
  // "names" has a line HASH NAME for each other file: find() believes no byte without its hash.
  std::vector<runtime::ZipEntry> entries = {{"names", ""}};
  for (const auto &[suffix, bytes] : outputs) {
    entries.front().bytes += hashOf(bytes) + " out" + suffix + "\n";
    entries.push_back({"out" + suffix, bytes});
  }
  std::string archive;
  // Too large for an archive: not kept, and no error.
  if (runtime::writeZip(entries, archive))
    return;
  // The list last: what it leads to is then there.
  files.write(hashOf(all) + ".entry", archive);
  files.write(key + ".deps", list);
  rememberParts();
  evict();
}

//===--- Explanations -----------------------------------------------------===//

static std::string quoteOrNothing(StringRef text) {
  return text.empty() ? "not given" : "'" + text.str() + "'";
}

/// The difference between two texts of describeFlags().
static std::vector<std::string> compareFlags(StringRef before, StringRef now) {
  auto read = [](StringRef text) {
    std::map<StringRef, StringRef> values;
    SmallVector<StringRef> lines;
    text.split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      values[line.split('\t').first] = line.split('\t').second;
    return values;
  };
  std::map<StringRef, StringRef> old = read(before), given = read(now);
  std::vector<std::string> changes;
  for (const auto &[words, value] : given)
    if (auto known = old.find(words); known == old.end() || known->second != value) {
      if (words == "the file of --config")
        changes.push_back("the file of --config has changed");
      else
        changes.push_back((words + " was " +
                           quoteOrNothing(known == old.end() ? "" : known->second) + " and is " +
                           quoteOrNothing(value))
                              .str());
    }
  return changes;
}

/// The inputs of this call, to explain the next miss.
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
  Expected<json::Value> last = parseJson(*text);
  if (!last) {
    consumeError(last.takeError());
    return;
  }
  static const std::map<std::string, StringRef> words = {
      {"source", "the source"},       {"path", "the path of the source"},
      {"compiler", "tilec"},          {"assembler", "the assembler"},
      {"processor", "the processor"}, {"linker", "TILE_LINKER"}};
  std::string changed;
  auto add = [&](const Twine &text) { changed += (changed.empty() ? "" : "; ") + text.str(); };
  for (const auto &[name, value] : parts) {
    std::optional<StringRef> known =
        last->getAsObject() ? last->getAsObject()->getString(name) : std::nullopt;
    if (known && *known == value)
      continue;
    if (name == "options") {
      for (const std::string &each : compareFlags(known.value_or(""), value))
        add(each);
    } else if (name == "source" || name == "compiler" || name == "assembler") {
      add(words.at(name) + " has changed"); // what tells two apart says nothing to people
    } else {
      add(words.at(name) + " was " + quoteOrNothing(known.value_or("")) + " and is " +
          quoteOrNothing(value));
    }
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
