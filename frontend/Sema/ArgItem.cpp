// Reads the items of --arg and --variant.
#include "frontend/Sema/ArgItem.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tile {

static bool isName(StringRef text) {
  return !text.empty() && (isAlpha(text[0]) || text[0] == '_') &&
         all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}

std::vector<StringRef> splitItems(StringRef text) {
  std::vector<StringRef> items;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (i < text.size() && (c != ',' || depth > 0))
      continue;
    if (StringRef item = text.slice(begin, i).trim(); !item.empty())
      items.push_back(item);
    begin = i + 1;
  }
  return items;
}

/// `lo..=hi` or `lo..=hi:opt`. The language's `lo..hi` ends before hi, and an item of that spelling
/// once did not: it is refused, so that nobody gets the other range in silence.
static bool parseRange(StringRef value, ArgItem &item, std::string &error) {
  auto [lo, rest] = value.split("..");
  auto [hi, opt] = rest.split(':');
  bool isClosed = hi.consume_front("=");
  int64_t number;
  bool valid = !lo.trim().getAsInteger(0, item.min) && !hi.trim().getAsInteger(0, item.max);
  if (valid && rest.contains(':')) {
    valid = !opt.trim().getAsInteger(0, number);
    item.opt = number;
  }
  if (!valid) {
    error = "expected MIN..=MAX or MIN..=MAX:OPT, found '" + value.str() + "'";
    return false;
  }
  if (!isClosed) {
    std::string tail = item.opt ? ":" + std::to_string(*item.opt) : "";
    error = "'" + value.str() + "' would end before " + std::to_string(item.max) +
            ", as in the language: write " + lo.trim().str() + "..=" + std::to_string(item.max) +
            tail + " for a range that ends with " + std::to_string(item.max);
    return false;
  }
  if (item.min > item.max) {
    error =
        "the range is empty: " + std::to_string(item.min) + " is above " + std::to_string(item.max);
    return false;
  }
  if (item.opt && (*item.opt < item.min || *item.opt > item.max)) {
    error = "the size to tune for, " + std::to_string(*item.opt) + ", is outside of " +
            std::to_string(item.min) + "..=" + std::to_string(item.max);
    return false;
  }
  return true;
}

std::optional<ArgItem> parseArgItem(StringRef text, std::string &error) {
  ArgItem item;
  text = text.trim();
  item.text = text.str();
  StringRef align = text;
  if (align.consume_front("align(")) {
    auto [name, bytes] = align.split(')');
    bytes = bytes.trim();
    item.kind = ArgItem::Kind::Align;
    item.name = name.trim().str();
    if (!isName(item.name) || !bytes.consume_front("=") ||
        bytes.trim().getAsInteger(0, item.number) || item.number < 1 || item.number > 4096 ||
        (item.number & (item.number - 1))) {
      error = "expected align(TENSOR)=BYTES, a power of two up to 4096, found '" + item.text + "'";
      return std::nullopt;
    }
    return item;
  }
  if (text.contains('%') && !text.contains('=')) {
    auto [name, number] = text.split('%');
    item.kind = ArgItem::Kind::Multiple;
    item.name = name.trim().str();
    if (!isName(item.name) || number.trim().getAsInteger(0, item.number) || item.number < 1 ||
        item.number > (1 << 30)) {
      error = "expected NAME%DIVISOR, found '" + item.text + "'";
      return std::nullopt;
    }
    return item;
  }
  auto [name, value] = text.split('=');
  value = value.trim();
  item.name = name.trim().str();
  if (!isName(item.name) || value.empty()) {
    error = "expected NAME=VALUE, NAME=MIN..=MAX:OPT, NAME%DIVISOR, align(TENSOR)=BYTES or "
            "TENSOR=DTYPE[DIM,...], found '" +
            item.text + "'";
    return std::nullopt;
  }
  if (value.contains("..")) {
    item.kind = ArgItem::Kind::Range;
    return parseRange(value, item, error) ? std::optional(item) : std::nullopt;
  }
  if (value.back() == ']' && value.contains('[')) {
    auto [dtype, dims] = value.drop_back().split('[');
    item.kind = ArgItem::Kind::Tensor;
    item.value = dtype.trim().str();
    for (StringRef dim : splitItems(dims))
      item.dims.push_back(dim.str());
    return item;
  }
  item.value = value.str();
  return item;
}

std::optional<VariantRequest> parseVariant(StringRef text, size_t number, std::string &error) {
  VariantRequest variant;
  variant.name = "v" + std::to_string(number);
  auto [name, rest] = text.split(':');
  if (text.contains(':') && isName(name.trim())) {
    variant.name = name.trim().str();
    text = rest;
  }
  for (StringRef item : splitItems(text)) {
    std::optional<ArgItem> parsed = parseArgItem(item, error);
    if (!parsed)
      return std::nullopt;
    variant.items.push_back(std::move(*parsed));
  }
  if (variant.items.empty()) {
    error = "a variant says what holds for it, as in decode:M=1..=16,BM=16";
    return std::nullopt;
  }
  return variant;
}

std::string symbolPart(StringRef text) {
  std::string part;
  for (char c : text) {
    if (isAlnum(c))
      part += c;
    else if (c == '%')
      part += part.empty() || part.back() == '_' ? "mod_" : "_mod_";
    else if (!part.empty() && part.back() != '_')
      part += '_';
  }
  while (!part.empty() && part.back() == '_')
    part.pop_back();
  return part;
}

} // namespace tile
