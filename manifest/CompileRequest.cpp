// Compile requests as JSON: writer. tilec reads them (driver/request/ReadRequest.cpp).
// A field that has its default value is left out, so that a request names only what it changes, and
// equal requests are equal texts: `tilec tune` names binaries by them.
#include "manifest/CompileRequest.h"

#include "manifest/Json.h"

#include <map>

namespace tile::runtime {

static Json write(bool value) { return value; }
static Json write(int value) { return value; }
static Json write(unsigned value) { return value; }
static Json write(const std::string &text) { return text; }
static Json write(const std::vector<std::string> &texts) { return texts; }

/// Pairs have no order but that of their names.
template <class Value> static Json write(const std::vector<std::pair<std::string, Value>> &pairs) {
  Json json = Json::object();
  for (const auto &[name, value] : std::map<std::string, Value>(pairs.begin(), pairs.end()))
    json[name] = value;
  return json;
}

static Json write(const std::vector<CompileRequest::Variant> &variants) {
  Json json = Json::array();
  for (const CompileRequest::Variant &variant : variants)
    json.push_back({{"name", variant.name}, {"items", variant.items}});
  return json;
}

bool toJson(const CompileRequest &request, std::string &text, std::string &error) {
  Json defaults = Json::object(), fields = Json::object();
  const CompileRequest none;
  visitFields(none,
              [&](const char *name, const auto &value, auto...) { defaults[name] = write(value); });
  visitFields(request,
              [&](const char *name, const auto &value, auto...) { fields[name] = write(value); });
  Json json = {{"format", compileRequestFormat}, {"version", compileRequestVersion}};
  for (const auto &[name, value] : fields.items()) {
    try {
      (void)value.dump();
    } catch (const Json::type_error &) {
      error = "'" + name + "' has a text that is no UTF-8";
      return false;
    }
    if (value != defaults[name])
      json[name] = value;
  }
  text = json.dump(2) + "\n";
  return true;
}

} // namespace tile::runtime
