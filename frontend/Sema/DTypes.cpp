// The table of dtypes: a row has the spelling, the width and all that operations ask of a dtype.
#include "frontend/Sema/DTypes.h"

#include <iterator>

using namespace tile;

namespace {

enum class Family : uint8_t { Bool, Signed, Unsigned, Float };
/// What may be done with a value: everything, or only loading, moving and converting it.
enum class Use : uint8_t { Computed, Stored };

struct Row {
  const char *name;
  DType dtype;
  unsigned bits;
  Family family;
  Use use;
  runtime::Dtype stored; // in memory
};

constexpr Row table[] = {
    {"bool", DType::Bool, 1, Family::Bool, Use::Computed, runtime::Dtype::Bool},
    {"i8", DType::I8, 8, Family::Signed, Use::Computed, runtime::Dtype::I8},
    {"i16", DType::I16, 16, Family::Signed, Use::Computed, runtime::Dtype::I16},
    {"i32", DType::I32, 32, Family::Signed, Use::Computed, runtime::Dtype::I32},
    {"i64", DType::I64, 64, Family::Signed, Use::Computed, runtime::Dtype::I64},
    {"u8", DType::U8, 8, Family::Unsigned, Use::Computed, runtime::Dtype::U8},
    {"u16", DType::U16, 16, Family::Unsigned, Use::Computed, runtime::Dtype::U16},
    {"u32", DType::U32, 32, Family::Unsigned, Use::Computed, runtime::Dtype::U32},
    {"u64", DType::U64, 64, Family::Unsigned, Use::Computed, runtime::Dtype::U64},
    {"f16", DType::F16, 16, Family::Float, Use::Computed, runtime::Dtype::F16},
    {"bf16", DType::BF16, 16, Family::Float, Use::Computed, runtime::Dtype::BF16},
    {"f32", DType::F32, 32, Family::Float, Use::Computed, runtime::Dtype::F32},
    {"f64", DType::F64, 64, Family::Float, Use::Computed, runtime::Dtype::F64},
    {"f8e4m3", DType::F8E4M3, 8, Family::Float, Use::Stored, runtime::Dtype::F8E4M3},
    {"f8e5m2", DType::F8E5M2, 8, Family::Float, Use::Stored, runtime::Dtype::F8E5M2},
    {"i4", DType::I4, 4, Family::Signed, Use::Stored, runtime::Dtype::I4},
    {"u4", DType::U4, 4, Family::Unsigned, Use::Stored, runtime::Dtype::U4},
    {"index", DType::Index, 64, Family::Signed, Use::Computed, runtime::Dtype::I64},
};

constexpr bool isInOrder() {
  for (size_t i = 0; i < std::size(table); ++i)
    if (size_t(table[i].dtype) != i)
      return false;
  return true;
}
static_assert(isInOrder(), "a dtype is the index of its row");

const Row &rowOf(DType dtype) { return table[size_t(dtype)]; }

} // namespace

llvm::StringRef tile::dtypeSpelling(DType dtype) { return rowOf(dtype).name; }

std::optional<DType> tile::findDtype(llvm::StringRef name) {
  for (const Row &row : table)
    if (name == row.name)
      return row.dtype;
  return std::nullopt;
}

const std::vector<std::string> &tile::dtypeSpellings() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Row &row : table)
      all.push_back(row.name);
    return all;
  }();
  return names;
}

bool tile::isFloat(DType dtype) { return rowOf(dtype).family == Family::Float; }

bool tile::isInteger(DType dtype) {
  const Row &row = rowOf(dtype);
  return (row.family == Family::Signed || row.family == Family::Unsigned) &&
         row.use == Use::Computed;
}

bool tile::isUnsigned(DType dtype) { return rowOf(dtype).family == Family::Unsigned; }

bool tile::isStorage(DType dtype) { return rowOf(dtype).use == Use::Stored; }

bool tile::isFloat8(DType dtype) { return isFloat(dtype) && isStorage(dtype); }

bool tile::isNibble(DType dtype) { return !isFloat(dtype) && isStorage(dtype); }

bool tile::widensToIndex(DType dtype) { return isInteger(dtype) && dtype != DType::U64; }

unsigned tile::bitWidth(DType dtype) { return rowOf(dtype).bits; }

runtime::Dtype tile::toRuntime(DType dtype) { return rowOf(dtype).stored; }
