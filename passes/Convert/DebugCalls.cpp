// Texts and calls of print and assert.
#include "passes/Convert/DebugCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

/// Equal texts share a global. Globals are only ever added, so that their count gives the next free
/// name.
Value tile::addressOfText(OpBuilder &builder, Operation *op, StringRef text) {
  auto module = op->getParentOfType<ModuleOp>();
  std::string bytes = text.str() + '\0';
  constexpr llvm::StringLiteral prefix = "tile_text_";
  LLVM::GlobalOp global;
  unsigned count = 0;
  for (auto other : module.getOps<LLVM::GlobalOp>()) {
    if (!other.getSymName().starts_with(prefix))
      continue;
    ++count;
    if (auto value = dyn_cast_or_null<StringAttr>(other.getValueOrNull());
        value && value.getValue() == bytes)
      global = other;
  }
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    global = LLVM::GlobalOp::create(builder, op->getLoc(), type, /*isConstant=*/true,
                                    LLVM::Linkage::Internal, (Twine(prefix) + Twine(count)).str(),
                                    builder.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(builder, op->getLoc(), global);
}

/// `fixed` is the number of arguments ahead of the dots of a variadic function. All calls of one
/// name agree in their types: the first call declares the function.
void tile::callFunction(OpBuilder &builder, Operation *op, StringRef name, Type result,
                        ValueRange arguments, std::optional<unsigned> fixed) {
  auto module = op->getParentOfType<ModuleOp>();
  auto types = llvm::to_vector(arguments.take_front(fixed.value_or(arguments.size())).getTypes());
  Type returned = result ? result : LLVM::LLVMVoidType::get(builder.getContext());
  auto type = LLVM::LLVMFunctionType::get(returned, types, /*isVarArg=*/fixed.has_value());
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(builder, op->getLoc(), name, type);
  }
  LLVM::CallOp::create(builder, op->getLoc(), function, arguments);
}

Value tile::toVariadic(OpBuilder &builder, Location loc, Value scalar) {
  if (scalar.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), scalar);
  if (scalar.getType().isF32())
    return arith::ExtFOp::create(builder, loc, builder.getF64Type(), scalar);
  return scalar;
}
