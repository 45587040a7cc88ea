// Lane and warp of the running thread, and whether it owns its elements.
#include "passes/Convert/TileGPUToLLVM/Patterns.h"
#include "passes/Convert/TileGPUToLLVM/ThreadCoordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile::gpu;

Value tile::gpu::getLane(OpBuilder &builder, Location loc) {
  return arith::AndIOp::create(builder, loc, getThreadId(builder, loc),
                               constantI32(builder, loc, 31));
}

Value tile::gpu::getWarp(OpBuilder &builder, Location loc) {
  return arith::ShRUIOp::create(builder, loc, getThreadId(builder, loc),
                                constantI32(builder, loc, 5));
}

/// The owner is the thread with zeros in all bits that move no coordinate.
Value tile::gpu::getOwnerPredicate(OpBuilder &builder, Location loc, const LinearLayout &layout) {
  unsigned lanes = 0, warps = 0;
  layout.getDuplicateMasks(lanes, warps);
  if (!lanes && !warps)
    return {};
  Value bits = arith::AndIOp::create(builder, loc, getThreadId(builder, loc),
                                     constantI32(builder, loc, lanes | (warps << 5)));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits,
                               constantI32(builder, loc, 0));
}
