// The dtypes of values, one row of a table each, and how they map to the manifest's.
#ifndef TILE_FRONTEND_SEMA_DTYPES_H
#define TILE_FRONTEND_SEMA_DTYPES_H

#include "manifest/Dtype.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace tile {

/// What elements can be. `Index` is a 64-bit signed integer for positions and extents; it cannot be
/// stored. Signedness is known here alone: MLIR's integers have none, so that operations are chosen
/// by dtype, never by type.
enum class DType : uint8_t {
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
  U4,
  Index
};

/// The language's spelling: "bool", "f16", "index".
llvm::StringRef dtypeSpelling(DType dtype);
/// None for what is no dtype.
std::optional<DType> findDtype(llvm::StringRef name);
/// All spellings, for suggestions.
const std::vector<std::string> &dtypeSpellings();

/// Floats, the 8-bit ones included.
bool isFloat(DType dtype);
/// Integers that can be computed with, and index; not bool, i4 and u4.
bool isInteger(DType dtype);
/// u4 too.
bool isUnsigned(DType dtype);
/// f8e4m3, f8e5m2, i4 and u4: loaded, moved and converted, and f8 multiplied by dot; nothing else.
bool isStorage(DType dtype);
bool isFloat8(DType dtype);
/// i4 and u4, two of which share a byte.
bool isNibble(DType dtype);
/// An integer that becomes index where it meets one or is used as a position: all but u64.
bool widensToIndex(DType dtype);
/// Bits of one element; 64 for index, 1 for bool.
unsigned bitWidth(DType dtype);

/// For dtypes that can stand in memory; `Index` gives I64.
runtime::Dtype toRuntime(DType dtype);

} // namespace tile

#endif
