// Where threads keep tiles that are their own in shared memory.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_PRIVATEPLACE_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_PRIVATEPLACE_H

#include "dialect/TileGPU/RotatedMemory.h"
#include "dialect/TileGPU/SharedMemory.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tile::gpu {

/// Where a thread's pieces lie of a tile that is its own: piece i of all threads side by side, so
/// that a warp's access takes each bank once. `stride` bytes from one piece to the next.
struct PrivatePlace {
  PrivatePlace(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value memory,
               mlir::RankedTensorType tile)
      : bytes(getPrivatePiece(tile)) {
    LinearLayout layout = getLayout(tile);
    constexpr int64_t warpThreads = 32;
    stride = bytes * warpThreads * layout.getNumWarps();
    count =
        int64_t(layout.getNumRegisters()) * getSharedElementBytes(tile.getElementType()) / bytes;
    mlir::Value offset = mlir::arith::MulIOp::create(builder, loc, getThreadId(builder, loc),
                                                     constantI32(builder, loc, bytes));
    base = mlir::LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), memory,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{offset});
    end = mlir::LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), memory,
                                    llvm::ArrayRef<mlir::LLVM::GEPArg>{int32_t(stride * count)});
    turn =
        mlir::LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), end,
                                  llvm::ArrayRef<mlir::LLVM::GEPArg>{int32_t(rotatedVectorBytes)});
  }
  mlir::Value get(mlir::OpBuilder &builder, mlir::Location loc, int64_t piece) const {
    return mlir::LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                     llvm::ArrayRef<mlir::LLVM::GEPArg>{int32_t(piece * stride)});
  }
  /// The place of byte `offset` of what the thread holds.
  mlir::Value at(mlir::OpBuilder &builder, mlir::Location loc, int64_t offset) const {
    return mlir::LLVM::GEPOp::create(
        builder, loc, base.getType(), builder.getI8Type(), base,
        llvm::ArrayRef<mlir::LLVM::GEPArg>{int32_t(offset / bytes * stride + offset % bytes)});
  }
  int64_t getWords() const { return bytes / 4; }

  mlir::Value base;
  mlir::Value end, turn;                ///< of a line that goes round (rotatedEndBytes)
  int64_t bytes, stride = 0, count = 0; ///< of a piece; from one to the next; pieces of a thread
};

} // namespace tile::gpu

#endif
