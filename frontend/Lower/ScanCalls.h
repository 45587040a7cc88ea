// Scans, and reductions by any function.
#ifndef TILE_FRONTEND_LOWER_SCANCALLS_H
#define TILE_FRONTEND_LOWER_SCANCALLS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class ScanCalls : LowerPart {
public:
  explicit ScanCalls(Lowering &lowering) : LowerPart(lowering) {}

  SemValue callScan(const Builtin &builtin, std::vector<Arg> &args, Range range);
  SemValue callTake(std::vector<Arg> &args, Range range);
  /// The `axis:` among `args`; a tile of rank 1 needs none.
  std::optional<int64_t> evalAxis(const std::vector<Arg> &args, const SemValue &tile,
                                  Range tileRange);

private:
  /// The region of a scan or reduction of tiles of one shape; `combine` gets the left and then the
  /// right scalars. False after an error, which names `what`.
  bool emitCombiner(mlir::Region &region, llvm::StringRef what, llvm::ArrayRef<SemValue> tiles,
                    Range range, llvm::function_ref<SemValue(llvm::ArrayRef<SemValue>)> combine);
  SemValue emitScan(llvm::ArrayRef<SemValue> tiles, int64_t axis, bool reverse,
                    llvm::StringRef what, Range range,
                    llvm::function_ref<SemValue(llvm::ArrayRef<SemValue>)> combine);
  SemValue emitReduceBy(llvm::ArrayRef<SemValue> tiles, int64_t axis, bool keep, Range range,
                        llvm::function_ref<SemValue(llvm::ArrayRef<SemValue>)> combine);
};

} // namespace tile

#endif
