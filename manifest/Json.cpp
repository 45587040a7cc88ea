// Parsing of JSON under limits. The library's parser with a callback looks at all elements of an
// array after each of them, and its objects with ordered keys look through all keys for each, so
// that the document is put together here.
//
//   stack    the arrays and objects that are open, the innermost last
//   keys     of each open object, its keys so far; a key twice is an error
//   cost     values, keys, comparisons: tests see by it that work grows linearly
#include "manifest/Json.h"

#include <set>
#include <stdexcept>
#include <vector>

namespace tile::runtime {

namespace {

/// Takes what the parser finds, in the order of the text.
class Builder {
public:
  Builder(const JsonLimits &limits, JsonCost &cost, size_t size, std::string &error)
      : limits(limits), cost(cost), size(size), error(error) {}

  Json root;

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string &) { return add(value); }
  bool binary(Json::binary_t &) { return fail("it holds binary data"); }
  bool string(std::string &value) { return checkText(value) && add(std::move(value)); }

  bool start_object(size_t) {
    if (!open(Json::object()))
      return false;
    keys.emplace_back(Less{&cost.comparisons});
    return true;
  }
  // Two readers may take different ones of two equal keys, so neither is taken.
  bool key(std::string &value) {
    ++cost.keys;
    if (!checkText(value))
      return false;
    if (!keys.back().insert(value).second)
      return fail("the key '" + value + "' is there twice in one object");
    nextKey = std::move(value);
    return true;
  }
  bool end_object() {
    stack.pop_back();
    keys.pop_back();
    return true;
  }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_array() {
    stack.pop_back();
    return true;
  }
  bool parse_error(size_t position, const std::string &, const std::exception &) {
    return fail("not valid JSON at byte " + std::to_string(position) + " of " +
                std::to_string(size));
  }

private:
  struct Less {
    uint64_t *count;
    bool operator()(const std::string &a, const std::string &b) const {
      ++*count;
      return a < b;
    }
  };

  bool fail(const std::string &what) {
    error = what;
    return false;
  }
  bool checkText(const std::string &text) {
    return text.find('\0') == std::string::npos || fail("a string has a zero byte");
  }
  bool add(Json value) { return place(std::move(value)) != nullptr; }
  bool open(Json value) {
    if (stack.size() >= limits.depth)
      return fail("nested deeper than " + std::to_string(limits.depth) + " levels");
    Json *placed = place(std::move(value));
    if (placed)
      stack.push_back(placed);
    return placed;
  }
  /// Where the value now lies. It stays there while it is open: what holds it grows only after.
  Json *place(Json value) {
    if (++cost.values > limits.values) {
      fail("more than " + std::to_string(limits.values) + " values");
      return nullptr;
    }
    if (stack.empty()) {
      root = std::move(value);
      return &root;
    }
    if (auto *list = stack.back()->get_ptr<Json::array_t *>()) {
      list->push_back(std::move(value));
      return &list->back();
    }
    // Beside the object's own way to add a key, which compares it with all others.
    auto &object = *stack.back()->get_ptr<Json::object_t *>();
    object.Json::object_t::Container::emplace_back(std::move(nextKey), std::move(value));
    return &object.back().second;
  }

  const JsonLimits &limits;
  JsonCost &cost;
  size_t size;
  std::string &error;
  std::vector<Json *> stack;
  std::vector<std::set<std::string, Less>> keys; // of the objects that are open
  std::string nextKey;
};

} // namespace

std::optional<Json> parseJson(std::string_view text, std::string &error, const JsonLimits &limits,
                              JsonCost *cost) {
  if (text.size() > limits.bytes) {
    error = std::to_string(text.size()) + " bytes of JSON, expected at most " +
            std::to_string(limits.bytes);
    return std::nullopt;
  }
  JsonCost own;
  Builder builder(limits, cost ? *cost : own, text.size(), error);
  try {
    if (Json::sax_parse(text.begin(), text.end(), &builder))
      return std::move(builder.root);
    if (error.empty())
      error = "not valid JSON";
  } catch (const std::exception &problem) { // a number out of range, no more memory
    error = problem.what();
  }
  return std::nullopt;
}

} // namespace tile::runtime
