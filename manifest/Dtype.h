// The dtypes of the language, which compiler and runtime share.
#ifndef TILE_MANIFEST_DTYPE_H
#define TILE_MANIFEST_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tile::runtime {

enum class Dtype : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3,
  F8E5M2,
  I4,
  U4
};

/// The language's spelling: "bool", "i8", ..., "bf16", "f8e4m3".
std::string_view dtypeName(Dtype dtype);
std::optional<Dtype> dtypeFromName(std::string_view name);
/// Bits of one element: 8 for bool, 4 for i4 and u4.
unsigned dtypeBits(Dtype dtype);
/// Integers and bool, which may stand in dims, grid and contracts as scalars.
bool isIntegral(Dtype dtype);

} // namespace tile::runtime

#endif
