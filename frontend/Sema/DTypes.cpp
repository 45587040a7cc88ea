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
    {"bool", DType::Bool, 1, runtime::Dtype::Bool},   {"i8", DType::I8, 8, runtime::Dtype::I8},
    {"i16", DType::I16, 16, runtime::Dtype::I16},     {"i32", DType::I32, 32, runtime::Dtype::I32},
    {"i64", DType::I64, 64, runtime::Dtype::I64},     {"f16", DType::F16, 16, runtime::Dtype::F16},
    {"bf16", DType::BF16, 16, runtime::Dtype::BF16},  {"f32", DType::F32, 32, runtime::Dtype::F32},
    {"f64", DType::F64, 64, runtime::Dtype::F64},     {"index", DType::Index, 64, runtime::Dtype::I64},
};

llvm::StringRef tile::dtypeSpelling(DType dtype) { return table[size_t(dtype)].name; }

std::optional<DType> tile::findDtype(llvm::StringRef name) {
  for (const auto &entry : table)
    if (name == entry.name)
      return entry.dtype;
  return std::nullopt;
}

bool tile::isLaterDtype(llvm::StringRef name) {
  for (const char *later : {"u8", "u16", "u32", "u64", "f8e4m3", "f8e5m2", "i4", "u4"})
    if (name == later)
      return true;
  return false;
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

bool tile::isFloat(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F32 || dtype == DType::F64;
}

bool tile::isInteger(DType dtype) { return !isFloat(dtype) && dtype != DType::Bool; }

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
  case DType::Index:
    return IndexType::get(context);
  default:
    return IntegerType::get(context, bitWidth(dtype));
  }
}

DType tile::fromType(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIndex())
    return DType::Index;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return DType::Bool;
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  default:
    return DType::I64;
  }
}

runtime::Dtype tile::toRuntime(DType dtype) { return table[size_t(dtype)].stored; }
