// What the files of convert-tile-to-linalg share: one kernel's state while its operations are
// lowered.
#ifndef TILE_PASSES_CONVERT_TILETOLINALG_H
#define TILE_PASSES_CONVERT_TILETOLINALG_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace tile {

/// A view while it is lowered: where its first element is, relative to the parameter, and how to
/// step from there.
struct LoweredView {
  mlir::Value base;   // memref<T>: the parameter's first element
  mlir::Value offset; // index, in elements
  mlir::Value valid;  // i1, or null where the view cannot have been emptied by an index
  llvm::SmallVector<mlir::Value> extents; // index
  llvm::SmallVector<mlir::Value> strides; // index, in elements
  bool readOnly = false;                  // of a parameter that nothing writes during a launch
};

/// An access while it is lowered: of `size` lanes of each kept dimension those in [low, low +
/// count) exist.
/// The first lane's place is computed from `low`, so that a copy starts there; an address outside
/// of the tensor is at most computed, never used.
struct LoweredAccess {
  mlir::Value base, offset; // as in a view; offset is that of the first lane that exists
  mlir::Value inside;       // i1 of a rank-0 access: the element exists; null where it always does
  llvm::SmallVector<int64_t> size;
  llvm::SmallVector<mlir::Value> low, count; // index
  llvm::SmallVector<mlir::Value> stride;     // index, in elements, from lane to lane
  bool clipped = false;                      // some lane may not exist
  bool readOnly = false;                     // as in the view
};

/// Emits tiles as tensors.
class TileEmission {
protected:
  TileEmission(mlir::OpBuilder &builder) : b(builder) {}

  mlir::Value index(mlir::Location loc, int64_t value);
  /// A tile whose element at a position `body` computes from the position.
  mlir::Value
  generate(mlir::Location loc, mlir::RankedTensorType type,
           llvm::function_ref<mlir::Value(mlir::OpBuilder &, llvm::ArrayRef<mlir::Value>)> body);
  mlir::Value splat(mlir::Location loc, mlir::Value scalar, mlir::RankedTensorType type);
  mlir::Value reshape(mlir::Location loc, mlir::Value tile, llvm::ArrayRef<int64_t> shape);
  mlir::Value extend(mlir::Location loc, mlir::Value tile, mlir::Type element,
                     bool isUnsigned = false);
  mlir::Value extract(mlir::Location loc, mlir::Value tile, llvm::ArrayRef<mlir::Value> position);

  mlir::OpBuilder &b;
  /// The sources of lowered broadcasts and reshapes, so that single elements are read there.
  llvm::DenseMap<mlir::Value, mlir::Value> broadcasts, reshapes;
};

/// Lowers views and accesses.
class AccessLowering : protected TileEmission {
public:
  /// memref<T> of each `!tile.ptr<T>`.
  llvm::DenseMap<mlir::Value, mlir::Value> bases;
  /// The address behind each of those memrefs, an `!llvm.ptr`.
  llvm::DenseMap<mlir::Value, mlir::Value> pointers;
  /// The `!tile.ptr<T>` of parameters with access `in`.
  llvm::DenseSet<mlir::Value> readOnly;

protected:
  using TileEmission::TileEmission;

  // TileToLinalgMemory.cpp
  void lowerView(ViewOp op);
  void lowerSubview(SubviewOp op);
  void lowerPermuteView(PermuteViewOp op);
  mlir::LogicalResult lowerLoad(LoadOp op);
  mlir::LogicalResult lowerStore(StoreOp op);
  mlir::LogicalResult lowerInside(InsideOp op);

  // TileToLinalgIndexed.cpp
  mlir::LogicalResult lowerGather(GatherOp op);
  mlir::LogicalResult lowerScatter(ScatterOp op);
  mlir::LogicalResult lowerAtomic(AtomicOp op);

  llvm::DenseMap<mlir::Value, LoweredView> views;

private:
  template <typename AccessOp> mlir::FailureOr<LoweredAccess> lowerAccess(AccessOp op);
  mlir::Value memrefOf(mlir::Location loc, const LoweredAccess &access);
  mlir::Value wholeMemrefOf(mlir::Location loc, const LoweredAccess &access);
  void copyLanes(mlir::Location loc, const LoweredAccess &access, mlir::Value scratch);
  mlir::Value readCopy(mlir::Location loc, const LoweredAccess &access, mlir::Value pad);
  mlir::Value readInPlace(mlir::Location loc, const LoweredAccess &access, mlir::Value pad);
  mlir::Value readNibble(mlir::Location loc, mlir::Value base, mlir::Value position);
  mlir::Value readNibbles(mlir::Location loc, const LoweredAccess &access, mlir::Value pad);
  mlir::Value missingLanes(mlir::Location loc, const LoweredAccess &access);
  template <typename AccessOp>
  mlir::LogicalResult
  forEachElement(AccessOp op,
                 llvm::function_ref<void(const LoweredAccess &, llvm::ArrayRef<mlir::Value>)> body);
  mlir::Value updateAtomically(AtomicOp op, mlir::Value address, mlir::Value value,
                               mlir::Value expected);
};

/// Lowers the operations of one kernel's body in place. Each method leaves the operation without
/// uses, or fails after a diagnostic.
/// Order matters in two ways: operations are lowered in program order, so that sources of views and
/// of broadcasts are known; and the caller erases afterwards, last to first.
class KernelLowering : public AccessLowering {
public:
  KernelLowering(mlir::OpBuilder &builder) : AccessLowering(builder) {}

  /// The values that `tile.dim` reads.
  llvm::StringMap<mlir::Value> dims;
  /// The values that `tile.program_id` reads, slowest axis first.
  llvm::SmallVector<mlir::Value> programIds;

  /// Lowers `op`, which is of the tile dialect or a `tensor.splat`.
  /// After it, `op` has no uses, and its results' users see values of standard dialects.
  mlir::LogicalResult lower(mlir::Operation *op);

private:
  // TileToLinalgCompute.cpp
  mlir::Value lowerIota(IotaOp op);
  mlir::Value lowerBroadcast(BroadcastOp op);
  mlir::Value lowerPermute(PermuteOp op);
  mlir::Value lowerReduce(ReduceOp op);
  mlir::Value lowerArgReduce(ArgReduceOp op);
  mlir::Value lowerDot(DotOp op);

  // TileToLinalgDebug.cpp
  void lowerPrint(PrintOp op);
  void lowerAssert(AssertOp op);

  // TileToLinalgScan.cpp
  llvm::SmallVector<mlir::Value> lowerScan(ScanOp op);
  llvm::SmallVector<mlir::Value> lowerReduceBy(ReduceByOp op);
  mlir::Value lowerTake(TakeOp op);

  // TileToLinalgOrder.cpp
  mlir::Value lowerSort(SortOp op);
  mlir::Value lowerHistogram(HistogramOp op);

  // TileToLinalgElements.cpp
  mlir::Value lowerLookup(LookupOp op);
  mlir::Value lowerRandomBits(RandomBitsOp op);
};

} // namespace tile

#endif
