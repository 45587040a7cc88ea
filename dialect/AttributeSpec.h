// What the attributes of AttributeNames.h must be, and where they may stand: a table for each
// dialect, which its verifier asks.
#ifndef TILE_DIALECT_ATTRIBUTESPEC_H
#define TILE_DIALECT_ATTRIBUTESPEC_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tile {

struct AttributeSpec {
  llvm::StringRef name;
  bool (*isValue)(mlir::Attribute);
  llvm::StringRef value; ///< what it must be, for a message
  bool (*isHome)(mlir::Operation *);
  llvm::StringRef home; ///< what has it, for a message
};

/// Checks one attribute against its dialect's table. A name that the table does not have is an
/// error: nobody would read it.
inline mlir::LogicalResult verifyAttribute(mlir::Operation *op, mlir::NamedAttribute attribute,
                                           llvm::ArrayRef<AttributeSpec> specs) {
  for (const AttributeSpec &spec : specs) {
    if (attribute.getName() != spec.name)
      continue;
    if (!spec.isHome(op))
      return op->emitError() << "'" << spec.name << "' belongs on " << spec.home;
    if (!spec.isValue(attribute.getValue()))
      return op->emitError() << "expected '" << spec.name << "' to be " << spec.value << ", found "
                             << attribute.getValue();
    return mlir::success();
  }
  return op->emitError() << "unknown attribute '" << attribute.getName().getValue() << "'";
}

/// A number from `least` to `most`, as i64.
template <int64_t least, int64_t most = INT64_MAX> bool isNumber(mlir::Attribute value) {
  auto number = llvm::dyn_cast<mlir::IntegerAttr>(value);
  return number && number.getType().isInteger(64) && number.getInt() >= least &&
         number.getInt() <= most;
}

inline bool isUnit(mlir::Attribute value) { return llvm::isa<mlir::UnitAttr>(value); }

inline bool isFunction(mlir::Operation *op) { return llvm::isa<mlir::FunctionOpInterface>(op); }

} // namespace tile

#endif
