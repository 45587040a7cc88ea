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

/// `pointer` moved by `offset` bytes, a constant or an i32.
inline mlir::Value advance(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value pointer,
                           mlir::LLVM::GEPArg offset) {
  return mlir::LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                                   llvm::ArrayRef<mlir::LLVM::GEPArg>{offset});
}

/// A pointer to shared memory as the 32-bit address that instructions take.
inline mlir::Value sharedAddress(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value pointer) {
  return mlir::LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
}

/// Waits until the phase of that parity of an mbarrier at a shared address is complete. The
/// hardware suspends the thread for a while in try_wait; the loop is for its time limit.
inline void waitForPhase(mlir::OpBuilder &b, mlir::Location loc, mlir::Value barrier,
                         mlir::Value phase) {
  // Labels in braces are local, so that the statement may be duplicated.
  inlinePTX(b, loc, {}, {barrier, phase},
            "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; @p bra "
            "DONE; bra WAIT; DONE: }",
            "r,r,~{memory}");
}

/// Arrives at an mbarrier at a shared address.
inline void arrive(mlir::OpBuilder &b, mlir::Location loc, mlir::Value barrier) {
  inlinePTX(b, loc, {}, {barrier}, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}");
}

} // namespace tile::gpu

#endif
