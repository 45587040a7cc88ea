// The dtypes of values, and how they map to MLIR types and to the manifest's.
#ifndef TILE_FRONTEND_SEMA_DTYPES_H
#define TILE_FRONTEND_SEMA_DTYPES_H

#include "runtime/src/Manifest.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace tile {

/// What elements can be. `Index` is a 64-bit signed integer for positions and extents; it cannot be stored.
enum class DType : uint8_t { Bool, I8, I16, I32, I64, F16, BF16, F32, F64, Index };

/// The language's spelling: "bool", "f16", "index".
llvm::StringRef dtypeSpelling(DType dtype);
/// None for what is no dtype, and for those that `isLaterDtype` knows.
std::optional<DType> findDtype(llvm::StringRef name);
/// Dtypes of the language that this compiler does not implement yet: u8, f8e4m3 and so on.
bool isLaterDtype(llvm::StringRef name);
/// All spellings, for suggestions.
const std::vector<std::string> &dtypeSpellings();

bool isFloat(DType dtype);
/// Signed integers and index; not bool.
bool isInteger(DType dtype);
/// Bits of one element; 64 for index, 1 for bool.
unsigned bitWidth(DType dtype);

mlir::Type toType(DType dtype, mlir::MLIRContext *context);
/// The dtype of a scalar's or tile's elements.
DType fromType(mlir::Type type);
/// For dtypes that can stand in memory; `Index` gives I64.
runtime::Dtype toRuntime(DType dtype);

} // namespace tile

#endif // TILE_FRONTEND_SEMA_DTYPES_H
