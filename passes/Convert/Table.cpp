// Constant tables: a global of the module, and reads at positions that are clamped to it.
#include "passes/Convert/Table.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

Type tile::getTableElement(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

/// The table with its elements as they are stored.
static DenseElementsAttr getStored(DenseElementsAttr table) {
  Type element = table.getElementType(), stored = tile::getTableElement(element);
  if (stored == element)
    return table;
  return table.mapValues(
      stored, [&](const APInt &value) { return value.zext(stored.getIntOrFloatBitWidth()); });
}

/// One global for equal tables of an address space, whatever operations read them.
Value tile::getTableAddress(OpBuilder &b, Location loc, ModuleOp module, DenseElementsAttr table,
                            unsigned addressSpace) {
  DenseElementsAttr stored = getStored(table);
  unsigned count = 0;
  LLVM::GlobalOp found;
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (!global.getSymName().starts_with("tile_table_"))
      continue;
    ++count;
    if (global.getValueOrNull() == stored && global.getAddrSpace() == addressSpace)
      found = global;
  }
  if (!found) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(stored.getElementType(), stored.getNumElements());
    found = LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/true,
                                   LLVM::Linkage::Internal, "tile_table_" + std::to_string(count),
                                   stored, /*alignment=*/16, addressSpace);
  }
  return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), addressSpace),
                                   found.getSymName());
}

/// Clamped in the position's own type before anything is widened, so that a negative position is
/// the first element on both paths.
Value tile::readTable(OpBuilder &b, Location loc, Value address, Value position,
                      DenseElementsAttr table) {
  Type type = position.getType(), element = table.getElementType(),
       stored = getTableElement(element);
  auto limit = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  position = arith::MaxSIOp::create(b, loc, position, limit(0));
  position = arith::MinSIOp::create(b, loc, position, limit(table.getNumElements() - 1));
  if (type.isIndex())
    position = arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
  Value pointer = LLVM::GEPOp::create(b, loc, address.getType(), stored, address,
                                      ArrayRef<LLVM::GEPArg>{position});
  // Invariant: the table is constant for the whole launch, hence loads may move out of loops.
  Value value = LLVM::LoadOp::create(b, loc, stored, pointer, /*alignment=*/0, /*isVolatile=*/false,
                                     /*isNonTemporal=*/false,
                                     /*isInvariant=*/true);
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, element, value);
  return element.isInteger(1) ? arith::TruncIOp::create(b, loc, element, value).getResult() : value;
}
