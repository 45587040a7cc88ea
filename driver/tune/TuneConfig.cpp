// Configurations as text and in files: what --config takes and `tilec tune` writes.
//
// Three spellings of a configuration, all of them read to a TuneConfig:
//   BM=128,warps=8                                  a word of the command line, in its order
//   {"BM": 128, "warps": 8}                         a plain object, or a list of them for tune
//   {"schema": 1, "kernel": ..., "entries": [...]}  a TuneResult
//
// Configurations compare as lists of pairs, so those that come from JSON objects are sorted by
// name.
#include "driver/tune/TuneConfig.h"
#include "driver/support/Version.h"
#include "frontend/Source/ParseJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <limits>

using namespace llvm;

namespace tile {

std::string toText(const TuneConfig &config) {
  return join(
      map_range(config, [](const auto &setting) { return setting.first + "=" + setting.second; }),
      ",");
}

std::string toText(const TuneShape &shape) {
  return join(map_range(shape,
                        [](const auto &extent) {
                          return extent.first + "=" + std::to_string(extent.second);
                        }),
              ",");
}

std::optional<TuneConfig> parseConfig(StringRef text) {
  TuneConfig config;
  SmallVector<StringRef> items;
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    auto [name, value] = item.split('=');
    if (name.trim().empty() || value.trim().empty())
      return std::nullopt;
    config.emplace_back(name.trim().str(), value.trim().str());
  }
  return config;
}

std::optional<TuneShape> parseShape(StringRef text) {
  TuneShape shape;
  SmallVector<StringRef> items;
  text.split(items, ',', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    auto [name, number] = item.split('=');
    int64_t extent;
    if (name.empty() || number.getAsInteger(10, extent))
      return std::nullopt;
    shape.emplace_back(name.str(), extent);
  }
  return shape;
}

//===--- JSON -------------------------------------------------------------===//

static json::Value toValue(const TuneConfig &config) {
  json::Object object;
  for (const auto &[name, value] : config)
    object[name] = value;
  return object;
}

static json::Value toValue(const TuneShape &shape) {
  json::Object object;
  for (const auto &[name, extent] : shape)
    object[name] = extent;
  return object;
}

std::string toJson(const TuneResult &result) {
  json::Array entries;
  for (const TuneEntry &entry : result.entries) {
    json::Object object{{"shape", toValue(entry.shape)},
                        {"config", toValue(entry.config)},
                        {"ms", entry.milliseconds}};
    json::Array others;
    for (const auto &[config, milliseconds] : entry.others)
      others.push_back(json::Object{{"config", toValue(config)}, {"ms", milliseconds}});
    if (!others.empty())
      object["others"] = std::move(others);
    entries.push_back(std::move(object));
  }
  json::Value whole = json::Object{{"schema", TuneResult::schema}, {"kernel", result.kernel},
                                   {"target", result.target},      {"compiler", result.compiler},
                                   {"source", result.source},      {"best", toValue(result.best)},
                                   {"entries", std::move(entries)}};
  return formatv("{0:2}", whole).str() + "\n";
}

static bool read(const json::Object *object, TuneConfig &config) {
  if (!object)
    return false;
  for (const auto &[name, value] : *object) {
    std::optional<StringRef> text = value.getAsString();
    if (!text)
      return false;
    config.emplace_back(name.str(), text->str());
  }
  llvm::sort(config); // an object has no order of its own
  return true;
}

std::optional<TuneResult> parseTuneResult(StringRef text, std::string &error) {
  Expected<json::Value> value = parseJson(text);
  if (!value) {
    error = toString(value.takeError());
    return std::nullopt;
  }
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> schema = object ? object->getInteger("schema") : std::nullopt;
  if (!schema || *schema != TuneResult::schema) {
    error = schema ? "its schema is " + std::to_string(*schema) + ", this version reads " +
                         std::to_string(TuneResult::schema)
                   : std::string("it is neither a result of `tilec tune` nor a configuration such "
                                 "as {\"BM\": 128, \"warps\": 8}");
    return std::nullopt;
  }
  error = "a field is missing or has another type";
  TuneResult result;
  for (auto [name, field] : {std::pair("kernel", &result.kernel),
                             {"target", &result.target},
                             {"compiler", &result.compiler},
                             {"source", &result.source}}) {
    std::optional<StringRef> found = object->getString(name);
    if (!found)
      return std::nullopt;
    *field = found->str();
  }
  const json::Array *entries = object->getArray("entries");
  if (!entries || !read(object->getObject("best"), result.best))
    return std::nullopt;
  for (const json::Value &each : *entries) {
    const json::Object *from = each.getAsObject();
    const json::Object *shape = from ? from->getObject("shape") : nullptr;
    TuneEntry entry;
    if (!shape || !read(from->getObject("config"), entry.config))
      return std::nullopt;
    for (const auto &[name, extent] : *shape) {
      if (!extent.getAsInteger())
        return std::nullopt;
      entry.shape.emplace_back(name.str(), *extent.getAsInteger());
    }
    llvm::sort(entry.shape);
    entry.milliseconds = from->getNumber("ms").value_or(0);
    if (const json::Array *others = from->getArray("others"))
      for (const json::Value &other : *others) {
        const json::Object *object = other.getAsObject();
        TuneConfig config;
        if (!object || !read(object->getObject("config"), config))
          return std::nullopt;
        entry.others.emplace_back(std::move(config), object->getNumber("ms").value_or(0));
      }
    result.entries.push_back(std::move(entry));
  }
  return result;
}

//===--- Choice of an entry -----------------------------------------------===//

/// The distance of two shapes is the sum of the doublings between their extents: from 1024 to 4096
/// is 2. A dimension that `shape` does not know rules the entry out; one that only `shape` has does
/// not count. Of equals the first.
const TuneEntry *findNearest(const TuneResult &result, const TuneShape &shape) {
  const TuneEntry *nearest = nullptr;
  double least = 0;
  for (const TuneEntry &entry : result.entries) {
    double distance = 0;
    bool known = true;
    for (const auto &[name, extent] : entry.shape) {
      auto same =
          find_if(shape, [&, &name = name](const auto &other) { return other.first == name; });
      known &= same != shape.end();
      if (same != shape.end())
        distance += std::abs(std::log2(double(std::max<int64_t>(extent, 1))) -
                             std::log2(double(std::max<int64_t>(same->second, 1))));
    }
    if (known && (!nearest || distance < least)) {
      nearest = &entry;
      least = distance;
    }
  }
  return nearest;
}

/// Of the sources only the main file's text counts, comments as well: no imported file does.
std::string hashTuned(StringRef source, StringRef kernel, const std::vector<NameValue> &defines) {
  std::string text = source.str() + '\0' + kernel.str();
  for (const NameValue &define : defines)
    text += '\0' + define.first + "=" + define.second;
  return utohexstr(xxh3_64bits(text), /*LowerCase=*/true);
}

/// The best on the whole comes first where a shape has chosen it, since the first is what a launch
/// takes when nothing else decides. `shapes` and `times` have one row for each entry of the result,
/// in its order; a time that nobody measured is infinite.
TunedConfigs listConfigs(const TuneResult &result) {
  TunedConfigs tuned;
  if (llvm::any_of(result.entries,
                   [&](const TuneEntry &entry) { return entry.config == result.best; }))
    tuned.configs.push_back(result.best);
  for (const TuneEntry &entry : result.entries) {
    auto known = llvm::find(tuned.configs, entry.config);
    if (known == tuned.configs.end())
      known = tuned.configs.insert(known, entry.config);
    tuned.shapes.emplace_back(entry.shape, known - tuned.configs.begin());
  }
  for (const TuneEntry &entry : result.entries) {
    std::vector<double> &times =
        tuned.times.emplace_back(tuned.configs.size(), std::numeric_limits<double>::infinity());
    for (size_t c = 0; c < times.size(); ++c) {
      for (const auto &[config, milliseconds] : entry.others)
        if (config == tuned.configs[c] && milliseconds > 0)
          times[c] = milliseconds;
      if (entry.config == tuned.configs[c] && entry.milliseconds > 0)
        times[c] = entry.milliseconds;
    }
  }
  return tuned.configs.size() > 1 ? tuned : TunedConfigs();
}

bool fits(const TuneConfig &config, const TuneConfig &wanted) {
  return all_of(wanted, [&](const auto &setting) { return is_contained(config, setting); });
}

/// An object of numbers, words and truth values: {"BM": 128, "warps": 8}. Nothing where it is none.
static std::optional<TuneConfig> readPlainConfig(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object || object->empty() || object->get("schema"))
    return std::nullopt;
  TuneConfig config;
  for (const auto &[name, setting] : *object) {
    if (setting.getAsObject() || setting.getAsArray() || setting.getAsNull())
      return std::nullopt;
    config.emplace_back(name.str(), setting.getAsString() ? setting.getAsString()->str()
                                                          : formatv("{0}", setting).str());
  }
  llvm::sort(config); // an object has no order of its own
  return config;
}

/// A file [{"BM": 128, "warps": 8}, ...], or one such object.
static bool readConfigFile(StringRef path, Session &session, std::vector<TuneConfig> &list) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return session.failCall("cannot read '" + path + "': " + file.getError().message());
  Expected<json::Value> value = parseJson((*file)->getBuffer());
  if (!value)
    return session.failCall("'" + path + "' is no JSON: " + toString(value.takeError()));
  json::Array one{*value};
  for (const json::Value &member : value->getAsArray() ? *value->getAsArray() : one) {
    std::optional<TuneConfig> config = readPlainConfig(member);
    if (!config)
      return session.failCall("'" + path +
                              "': expected a configuration such as {\"BM\": 128, "
                              "\"warps\": 8}, or a list of them");
    list.push_back(std::move(*config));
  }
  return true;
}

/// A name with two values says nothing: which of them is meant is not known.
static bool checkNames(const TuneConfig &config, Session &session) {
  for (size_t i = 0; i < config.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (config[i].first == config[j].first)
        return session.failCall("'" + config[i].first + "' is given twice by --config, as '" +
                                config[j].second + "' and as '" + config[i].second + "'");
  return true;
}

bool readConfigList(const std::vector<std::string> &texts, Session &session,
                    std::vector<TuneConfig> &list) {
  for (StringRef text : texts) {
    if (text.ends_with(".json")) {
      if (!readConfigFile(text, session, list))
        return false;
      continue;
    }
    std::optional<TuneConfig> parsed = parseConfig(text);
    if (!parsed)
      return session.failCall(
          "--config takes NAME=VALUE,... or a .json file with configurations, found '" + text +
          "'");
    if (!checkNames(*parsed, session))
      return false;
    list.push_back(std::move(*parsed));
  }
  return true;
}

bool readConfig(const Options &options, StringRef source, const TuneShape &shape, Session &session,
                TuneConfig &config, TunedConfigs &tuned, bool &isResult) {
  isResult = false;
  if (options.config.empty())
    return true;
  if (!StringRef(options.config).ends_with(".json")) {
    std::optional<TuneConfig> parsed = parseConfig(options.config);
    if (!parsed)
      return session.failCall(
          "--config takes NAME=VALUE,... or a .json file of `tilec tune`, found '" +
          options.config + "'");
    config = std::move(*parsed);
    return checkNames(config, session);
  }
  auto file = MemoryBuffer::getFile(options.config);
  if (!file)
    return session.failCall("cannot read '" + options.config + "': " + file.getError().message());
  std::string error;
  if (Expected<json::Value> value = parseJson((*file)->getBuffer())) {
    if (std::optional<TuneConfig> plain = readPlainConfig(*value)) {
      config = std::move(*plain);
      return true;
    }
    if (value->getAsArray())
      return session.failCall(
          "'" + options.config +
          "' is a list of configurations, for `tilec tune`; a compilation takes "
          "one, as in {\"BM\": 128, \"warps\": 8}");
  } else {
    consumeError(value.takeError());
  }
  std::optional<TuneResult> result = parseTuneResult((*file)->getBuffer(), error);
  if (!result)
    return session.failCall("'" + options.config + "' cannot be used: " + error);
  if (!options.kernel.empty() && result->kernel != options.kernel)
    return session.failCall("'" + options.config + "' is of kernel '" + result->kernel +
                            "', not of '" + options.kernel + "'");
  // A package is compiled once for each target with the same --config.
  if (options.targets.size() > 1 && result->target != options.target)
    return true; // it is for another part of the package
  // A warning only: an old result is a good guess, and the sets of `tune` still check its values.
  std::string stale;
  if (result->source != hashTuned(source, result->kernel, options.defines))
    stale = "the source or its definitions have changed since";
  else if (result->compiler != getCompilerVersion())
    stale = "it was found by compiler " + result->compiler;
  else if (result->target != options.target)
    stale = "it was found for " + result->target + ", not for " + options.target;
  if (!stale.empty())
    session.getDiagnostics().report(diag::staleConfig, Range(), options.config, stale);
  isResult = true;
  const TuneEntry *nearest = findNearest(*result, shape);
  config = nearest ? nearest->config : result->best;
  if (options.package || options.cSource)
    tuned = listConfigs(*result);
  return true;
}

} // namespace tile
