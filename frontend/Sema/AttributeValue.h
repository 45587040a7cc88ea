// Attributes of kernels and loops as values, and their names in the language.
#ifndef TILE_FRONTEND_SEMA_ATTRIBUTEVALUE_H
#define TILE_FRONTEND_SEMA_ATTRIBUTEVALUE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tile {

/// Names of the attributes that a kernel takes.
const std::vector<std::string> &getKernelAttributeNames();
/// Those that a loop takes.
const std::vector<std::string> &getLoopAttributeNames();
/// Of a kernel's, those that a configuration may have.
const std::vector<std::string> &getTunableAttributeNames();

/// An attribute by its name in the IR. The first kind is an attribute that only is there.
struct AttributeValue {
  llvm::StringRef name;
  std::variant<std::monostate, int64_t, std::string, std::vector<int64_t>, std::vector<std::string>>
      value;
};
using AttributeValues = std::vector<AttributeValue>;

} // namespace tile

#endif
