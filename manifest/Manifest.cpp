// Constants and signatures of the manifest model as text; the binary that a manifest describes.
#include "manifest/Manifest.h"

#include "manifest/Hash.h"

#include <charconv>
#include <cmath>

namespace tile::runtime {

std::string toString(const Constant &constant) {
  if (auto *flag = std::get_if<bool>(&constant))
    return *flag ? "true" : "false";
  if (auto *integer = std::get_if<int64_t>(&constant))
    return std::to_string(*integer);
  if (auto *integer = std::get_if<uint64_t>(&constant))
    return std::to_string(*integer);
  if (auto *text = std::get_if<std::string>(&constant))
    return *text;
  double number = std::get<double>(constant);
  if (!std::isfinite(number))
    return std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return std::string(buffer, end);
}

/// As the source has it: name[constants](parameters).
std::string describe(const Kernel &kernel) {
  auto list = [](const auto &items, auto text) {
    std::string joined;
    for (const auto &item : items)
      joined += (joined.empty() ? "" : ", ") + text(item);
    return joined;
  };
  std::string text = kernel.name;
  if (!kernel.constants.empty())
    text +=
        "[" +
        list(kernel.constants, [](const auto &c) { return c.first + " = " + toString(c.second); }) +
        "]";
  static constexpr const char *accesses[] = {"in ", "out ", "inout "};
  return text + "(" +
         list(kernel.params,
              [&](const Param &param) {
                std::string one = param.name + ": ";
                if (param.kind == Param::Kind::Scalar) {
                  one += dtypeName(param.dtype);
                  return param.defaultValue ? one + " = " + toString(*param.defaultValue) : one;
                }
                one += accesses[size_t(param.access)];
                one += dtypeName(param.dtype);
                one += "[" + list(param.dims, [](const Expr &dim) { return dim.toString(); });
                if (param.strides)
                  one += "; " + list(*param.strides, [](const auto &s) {
                           return s ? s->toString() : std::string("*");
                         });
                return one + "]";
              }) +
         ")";
}

Binary identify(std::string_view bytes) { return {bytes.size(), contentHash(bytes)}; }

/// A binary and its manifest are two files: one may be older. Launching with the wrong description
/// would read memory that is not there.
Error checkBinary(const Manifest &manifest, std::string_view bytes, const std::string &name) {
  if (!manifest.binary)
    return Error(TILE_ERROR_BINARY, "'" + name +
                                        "': its manifest has no 'binary', which says what "
                                        "file it describes; compile it again");
  if (manifest.binary->bytes == bytes.size() && manifest.binary->hash == contentHash(bytes))
    return {};
  return Error(TILE_ERROR_BINARY,
               "'" + name + "' is not the file that its manifest describes: expected " +
                   std::to_string(manifest.binary->bytes) + " bytes with the hash " +
                   manifest.binary->hash + ", found " + std::to_string(bytes.size()) + " with " +
                   contentHash(bytes) +
                   "; one of the two was written or changed without the other: compile it again");
}

} // namespace tile::runtime
