// Values of a stopped program: which elements are asked for, and how they are shown.
#include "driver/debug/Debugger.h"
#include "manifest/Encode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace tile::debug {

/// Six digits, as C's %g has by default: enough to recognise a value, and short in a row of eight.
std::string showNumber(double value, bool isFloat) {
  std::string text;
  raw_string_ostream stream(text);
  if (std::isnan(value))
    stream << "nan";
  else if (std::isinf(value))
    stream << (value < 0 ? "-inf" : "inf");
  else if (isFloat)
    stream << format("%.6g", value);
  else
    stream << int64_t(value);
  return text;
}

//===--- Reading ----------------------------------------------------------===//

/// Takes from `text` as much as belongs to the query: a condition goes on behind it. On an error
/// `text` stands where reading stopped.
std::optional<Query> readQuery(StringRef &text, std::string &error) {
  Query query;
  text = text.ltrim();
  query.name = text.take_while([](char c) { return isAlnum(c) || c == '_'; }).str();
  text = text.drop_front(query.name.size()).ltrim();
  if (query.name.empty() || isDigit(query.name[0])) {
    error = "expected the name of a variable or tensor, found '" + text.str() + "'";
    return std::nullopt;
  }
  if (!text.consume_front("["))
    return query;
  while (true) {
    int64_t begin = 0, end = 0;
    text = text.ltrim();
    if (text.consumeInteger(10, begin)) {
      error = "expected a position, as in " + query.name + "[3, 0..8], found '" + text.str() + "'";
      return std::nullopt;
    }
    end = begin + 1;
    text = text.ltrim();
    if (text.consume_front("..")) {
      text = text.ltrim();
      if (text.consumeInteger(10, end) || end < begin) {
        error = "expected the end of a part behind '..', as in 0..8, found '" + text.str() + "'";
        return std::nullopt;
      }
    }
    query.parts.emplace_back(begin, end);
    text = text.ltrim();
    if (text.consume_front("]"))
      return query;
    if (!text.consume_front(",")) {
      error = "expected ',' or ']', found '" + text.str() + "'";
      return std::nullopt;
    }
  }
}

/// The word before the first blank decides: `nan` or `inf`, a number for a line, else a tensor to
/// be watched. Variables cannot be watched: they have a new value at each assignment, in a site of
/// their own, so "has changed" would be said of nearly every statement.
unsigned Debugger::addBreakpoint(StringRef text, std::string &error) {
  Breakpoint added;
  text = text.trim();
  StringRef word = text.take_until([](char c) { return c == ' '; });
  if (word == "nan" || word == "inf") {
    added.kind = word == "nan" ? Breakpoint::Kind::NaN : Breakpoint::Kind::Infinity;
    added.name = text.drop_front(word.size()).trim().str();
  } else if (!text.consumeInteger(10, added.line)) {
    text = text.ltrim();
    if (!text.empty()) {
      if (!text.consume_front("if")) {
        error = "expected `if` and a condition behind the line, found '" + text.str() + "'";
        return 0;
      }
      std::optional<Query> query = readQuery(text, error);
      if (!query)
        return 0;
      added.query = *query;
      text = text.trim();
      for (StringRef sign : {"==", "!=", "<=", ">=", "<", ">"})
        if (added.comparison.empty() && text.consume_front(sign))
          added.comparison = sign.str();
      if (added.comparison.empty() && text == "is nan") {
        added.comparison = "nan";
      } else if (added.comparison.empty() || text.trim().getAsDouble(added.value)) {
        error = "expected a comparison with a number, as in acc[3, 5] > 10 or acc is nan, found '" +
                text.str() + "'";
        return 0;
      }
    }
  } else {
    added.kind = Breakpoint::Kind::Change;
    std::optional<Query> query = readQuery(text, error);
    if (!query)
      return 0;
    added.query = *query;
    if (none_of(arguments,
                [&](const RunArgument &argument) { return argument.param->name == query->name; })) {
      error = "'" + query->name + "' is no tensor of the kernel; of variables stop at a line, " +
              "as in 24 if " + query->name + " > 0";
      return 0;
    }
  }
  added.id = nextId++;
  breakpoints.push_back(added);
  return added.id;
}

//===--- Elements ---------------------------------------------------------===//

/// Of a dtype of 4 bits two elements share a byte, the first in its low half.
static double readElement(runtime::Dtype dtype, const char *data, int64_t number) {
  unsigned width = runtime::dtypeBits(dtype);
  if (width == 4) {
    int bits = uint8_t(data[number / 2]) >> number % 2 * 4 & 0xf;
    return dtype == runtime::Dtype::I4 && bits > 7 ? bits - 16 : bits;
  }
  uint64_t bits = 0;
  size_t size = (width + 7) / 8;
  std::memcpy(&bits, data + size_t(number) * size, size);
  return runtime::isIntegral(dtype) ? double(runtime::decodeInteger(bits, dtype).value_or(0))
                                    : runtime::decodeFloat(bits, dtype);
}

/// Goes over the positions of a part in the order of their numbers.
static void forEachPosition(ArrayRef<std::pair<int64_t, int64_t>> parts,
                            function_ref<void(ArrayRef<int64_t>)> visit) {
  std::vector<int64_t> at;
  for (const auto &[begin, end] : parts) {
    at.push_back(begin);
    if (begin >= end)
      return;
  }
  while (true) {
    visit(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == parts[d - 1].second) {
      at[d - 1] = parts[d - 1].first;
      --d;
    }
    if (d == 0)
      return;
  }
}

/// Variables hide tensors of the same name. Both are read the same way, by strides: those of a
/// variable are of dense rows, those of a tensor as the caller of the kernel gave them.
std::optional<Elements> Debugger::getElements(const Query &query, std::string &error) const {
  std::vector<int64_t> shape, strides;
  std::function<double(int64_t)> read;
  bool isFloat = true;
  if (std::optional<unsigned> site = findVariable(query.name)) {
    shape = sites[*site].shape;
    strides.assign(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    isFloat = sites[*site].isFloat;
    read = [values = &latest[*site].values](int64_t number) {
      // A program may stop while a value is being handed over: the rest of it reads as NaN.
      return number < int64_t(values->size()) ? (*values)[number] : NAN;
    };
  } else {
    const RunArgument *found = nullptr;
    for (const RunArgument &argument : arguments)
      if (argument.param->name == query.name && argument.buffer.getData())
        found = &argument;
    if (!found) {
      error = "'" + query.name + "' has no value here";
      return std::nullopt;
    }
    shape = found->shape;
    strides = found->strides;
    runtime::Dtype dtype = found->param->dtype;
    isFloat = !runtime::isIntegral(dtype);
    read = [dtype, data = found->buffer.getData()](int64_t number) {
      return readElement(dtype, data, number);
    };
  }
  auto parts = query.parts;
  if (parts.empty())
    for (int64_t extent : shape)
      parts.emplace_back(0, extent);
  if (parts.size() != shape.size()) {
    error = "'" + query.name + "' has " + std::to_string(shape.size()) + " dimensions, found " +
            std::to_string(parts.size());
    return std::nullopt;
  }
  Elements result;
  result.isFloat = isFloat;
  for (auto [d, part] : enumerate(parts)) {
    if (part.first < 0 || part.second > shape[d]) {
      error = "'" + query.name + "' has " + std::to_string(shape[d]) + " positions along " +
              "dimension " + std::to_string(d);
      return std::nullopt;
    }
    result.shape.push_back(part.second - part.first);
  }
  forEachPosition(parts, [&](ArrayRef<int64_t> at) {
    int64_t number = 0;
    for (size_t d = 0; d < at.size(); ++d)
      number += at[d] * strides[d];
    result.values.push_back(read(number));
  });
  return result;
}

/// Rows of a matrix, or of the first of several; long ones are cut in the middle.
static std::string showTile(const Elements &tile) {
  constexpr int64_t shownRows = 8, shownColumns = 8;
  int64_t columns = tile.shape.back();
  int64_t rows = int64_t(tile.values.size()) / std::max<int64_t>(columns, 1);
  std::string text;
  for (int64_t r = 0; r < std::min(rows, shownRows); ++r) {
    text += r ? "\n  [" : "  [";
    for (int64_t c = 0; c < std::min(columns, shownColumns); ++c)
      text += (c ? ", " : "") + showNumber(tile.values[r * columns + c], tile.isFloat);
    text += columns > shownColumns ? ", …]" : "]";
  }
  return text + (rows > shownRows ? "\n  …" : "");
}

std::string Debugger::show(const Query &query) const {
  std::string error;
  std::optional<Elements> found = getElements(query, error);
  if (!found)
    return error;
  bool one = found->values.size() == 1;
  std::string title = query.name;
  if (!query.parts.empty())
    title += "[" +
             join(map_range(query.parts,
                            [](const auto &part) {
                              return part.second == part.first + 1
                                         ? std::to_string(part.first)
                                         : std::to_string(part.first) + ".." +
                                               std::to_string(part.second);
                            }),
                  ", ") +
             "]";
  if (one)
    return title + " = " + showNumber(found->values[0], found->isFloat);
  // One NaN or infinity would else be all that is said of a tile.
  std::vector<double> finite;
  size_t nans = 0;
  for (double value : found->values) {
    nans += std::isnan(value);
    if (std::isfinite(value))
      finite.push_back(value);
  }
  std::string shape =
      join(map_range(found->shape, [](int64_t e) { return std::to_string(e); }), ", ");
  std::string text = title + ": [" + shape + "]";
  if (!finite.empty())
    text += ", " + showNumber(*std::min_element(finite.begin(), finite.end()), found->isFloat) +
            " to " + showNumber(*std::max_element(finite.begin(), finite.end()), found->isFloat);
  if (nans)
    text += ", " + std::to_string(nans) + " NaN";
  return found->values.empty() ? text : text + "\n" + showTile(*found);
}

std::string Debugger::explainValue() const {
  if (!special)
    return "the program does not stand at a NaN or infinity: `break nan` and `continue` go there";
  const Site &site = sites[*special];
  // Operands of the same number of elements are shown at the position of the NaN, a scalar as it
  // is. Of a reduction or a product no single element of an operand is to blame.
  auto at = [&](unsigned which) {
    const std::vector<double> &values = latest[which].values;
    size_t number = values.size() == latest[*special].values.size() ? specialElement
                    : values.size() == 1                            ? 0
                                                                    : values.size();
    return number < values.size() ? showNumber(values[number], sites[which].isFloat)
                                  : std::string("a tile of another shape");
  };
  std::string text = site.op + " gave " + at(*special);
  for (unsigned operand : site.operands)
    text +=
        "\n  from " +
        (sites[operand].name.empty() ? "the result of " + sites[operand].op : sites[operand].name) +
        " = " + at(operand);
  return text;
}

} // namespace tile::debug
