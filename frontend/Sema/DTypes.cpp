// The dtypes of manifest/Dtypes.def and `index`: a row has the spelling, the width and all that
// operations ask of a dtype.
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
  unsigned bits; // of a value: 1 for bool
  Family family;
  Use use;
  runtime::Dtype stored; // in memory
};

constexpr Row table[] = {
#define DTYPE(name, spelling, bits, family, use, ...)                                              \
  {spelling,       DType::name, Family::family == Family::Bool ? 1 : bits,                         \
   Family::family, Use::use,    runtime::Dtype::name},
#include "manifest/Dtypes.def"
    {"index", DType::Index, 64, Family::Signed, Use::Computed, runtime::Dtype::I64},
};

constexpr bool isInOrder() {
  for (size_t i = 0; i < std::size(table); ++i)
    if (size_t(table[i].dtype) != i)
      return false;
  return true;
}
static_assert(isInOrder(), "a dtype is the index of its row: check_dtypes.py writes DTypes.h");

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
