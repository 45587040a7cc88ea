// Compile requests as JSON: reader. docs/CompileRequest.md has the format; manifest/ has the
// writer.
#include "driver/request/Request.h"
#include "frontend/Diag/Suggest.h"
#include "frontend/Source/ParseJson.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace tile {

using runtime::CompileRequest;

namespace {

/// Reads one field after another; each says what it expected where a value is of another kind.
/// Visits the fields in the order of manifest/CompileRequest.h; the first that is wrong is the
/// error, and the rest is passed over. Unknown fields are errors, since a misspelt one would else
/// change nothing silently.
class FieldReader {
public:
  FieldReader(const json::Object &object, StringSet<> &given, std::string &error)
      : object(object), given(given), error(error) {}

  template <class Member, class... Most>
  void operator()(StringRef name, Member &member, Most... most) {
    names.push_back(name.str());
    const json::Value *value = object.get(name);
    if (!value || !error.empty())
      return;
    given.insert(name);
    if (!read(*value, member, most...))
      error = "\"" + name.str() + "\" is " + text(*value) + ", expected " + expect(member, most...);
  }

  /// The first field, in order of names, that is none; or nothing.
  std::string findUnknown() const {
    std::vector<std::string> keys;
    for (const auto &[key, value] : object)
      if (!is_contained(names, StringRef(key).str()) && key != "format" && key != "version")
        keys.push_back(StringRef(key).str());
    if (keys.empty())
      return "";
    sort(keys);
    std::string near = suggest(keys.front(), names);
    return "there is no field \"" + keys.front() + "\"" +
           (near.empty() ? "; docs/CompileRequest.md lists the fields"
                         : "; did you mean \"" + near + "\"?");
  }

private:
  static std::string text(const json::Value &value) {
    std::string whole = formatv("{0}", value).str();
    return whole.size() <= 60 ? whole : whole.substr(0, 57) + "...";
  }

  static bool read(const json::Value &value, std::string &member) {
    std::optional<StringRef> text = value.getAsString();
    member = text.value_or("").str();
    return text.has_value();
  }
  static std::string expect(const std::string &) { return "a text"; }

  static bool read(const json::Value &value, bool &member) {
    std::optional<bool> truth = value.getAsBoolean();
    member = truth.value_or(member);
    return truth.has_value();
  }
  static std::string expect(const bool &) { return "true or false"; }

  template <class Number> static bool read(const json::Value &value, Number &member, int most) {
    std::optional<int64_t> number = value.getAsInteger();
    if (!number || *number < 0 || *number > most)
      return false;
    member = Number(*number);
    return true;
  }
  template <class Number> static std::string expect(const Number &, int most) {
    return "a number from 0 to " + std::to_string(most);
  }

  static bool read(const json::Value &value, std::vector<std::string> &member) {
    const json::Array *array = value.getAsArray();
    member.clear();
    for (const json::Value &each : array ? *array : json::Array())
      if (!read(each, member.emplace_back()))
        return false;
    return array;
  }
  static std::string expect(const std::vector<std::string> &) { return "a list of texts"; }

  /// Values may be written as JSON's own numbers and truths.
  static bool read(const json::Value &value, std::vector<NameValue> &member) {
    return readPairs(value, member, [](const json::Value &each, std::string &to) {
      if (std::optional<bool> truth = each.getAsBoolean())
        to = *truth ? "true" : "false";
      else if (each.kind() == json::Value::Number)
        to = formatv("{0}", each).str();
      else
        return read(each, to);
      return true;
    });
  }
  static std::string expect(const std::vector<NameValue> &) {
    return "an object of names and values, as in {\"BLOCK\": 1024, \"T\": \"f16\"}";
  }

  static bool read(const json::Value &value, std::vector<std::pair<std::string, int64_t>> &member) {
    return readPairs(value, member, [](const json::Value &each, int64_t &to) {
      to = each.getAsInteger().value_or(-1);
      return to >= 0;
    });
  }
  static std::string expect(const std::vector<std::pair<std::string, int64_t>> &) {
    return "an object of names and extents, as in {\"M\": 4096}";
  }

  template <class Value, class Read>
  static bool readPairs(const json::Value &value,
                        std::vector<std::pair<std::string, Value>> &member, Read readOne) {
    const json::Object *pairs = value.getAsObject();
    if (!pairs)
      return false;
    std::vector<std::string> keys;
    for (const auto &entry : *pairs)
      keys.push_back(StringRef(entry.first).str());
    sort(keys);
    for (const std::string &key : keys) {
      auto &[name, to] = member.emplace_back();
      name = key;
      if (name.empty() || !readOne(*pairs->get(key), to))
        return false;
    }
    return true;
  }

  static bool read(const json::Value &value, std::vector<CompileRequest::Variant> &member) {
    const json::Array *array = value.getAsArray();
    for (const json::Value &each : array ? *array : json::Array()) {
      const json::Object *object = each.getAsObject();
      const json::Value *name = object ? object->get("name") : nullptr;
      const json::Value *items = object ? object->get("items") : nullptr;
      CompileRequest::Variant &variant = member.emplace_back();
      if (!name || !items || object->size() != 2 || !read(*name, variant.name) ||
          !read(*items, variant.items))
        return false;
    }
    return array;
  }
  static std::string expect(const std::vector<CompileRequest::Variant> &) {
    return "a list as in [{\"name\": \"decode\", \"items\": [\"M=1..=16\"]}]";
  }

  const json::Object &object;
  StringSet<> &given;
  std::string &error;
  std::vector<std::string> names;
};

} // namespace

std::optional<CompileRequest> parseCompileRequest(StringRef text, StringSet<> &given,
                                                  std::string &error) {
  Expected<json::Value> parsed = parseJson(text);
  if (!parsed) {
    error = "it is no JSON: " + toString(parsed.takeError());
    return std::nullopt;
  }
  const json::Object *object = parsed->getAsObject();
  const std::string head = std::string("{\"format\": \"") + runtime::compileRequestFormat +
                           "\", \"version\": " + std::to_string(runtime::compileRequestVersion) +
                           ", ...}";
  if (!object || object->getString("format") != StringRef(runtime::compileRequestFormat)) {
    error = "expected " + head + "; tilec ... --print-request prints a request";
    return std::nullopt;
  }
  std::optional<int64_t> version = object->getInteger("version");
  if (version != runtime::compileRequestVersion) {
    error = version && *version > runtime::compileRequestVersion
                ? "it has version " + std::to_string(*version) + ", but this tilec reads version " +
                      std::to_string(runtime::compileRequestVersion) + ": take a newer tilec"
                : "expected " + head;
    return std::nullopt;
  }
  CompileRequest request;
  FieldReader reader(*object, given, error);
  runtime::visitFields(request, reader);
  if (error.empty())
    error = reader.findUnknown();
  return error.empty() ? std::optional(std::move(request)) : std::nullopt;
}

} // namespace tile
