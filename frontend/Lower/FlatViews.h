// Views of flat memory with extents and strides of the run.
#ifndef TILE_FRONTEND_LOWER_FLATVIEWS_H
#define TILE_FRONTEND_LOWER_FLATVIEWS_H

#include "frontend/Lower/LowerPart.h"

namespace tile {

class FlatViews : LowerPart {
public:
  explicit FlatViews(Lowering &lowering) : LowerPart(lowering) {}

  SemValue callView(std::vector<Arg> &args, Range range);

private:
  std::optional<llvm::SmallVector<mlir::Value>> indexList(const Arg &arg, const llvm::Twine &what);
};

} // namespace tile

#endif
