// The C library's conversion, of whole texts alone.
#include "frontend/Source/ReadFloat.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>

std::optional<double> tile::readFloat(llvm::StringRef text) {
  if (text.empty() || llvm::isSpace(text.front()))
    return std::nullopt;
  std::string terminated = text.str();
  char *end = nullptr;
  double number = std::strtod(terminated.c_str(), &end);
  return end == terminated.c_str() + terminated.size() ? std::optional(number) : std::nullopt;
}
