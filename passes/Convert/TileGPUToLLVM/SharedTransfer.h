// Tiles between a thread's registers and shared memory, in accesses as wide as the layouts allow.
#ifndef TILE_PASSES_CONVERT_TILEGPUTOLLVM_SHAREDTRANSFER_H
#define TILE_PASSES_CONVERT_TILEGPUTOLLVM_SHAREDTRANSFER_H

#include "dialect/TileGPU/SharedLayout.h"
#include "dialect/TileGPU/TileGPUDialect.h"
#include "mlir/IR/Builders.h"

namespace tile::gpu {

/// A register tile as it is stored: i1 as i8, index as i64, 8-bit floats as i8; and back to
/// `elementType`.
mlir::Value toStoredVector(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector);
mlir::Value fromStoredVector(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
                             mlir::Type elementType);

/// The registers `registers` of a vector, in this order.
mlir::Value takeElements(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
                         llvm::ArrayRef<int64_t> registers);
/// One vector of pieces of equal length, one behind the other.
mlir::Value joinPieces(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<mlir::Value> pieces);
/// The same, but element i of all pieces in a row becomes element positions[i]; positions that no
/// piece has do not occur.
mlir::Value joinPieces(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<mlir::Value> pieces, llvm::ArrayRef<unsigned> positions);

/// An offset in addition to thread and register: `constant`, XORed with what depends on a value of
/// the program, images[i] over the set bits i of `index` (an i32).
struct ExtraOffset {
  mlir::Value index;
  llvm::SmallVector<uint32_t> images;
  uint32_t constant = 0;
};

/// Addresses in shared memory that are linear over F2 in the thread's number: base + (thread part
/// XOR constant).
class SharedAddresses {
public:
  /// `threadImages` are those of the bits of the thread's number; with `recomputes`, addresses stay
  /// in no registers.
  SharedAddresses(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value base,
                  llvm::ArrayRef<uint32_t> threadImages, const ExtraOffset &extra = {},
                  bool recomputes = false);

  /// The address at `offset`, which is a register's.
  mlir::Value get(uint32_t offset);
  /// The same in two parts: a pointer that several offsets share, and what is to be added to it.
  std::pair<mlir::Value, uint32_t> split(uint32_t offset);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value base, part;
  uint32_t mask = 0, constant;
  llvm::SmallDenseMap<uint32_t, mlir::Value> pointers; // looked up only
};

/// Stores a tile held in `layout` to shared memory at `base` (ptr<3>). Elements that threads hold
/// in several registers are stored once. With `matrices`, by stmatrix (sm_90) where it fits; with
/// `recomputes`, addresses stay in no registers.
void storeTile(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value vector,
               const LinearLayout &layout, const SharedLayout &shared, mlir::Value base,
               bool matrices = false, bool recomputes = false);
/// Loads a tile into `layout`: a vector of `elementType`. With `matrices`, by ldmatrix where it
/// fits; `recomputes` as above.
mlir::Value loadTile(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type elementType,
                     const LinearLayout &layout, const SharedLayout &shared, mlir::Value base,
                     bool matrices, const ExtraOffset &extra = {}, bool recomputes = false);

} // namespace tile::gpu

#endif
