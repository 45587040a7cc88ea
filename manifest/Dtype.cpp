// Names and sizes of dtypes.
#include "manifest/Dtype.h"

#include <array>

namespace tile::runtime {

namespace {
struct DtypeEntry {
  Dtype dtype;
  std::string_view name;
  unsigned bits;
  bool integral;
};
constexpr std::array<DtypeEntry, 17> dtypes = {{
    {Dtype::Bool, "bool", 8, true},
    {Dtype::I8, "i8", 8, true},
    {Dtype::I16, "i16", 16, true},
    {Dtype::I32, "i32", 32, true},
    {Dtype::I64, "i64", 64, true},
    {Dtype::U8, "u8", 8, true},
    {Dtype::U16, "u16", 16, true},
    {Dtype::U32, "u32", 32, true},
    {Dtype::U64, "u64", 64, true},
    {Dtype::F16, "f16", 16, false},
    {Dtype::BF16, "bf16", 16, false},
    {Dtype::F32, "f32", 32, false},
    {Dtype::F64, "f64", 64, false},
    {Dtype::F8E4M3, "f8e4m3", 8, false},
    {Dtype::F8E5M2, "f8e5m2", 8, false},
    {Dtype::I4, "i4", 4, false},
    {Dtype::U4, "u4", 4, false},
}};
} // namespace

std::string_view dtypeName(Dtype dtype) { return dtypes[size_t(dtype)].name; }

std::optional<Dtype> dtypeFromName(std::string_view name) {
  for (const DtypeEntry &entry : dtypes)
    if (entry.name == name)
      return entry.dtype;
  return std::nullopt;
}

unsigned dtypeBits(Dtype dtype) { return dtypes[size_t(dtype)].bits; }

bool isIntegral(Dtype dtype) { return dtypes[size_t(dtype)].integral; }

} // namespace tile::runtime
