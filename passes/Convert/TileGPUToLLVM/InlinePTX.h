// PTX that LLVM has no operation for.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_INLINEPTX_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_INLINEPTX_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tile::gpu {

/// One inline assembly statement with side effects; `result` may be null. Constraints as in LLVM's
/// language reference.
inline mlir::Value inlinePTX(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type result,
                             mlir::ValueRange operands, llvm::StringRef code,
                             llvm::StringRef constraints) {
  auto op = mlir::LLVM::InlineAsmOp::create(
      builder, loc, result ? mlir::TypeRange(result) : mlir::TypeRange(), operands, code,
      constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, mlir::LLVM::TailCallKind::None,
      mlir::LLVM::AsmDialectAttr(), mlir::ArrayAttr());
  return result ? op.getResult(0) : mlir::Value();
}

/// The second-level cache's policy for a `cache:` word, an i64. Without side effects, so that loops
/// need it once.
inline mlir::Value createCachePolicy(mlir::OpBuilder &builder, mlir::Location loc,
                                     llvm::StringRef word) {
  std::string priority = word == "stream" ? "evict_first" : "evict_last";
  return mlir::LLVM::InlineAsmOp::create(builder, loc, builder.getI64Type(), mlir::ValueRange(),
                                         "createpolicy.fractional.L2::" + priority +
                                             ".b64 $0, 1.0;",
                                         "=l", /*has_side_effects=*/false,
                                         /*is_align_stack=*/false, mlir::LLVM::TailCallKind::None,
                                         mlir::LLVM::AsmDialectAttr(), mlir::ArrayAttr())
      .getResult(0);
}

/// A pointer to shared memory as the 32-bit address that instructions take.
inline mlir::Value sharedAddress(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value pointer) {
  return mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}

} // namespace tile::gpu

#endif
