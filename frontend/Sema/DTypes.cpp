// The dtypes of values: spellings, properties, MLIR types.
#include "frontend/Sema/DTypes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <iterator>

using namespace mlir;
using namespace tile;

static const struct {
  const char *name;
  DType dtype;
  unsigned bits;
  runtime::Dtype stored;
} table[] = {
    {"bool", DType::Bool, 1, runtime::Dtype::Bool},
    {"i8", DType::I8, 8, runtime::Dtype::I8},
    {"i16", DType::I16, 16, runtime::Dtype::I16},
    {"i32", DType::I32, 32, runtime::Dtype::I32},
    {"i64", DType::I64, 64, runtime::Dtype::I64},
    {"u8", DType::U8, 8, runtime::Dtype::U8},
    {"u16", DType::U16, 16, runtime::Dtype::U16},
    {"u32", DType::U32, 32, runtime::Dtype::U32},
    {"u64", DType::U64, 64, runtime::Dtype::U64},
    {"f16", DType::F16, 16, runtime::Dtype::F16},
    {"bf16", DType::BF16, 16, runtime::Dtype::BF16},
    {"f32", DType::F32, 32, runtime::Dtype::F32},
    {"f64", DType::F64, 64, runtime::Dtype::F64},
    {"f8e4m3", DType::F8E4M3, 8, runtime::Dtype::F8E4M3},
    {"f8e5m2", DType::F8E5M2, 8, runtime::Dtype::F8E5M2},
    {"i4", DType::I4, 4, runtime::Dtype::I4},
    {"u4", DType::U4, 4, runtime::Dtype::U4},
    {"index", DType::Index, 64, runtime::Dtype::I64},
};

llvm::StringRef tile::dtypeSpelling(DType dtype) { return table[size_t(dtype)].name; }

std::optional<DType> tile::findDtype(llvm::StringRef name) {
  for (const auto &entry : table)
    if (name == entry.name)
      return entry.dtype;
  return std::nullopt;
}

const std::vector<std::string> &tile::dtypeSpellings() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto &entry : table)
      all.push_back(entry.name);
    return all;
  }();
  return names;
}

bool tile::isFloat(DType dtype) { return dtype >= DType::F16 && dtype <= DType::F8E5M2; }

bool tile::isInteger(DType dtype) {
  return (dtype >= DType::I8 && dtype <= DType::U64) || dtype == DType::Index;
}

bool tile::isUnsigned(DType dtype) {
  return (dtype >= DType::U8 && dtype <= DType::U64) || dtype == DType::U4;
}

bool tile::isStorage(DType dtype) { return isFloat8(dtype) || isNibble(dtype); }

bool tile::isFloat8(DType dtype) { return dtype == DType::F8E4M3 || dtype == DType::F8E5M2; }

bool tile::isNibble(DType dtype) { return dtype == DType::I4 || dtype == DType::U4; }

bool tile::widensToIndex(DType dtype) { return isInteger(dtype) && dtype != DType::U64; }

unsigned tile::bitWidth(DType dtype) { return table[size_t(dtype)].bits; }

Type tile::toType(DType dtype, MLIRContext *context) {
  switch (dtype) {
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::Index:
    return IndexType::get(context);
  default:
    return IntegerType::get(context, bitWidth(dtype));
  }
}

runtime::Dtype tile::toRuntime(DType dtype) { return table[size_t(dtype)].stored; }
