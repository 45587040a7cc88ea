// tile-cpu-store-bool-as-byte: scratch of i1 and i4 becomes scratch of i8, which LLVM can load and
// store by vectors.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CPUSTOREBOOLASBYTE
#include "passes/Passes.h.inc"
} // namespace tile

namespace {
struct CPUStoreBoolAsByte : tile::impl::CPUStoreBoolAsByteBase<CPUStoreBoolAsByte> {
  // Types of buffers change in place, everywhere at once: on entry no operation but loads and
  // stores cares for the element type (linalg has become loops). Values in registers keep their
  // types.
  void runOnOperation() override {
    Type byte = IntegerType::get(&getContext(), 8);
    auto isSmall = [](Type type) { return type.isInteger(1) || type.isInteger(4); };
    auto retype = [&](Value value) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (type && isSmall(type.getElementType()))
        value.setType(type.clone(byte));
    };
    // Noted by the type of the value, which stays; the buffer's is changed by then.
    SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), retype);
      llvm::for_each(op->getResults(), retype);
      if (auto load = dyn_cast<memref::LoadOp>(op); load && isSmall(load.getResult().getType()))
        accesses.push_back(op);
      if (auto store = dyn_cast<memref::StoreOp>(op); store && isSmall(store.getValue().getType()))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      OpBuilder b(op);
      if (auto store = dyn_cast<memref::StoreOp>(op)) {
        // A nibble's upper half is 0 in scratch, and a bool is 0 or 1. Loads rely on neither.
        store.getValueMutable().assign(
            arith::ExtUIOp::create(b, op->getLoc(), byte, store.getValue()));
        continue;
      }
      Type type = op->getResult(0).getType();
      // Memory of the caller holds a bool as a byte that need not be 0 or 1.
      Value value = memref::LoadOp::create(b, op->getLoc(), cast<memref::LoadOp>(op).getMemRef(),
                                           cast<memref::LoadOp>(op).getIndices());
      if (type.isInteger(4)) {
        op->replaceAllUsesWith(arith::TruncIOp::create(b, op->getLoc(), type, value)->getResults());
        op->erase();
        continue;
      }
      Value zero = arith::ConstantIntOp::create(b, op->getLoc(), 0, 8);
      op->replaceAllUsesWith(
          arith::CmpIOp::create(b, op->getLoc(), arith::CmpIPredicate::ne, value, zero)
              ->getResults());
      op->erase();
    }
  }
};
} // namespace
