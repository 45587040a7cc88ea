// The line with which `tilec run` says what it did.
#include "driver/run/RunSummary.h"
#include "manifest/Encode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;

namespace tile {

/// "y f32[100, 3] from -1.5 to 2, 3 NaN".
static void printOutput(const RunArgument &argument, raw_ostream &stream) {
  runtime::Dtype dtype = argument.param->dtype;
  stream << argument.param->name << " " << runtime::dtypeName(dtype) << "[";
  for (size_t i = 0; i < argument.shape.size(); ++i)
    stream << (i ? ", " : "") << argument.shape[i];
  stream << "]";
  size_t size = runtime::dtypeBits(dtype) / 8, rank = argument.shape.size();
  if (size == 0) // elements that share a byte
    return;
  double least = INFINITY, most = -INFINITY;
  size_t invalid = 0, count = 0;
  std::vector<int64_t> index(rank, 0);
  bool more = !is_contained(argument.shape, 0);
  while (more) {
    int64_t at = 0;
    for (size_t i = 0; i < rank; ++i)
      at += index[i] * argument.strides[i];
    uint64_t bits = 0;
    std::memcpy(&bits, argument.buffer.getData() + at * int64_t(size), size);
    double value = runtime::isIntegral(dtype)
                       ? double(runtime::decodeInteger(bits, dtype).value_or(0))
                       : runtime::decodeFloat(bits, dtype);
    if (std::isnan(value)) {
      ++invalid;
    } else {
      least = std::min(least, value);
      most = std::max(most, value);
      ++count;
    }
    more = false;
    for (size_t i = rank; i-- > 0 && !more;) {
      more = ++index[i] < argument.shape[i];
      if (!more)
        index[i] = 0;
    }
  }
  if (count)
    stream << format(" from %.6g to %.6g", least, most);
  if (invalid)
    stream << ", " << invalid << " NaN";
}

/// Whether a source calls a function of this name, outside of comments and strings.
static bool calls(StringRef text, StringRef name) {
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i).starts_with("/*")) {
      size_t end = text.find("*/", i + 2);
      i = end == StringRef::npos ? text.size() : end + 2;
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
      ++i;
    } else if (isAlpha(text[i]) || text[i] == '_') {
      StringRef word = text.substr(i).take_while([](char c) { return isAlnum(c) || c == '_'; });
      i += word.size();
      if (word == name && text.substr(i).ltrim().starts_with("("))
        return true;
    } else {
      ++i;
    }
  }
  return false;
}

void printSummary(const Options &options, Session &session, StringRef kernel, int64_t programs,
                  double milliseconds, std::vector<RunArgument> &arguments) {
  if (options.quiet)
    return;
  outs() << kernel << ": ";
  if (programs >= 0)
    outs() << programs << (programs == 1 ? " program" : " programs");
  outs() << (programs >= 0 ? " on " : "on ") << options.device << ", ";
  outs() << format("%.3g ms", milliseconds);
  const char *separator = "; ";
  for (const RunArgument &argument : arguments)
    if (argument.param->kind == runtime::Param::Kind::Tensor &&
        argument.param->access != runtime::Access::In) {
      outs() << separator;
      printOutput(argument, outs());
    }
  outs() << "\n";
  SourceManager &sources = session.getSources();
  for (StringRef name : {"print", "assert"})
    for (size_t i = 0; !options.debug && i < sources.size(); ++i)
      if (!StringRef(sources.name(FileID(i))).starts_with("<") &&
          calls(sources.text(FileID(i)), name)) {
        outs() << "note: `" << name << "` is left out: -g keeps it\n";
        break;
      }
}

} // namespace tile
