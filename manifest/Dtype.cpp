// Names and sizes of dtypes.
#include "manifest/Dtype.h"

#include <iterator>

namespace tile::runtime {

namespace {
enum class Family : uint8_t { Bool, Signed, Unsigned, Float };
enum class Use : uint8_t { Computed, Stored };

struct DtypeEntry {
  Dtype dtype;
  std::string_view name;
  unsigned bits;
  Family family;
  Use use;
};
constexpr DtypeEntry dtypes[] = {
#define DTYPE(name, spelling, bits, family, use, ...)                                              \
  {Dtype::name, spelling, bits, Family::family, Use::use},
#include "manifest/Dtypes.def"
};

constexpr bool isInOrder() {
  for (size_t i = 0; i < std::size(dtypes); ++i)
    if (size_t(dtypes[i].dtype) != i)
      return false;
  return true;
}
static_assert(isInOrder(), "a dtype is the index of its row: check_dtypes.py writes Dtype.h");
} // namespace

std::string_view dtypeName(Dtype dtype) { return dtypes[size_t(dtype)].name; }

std::optional<Dtype> dtypeFromName(std::string_view name) {
  for (const DtypeEntry &entry : dtypes)
    if (entry.name == name)
      return entry.dtype;
  return std::nullopt;
}

unsigned dtypeBits(Dtype dtype) { return dtypes[size_t(dtype)].bits; }

/// False of i4 and u4, which are only stored: nothing computes with them.
bool isIntegral(Dtype dtype) {
  const DtypeEntry &entry = dtypes[size_t(dtype)];
  return entry.family != Family::Float && entry.use == Use::Computed;
}

} // namespace tile::runtime
